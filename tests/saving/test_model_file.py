"""Model files: the same bits back, types kept, nothing executed, and a clear error for anything else."""

from __future__ import annotations

import enum
import hashlib
import json
import os
import pickle
import struct
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import tree

import ocoboost
from ocoboost.errors import BrokenModelError, ModelFileError
from ocoboost.saving import container
from ocoboost.saving.values import pack, unpack
from strategies import streams

MODELS = {
    "default": lambda **k: ocoboost.OnlineAgnosticBoostClassifier(budget=12, **k),
    "gammas": lambda **k: ocoboost.OnlineAgnosticBoostClassifier(ocoboost.MondrianTrees(), budget=8, **k),
    "single": lambda **k: ocoboost.OnlineAgnosticBoostClassifier(
        ocoboost.HoeffdingTrees(grace_period=5, tau=1.0), gamma=0.3, n_learners=3, relabel="random", **k
    ),
    "realizable": lambda **k: ocoboost.OnlineRealizableBoostClassifier(n_learners=3, player="coin", **k),
    "mbbm": lambda **k: ocoboost.OnlineMBBMClassifier(n_learners=4, mode=("ties", "constants"), **k),
    "olm": lambda **k: ocoboost.AdaBoostOLMClassifier(ocoboost.MondrianTrees(split_pure=True), n_learners=4, **k),
    "hoeffding": lambda **k: ocoboost.HoeffdingTrees(
        n_learners=3, grace_period=4, tau=1.0, feature_share=0.6, max_size=0.1, nominal_attributes=["a"], **k
    ),
    "mondrian": lambda **k: ocoboost.MondrianTrees(n_learners=3, max_nodes=30, nominal_attributes=["b"], **k),
}
PROBES = [{}, {"a": 0.5}, {"a": -2, "b": 1.0, "c": "red"}, {"c": "violet", "d": 3}]


def knowledge(model):
    """All that a model has learned, so that == compares to the bit."""
    state = model._state
    mixture = None if state.mixture is None else (state.mixture.weights.tobytes(), state.mixture.n_rows)
    return (
        [(type(label), label) for label in state.labels.known],
        [(type(name), name, kind) for name, kind in state.schema.kinds.items()],
        state.schema.categories,
        (state.n_rows, state.seed, mixture),
        [[array.tobytes() for array in ensemble.trees] for _, ensemble in state.members],
        [getattr(cascade, "alphas", np.zeros(0)).tobytes() for cascade, _ in state.members],
        [model.predict_proba_one(x) for x in PROBES],
        [model.sample_one(x) for x in PROBES],
    )


def taught(model, stream):
    for x, y, w in stream:
        model.learn_one(x, y, w=w)
    return model


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=12)
@given(stream=streams(), seed=st.sampled_from([None, 0, 2**64 - 1]), data=st.data())
def test_a_loaded_model_goes_on_to_the_same_bits(name, stream, seed, data, tmp_path_factory):
    half = data.draw(st.integers(0, len(stream)))
    model = taught(MODELS[name](seed=seed), stream[:half])
    path = tmp_path_factory.mktemp("models") / "model.oco"
    ocoboost.save(model, path)
    loaded = ocoboost.load(path)
    assert repr(loaded) == repr(model)
    if half == 0:
        assert loaded.n_rows_ == 0
        return
    assert knowledge(loaded) == knowledge(model)
    ocoboost.save(loaded, path.with_name("again.oco"))
    assert path.read_bytes() == path.with_name("again.oco").read_bytes()
    assert knowledge(taught(loaded, stream[half:])) == knowledge(taught(model, stream[half:]))


def long_stream(n_rows=400):
    rng = np.random.default_rng(1)
    for _ in range(n_rows):
        x = {"a": float(rng.integers(5)), "b": float(rng.normal()), "c": ["red", "blue", "green"][rng.integers(3)]}
        if rng.random() < 0.1:
            x.pop("b")
        yield x, int(x["a"] > 2) + 2 * (x["c"] == "red"), 1.0


