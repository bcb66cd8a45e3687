"""The wrapper for CapyMOA says what the booster says, row by row; skipped where CapyMOA is not installed."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("capymoa")

from capymoa.core import Instance, LabeledInstance
from capymoa.evaluation import prequential_evaluation
from capymoa.stream import NumpyStream, Schema

from ocoboost import HoeffdingTrees, OnlineBoostClassifier
from ocoboost.bench import synthetic
from ocoboost.capymoa import OnlineBoostClassifier as Wrapped
from ocoboost.errors import InvalidInputError

SCHEMA = Schema.from_custom(
    ["size", "colour", "class"], target="class", categories={"class": ["no", "yes"], "colour": ["red", "green"]}
)


def labelled(size, colour, label):
    return LabeledInstance.from_array(SCHEMA, np.array([size, colour]), label)


def test_in_capymoas_harness_it_is_as_right_as_on_its_own():
    rows = synthetic.load("axis rule", 600, seed=1).rows
    X, labels = [x for x, _ in rows], [y for _, y in rows]
    known = sorted(set(labels))
    stream = NumpyStream(
        np.array([list(x.values()) for x in X]), np.array([known.index(y) for y in labels]), feature_names=list(X[0])
    )
    model = Wrapped(stream.get_schema(), OnlineBoostClassifier(budget=20), random_seed=7)
    found = prequential_evaluation(stream, model).cumulative.accuracy()
    alone = OnlineBoostClassifier(budget=20, seed=7).predict_learn_many(X, labels)
    # CapyMOA's evaluator counts a row without a prediction as label 0, ours counts it as a mistake.
    right = np.mean([p == y for p, y in zip([known[0], *alone[1:]], labels, strict=True)])
    assert found == pytest.approx(100.0 * right, abs=1e-9)


def test_nominal_features_are_text_and_missing_ones_missing():
    model, twin = Wrapped(SCHEMA, HoeffdingTrees(grace_period=5)), HoeffdingTrees(grace_period=5, seed=1)
    generator = np.random.default_rng(1)
    for _ in range(200):
        size, colour = generator.random(), int(generator.integers(2))
        label = int((size > 0.5) ^ (colour == 1))
        given = float("nan") if generator.random() < 0.2 else size
        instance = labelled(given, colour, label)
        row = {"size": None if np.isnan(given) else given, "colour": ["red", "green"][colour]}
        expected = twin.predict_one(row)
        assert model.predict(instance) == (None if expected is None else ["no", "yes"].index(expected))
        model.train(instance)
        twin.learn_one(row, ["no", "yes"][label])
    assert model.booster.predict_proba_one({"size": 0.9, "colour": "red"}) == twin.predict_proba_one(
        {"size": 0.9, "colour": "red"}
    )


def test_labels_that_have_not_come_have_probability_0_and_before_the_first_nothing_is_said():
    model = Wrapped(SCHEMA, HoeffdingTrees())
    assert model.predict(Instance.from_array(SCHEMA, np.array([0.1, 0.0]))) is None
    assert model.predict_proba(labelled(0.1, 0, 1)) is None
    model.train(labelled(0.1, 0, 1))
    assert model.predict_proba(labelled(0.1, 0, 1)).tolist() == [0.0, 1.0]


def test_the_booster_is_cloned_with_the_seed_and_parameters_make_it_again():
    booster = OnlineBoostClassifier(budget=20)
    model = Wrapped(SCHEMA, booster, random_seed=5)
    assert (model.booster.seed, booster.seed, str(model)) == (5, None, "OnlineBoostClassifier")
    again = Wrapped.from_params(SCHEMA, model.get_params(), random_seed=5)
    assert again.booster.budget == 20


def test_what_cannot_be_wrapped_or_learned_is_named():
    with pytest.raises(TypeError, match="one of ocoboost's online classifiers"):
        Wrapped(SCHEMA, "boost")
    with pytest.raises(InvalidInputError, match="has no label"):
        Wrapped(SCHEMA).train(labelled(0.1, 0, -1))
