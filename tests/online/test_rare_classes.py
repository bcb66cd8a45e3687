"""Class weights and costs: what a row weighs, what is predicted, and what stays as it is."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ocoboost
from awkward_rows import stream
from laws import learned
from ocoboost import OnlineBoostClassifier
from ocoboost.data.costs import Costs
from ocoboost.data.labels import Labels
from ocoboost.errors import InvalidParameterError
from ocoboost.online.mixture.class_weights import MOST, ClassWeights
from ocoboost.sklearn import OnlineBoostClassifier as Wrapper
from toy_learners import Weightless


def made(**options):
    return OnlineBoostClassifier(**({"budget": 10, "seed": 2} | options))


def rows(n_rows=150, **options):
    pairs = stream(n_rows, **options)
    return [x for x, _ in pairs], [y for _, y in pairs]


# -- class weights -----------------------------------------------------------------------------------------------------


def balanced_twin(labels, weights):
    """Row by row, as the formula says."""
    seen, out = {}, []
    for label, weight in zip(labels, weights, strict=True):
        seen[label] = seen.get(label, 0) + (weight > 0)
        occurring = [count for count in seen.values() if count]
        n, k, own = sum(occurring), max(1, len(occurring)), max(1, seen[label])
        out.append(weight * min(MOST, n / (k * own)))
    return out


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 1.0, 2.5])), max_size=40), st.integers(0, 40))
def test_balanced_weights_are_those_of_the_formula_in_any_blocks(pairs, cut):
    labels, weights = np.array([y for y, _ in pairs], dtype=np.int64), np.array([w for _, w in pairs])
    parts = ClassWeights(Labels(range(4)), {})
    found = [parts.weigh(labels[:cut], weights[:cut], 4), parts.weigh(labels[cut:], weights[cut:], 4)]
    np.testing.assert_array_equal(np.concatenate(found), balanced_twin(labels.tolist(), weights.tolist()))


def test_a_late_label_weighs_no_more_than_the_limit():
    weights = ClassWeights(Labels(range(2)), {})
    labels = np.array([0] * 1000 + [1])
    assert weights.weigh(labels, np.ones(1001), 2)[-1] == MOST


@pytest.mark.parametrize("class_weight", ["balanced", {"k1": 5.0, "unseen": 2.0}])
def test_blocks_rows_and_files_agree(class_weight, tmp_path):
    X, y = rows()
    one, many = made(budget=30, class_weight=class_weight), made(budget=30, class_weight=class_weight)
    for number, (x, label) in enumerate(zip(X, y, strict=True)):
        one.learn_one(x, label)
        if number == 70:
            ocoboost.save(one, tmp_path / "model.oco")
            one = ocoboost.load(tmp_path / "model.oco")
    many.learn_many(X[:33], y[:33])
    many.learn_many(X[33:], y[33:])
    assert learned(one) == learned(many)


def test_given_weights_are_weights_of_the_rows():
    X, y = rows()
    by_label, by_row = made(class_weight={"k1": 5.0}), made()
    by_label.learn_many(X, y)
    by_row.learn_many(X, y, w=[5.0 if label == "k1" else 1.0 for label in y])
    assert by_label.predict_proba_many(X[:20]) == by_row.predict_proba_many(X[:20])


def test_a_rare_label_becomes_more_probable():
    draw = np.random.default_rng(1)
    X, new = draw.normal(size=(600, 1)), draw.normal(size=(200, 1))
    y = [int(value) for value in draw.random(600) < 0.05]
    plain, balanced = made(), made(class_weight="balanced")
    means = []
    for model in (plain, balanced):
        model.learn_many(X, y)
        means.append(float(np.mean(model.predict_proba_many(new)[:, 1])))
    assert means[0] < 0.15 < means[1]


@pytest.mark.parametrize("value", ["other", {}, {"a": 0.0}, {"a": -1.0}, {"a": True}, {"a": np.inf}, {"a": "1"}, 1.0])
def test_other_class_weights_are_refused(value):
    with pytest.raises(InvalidParameterError, match="class_weight must"):
        made(class_weight=value).learn_one({"x": 1.0}, "a")


def test_a_weight_for_a_label_that_cannot_occur_is_refused():
    with pytest.raises(InvalidParameterError, match="name labels that are in classes"):
        made(class_weight={"c": 2.0}, classes=["a", "b"]).check_parameters()


def test_learners_without_weights_are_refused():
    with pytest.raises(InvalidParameterError, match="takes no weights"):
        made(learner=Weightless(), class_weight="balanced").learn_one({"x": 1.0}, "a")


def test_an_account_is_of_rows_as_given():
    with pytest.raises(InvalidParameterError, match="be None for an account"):
        made(class_weight="balanced").account()


# -- costs -------------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.integers(-3, 20), min_size=3, max_size=3), min_size=3, max_size=3), st.integers(0, 10**6))
def test_the_cheapest_label_is_found_by_trying_all(matrix, seed):
    draw = np.random.default_rng(seed)
    probabilities = draw.dirichlet([0.5] * 3, size=5)
    costs = Costs({(true, said): float(matrix[true][said]) for true in range(3) for said in range(3)})
    for row, chosen in zip(probabilities, costs.cheapest(probabilities, [0, 1, 2]), strict=True):
        expected = [sum(row[true] * matrix[true][said] for true in range(3)) for said in range(3)]
        assert expected[chosen] <= min(expected) + 1e-9


def test_ties_go_to_the_more_probable_label_and_unknown_labels_are_not_predicted():
    costs = Costs({(0, 1): 0.0, (1, 0): 0.0, (0, 2): -5.0})
    assert costs.cheapest(np.array([[0.3, 0.7, 0.0], [0.7, 0.3, 0.0]]), [0, 1, 2]).tolist() == [1, 0]


def test_without_costs_the_matrix_is_that_of_mistakes():
    probabilities = np.random.default_rng(1).dirichlet([1.0] * 4, size=50)
    assert Costs({}).cheapest(probabilities, "abcd").tolist() == probabilities.argmax(axis=1).tolist()


def test_predictions_are_the_cheapest_labels_and_probabilities_stay(tmp_path):
    X, y = rows()
    costs = {"k0": {"k1": 30.0, "k2": 30.0}, "k1": {"k0": 0.5}}
    plain, model = made(), made(costs=costs)
    said = model.predict_learn_many(X, y)
    plain.learn_many(X, y)
    X, _ = rows(seed=9)
    assert model.predict_proba_many(X) == plain.predict_proba_many(X)
    labels, probabilities = model.classes_, model.answer_many(X).probabilities
    told = Costs({(true, said): cost for true, row in costs.items() for said, cost in row.items()})
    expected = [labels[index] for index in told.cheapest(probabilities, labels)]
    assert model.predict_many(X) == expected == [model.predict_one(x) for x in X]
    assert expected != plain.predict_many(X)
    assert said.count("k0") > y.count("k0")
    ocoboost.save(model, tmp_path / "model.oco")
    for copy in (ocoboost.load(tmp_path / "model.oco"), pickle.loads(pickle.dumps(model))):
        assert copy.predict_many(X) == expected
    assert model.predict_one(X[0], key="a") == expected[0]


def test_a_matrix_is_in_the_order_of_classes(tmp_path):
    X, y = rows()
    classes = ["k2", "k0", "k1"]
    matrix = np.array([[0.0, 1.0, 1.0], [30.0, 0.0, 30.0], [1.0, 0.5, 0.0]])
    by_matrix = made(classes=classes, costs=matrix)
    by_name = made(classes=classes, costs={"k0": {"k1": 30.0, "k2": 30.0}, "k1": {"k0": 0.5}})
    for model in (by_matrix, by_name):
        model.learn_many(X, y)
    assert by_matrix.predict_many(X) == by_name.predict_many(X)
    ocoboost.save(by_matrix, tmp_path / "model.oco")
    assert ocoboost.load(tmp_path / "model.oco").predict_many(X) == by_name.predict_many(X)


@pytest.mark.parametrize(
    "costs",
    [5, "a", {"a": 1.0}, {"a": {"b": np.nan}}, {"a": {"b": "1"}}, {"a": {"c": 1.0}}, [[0, 1]], [[0, 1], [1]], [1, 2]],
)
def test_other_costs_are_refused(costs):
    with pytest.raises(InvalidParameterError, match="costs must"):
        made(costs=costs, classes=["a", "b"]).learn_one({"x": 1.0}, "a")


def test_a_matrix_needs_classes():
    with pytest.raises(InvalidParameterError, match="a matrix needs classes"):
        made(costs=[[0, 1], [1, 0]]).check_parameters()


def test_the_wrapper_predicts_the_cheapest_label():
    X, y = rows()
    X, y = pd.DataFrame(X).to_numpy(), np.array(y)
    model = Wrapper(made(costs={"k0": {"k1": 30.0, "k2": 30.0}})).partial_fit(X, y)
    X = pd.DataFrame(rows(seed=9)[0]).to_numpy()
    assert model.predict(X).tolist() == model.booster_.predict_many(X)
    assert model.predict(X).tolist() != model.classes_[model.predict_proba(X).argmax(axis=1)].tolist()


@pytest.mark.parametrize("key", [None, "k"])
def test_costs_say_nothing_before_the_first_label(key):
    model = made(costs={"b": {"a": 20.0}})
    assert model.predict_one({"x": 1.0}, key=key) is None
    assert list(model.predict_many([{"x": 1.0}], keys=None if key is None else [key])) == [None]