@pytest.mark.parametrize("name", MODELS)
def test_grown_trees_come_back_in_another_process(name, tmp_path):
    stream = list(long_stream())
    model = taught(MODELS[name](seed=3), stream[:300])
    ocoboost.save(model, tmp_path / "model.oco")
    (tmp_path / "rest.pickle").write_bytes(pickle.dumps(stream[300:]))
    code = (
        "import ocoboost, pickle, sys\n"
        f"model = ocoboost.load({str(tmp_path / 'model.oco')!r})\n"
        f"rows = pickle.load(open({str(tmp_path / 'rest.pickle')!r}, 'rb'))\n"
        "model.learn_many([x for x, _, _ in rows], [y for _, y, _ in rows])\n"
        f"ocoboost.save(model, {str(tmp_path / 'done.oco')!r})\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert knowledge(ocoboost.load(tmp_path / "done.oco")) == knowledge(taught(model, stream[300:]))


LABELS = ["1", 1, 2.5, True, (1, "a"), b"x", "", "naïve", "\ud800", frozenset({1, 2}), 10**30]


def test_labels_and_names_keep_their_types(tmp_path):
    labels = [label for label in LABELS if label is not True]  # True and 1 are one label
    model = ocoboost.HoeffdingTrees(seed=1)
    for number, label in enumerate(labels):
        model.learn_one({label: float(number), "text": "red"}, label)
    ocoboost.save(model, tmp_path / "model.oco")
    assert knowledge(ocoboost.load(tmp_path / "model.oco")) == knowledge(model)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
        lambda inner: st.tuples(inner, inner) | st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    )
)
def test_any_value_comes_back_as_it_was(value):
    back = unpack(json.loads(json.dumps(pack(value, []))), [])
    assert back == value
    assert repr(back) == repr(value)  # 1, 1.0 and True are equal, their representations are not


class Colour(enum.Enum):
    RED = 1


@pytest.mark.parametrize("label", [Colour.RED, np.datetime64("2020-01-01")])
def test_a_label_that_cannot_be_saved_is_named(label, tmp_path):
    model = ocoboost.HoeffdingTrees(seed=1)
    model.learn_one({"a": 1.0}, label)
    with pytest.raises(ModelFileError, match="which a model file cannot hold"):
        ocoboost.save(model, tmp_path / "model.oco")
    assert not list(tmp_path.iterdir())


def test_foreign_learners_are_refused_with_the_way_out(tmp_path):
    model = ocoboost.OnlineAgnosticBoostClassifier(tree.HoeffdingTreeClassifier(), gamma=0.5, n_learners=2)
    for _ in range(2):  # before and after learning
        with pytest.raises(ModelFileError, match=r"HoeffdingTreeClassifier cannot be put in.*Use pickle"):
            ocoboost.save(model, tmp_path / "model.oco")
        model.learn_one({"a": 1.0}, "x")
    with pytest.raises(ModelFileError, match="dict cannot be put in a model file"):
        ocoboost.save({}, tmp_path / "model.oco")


def test_changed_parameters_are_noticed(tmp_path):
    model = taught(MODELS["single"](seed=1), list(long_stream(20)))
    model.gamma = 0.9
    with pytest.raises(ModelFileError, match="parameters were changed after it had begun to learn"):
        ocoboost.save(model, tmp_path / "model.oco")


def test_a_partly_taught_model_is_not_saved(tmp_path):
    model = taught(MODELS["single"](seed=1), list(long_stream(20)))
    model._state.broken = "learning was interrupted at row 3"
    with pytest.raises(ModelFileError, match="interrupted at row 3"):
        ocoboost.save(model, tmp_path / "model.oco")
    with pytest.raises(BrokenModelError):
        model.learn_one({}, 1)


# -- bad files ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.oco"
    ocoboost.save(taught(MODELS["default"](seed=3), list(long_stream())), path)
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
        with pytest.raises(ModelFileError, match=r"damaged or was changed|not a model|newer|truncated|format version"):
            ocoboost.load(path)
    path.write_bytes(saved + b"more")
    with pytest.raises(ModelFileError, match="damaged"):
        ocoboost.load(path)


def test_a_newer_version_says_which(saved, tmp_path):
    newer = bytearray(saved)
    newer[8:12] = struct.pack("<I", container.FORMAT_VERSION + 1)
    (tmp_path / "model.oco").write_bytes(newer)
    with pytest.raises(ModelFileError, match=r"has format version 2, and this is ocoboost .* install a newer"):
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
    prefix = struct.pack("<8sIIQQ", container.MAGIC, 1, 0, start + len(body) + 32, len(text))
    return signed((prefix + text).ljust(start, b"\0") + body + bytes(32))


