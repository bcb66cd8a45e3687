"""A model per key: the bits of models trained apart, in whatever memory, and whatever happens to the program."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws import learned
from ocoboost import HoeffdingTrees, ModelsByKey, MondrianTrees, OnlineAgnosticBoostClassifier, OnlineBoostClassifier
from ocoboost.errors import InvalidInputError, InvalidParameterError, ModelFileError
from strategies import cuts, streams
from toy_learners import Bins

TINY = 0.02  # MiB: one or two models


def trained_apart(model, stream, key):
    own = [(x, y, w) for (x, y, w), k in stream if k == key]
    apart = model.clone()
    said = apart.predict_learn_many([x for x, _, _ in own], [y for _, y, _ in own], w=[w for _, _, w in own])
    return apart, said


MODELS = [
    HoeffdingTrees(grace_period=2, delta=0.9, tau=0.9, seed=1),
    MondrianTrees(n_learners=2, seed=1),
    OnlineAgnosticBoostClassifier(n_learners=3, relabel="random", seed=1),
    OnlineBoostClassifier(budget=5, seed=1),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@settings(max_examples=8)
@given(data=st.data())
def test_every_key_has_the_bits_of_a_model_trained_apart(model, data):
    rows = data.draw(streams(max_rows=30))
    keys = data.draw(st.lists(st.sampled_from(["a", "b", 1, True, ("a", 2)]), min_size=len(rows), max_size=len(rows)))
    stream = list(zip(rows, keys, strict=True))
    said = []
    with ModelsByKey(model, max_size=data.draw(st.sampled_from([TINY, 64.0]))) as models:
        for first, last in data.draw(cuts(len(stream))):
            x, y, w = zip(*rows[first:last], strict=True)
            own = keys[first:last]
            said += models.predict_learn_many(list(x), list(y), own, w=list(w))
        assert {(type(key), key) for key in models} == {(type(key), key) for key in _distinct(keys)}
        for key in _distinct(keys):
            apart, alone = trained_apart(model, [(row, _mark(k)) for row, k in stream], _mark(key))
            assert [label for label, k in zip(said, keys, strict=True) if _mark(k) == _mark(key)] == alone
            assert learned(models.get(key)) == learned(apart)
            scores = models.scores(key)
            labels = [row[1] for row, k in stream if _mark(k) == _mark(key)]
            assert scores.n_rows == len(labels)
            assert scores.n_right == sum(a == b for a, b in zip(alone, labels, strict=True))
        assert models.scores_.n_rows == len(stream)


def _mark(key):
    """1 and True are different keys."""
    return type(key), key


def _distinct(keys):
    return list({_mark(key): key for key in keys}.values())


def numbers(n_keys, n_rows, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_keys * n_rows, 3))
    return X, (X[:, 0] > 0).astype(int), rng.permutation(np.repeat(np.arange(n_keys), n_rows))


def test_memory_is_bounded_and_models_on_disk_come_back():
    X, y, keys = numbers(40, 20)
    with ModelsByKey(HoeffdingTrees(seed=1), max_size=0.1) as models:
        for first in range(0, len(X), 50):
            rows = slice(first, first + 50)
            models.learn_many(X[rows], y[rows], keys[rows])
            assert models.n_in_memory < 8
        assert len(models) == 40
        apart = HoeffdingTrees(seed=1)
        apart.learn_many(X[keys == 7], y[keys == 7])
        assert learned(models.get(7), []) == learned(apart, [])
        assert models.predict_many(X[:30], keys[:30]) == [
            models.predict_one(dict(enumerate(x)), int(key)) for x, key in zip(X[:30].tolist(), keys[:30], strict=True)
        ]


def test_new_keys_may_begin_with_what_a_parent_has_learned():
    X, y, keys = numbers(3, 20)
    parent = HoeffdingTrees(seed=1)
    parent.learn_many(X, y)
    before = learned(parent, [])
    with ModelsByKey(HoeffdingTrees(seed=1), parent=parent, max_size=TINY) as models:
        assert models.predict_one({0: 3.0, 1: 0.0, 2: 0.0}, "new") == parent.predict_one({0: 3.0, 1: 0.0, 2: 0.0})
        models.learn_many(X, y, keys)
        assert models.get(1).n_rows_ == 80
        assert learned(models.get("new"), []) == before == learned(parent, [])
        parent.learn_many(X[keys == 1], y[keys == 1])
        assert learned(models.get(1), []) == learned(parent, [])
        assert "new" not in models
    with pytest.raises(InvalidParameterError, match="parent must be a model with the same class and parameters"):
        ModelsByKey(HoeffdingTrees(seed=2), parent=parent)


def test_the_worst_keys_come_first():
    with ModelsByKey(HoeffdingTrees(seed=1)) as models:
        for key, labels in {"good": "aaaa", "bad": "abcd", "short": "ab"}.items():
            for label in labels:
                models.predict_learn_many([{"x": 1.0}], [label], [key])
        assert [key for key, _ in models.worst()] == ["bad", "short", "good"]
        assert [key for key, _ in models.worst(1, least_rows=3)] == ["bad"]
        assert models.scores("good").accuracy == 0.75  # the first row has no prediction
        assert models.scores_.n_rows == 10
        assert models.scores("nobody").n_rows == 0


def test_a_folder_is_taken_up_where_it_was_flushed(tmp_path):
    X, y, keys = numbers(10, 20)
    with ModelsByKey(HoeffdingTrees(seed=1), folder=tmp_path, max_size=TINY) as models:
        models.predict_learn_many(X[:100], y[:100], keys[:100])
        models.flush()
        models.predict_learn_many(X[100:], y[100:], keys[100:])  # mostly on disk already, and yet not to count
    with ModelsByKey(HoeffdingTrees(seed=1), folder=tmp_path) as models, ModelsByKey(HoeffdingTrees(seed=1)) as whole:
        assert models.scores_.n_rows == 100
        for these in (models, whole):
            these.predict_learn_many(
                X[100:] if these is models else X,
                y[100:] if these is models else y,
                keys[100:] if these is models else keys,
            )
        assert [learned(models.get(key), []) for key in range(10)] == [learned(whole.get(k), []) for k in range(10)]
        assert models.worst() == whole.worst()
    with pytest.raises(ModelFileError, match="its models have another model"):
        ModelsByKey(HoeffdingTrees(seed=2), folder=tmp_path)


LEARNING = """
import sys
import numpy as np
from ocoboost import HoeffdingTrees, ModelsByKey

rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 3))
y, keys = (X[:, 0] > 0).astype(int), rng.permutation(np.repeat(np.arange(20), 50))
models = ModelsByKey(HoeffdingTrees(seed=1), folder=sys.argv[1], max_size=0.02)
for first in range(0, len(X), 20):
    models.predict_learn_many(X[first : first + 20], y[first : first + 20], keys[first : first + 20])
    if first % 100 == 0:
        models.flush()
        print(first, flush=True)
"""


def test_a_program_that_is_killed_leaves_the_last_flush(tmp_path):
    with subprocess.Popen([sys.executable, "-c", LEARNING, str(tmp_path)], stdout=subprocess.PIPE) as process:
        for _ in range(3):
            process.stdout.readline()
        process.kill()
    X, y, keys = numbers(20, 50)
    with ModelsByKey(HoeffdingTrees(seed=1), folder=tmp_path) as models:
        n_rows = models.scores_.n_rows
        assert n_rows >= 220
        assert n_rows % 100 == 20
        apart = HoeffdingTrees(seed=1)
        apart.learn_many(X[:n_rows][keys[:n_rows] == 3], y[:n_rows][keys[:n_rows] == 3])
        assert learned(models.get(3), []) == learned(apart, [])


def test_bad_rows_name_their_key_and_leave_it_as_it_was(tmp_path):
    with ModelsByKey(HoeffdingTrees(seed=1), max_size=TINY) as models:
        models.learn_many([{"a": 1.0}, {"a": 2.0}], ["x", "y"], ["one", "two"])
        with pytest.raises(InvalidInputError, match=r"key 'two': .*column 'a' at row 1"):
            models.learn_many([{"a": 1.0}, {"a": 1.0}, {"a": "text"}], ["x", "x", "x"], ["one", "two", "two"])
        assert [models.get(key).n_rows_ for key in ("one", "two")] == [2, 1]
        with pytest.raises(InvalidInputError, match="there are 1 rows and 2 keys"):
            models.learn_many([{"a": 1.0}], ["x"], ["one", "two"])
        with pytest.raises(InvalidInputError, match="keys: the key at row 0 is missing"):
            models.learn_many([{"a": 1.0}], ["x"], [float("nan")])
    with pytest.raises(ModelFileError, match="cannot be put in a model file"):
        ModelsByKey(OnlineAgnosticBoostClassifier(Bins()))
    (tmp_path / "models.sqlite").write_text("nothing of the kind")
    with pytest.raises(ModelFileError, match="cannot be opened as a file of models by key"):
        ModelsByKey(HoeffdingTrees(), folder=tmp_path)


def test_a_damaged_entry_is_named(tmp_path):
    with ModelsByKey(HoeffdingTrees(seed=1), folder=tmp_path) as models:
        models.learn_many([{"a": 1.0}], ["x"], ["one"])
        models.flush()
    with sqlite3.connect(tmp_path / "models.sqlite") as database:
        database.execute("UPDATE models SET model = substr(model, 1, 100)")
    database.close()
    damaged = ModelsByKey(HoeffdingTrees(seed=1), folder=tmp_path)
    with damaged, pytest.raises(ModelFileError, match="key 'one': is truncated to 100"):
        damaged.get("one")
