"""Files that are damaged, forged or no model files at all: a clear error, and nothing that leads a kernel astray."""

from __future__ import annotations

import os
import pickle
import re
import struct

import numpy as np
import pytest

import ocoboost
from forging import File, entry, forged, misdeclared, packed, parameters, refusal, replace, sealed, state
from model_files import MODELS, long_stream, taught
from ocoboost.errors import ModelFileError
from ocoboost.saving import container
from ocoboost.stream.protocol import StreamClassifier


def test_a_truncated_file_says_so(saved, tmp_path):
    for n_bytes in [0, 1, 7, 8, 20, 31, 39, 40, 100, len(saved) // 2, len(saved) - 1]:
        message = refusal(saved[:n_bytes], tmp_path)
        assert "is truncated" in message or "is empty" in message


def test_any_changed_byte_is_noticed(saved, tmp_path):
    rng = np.random.default_rng(0)
    for place in [0, 3, 12, 20, 28, 36, 40, *rng.integers(40, len(saved), 60), len(saved) - 1]:
        changed = bytearray(saved)
        changed[place] ^= 1 << int(rng.integers(8))
        said = "damaged or was modified", "not a model", "truncated", "format version"
        assert any(words in refusal(changed, tmp_path) for words in said)
    assert "damaged" in refusal(saved + b"more", tmp_path)


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (container.FORMAT_VERSION + 1, "install a newer ocoboost"),
        (2, ", from before the first release; train it again"),
    ],
)
def test_another_version_says_which(version, message, saved, tmp_path):
    changed = bytearray(saved)
    changed[8:12] = struct.pack("<I", version)
    said = refusal(changed, tmp_path)
    assert f"has format version {version}" in said
    assert message in said


@pytest.mark.parametrize("content", [b"PK\x03\x04", b"a,b\n1,2\n", pickle.dumps({"a": 1}), b"\x00" * 100])
def test_other_files_are_no_model_files(content, tmp_path):
    assert "is not a model file" in refusal(content, tmp_path)


def test_what_is_no_regular_file_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # which would block
    for path in (tmp_path / "pipe", tmp_path, "/dev/zero"):
        with pytest.raises(ModelFileError, match=r"is not a regular file"):
            ocoboost.load(path)


# -- forged JSON -------------------------------------------------------------------------------------------------------


def text_as_numbers(header):
    """A row's number would become an index into the tables of categories."""
    replace(state(header, "schema", "kinds"), "c", "numbers")
    state(header, "schema", "categories")["dict"].clear()


