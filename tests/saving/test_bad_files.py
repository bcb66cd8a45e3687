"""Files that are damaged, forged or no model files at all: a clear error, and nothing that leads a kernel astray."""

from __future__ import annotations

import hashlib
import json
import pickle
import struct

import numpy as np
import pytest

import ocoboost
from model_files import MODELS, long_stream, taught
from ocoboost.errors import ModelFileError
from ocoboost.saving import container


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.oco"
    ocoboost.save(taught(MODELS["mixture"](seed=3), list(long_stream())), path)
    return path.read_bytes()


def test_a_truncated_file_says_so(saved, tmp_path):
    path = tmp_path / "model.oco"
    for n_bytes in [0, 1, 7, 8, 20, 31, 32, 100, len(saved) // 2, len(saved) - 1]:
        path.write_bytes(saved[:n_bytes])
        with pytest.raises(ModelFileError, match=r"model\.oco: is (truncated|empty)"):
            ocoboost.load(path)


def test_any_changed_byte_is_noticed(saved, tmp_path):
    path = tmp_path / "model.oco"
    rng = np.random.default_rng(0)
    for place in [0, 3, 12, 20, 28, 40, *rng.integers(32, len(saved), 60), len(saved) - 1]:
        changed = bytearray(saved)
        changed[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        with pytest.raises(ModelFileError, match=r"damaged or was modified|not a model|newer|truncated|format version"):
            ocoboost.load(path)
    path.write_bytes(saved + b"more")
    with pytest.raises(ModelFileError, match="damaged"):
        ocoboost.load(path)


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (container.FORMAT_VERSION + 1, r", and this is ocoboost .* install a newer ocoboost"),
        (1, ", from before the first release; train it again"),
    ],
)
def test_another_version_says_which(version, message, saved, tmp_path):
    changed = bytearray(saved)
    changed[8:12] = struct.pack("<I", version)
    (tmp_path / "model.oco").write_bytes(changed)
    with pytest.raises(ModelFileError, match=f"has format version {version}{message}"):
        ocoboost.load(tmp_path / "model.oco")


@pytest.mark.parametrize("content", [b"PK\x03\x04", b"a,b\n1,2\n", pickle.dumps({"a": 1}), b"\x00" * 100])
def test_other_files_are_no_model_files(content, tmp_path):
    (tmp_path / "model.oco").write_bytes(content)
    with pytest.raises(ModelFileError, match="is not a model file"):
        ocoboost.load(tmp_path / "model.oco")


def signed(content: bytes) -> bytes:
    """A changed file with a checksum that fits, as someone who means harm would make it."""
    return content[:-32] + hashlib.sha256(content[:-32]).digest()


