"""Exponential weights over classes: against every member written out, and against what is promised."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ocoboost
from expert_twins import Exponential, stump_functions, vote_by_logarithms
from ocoboost import FiniteExperts, LittlestoneExperts, MatrixExperts, StumpExperts
from ocoboost.errors import InvalidInputError, InvalidParameterError
from ocoboost.learners.experts.hypotheses import WeightMatrixClass
from ocoboost.learners.experts.rates import LearningRate
from ocoboost.learners.experts.stump_kernels import make_room, vote_by_stumps
from ocoboost.learners.experts.stumps import StumpClass
from strategies import cuts

SMALL = [
    StumpClass(n_features=d, n_classes=k, n_cells=b, n_pieces=p)
    for d, b, k, p in itertools.product((1, 2), range(1, 6), (1, 2, 3), (None, 1, 2, 4))
    if p != 4 or k < 3
]


def vote_of_members(stumps, gains, cells, rate):
    """The vote by enumeration, its sums compensated."""
    centres = (np.arange(stumps.n_cells) + 0.5) / stumps.n_cells
    totals, labels = [], []
    for stump in stumps.members():
        X = np.tile(centres[:, None], stumps.n_features)
        said = stump(X)
        totals.append(math.fsum(gains[stump.feature, np.arange(stumps.n_cells), said]))
        labels.append(said[cells[stump.feature]])
    best = max(totals)
    weights = [math.exp(rate * (total - best)) for total in totals]
    by_label = [
        math.fsum(w for w, said in zip(weights, labels, strict=True) if said == label)
        for label in range(stumps.n_classes)
    ]
    return np.array(by_label) / math.fsum(weights)


@pytest.mark.parametrize("stumps", SMALL, ids=str)
def test_the_dynamic_programme_is_the_enumeration(stumps):
    """All d <= 2, cells <= 5, k <= 3."""
    rng = np.random.default_rng(stumps.n_cells)
    shape = (stumps.n_features, stumps.n_cells, stumps.n_classes)
    room, out = make_room(stumps.pieces, stumps.n_classes), np.empty(stumps.n_classes)
    for scale in (0.0, 1.0, 30.0, 5000.0):
        # Multiples of a sixteenth have exact sums, so that enumeration is right to the last digits at any scale.
        gains = np.round(16 * scale * rng.normal(size=shape)) / 16
        cells = rng.integers(stumps.n_cells, size=stumps.n_features)
        vote_by_stumps(gains, cells, 0.5, room, out)
        np.testing.assert_allclose(out, vote_of_members(stumps, gains, cells, 0.5), rtol=0, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 20.0, 1000.0])
def test_large_classes_vote_as_in_logarithms(scale):
    rng = np.random.default_rng(8)
    for d, b, k, pieces in [(6, 12, 4, 4), (3, 20, 5, 3), (2, 9, 7, 7)]:
        gains = scale * rng.random((d, b, k))
        cells, out = rng.integers(b, size=d), np.empty(k)
        vote_by_stumps(gains, cells, 1.0, make_room(pieces, k), out)
        np.testing.assert_allclose(out, vote_by_logarithms(gains, cells, 1.0, pieces), rtol=1e-10, atol=1e-10)


def taught_rows(n_rows, n_classes, rng):
    """Hard labels, soft labels, weighted ones, nothing, and gains of a label over its rival."""
    rows = rng.dirichlet(np.full(n_classes, 0.5), size=n_rows)
    hard = np.eye(n_classes)[rng.integers(n_classes, size=n_rows)]
    kinds = rng.integers(5, size=n_rows)
    rows[kinds == 1] = hard[kinds == 1]
    rows[kinds == 2] *= rng.random((int((kinds == 2).sum()), 1)) * 3
    rows[kinds == 3] = 0.0
    rows[kinds == 4] = (hard - np.roll(hard, 1, axis=1))[kinds == 4]
    return rows


RATES = [LearningRate(), LearningRate(horizon=50), LearningRate(constant=1.0)]


@pytest.mark.parametrize("rate", RATES, ids=str)
@pytest.mark.parametrize(("d", "b", "k"), [(1, 5, 2), (2, 4, 3), (2, 5, 2), (1, 3, 3)])
def test_stump_experts_learn_as_the_enumeration_does(d, b, k, rate):
    rng = np.random.default_rng(7)
    X, taught = rng.uniform(-0.1, 1.1, size=(40, d)), taught_rows(40, k, rng)
    X[rng.random(X.shape) < 0.1] = np.nan
    ensemble = StumpExperts(n_cells=b, learning_rate=rate.constant, horizon=rate.horizon).make_ensemble(1, seed=0)
    votes = np.empty((40, k))
    ensemble.vote_and_learn(0, ensemble.prepare(piece(X), learning=True), taught, votes)
    twin = Exponential(stump_functions(StumpClass(d, k, b)), k, rate)
    for x, weights, vote in zip(X, taught, votes, strict=True):
        np.testing.assert_allclose(vote, twin.vote(x), rtol=0, atol=1e-12)
        twin.learn(x, weights)


def piece(X):
    from ocoboost.data.rows import NumberRows
    from ocoboost.data.schema import Block, Schema

    rows = NumberRows(list(range(X.shape[1])), X)
    schema = Schema()
    for additions in schema.plan(rows).values():
        schema.apply(additions)
    return Block(rows, schema)


def test_a_class_that_grows_is_the_class_known_from_the_start():
    rng = np.random.default_rng(3)
    rows = [({"a": v} if n < 20 else {"a": v, "b": w}) for n, (v, w) in enumerate(rng.random((60, 2)))]
    labels = ["x"] * 5 + ["y"] * 10 + list(rng.choice(list("xyz"), size=45))
    growing, known = StumpExperts(n_cells=4), StumpExperts(n_cells=4, classes=["x", "y", "z"])
    known.learn_one({"a": 0.5, "b": None}, "x", w=0.0)
    for x, y in zip(rows, labels, strict=True):
        growing.learn_one(x, y)
        known.learn_one(x, y)
    for x in rows:
        assert growing.predict_proba_one(x) == pytest.approx(known.predict_proba_one(x), abs=1e-12)
    assert growing.hypothesis_class_ == known.hypothesis_class_ == StumpClass(2, 3, 4)
    assert growing.regret_bound(60) == StumpExperts(n_cells=4).regret_bound(60, n_features=2, n_classes=3)


@pytest.mark.parametrize("scale", [1e3, 1e6, 1e9])
def test_any_gains_give_distributions(scale):
    rng = np.random.default_rng(1)
    out = np.empty(4)
    for _ in range(20):
        gains = scale * rng.normal(size=(3, 12, 4))
        vote_by_stumps(gains, rng.integers(12, size=3), 1.0, make_room(4, 4), out)
        assert out.min() >= 0.0
        assert out.sum() == pytest.approx(1.0, abs=1e-12)


def test_weight_two_is_two_rows_at_a_constant_rate():
    rng = np.random.default_rng(5)
    once, twice = StumpExperts(learning_rate=0.3, n_cells=5), StumpExperts(learning_rate=0.3, n_cells=5)
    for x, y in zip(rng.random(30), rng.integers(3, size=30), strict=True):
        once.learn_one({"a": x}, int(y), w=2.0)
        twice.learn_one({"a": x}, int(y))
        twice.learn_one({"a": x}, int(y))
    assert once.predict_proba_one({"a": 0.4}) == pytest.approx(twice.predict_proba_one({"a": 0.4}), abs=1e-12)


@pytest.mark.parametrize("rate", RATES, ids=str)
def test_matrix_and_function_experts_learn_as_the_enumeration_does(rate):
    rng = np.random.default_rng(2)
    X, labels = rng.integers(-2, 3, size=(40, 2)).astype(float), rng.integers(2, size=40)
    matrices = WeightMatrixClass(2, 2, 3)
    functions = [lambda x, matrix=matrix: int(np.argmax(matrix @ x)) for matrix in matrices.matrices]
    by_row = [lambda row, function=function: function(np.array([row["a"], row["b"]])) for function in functions]
    options = {"learning_rate": rate.constant, "horizon": rate.horizon, "classes": [0, 1]}
    models = [MatrixExperts(["a", "b"], 2, **options), FiniteExperts(by_row, 2, **options)]
    twin = Exponential(functions, 2, rate)
    for x, y in zip(X, labels, strict=True):
        row = {"a": x[0], "b": x[1], "unread": 3.0}
        expected = twin.vote(x)
        for model in models:
            assert list(model.predict_proba_one(row).values()) == pytest.approx(list(expected), abs=1e-12)
            model.learn_one(row, int(y))
        twin.learn(x, np.eye(2)[y])


# -- what is promised ----------------------------------------------------------------------------------------------


def stubborn_labels(votes, rng):
    """Against the vote: the label that has least of it."""
    return int(np.argmin(votes + 1e-9 * rng.random(len(votes))))


def noisy_labels(votes, rng):
    return int(rng.integers(len(votes)))


def shifting_labels(votes, rng):
    return int(rng.integers(2)) if rng.random() < 0.9 else len(votes) - 1


@pytest.mark.parametrize("adversary", [stubborn_labels, noisy_labels, shifting_labels])
@pytest.mark.parametrize("horizon", [None, 400])
@pytest.mark.parametrize("is_soft", [False, True])
def test_the_regret_of_expected_votes_is_below_its_bound(adversary, horizon, is_soft):
    """A statement about every sequence, so there are no false alarms."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        n_rows, k = 400, 3
        X = rng.random((n_rows, 2))
        ensemble = StumpExperts(n_cells=6, horizon=horizon).make_ensemble(1, seed)
        block = ensemble.prepare(piece(X), learning=True)
        taught, gained, vote = np.zeros((n_rows, k)), 0.0, np.empty((1, k))
        for row in range(n_rows):
            ensemble.vote(0, block[row : row + 1], vote)
            taught[row] = np.eye(k)[adversary(vote[0], rng)]
            if is_soft:
                taught[row] = 0.7 * taught[row] + 0.3 * rng.dirichlet(np.ones(k))
            gained += float(vote[0] @ taught[row])
            ensemble.vote_and_learn(0, block[row : row + 1], taught[row : row + 1], vote)
        best = ensemble.hypothesis_class.best_in_class(X, taught).value
        for_all = ensemble.regret_bound(n_rows)
        assert 2.0 * (best - gained) <= for_all
        expected = math.sqrt((2.0 if horizon else 4.0) * n_rows * StumpClass(2, k, 6).log_size)
        assert for_all == pytest.approx(expected)