CHANGES = {
    "an unknown class": (
        lambda h: replace(entry(h["content"], "classifier"), "class", "os.system"),
        "holds a model of the class 'os.system', which is not registered here",
    ),
    "a class for samples": (
        lambda h: replace(entry(h["content"], "classifier"), "class", "AgnosticBoostClassifier"),
        "holds a model of the class 'AgnosticBoostClassifier', which is not registered here",
    ),
    "no class": (lambda h: replace(entry(h["content"], "classifier"), "class", None), "does not say which model"),
    "an unknown parameter": (lambda h: parameters(h)["dict"].append(["x", 1]), "has other parameters than a"),
    "a parameter less": (lambda h: parameters(h)["dict"].pop(), "has other parameters than a"),
    "a parameter out of range": (lambda h: replace(parameters(h), "budget", -1), "has invalid parameters .*budget"),
    "a budget of nothing": (lambda h: replace(parameters(h), "budget", 0), "has invalid parameters .*budget"),
    "ten million learners": (lambda h: replace(parameters(h), "budget", 10**7), "too few for budget=10000000"),
    "a number beyond kernels": (lambda h: replace(parameters(h), "n_jobs", 2**70), "has invalid parameters .n_jobs"),
    "many gammas": (lambda h: replace(parameters(h), "gammas", [0.5] * 1000), "1000 gammas for 7 boosters"),
    "other members": (lambda h: replace(parameters(h), "budget", 60), "its settings are not those"),
    "a negative seed": (lambda h: replace(state(h), "seed", -1), "invalid seed: -1"),
    "a seed that is none": (lambda h: replace(parameters(h), "seed", -1), "has invalid parameters .*seed"),
    "no notes": (lambda h: h["content"]["dict"].pop(2), "does not hold a model, its state and notes"),
    "half a state": (lambda h: state(h)["dict"].pop(0), "has an incomplete state"),
    "no content": (lambda h: h.pop("content"), "its header lacks arrays or content"),
    "notes that are a list": (lambda h: replace(h["content"], "notes", [1]), "has notes that are a list"),
    "notes that are a number": (lambda h: replace(h["content"], "notes", 3), "has notes that are a int"),
    "a label twice": (lambda h: state(h, "labels").__setitem__(1, state(h, "labels")[0]), "duplicate label"),
    "a label that is missing": (lambda h: state(h, "labels").__setitem__(1, None), "label 1 is missing"),
    "a label that is no key": (
        lambda h: state(h, "labels").__setitem__(1, [1]),
        "label 1 is .1., a list, which cannot be a dictionary key",
    ),
    "too few labels": (lambda h: state(h, "labels").clear(), "invalid last label"),
    "an unknown kind": (lambda h: replace(state(h, "schema", "kinds"), "a", "dates"), "kind of a column: 'dates'"),
    "text as numbers": (text_as_numbers, "invalid tree state"),
    "numbers as text": (
        lambda h: (
            replace(state(h, "schema", "kinds"), "b", "text"),
            state(h, "schema", "categories")["dict"].append(["b", ["red"]]),
        ),
        "invalid tree state",
    ),
    "one column less": (lambda h: state(h, "schema", "kinds")["dict"].pop(), "invalid categories of column 'c'"),
    "one category less": (lambda h: state(h, "schema", "categories", "c").pop(), "invalid tree state"),
    "a category that is a number": (
        lambda h: state(h, "schema", "categories", "c").__setitem__(0, 7),
        "categories of column 'c' must be text",
    ),
    "a negative count": (lambda h: replace(state(h), "n_rows", -1), "invalid number of rows: -1"),
    "a count that overflows": (lambda h: replace(state(h), "n_rows", 2**62), "invalid number of rows"),
    "an array that is not there": (
        lambda h: replace(state(h, "learned"), "weights", {"array": 10**6}),
        "there is no array 1000000 left",
    ),
    "an array in two places": (
        lambda h: state(h, "learned", "weights").__setitem__(0, state(h, "learned", "weights")[1]),
        r"there is no array \d+ left",
    ),
    "no array where one was": (lambda h: replace(state(h, "learned"), "weights", 1), "an array that nothing refers to"),
    "an unknown type": (lambda h: replace(state(h), "seed", {"object": "x"}), "unknown type tag: 'object'"),
    "a key twice": (lambda h: state(h)["dict"].append(["seed", 1]), "duplicate key"),
    "an infinite number": (lambda h: replace(parameters(h), "max_size", float("inf")), "Infinity is no JSON"),
    "terminal escapes": (
        lambda h: replace(entry(h["content"], "classifier"), "class", "\x1b[31m\nred"),
        r"\\x1b\[31m\\nred",
    ),
    "no list of arrays": (lambda h: h.__setitem__("content", 3), "an array that nothing refers to"),
}


def test_a_file_that_is_only_rewritten_still_loads(saved, tmp_path):
    (tmp_path / "model.oco").write_bytes(forged(saved, lambda header: None))
    assert ocoboost.load(tmp_path / "model.oco").n_rows_ == 400


@pytest.mark.parametrize("change", CHANGES)
def test_a_forged_header_gets_an_error(change, saved, tmp_path):
    forge, message = CHANGES[change]
    said = refusal(forged(saved, forge), tmp_path)
    assert re.search(message, said), said


@pytest.mark.parametrize("name", ["hoeffding", "mondrian"])
def test_trees_that_know_a_column_otherwise_than_the_schema_are_refused(name, request, tmp_path):
    content = request.getfixturevalue(name)
    assert "invalid tree state" in refusal(forged(content, text_as_numbers), tmp_path)
    for_text = forged(content, lambda h: replace(state(h, "learned", "ensemble"), "n_categories", 3))
    assert name == "mondrian" or "invalid tree state: n_categories" in refusal(for_text, tmp_path)


