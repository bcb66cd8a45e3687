"""Rows one at a time: the short way gives the bits of a block, whatever happens on the way, and is short."""

from __future__ import annotations

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from awkward_rows import spoiled, stream
from laws import learned
from ocoboost import (
    HoeffdingTrees,
    MondrianTrees,
    OnlineAgnosticBoostClassifier,
    OnlineBoostClassifier,
    OnlineRealizableBoostClassifier,
)

MODELS = {
    "mixture": lambda **k: OnlineBoostClassifier(budget=30, seed=2, **k),
    "default mixture": lambda **k: OnlineBoostClassifier(seed=2, **k),
    "small mixture": lambda **k: OnlineBoostClassifier(budget=10, seed=2, **k),
    "mixture over stumps": lambda **k: OnlineBoostClassifier(HoeffdingTrees(max_depth=1), budget=8, seed=2, **k),
    "agnostic": lambda **k: OnlineAgnosticBoostClassifier(HoeffdingTrees(grace_period=20), n_learners=4, seed=2, **k),
    "realizable": lambda **k: OnlineRealizableBoostClassifier(MondrianTrees(), n_learners=4, seed=2, **k),
    "hoeffding": lambda **k: HoeffdingTrees(n_learners=2, grace_period=20, seed=2, **k),
    "mondrian": lambda **k: MondrianTrees(n_learners=3, seed=2, **k),
}
PROBES = [{}, {"p": 0.5}, {"p": -2, "q": 1.0, "text": "red"}, {"text": "violet", "new": 3}]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("spoil", [False, True])
def test_rows_one_at_a_time_are_a_block(name, spoil):
    rows = spoiled(stream()) if spoil else stream()
    X, y = [x for x, _ in rows], [label for _, label in rows]
    one, many = MODELS[name](), MODELS[name]()
    said = []
    for number, (x, label) in enumerate(rows):
        if number % 3:  # not every row is asked about first
            said.append((one.predict_one(x), one.predict_proba_one(x)))
        one.learn_one(x, label)
        if number == 200:
            one = pickle.loads(pickle.dumps(one))
    expected = []
    for answered in many.prequential(X, y):
        for row, label in enumerate(answered.labels):
            probabilities = dict(zip(answered.classes, answered.probabilities[row].tolist(), strict=True))
            expected.append((label, probabilities))
    for (label, probabilities), number in zip(said, (n for n in range(len(rows)) if n % 3), strict=True):
        known = {key: value for key, value in expected[number][1].items() if key in probabilities}
        assert (label, probabilities) == (expected[number][0], known), number
    assert learned(one, PROBES) == learned(many, PROBES)


@pytest.mark.parametrize("name", ["mixture", "agnostic", "mondrian"])
def test_asking_changes_nothing(name):
    rows = stream(150)
    quiet, asked = MODELS[name](), MODELS[name]()
    for x, label in rows:
        asked.predict_one(x)
        asked.learn_one(x, label)
        asked.predict_proba_one(rows[0][0])
        quiet.learn_one(x, label)
    assert learned(asked, PROBES) == learned(quiet, PROBES)
    before = pickle.dumps(asked)
    asked.predict_one(rows[3][0])
    assert pickle.dumps(asked) == before


@pytest.mark.parametrize(
    "x", [{"p": 1.0, "q": 2.0, "r": 3.0, "s": 10**400}, {"p": 1.0, "q": 2.0, "r": 3.0, "s": float("inf")}]
)
def test_bad_rows_still_get_an_error_and_change_nothing(x):
    model = MODELS["mixture"]()
    model.learn_many(*map(list, zip(*stream(80), strict=True)))
    before = pickle.dumps(model)
    for call in (lambda: model.learn_one(x, "k0"), lambda: model.predict_one(x)):
        with pytest.raises(ValueError, match="finite"):
            call()
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("name", ["mixture", "agnostic"])
def test_threads_may_ask_side_by_side(name):
    """What a row needs is kept between rows, but not shared by two at a time."""
    rows = [x for x, _ in stream()]
    model = MODELS[name]()
    model.learn_many(*map(list, zip(*stream(), strict=True)))
    expected = [model.predict_proba_one(x) for x in rows]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            assert list(pool.map(model.predict_proba_one, rows)) == expected


def calls_per_row(model, rows):
    """Python functions entered by ``predict_one`` and ``learn_one`` of a row, on average."""
    n_calls = 0

    def count(frame, event, argument):
        nonlocal n_calls
        n_calls += event == "call"

    sys.setprofile(count)
    try:
        for x, label in rows:
            model.predict_one(x)
            model.learn_one(x, label)
    finally:
        sys.setprofile(None)
    return n_calls / len(rows)


@pytest.mark.parametrize(("name", "most"), [("mixture", 150), ("default mixture", 150), ("agnostic", 60)])
def test_a_row_takes_few_calls(name, most):
    rows = stream(400)
    model = MODELS[name]()
    for x, label in rows[:300]:
        model.predict_one(x)
        model.learn_one(x, label)
    model.learn_many([x for x, _ in rows[300:330]], [label for _, label in rows[300:330]])
    assert calls_per_row(model, rows[330:]) <= most