def test_drawn_votes_gain_what_is_expected():
    """The regret of drawn votes over 40 seeds, against its bound plus what draws may add.

    The gain of a drawn vote differs from its expectation by a martingale with steps of at most 2 in range: it falls
    short by more than sqrt(2 T ln(1/a)) with probability at most a in each run. With a = 1e-6 / 40 a false alarm has
    probability 1e-6, and the seeds are fixed.
    """
    n_rows, k, n_seeds = 300, 3, 40
    slack = math.sqrt(2 * n_rows * math.log(n_seeds / 1e-6))
    shortfalls = []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        X, labels = rng.random((n_rows, 1)), rng.integers(k, size=n_rows)
        labels = np.where(rng.random(n_rows) < 0.7, (X[:, 0] * k).astype(int), labels)
        taught = np.eye(k)[labels]
        drawn, expected = np.empty((n_rows, k)), np.empty((n_rows, k))
        for votes, out in (("random", drawn), ("expected", expected)):
            ensemble = StumpExperts(n_cells=6, votes=votes, horizon=n_rows).make_ensemble(1, seed)
            ensemble.vote_and_learn(0, ensemble.prepare(piece(X), learning=True), taught, out)
        assert set(np.unique(drawn)) == {0.0, 1.0}
        best = ensemble.hypothesis_class.best_in_class(X, taught).value
        assert 2.0 * (best - float((drawn * taught).sum())) <= ensemble.regret_bound(n_rows) + slack
        shortfalls.append(2.0 * float(((expected - drawn) * taught).sum()))
    # The mean of 40 such differences, each with a variance of at most n_rows: five standard errors.
    assert abs(np.mean(shortfalls)) < 5 * math.sqrt(n_rows / n_seeds)