def test_json_of_any_depth_is_an_error(tmp_path):
    text = b'{"arrays":[],"content":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert "is not a valid model file" in refusal(packed(text, []), tmp_path)
    shallow = b'{"arrays":[],"content":' + b'{"tuple":[' * 400 + b"]}" * 400 + b"}"
    assert "does not hold a model" in refusal(packed(shallow, []), tmp_path)


def test_learners_are_not_made_before_the_file_is_found_too_small(saved, tmp_path, monkeypatch):
    monkeypatch.setattr(StreamClassifier, "fresh_state", lambda self, seed: pytest.fail("made"))
    for name in ("budget", "n_learners"):
        model = MODELS["mixture" if name == "budget" else "agnostic"](seed=1)
        monkeypatch.undo()
        ocoboost.save(taught(model, list(long_stream(5))), tmp_path / "model.oco")
        monkeypatch.setattr(StreamClassifier, "fresh_state", lambda self, seed: pytest.fail("made"))
        content = forged((tmp_path / "model.oco").read_bytes(), lambda h, n=name: replace(parameters(h), n, 10**7))
        assert f"too few for {name}=10000000" in refusal(content, tmp_path)


# -- what is declared --------------------------------------------------------------------------------------------------

LIES = {
    "objects": (lambda arrays: arrays[0].__setitem__("dtype", "|O"), "unsupported array type: '|O'"),
    "too large": (lambda arrays: arrays[0].__setitem__("shape", [2**40]), "would unpack to"),
    "a negative shape": (lambda arrays: arrays[0].__setitem__("shape", [-1]), "invalid array shape"),
    "a huge shape": (lambda arrays: arrays[0].__setitem__("shape", [2**60]), "invalid array shape"),
    "another shape": (lambda arrays: arrays[0].__setitem__("shape", [3]), "do not have the declared size"),
    "more bytes": (lambda arrays: arrays[0].__setitem__("stored", arrays[0]["stored"] + 1), "do not fill the file"),
    "fewer bytes": (lambda arrays: arrays[-1].__setitem__("stored", 1), "do not fill the file"),
    "one array less": (lambda arrays: arrays.pop(), "do not fill the file"),
    "no size": (lambda arrays: arrays[0].pop("stored"), "there is no 'stored'"),
}


@pytest.mark.parametrize("lie", LIES)
def test_what_is_declared_must_fit_the_file(lie, saved, tmp_path, monkeypatch):
    change, message = LIES[lie]
    if "size" not in message:
        monkeypatch.setattr(container, "inflate", lambda *args: pytest.fail("unpacked"))
    assert message in refusal(misdeclared(saved, change), tmp_path)


def test_a_bomb_is_refused_before_it_is_unpacked(saved, tmp_path, monkeypatch):
    """Zeros can be compressed a thousandfold: whatever a file of a few kilobytes declares, it may not become that."""
    file = File(saved)
    file.arrays[0] = np.zeros(10**7)
    monkeypatch.setattr(container, "inflate", lambda *args: pytest.fail("unpacked"))
    assert "over 50 times as many" in refusal(sealed(file.header, file.arrays), tmp_path)
    text = b'{"arrays":[],"content":"' + b" " * (50 << 20) + b'"}'
    assert "its header would unpack to" in refusal(packed(text, []), tmp_path)
    values = b'{"arrays":[],"content":[' + b"1," * 10**7 + b"1]}"
    assert "are more than a model file holds" in refusal(packed(values, [os.urandom(10**6)]), tmp_path)


def test_what_compresses_too_well_is_saved_so_that_it_loads(tmp_path):
    values = {"zeros": np.zeros(10**7), "text": "a" * 10**6}
    container.write(tmp_path / "zeros", values)
    assert (tmp_path / "zeros").stat().st_size > 8 * 10**7 / 50 - container.ALLOWANCE / 50
    with container.opened(tmp_path / "zeros") as file:
        assert np.array_equal(file.unpacked()["zeros"], values["zeros"])
