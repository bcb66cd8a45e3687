"""Explanations add up, name the features that matter, and change nothing; importances follow the concept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import tree
from scipy.special import betaln

from ocoboost import OnlineBoostClassifier
from ocoboost.errors import InvalidInputError
from ocoboost.learners.evidence import categories_evidence, log_evidence, numbers_evidence

RNG = np.random.default_rng(2)
N_ROWS = 600
COLOURS = ["red", "green", "blue"]


def row_of(numbers, colour):
    return {"a": float(numbers[0]), "b": float(numbers[1]), "noise": float(numbers[2]), "colour": colour}


NUMBERS, TEXTS = RNG.normal(size=(N_ROWS, 3)), RNG.choice(COLOURS, N_ROWS).tolist()
X = [row_of(numbers, colour) for numbers, colour in zip(NUMBERS, TEXTS, strict=True)]
Y = ["up" if x["a"] > 0 else "red" if x["colour"] == "red" else "down" for x in X]


@pytest.fixture(scope="module")
def model():
    model = OnlineBoostClassifier(budget=60, seed=1)
    model.learn_many(X, Y)
    return model


numbers = st.floats(-5, 5)
rows = st.fixed_dictionaries(
    {},
    optional={
        "a": numbers,
        "b": numbers,
        "noise": st.none() | numbers,
        "colour": st.sampled_from([*COLOURS, "unseen"]),
        "unknown": numbers,
    },
)


@settings(max_examples=25, deadline=None)
@given(x=rows, n_walks=st.sampled_from([1, 2, 5, 32]))
def test_the_parts_add_up_to_the_probability_of_the_predicted_label(model, x, n_walks):
    before = model.predict_proba_one(x)
    why = model.explain_one(x, n_walks=n_walks)
    assert why.label == model.predict_one(x)
    assert why.probability == before[why.label]
    assert abs(why.prior + sum(why.contributions.values()) - why.probability) < 1e-9
    assert set(why.contributions) == {"a", "b", "noise", "colour"}
    assert model.predict_proba_one(x) == before
    assert model.explain_one(x, n_walks=n_walks) == why


@pytest.mark.slow
def test_with_two_features_all_orders_are_taken_and_contributions_are_shapley_values():
    model = OnlineBoostClassifier(budget=30, seed=1)
    points = RNG.normal(size=(120, 2)).round(2).tolist()
    labels = [int(a > 0) + int(b > 0.5) for a, b in points]
    model.learn_many([{"a": a, "b": b} for a, b in points], labels)
    x = {"a": 0.4, "b": -0.3}
    why = model.explain_one(x, n_walks=16)
    latest = [points[119 - number * 120 // 8] for number in range(8)]

    def mean(**fixed):
        asked = [{"a": fixed.get("a", a), "b": fixed.get("b", b)} for a, b in latest]
        return np.mean([model.predict_proba_one(row)[why.label] for row in asked])

    alone, other = mean(a=0.4), mean(b=-0.3)
    whole, nothing = model.predict_proba_one(x)[why.label], mean()
    assert why.prior == pytest.approx(nothing, abs=1e-12)
    assert why.contributions["a"] == pytest.approx((alone - nothing + whole - other) / 2, abs=1e-12)
    assert why.contributions["b"] == pytest.approx((other - nothing + whole - alone) / 2, abs=1e-12)


def test_what_matters_contributes(model):
    up, red = model.explain_one(row_of([2.0, 0.0, 0.0], "blue")), model.explain_one(row_of([-2.0, 0.0, 0.0], "red"))
    assert (up.label, next(iter(up.contributions))) == ("up", "a")
    assert red.label == "red"
    assert list(red.contributions)[:2] in (["colour", "a"], ["a", "colour"])
    for why in (up, red):
        strong = min(abs(why.contributions[name]) for name in list(why.contributions)[:1])
        assert max(abs(why.contributions[name]) for name in ("b", "noise")) < 0.3 * strong


def test_members_are_those_of_the_mixture(model):
    why = model.explain_one(X[0])
    weights = model.member_weights_
    assert [vote.weight for vote in why.members] == sorted((vote.weight for vote in why.members), reverse=True)
    assert all(weights[vote.name] == vote.weight for vote in why.members)
    assert "last label" in {vote.name for vote in why.members}
    assert {vote.label for vote in why.members} <= set(model.classes_)


def test_debug_one_is_text_also_before_the_first_row(model):
    text = model.debug_one(X[0])
    assert text.startswith(str(model.predict_one(X[0])))
    assert "Features:" in text
    assert "Members:" in text
    fresh = OnlineBoostClassifier()
    assert "Nothing is predicted" in fresh.debug_one({"a": 1.0})
    assert fresh.explain_one({"a": 1.0}).label is None
    assert fresh.feature_importances_ == {}
    assert fresh.n_rows_ == 0
    with pytest.raises(InvalidInputError, match="n_walks must be a whole number"):
        model.explain_one(X[0], n_walks=0)


def test_a_learner_of_ones_own_is_explained_by_taking_features_away():
    model = OnlineBoostClassifier(tree.HoeffdingTreeClassifier(grace_period=20), gammas=(0.5,), budget=3, seed=1)
    model.learn_many(X[:200], Y[:200])
    why = model.explain_one(X[0])
    assert abs(why.prior + sum(why.contributions.values()) - why.probability) < 1e-9
    assert why.prior == pytest.approx(model.predict_proba_one({})[why.label], abs=1e-12)
    assert set(model.feature_importances_.values()) == {0.0}  # no native trees


# -- importances -------------------------------------------------------------------------------------------------------


def test_importances_add_up_and_rank_what_was_planted(model):
    shares = model.feature_importances_
    assert sum(shares.values()) == pytest.approx(1.0)
    assert list(shares)[:2] == ["a", "colour"]
    assert max(shares["b"], shares["noise"]) < 0.05
    assert list(shares.values()) == sorted(shares.values(), reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_planted_features_rank_first_also_after_a_change(seed):
    """Two of eight features decide, then two others do."""
    rng = np.random.default_rng(seed)
    first, then = rng.permutation(8)[:4].reshape(2, 2)
    points = rng.normal(size=(4000, 8))
    labels = [int(row[first][0] > 0) + 2 * int(row[first][1] > 0) for row in points[:2000]]
    labels += [int(row[then][0] > 0) + 2 * int(row[then][1] > 0) for row in points[2000:]]
    model = OnlineBoostClassifier(seed=seed)
    for half, planted in ((slice(0, 2000), first), (slice(2000, 4000), then)):
        model.learn_many(points[half], labels[half])
        shares = model.feature_importances_
        assert set(list(shares)[:2]) == set(planted.tolist())


@given(st.floats(0, 50), st.floats(0, 50))
def test_the_evidence_of_two_classes_is_a_beta_function(one, other):
    expected = betaln(one + 0.5, other + 0.5) - betaln(0.5, 0.5)
    assert log_evidence(np.array([one, other]), 2) == pytest.approx(expected, abs=1e-9)
    assert log_evidence(np.array([one, other, 0.0, 0.0]), 2) == pytest.approx(expected, abs=1e-9)  # spare classes


def test_the_evidence_of_columns_is_positive_where_they_tell():
    values = RNG.normal(size=(2, 400, 2))
    values[1, :, 0] += 1.0  # the first column tells two classes apart
    weight, mean = np.full((1, 2, 2), 400.0), values.mean(axis=1)[None]
    squares = values.var(axis=1)[None] * 400
    tells, says_nothing = numbers_evidence(weight, mean, squares)[0]
    assert tells > 30.0
    assert says_nothing < 0.0
    constant = numbers_evidence(weight, np.zeros_like(mean), np.zeros_like(squares))
    np.testing.assert_array_equal(constant, 0.0)
    tables = np.array([[[[30.0, 0.0], [15.0, 15.0]], [[0.0, 30.0], [15.0, 15.0]]]])  # (1, classes, columns, categories)
    tells, says_nothing = categories_evidence(tables, 2)[0]
    assert tells > 20.0
    assert says_nothing < 0.0