# -- under boosters ------------------------------------------------------------------------------------------------

THRESHOLDS = [[int(point >= cut) for point in range(6)] for cut in range(7)]
LEARNERS = {
    "stumps": StumpExperts(n_cells=4, high=6.0),
    "drawn stumps": StumpExperts(n_cells=4, high=6.0, votes="random"),
    "functions": FiniteExperts([lambda x: 0, lambda x: 1, lambda x: int((x.get("a") or 0) > 2)], 3),
    "matrices": MatrixExperts(["a"], 3, votes="random"),
    "table": LittlestoneExperts(THRESHOLDS, "a", horizon=5),
}
BOOSTERS = [
    ocoboost.OnlineAgnosticBoostClassifier,
    ocoboost.OnlineRealizableBoostClassifier,
    ocoboost.OnlineMBBMClassifier,
    ocoboost.AdaBoostOLMClassifier,
]


def state_of(model):
    ensemble = model._state.engine.cascades[0].ensemble
    arrays = [getattr(ensemble, name).tobytes() for name in ("gains", "n_rows", "energy") if hasattr(ensemble, name)]
    return arrays, getattr(ensemble, "crowds", None)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("booster", BOOSTERS)
@settings(max_examples=10)
@given(data=st.data())
def test_every_booster_takes_experts_and_any_cut_of_the_stream_gives_the_same_bits(booster, learner, data):
    row = st.tuples(st.integers(0, 5), st.integers(0, 1), st.sampled_from([1.0, 0.0, 0.5]))
    stream = data.draw(st.lists(row, min_size=1, max_size=14))
    options = {"n_learners": 3, "seed": data.draw(st.integers(0, 2**32)), "classes": [0, 1]}
    if booster is not ocoboost.AdaBoostOLMClassifier:
        options["gamma"] = 0.3
    one, many = booster(LEARNERS[learner], **options), booster(LEARNERS[learner], **options)
    predictions = []
    for a, y, w in stream:
        predictions.append(one.predict_one({"a": a}))
        one.learn_one({"a": a}, y, w=w)
    blocks = []
    for first, last in data.draw(cuts(len(stream))):
        a, y, w = zip(*stream[first:last], strict=True)
        blocks += many.predict_learn_many([{"a": value} for value in a], list(y), w=list(w))
    assert predictions == blocks
    assert state_of(one) == state_of(many)
    for a in range(6):
        assert one.predict_proba_one({"a": a}) == many.predict_proba_one({"a": a})