def entry(packed, *keys):
    """Where a value is in packed dicts."""
    for key in keys:
        pairs = packed["dict"] if isinstance(packed, dict) else enumerate(packed)
        packed = next(value for name, value in pairs if name == key)
    return packed


CHANGES = {
    "a class that is not ours": lambda h: replace(entry(h["content"], "classifier"), "class", "os.system"),
    "an unknown parameter": lambda h: entry(h["content"], "classifier", "parameters")["dict"].append(["x", 1]),
    "a parameter out of range": lambda h: replace(entry(h["content"], "classifier", "parameters"), "budget", -1),
    "other members": lambda h: replace(entry(h["content"], "classifier", "parameters"), "budget", 60),
    "no state": lambda h: entry(h["content"])["dict"].pop(1),
    "labels twice": lambda h: entry(h["content"], "state", "labels").__setitem__(
        1, entry(h["content"], "state", "labels")[0]
    ),
    "too few labels": lambda h: entry(h["content"], "state", "labels").clear(),
    "a kind of column": lambda h: replace(entry(h["content"], "state", "kinds"), "a", "dates"),
    "one column less": lambda h: entry(h["content"], "state", "kinds")["dict"].pop(),
    "one category less": lambda h: entry(h["content"], "state", "categories", "c").pop(),
    "a negative count": lambda h: replace(entry(h["content"], "state"), "n_rows", -1),
    "no such array": lambda h: replace(entry(h["content"], "state", "mixture"), "weights", {"array": 10**6}),
    "another array": lambda h: replace(entry(h["content"], "state", "mixture"), "weights", {"array": 5}),
    "a strange type": lambda h: replace(entry(h["content"], "state"), "seed", {"object": "x"}),
    "an array of objects": lambda h: h["arrays"][0].__setitem__("dtype", "|O"),
    "an array outside": lambda h: h["arrays"][0].__setitem__("at", 2**40),
    "an array too large": lambda h: h["arrays"][0].__setitem__("shape", [2**40]),
    "a negative shape": lambda h: h["arrays"][0].__setitem__("shape", [-1]),
    "not a list": lambda h: h.__setitem__("arrays", 3),
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
    (tmp_path / "model.oco").write_bytes(forged(saved, CHANGES[change]))
    with pytest.raises(ModelFileError, match=r"model\.oco"):
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
        for word in range(
            int(np.prod(place["shape"])) * (1 if isinstance(place["dtype"], str) else len(place["dtype"]))
        )
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


# -- writing -----------------------------------------------------------------------------------------------------------


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.oco"
    model = taught(MODELS["hoeffding"](seed=1), list(long_stream(20)))
    ocoboost.save(model, path)
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelFileError, match=r"model\.oco: cannot be written .No space left"):
        ocoboost.save(taught(model, list(long_stream(20))), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_there_is_a_whole_file_at_any_moment(tmp_path):
    """A process saves in a loop and is killed; whatever is left loads."""
    path = tmp_path / "model.oco"
    code = (
        "import ocoboost, itertools\n"
        "model = ocoboost.MondrianTrees(n_learners=50, seed=1)\n"
        "for number in itertools.count():\n"
        "    model.learn_many([{'a': float(number), 'b': float(n)} for n in range(20)], list('ab' * 10))\n"
        f"    ocoboost.save(model, {str(path)!r})\n"
        "    print(number, flush=True)\n"
    )
    for n_lines in (1, 4, 9):
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
            for _ in range(n_lines):
                process.stdout.readline()
            process.kill()
        assert ocoboost.load(path).n_rows_ >= 20 * n_lines


def test_a_link_keeps_pointing_to_the_file(tmp_path):
    (tmp_path / "link.oco").symlink_to(tmp_path / "model.oco")
    ocoboost.save(MODELS["single"](), tmp_path / "link.oco")
    assert (tmp_path / "link.oco").is_symlink()
    assert ocoboost.load(tmp_path / "model.oco").gamma == 0.3


def test_loading_executes_and_imports_nothing_from_the_file(tmp_path):
    code = (
        "import sys, ocoboost\n"
        f"model = ocoboost.load({str(tmp_path / 'model.oco')!r})\n"
        "print('pickle' in dir(sys.modules['ocoboost.saving.container']), type(model).__name__)\n"
    )
    ocoboost.save(MODELS["single"](), tmp_path / "model.oco")
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False", "OnlineAgnosticBoostClassifier"]
