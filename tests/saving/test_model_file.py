"""Model files: the same model back, to the bit, types kept; and what cannot be saved is named."""

from __future__ import annotations

import copy
import enum
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import tree

import ocoboost
from model_files import MODELS, knowledge, long_stream, taught
from ocoboost.bench.datasets import load
from ocoboost.errors import BrokenModelError, ModelFileError
from ocoboost.saving.values import pack, unpack
from strategies import streams


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=12)
@given(stream=streams(), seed=st.sampled_from([None, 0, 2**64 - 1]), data=st.data())
def test_a_loaded_model_resumes_bit_identically(name, stream, seed, data, tmp_path_factory):
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


@pytest.mark.parametrize(
    "name", [name if name == "mixture" else pytest.param(name, marks=pytest.mark.slow) for name in MODELS]
)
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


@pytest.mark.parametrize("name", ["mixture", "hoeffding", "mondrian"])
def test_a_file_does_not_depend_on_how_large_the_arrays_have_grown(name, tmp_path):
    model = taught(MODELS[name](seed=3), list(long_stream(100)))
    ocoboost.save(model, tmp_path / "model.oco")
    for cascade in model.state_.engine.cascades:
        for _ in range(3):
            cascade.ensemble.grow()
    ocoboost.save(model, tmp_path / "grown.oco")
    assert (tmp_path / "grown.oco").read_bytes() == (tmp_path / "model.oco").read_bytes()
    assert ocoboost.load(tmp_path / "model.oco").memory_usage_ < model.memory_usage_


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=8)
@given(stream=streams(), data=st.data())
def test_a_pickle_holds_what_is_used_and_resumes_bit_identically(name, stream, data):
    half = data.draw(st.integers(1, len(stream)))
    model = taught(MODELS[name](seed=5), stream[:half])
    for back in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert knowledge(back) == knowledge(model)
        assert back.memory_usage_ <= model.memory_usage_
        assert knowledge(taught(back, stream[half:])) == knowledge(taught(copy.deepcopy(model), stream[half:]))


@pytest.mark.slow
def test_the_default_after_all_of_segment_is_a_small_file(tmp_path):
    """205 MB before files held only what is used; see `benchmarks/model_files.py` for times."""
    rows = load("segment")
    model = ocoboost.OnlineBoostClassifier(seed=1)
    model.learn_many([x for x, _ in rows], [y for _, y in rows])
    ocoboost.save(model, tmp_path / "model.oco")
    assert (tmp_path / "model.oco").stat().st_size <= 20e6
    assert knowledge(ocoboost.load(tmp_path / "model.oco")) == knowledge(model)


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


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("agnostic", "gamma", 0.9),
        ("agnostic", "relabel", "fractional"),
        ("hoeffding", "feature_share", 0.5),
        ("hoeffding", "nominal_attributes", None),
        ("hoeffding", "max_size", 0.2),
        ("mondrian", "nominal_attributes", ["b", "a"]),
        ("mondrian", "max_nodes", 40),
        ("mondrian", "max_size", 1.0),
        ("mixture", "budget", 60),
    ],
)
def test_changed_parameters_are_noticed(name, parameter, value, tmp_path):
    model = taught(MODELS[name](seed=1), list(long_stream(20)))
    setattr(model, parameter, value)
    with pytest.raises(ModelFileError, match="parameters were changed after it had begun to learn"):
        ocoboost.save(model, tmp_path / "model.oco")


def test_a_partly_taught_model_is_not_saved(tmp_path):
    model = taught(MODELS["agnostic"](seed=1), list(long_stream(20)))
    model.state_.broken = "learning was interrupted at row 3"
    with pytest.raises(ModelFileError, match="interrupted at row 3"):
        ocoboost.save(model, tmp_path / "model.oco")
    with pytest.raises(BrokenModelError):
        model.learn_one({}, 1)