def test_a_pickle_goes_on_as_before():
    rng = np.random.default_rng(1)
    rows = [({"a": x}, int(y)) for x, y in zip(rng.random(40), rng.integers(3, size=40), strict=True)]
    model = StumpExperts(votes="random", seed=3)
    for x, y in rows[:20]:
        model.learn_one(x, y)
    copy = pickle.loads(pickle.dumps(model))
    for x, y in rows[20:]:
        assert model.predict_one(x) == copy.predict_one(x)
        model.learn_one(x, y)
        copy.learn_one(x, y)
    assert state_of(model) == state_of(copy)


def test_boosting_stumps_beats_the_best_stump():
    """Two features decide together; a stump sees one of them."""
    rng = np.random.default_rng(0)
    X = rng.random((1500, 2))
    labels = np.where(X[:, 0] < 0.5, 0, np.where(X[:, 1] < 0.5, 1, 2))
    best = StumpClass(2, 3, 8).best_in_class(X, np.eye(3)[labels]).value / 1500
    model = ocoboost.OnlineAgnosticBoostClassifier(StumpExperts(n_cells=8), gamma=0.2, n_learners=20, seed=1)
    accuracy = np.mean(np.array(model.predict_learn_many(X, labels)) == labels)
    assert accuracy > best + 0.05


# -- mistakes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: StumpExperts(n_cells=0), "n_cells must be a whole number of at least 1, got 0"),
        (lambda: StumpExperts(low=2.0), r"low must be below high=1.0, got 2.0"),
        (lambda: StumpExperts(votes="majority"), "votes must be one of 'expected', 'random', got 'majority'"),
        (lambda: StumpExperts(learning_rate=0.0), "learning_rate must be None, or lie in"),
        (lambda: StumpExperts(horizon=0), "horizon must be None, or be a whole number"),
        (lambda: StumpExperts(classes="xyz"), "classes must be None or a sequence"),
        (lambda: MatrixExperts(list("abcdefghij"), 3), "has 205,891,132,094,649 members"),
    ],
)
def test_wrong_parameters_are_named(make, message):
    with pytest.raises(InvalidParameterError, match=message):
        make().learn_one({"a": 1.0}, "x")
    if "members" not in message:  # a class is made with the learners
        with pytest.raises(InvalidParameterError, match=message):
            make().check_parameters()


@pytest.mark.parametrize(
    ("model", "row", "message"),
    [
        (StumpExperts(), {"a": "red"}, "column 'a' at row 0 is the text 'red', and StumpExperts takes numbers only"),
        (MatrixExperts(["a"], 2), {"a": "red"}, "row 0 has the text 'red' in column 'a'"),
        (
            LittlestoneExperts(THRESHOLDS, "a"),
            {"a": 6},
            "row 0 has 6 in column 'a', which must hold a whole number below 6",
        ),
        (FiniteExperts([lambda x: x["b"]], 2), {"a": 6}, "row 0 makes hypothesis 0 raise KeyError: 'b'"),
        (FiniteExperts([lambda x: "no"], 2), {"a": 6}, "row 0 makes hypothesis 0 raise ValueError"),
        (FiniteExperts([lambda x: 2], 2), {"a": 6}, "row 0 makes hypothesis 0 say 2, which is no label index below 2"),
        (LittlestoneExperts(THRESHOLDS, "a"), {}, "row 0 has None in column 'a'"),
    ],
)
def test_rows_that_cannot_be_read_change_nothing(model, row, message):
    with pytest.raises(InvalidInputError, match=message):
        model.learn_one(row, "x")
    assert model.n_rows_ == 0


def test_a_label_more_than_the_class_has_is_refused():
    model = MatrixExperts(["a"], 2)
    model.learn_many([{"a": 1}, {"a": 2}], ["x", "y"])
    with pytest.raises(InvalidInputError, match="one more than the 2 labels that MatrixExperts tells apart"):
        model.learn_one({"a": 1}, "z")


def test_stumps_cannot_bound_a_regret_in_unknown_dimensions():
    with pytest.raises(InvalidInputError, match="give n_features and n_classes"):
        StumpExperts().regret_bound(100)