def parts(saved: bytes) -> tuple[dict, int]:
    size = struct.unpack_from("<Q", saved, 24)[0]
    return json.loads(saved[32 : 32 + size]), -(-(32 + size) // 64) * 64


def n_words(place) -> int:
    n_fields = 1 if isinstance(place["dtype"], str) else len(place["dtype"])
    return n_fields * int(np.prod(place["shape"]))


def forged(saved: bytes, change) -> bytes:
    """The file with a change to its JSON."""
    header, first = parts(saved)
    change(header)
    text = json.dumps(header).encode()
    body = saved[first:-32]
    start = -(-(32 + len(text)) // 64) * 64
    prefix = struct.pack("<8sIIQQ", container.MAGIC, container.FORMAT_VERSION, 0, start + len(body) + 32, len(text))
    return signed((prefix + text).ljust(start, b"\0") + body + bytes(32))


def entry(packed, *keys):
    """Where a value is in packed dicts."""
    for key in keys:
        pairs = packed["dict"] if isinstance(packed, dict) else enumerate(packed)
        packed = next(value for name, value in pairs if name == key)
    return packed


def parameters(header):
    return entry(header["content"], "classifier", "parameters")


def state(header, *keys):
    return entry(header["content"], "state", *keys)


CHANGES = {
    "an unknown class": (
        lambda h: replace(entry(h["content"], "classifier"), "class", "os.system"),
        "holds a model of the class 'os.system', which is not registered here",
    ),
    "a class for samples": (
        lambda h: replace(entry(h["content"], "classifier"), "class", "AgnosticBoostClassifier"),
        "holds a model of the class 'AgnosticBoostClassifier', which is not registered here",
    ),
    "an unknown parameter": (lambda h: parameters(h)["dict"].append(["x", 1]), "unexpected keyword argument 'x'"),
    "a parameter out of range": (lambda h: replace(parameters(h), "budget", -1), "has invalid parameters .*budget"),
    "other members": (lambda h: replace(parameters(h), "budget", 60), "its settings are not those"),
    "no state": (lambda h: entry(h["content"])["dict"].pop(1), "'state'"),
    "a label twice": (lambda h: state(h, "labels").__setitem__(1, state(h, "labels")[0]), "duplicate label"),
    "too few labels": (lambda h: state(h, "labels").clear(), "invalid tree state: n_classes"),
    "an unknown kind of column": (lambda h: replace(state(h, "schema", "kinds"), "a", "dates"), "kind of a column: 'dates'"),
    "one column less": (lambda h: state(h, "schema", "kinds")["dict"].pop(), "invalid categories of column 'c'"),
    "one category less": (lambda h: state(h, "schema", "categories", "c").pop(), "invalid tree state: n_categories"),
    "a category that is a number": (
        lambda h: state(h, "schema", "categories", "c").__setitem__(0, 7),
        "categories of column 'c' must be text",
    ),
    "a negative count": (lambda h: replace(state(h), "n_rows", -1), "invalid number of rows: -1"),
    "an array that is not there": (
        lambda h: replace(state(h, "learned"), "weights", {"array": 10**6}),
        "unknown type tag: 'array'",
    ),
    "another array": (
        lambda h: replace(state(h, "learned"), "weights", {"array": 5}),
        "invalid weights of the mixture: expected float64 numbers of shape",
    ),
    "an unknown type": (lambda h: replace(state(h), "seed", {"object": "x"}), "unknown type tag: 'object'"),
    "an array of objects": (lambda h: h["arrays"][0].__setitem__("dtype", "|O"), "unsupported array type: '|O'"),
    "an array outside": (lambda h: h["arrays"][0].__setitem__("at", 2**40), "array data outside the file"),
    "an array too large": (lambda h: h["arrays"][0].__setitem__("shape", [2**40]), "array data outside the file"),
    "a negative shape": (lambda h: h["arrays"][0].__setitem__("shape", [-1]), "invalid array shape"),
    "not a list": (lambda h: h.__setitem__("arrays", 3), "is not a valid model file"),
}


def replace(packed, key, value):
    for pair in packed["dict"]:
        if pair[0] == key:
            pair[1] = value


def test_a_file_that_is_only_rewritten_still_loads(saved, tmp_path):
    (tmp_path / "model.oco").write_bytes(forged(saved, lambda header: None))
    assert ocoboost.load(tmp_path / "model.oco").n_rows_ == 400


@pytest.mark.parametrize("change", CHANGES)
def test_a_forged_header_gets_an_error(change, saved, tmp_path):
    forge, message = CHANGES[change]
    (tmp_path / "model.oco").write_bytes(forged(saved, forge))
    with pytest.raises(ModelFileError, match=rf"model\.oco: .*{message}"):
        ocoboost.load(tmp_path / "model.oco")


@pytest.mark.parametrize("name", ["hoeffding", "mondrian"])
def test_forged_trees_are_refused_or_harmless(name, tmp_path):
    """Whole numbers anywhere in the arrays are replaced: either that is noticed, or no kernel follows them."""
    path = tmp_path / "model.oco"
    model = taught(MODELS[name](seed=3), list(long_stream()))
    ocoboost.save(model, path)
    saved = path.read_bytes()
    header, first = parts(saved)
    rng = np.random.default_rng(0)
    words = [
        first + place["at"] + 8 * word
        for place in header["arrays"]
        if place["dtype"] != "<f8"
        for word in range(n_words(place))
    ]
    n_refused = 0
    for _ in range(300):
        changed = bytearray(saved)
        value = int(rng.choice([-2, -1, 0, 1, 2, 7, 10**6, -(2**63), 2**63 - 1]))
        struct.pack_into("<q", changed, int(rng.choice(words)), value)
        path.write_bytes(signed(bytes(changed)))
        try:
            loaded = ocoboost.load(path)
        except ModelFileError:
            n_refused += 1
            continue
        loaded.predict_learn_many([x for x, _, _ in long_stream(30)], [y for _, y, _ in long_stream(30)])
    assert n_refused > 30
