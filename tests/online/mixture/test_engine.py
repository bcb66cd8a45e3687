"""All members on one stream: what they say alone makes the answers, however the stream is cut, saved and resumed."""

from __future__ import annotations

import pickle
from itertools import pairwise

import joblib
import numpy as np
import pytest

import ocoboost
from laws import learned, state_of_learners
from ocoboost import HoeffdingTrees, MondrianTrees, OnlineAgnosticBoostClassifier, OnlineBoostClassifier
from ocoboost.bench import datasets
from ocoboost.data.schema import Block
from ocoboost.online.members import choose
from ocoboost.online.mixture import blend, drift
from ocoboost.online.mixture.ages import AGES, N_SLOTS
from ocoboost.online.mixture.bounds import regret_bound
from ocoboost.online.mixture.neighbours import WINDOWS
from toy_learners import Bins

ROWS = datasets.shuffled(datasets.cars(), 1)[:260]
X, Y = [x for x, _ in ROWS], [y for _, y in ROWS]
CLASSES = ["unacc", "acc", "good", "vgood"]
INDICES = np.array([CLASSES.index(y) for y in Y])


def answers(model, w=None):
    """D, the vote shares and the probabilities of every row, from before it was learned."""
    blocks = list(model.prequential(X, Y, w=w))
    names = "distributions", "vote_shares", "probabilities"
    return [np.concatenate([getattr(block, name) for block in blocks]) for name in names]


def members_alone(model):
    """The boosters that a mixture runs, each by itself with the same seed."""
    options = {"classes": CLASSES, "start": "label", "pool": "distribution"}
    learner = None if model.learner == "auto" else model.learner
    choices = choose(learner, model.gammas, model.budget, model.max_size).long_lived
    return [
        OnlineAgnosticBoostClassifier(
            choice.learner, gamma=choice.gamma, n_learners=choice.n_learners, seed=cascade.cells.seed, **options
        )
        for choice, cascade in zip(choices, model.state_.engine.cascades, strict=True)
    ]


def blended(model, said, awake, row_weights):
    """What the kernels of ``blend``, which have a twin, make of what the members said alone."""
    mixture = model.state_.engine
    weights = blend.first_weights(mixture.plan, mean=len(mixture.members))
    watch = drift.first_watch(len(AGES) if mixture.ages else 0)
    scratch = blend.make_scratch(mixture.plan, len(CLASSES))
    out = [np.empty((len(Y), len(CLASSES))) for _ in range(3)]
    blend.blend_rows(said, awake, INDICES, row_weights, 0, mixture.plan, weights, watch, scratch, *out)
    return (*weights, *watch), out


@pytest.mark.parametrize(("learner", "budget"), [("auto", 10), ("auto", 30), (Bins(), 10)])
def test_the_mixture_is_made_of_what_its_members_say_alone(learner, budget):
    """Boosters, ages and neighbours are run by themselves; the mean and the last label are written out."""
    model = OnlineBoostClassifier(learner, budget=budget, classes=CLASSES, seed=3)
    row_weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], size=len(Y))
    mixed = answers(model, row_weights)
    mixture = model.state_.engine
    said = np.zeros((mixture.plan.gammas.size, len(Y), len(CLASSES)))
    awake = np.zeros(said.shape[:2], dtype=np.int64)
    for number, (member, cascade) in enumerate(zip(members_alone(model), mixture.cascades, strict=True)):
        said[number] = answers(member, row_weights)[1]
        assert state_of_learners(cascade.ensemble) == state_of_learners(member.state_.engine.cascades[0].ensemble)
    n_long = len(mixture.cascades)
    for booster in said[
        : n_long - 1
    ]:  # the last member is not boosted; summed in order, because ties are decided by bits
        said[n_long] += booster / (n_long - 1)
    awake[: n_long + 1] = 1
    said[-1, np.arange(1, len(Y)), INDICES[:-1]] = 1.0
    awake[-1, 1:] = 1
    if learner == "auto":
        add_young(model, said[n_long + 1 : -1], awake[n_long + 1 : -1], row_weights)
    known, expected = blended(model, said, awake, row_weights)
    for one, other in zip(mixed, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)
    for one, other in zip((*mixture.weights, *mixture.watch), known, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


def add_young(model, said, awake, row_weights):
    """Ages and neighbours of another model with the same parameters, driven by themselves."""
    alone = OnlineBoostClassifier(budget=model.budget, classes=CLASSES, seed=3)
    engine, schema = (state := alone.fresh_state(3)).engine, state.schema
    n_ages = len(engine.ages) * len(AGES)
    assert len(said) == n_ages + len(WINDOWS)
    read = [dict(sorted(x.items())) for x in X]  # as every model reads them
    plan = schema.plan(read)
    edges = sorted({0, len(X), *plan})
    for first, last in pairwise(edges):
        if first in plan:
            schema.apply(plan[first], len(CLASSES))
        rows = slice(first, last)
        block, labels, weights = Block(read[rows], schema), INDICES[rows], row_weights[rows]
        for number, kind in enumerate(engine.ages):
            ages = slice(number * len(AGES), (number + 1) * len(AGES))
            for task in kind.tasks(block, labels, weights, len(CLASSES), first, said[ages, rows], awake[ages, rows]):
                task()
        engine.neighbours.ask(block, labels, weights, said[n_ages:, rows], awake[n_ages:, rows])


@pytest.mark.parametrize(("learner", "budget"), [("auto", 30), (MondrianTrees(), 16), (Bins(), 16)])
def test_the_sampled_prediction_keeps_the_bound(learner, budget):
    """Against the modes of the boosters, run by themselves with the same seeds, and against the last label."""
    model = OnlineBoostClassifier(learner, budget=budget, classes=CLASSES, seed=3)
    mixed = (1.0 - answers(model)[0][np.arange(len(Y)), INDICES]).sum()
    alone = [(answers(member)[1].argmax(axis=1) != INDICES).sum() for member in members_alone(model)]
    alone.append((INDICES[1:] != INDICES[:-1]).sum())
    prior = model.voters_["last label"]
    assert mixed <= min(alone) + regret_bound(len(Y), prior)
    assert mixed <= min(alone) + 0.07 * len(Y)  # in fact much less


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_the_block_law_across_births(n_jobs):
    one = OnlineBoostClassifier(budget=30, seed=5)
    many = OnlineBoostClassifier(budget=30, seed=5, n_jobs=n_jobs)
    predictions = []
    for x, y in ROWS:
        predictions.append(one.predict_one(x))
        one.learn_one(x, y)
    assert predictions == many.predict_learn_many(X[:7], Y[:7]) + many.predict_learn_many(X[7:], Y[7:])
    assert one.member_weights_ == many.member_weights_
    assert [one.predict_proba_one(x) for x in X[:20]] == many.predict_proba_many(X[:20])
    assert learned(one, X[:5]) == learned(many, X[:5])


def test_kill_and_resume_across_births(tmp_path):
    """By pickle and by file, before and after births at 32, 64, 96, 128 ... rows."""
    model = OnlineBoostClassifier(budget=30, seed=5)
    whole = OnlineBoostClassifier(budget=30, seed=5)
    expected = whole.predict_learn_many(X, Y)
    predicted = []
    for first in range(0, len(X), 32):
        for half in (slice(first, first + 16), slice(first + 16, first + 32)):
            predicted += model.predict_learn_many(X[half], Y[half])
            model = pickle.loads(pickle.dumps(model))
            ocoboost.save(model, tmp_path / "model.oco")
            model = ocoboost.load(tmp_path / "model.oco")
    assert predicted == expected
    assert learned(model, X[:5]) == learned(whole, X[:5])


def test_a_model_may_be_mapped_read_only(tmp_path):
    """As joblib does for its workers: arrays of the pickle may not be written to, and it predicts all the same."""
    model = OnlineBoostClassifier(budget=30, seed=5)
    model.learn_many(X[:100], Y[:100])
    joblib.dump(model, tmp_path / "model.joblib")
    copy = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    assert copy.predict_proba_many(X[100:110]) == model.predict_proba_many(X[100:110])


def test_the_most_probable_label_is_the_prediction():
    model = OnlineBoostClassifier(budget=30, seed=2)
    for block in model.prequential(X, Y):
        for row, label in enumerate(block.labels):
            if label is not None:
                probabilities = block.probabilities[row]
                assert block.classes[int(probabilities.argmax())] == label
                assert probabilities.sum() == pytest.approx(1.0)
    for x in X[:30]:
        probabilities = model.predict_proba_one(x)
        assert max(probabilities, key=probabilities.get) == model.predict_one(x)
        assert sum(model.distribution_one(x).values()) == pytest.approx(1.0)
    matrix = np.array([list(row.values()) for row in model.distribution_many(X[:5])])
    np.testing.assert_array_equal(matrix, [list(model.distribution_one(x).values()) for x in X[:5]])


def test_a_row_that_brings_a_label_gives_it_no_probability():
    """Not even the first row of all, which nothing was said to."""
    model = OnlineBoostClassifier(budget=30, seed=2)
    seen = set()
    for block in model.prequential(X[:80], Y[:80]):
        label = Y[block.first_row]
        if label not in seen:
            place = block.classes.index(label)
            for said in (block.distributions, block.vote_shares, block.probabilities):
                assert said[0, place] == 0.0
        seen |= set(Y[block.first_row : block.first_row + len(block)])


def test_the_last_label_is_the_last_one_that_has_arrived():
    """Rows are asked before the labels of those before them are known."""
    model = OnlineBoostClassifier(budget=30, seed=2, classes=CLASSES)
    assert model.fresh_state(1).engine.last_label == -1
    late = 9
    for row in range(60):
        model.predict_one(X[row])
        if row >= late:
            model.learn_one(X[row - late], Y[row - late])
            assert model.classes_[model.state_.engine.last_label] == Y[row - late]


def test_repeating_labels_are_found_out():
    """Labels that come in runs and have nothing to do with the row."""
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(600, 2)), np.repeat(rng.integers(0, 2, size=40), 15).tolist()
    predicted = OnlineBoostClassifier(budget=30, seed=1).predict_learn_many(rows, y)
    repeated = np.mean(np.array(y[300:]) == np.array(y[299:-1]))
    assert np.mean(np.array(predicted[300:]) == np.array(y[300:])) > repeated - 0.05


def test_a_swap_of_labels_is_followed():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1600, 3))
    y = (rows[:, 0] > 0).astype(int)
    y[1000:] = 1 - y[1000:]
    predicted = np.array(OnlineBoostClassifier(budget=40, seed=1).predict_learn_many(rows, y.tolist()))
    assert np.mean(predicted[700:1000] == y[700:1000]) > 0.93
    assert np.mean(predicted[1100:] == y[1100:]) > 0.88


@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e300])
def test_any_row_weights_do_no_harm(scale):
    weights = [1.0 if row % 3 else scale for row in range(150)]
    model = OnlineBoostClassifier(budget=30, seed=1)
    model.learn_many(X[:150], Y[:150], w=weights)
    for answer in (model.predict_proba_one(X[200]), model.distribution_one(X[200]), model.vote_shares_one(X[200])):
        assert sum(answer.values()) == pytest.approx(1.0)
    assert sum(model.member_weights_.values()) == pytest.approx(1.0)


def members_of(**parameters):
    """Gamma and number of learners of every long-lived member, and the trees of each young one, by kind."""
    engine = OnlineBoostClassifier(**parameters).fresh_state(1).engine
    young = [[slot.cascade.cells.n_learners for slot in kind.slots] for kind in engine.ages]
    return [(cascade.cells.gamma, cascade.cells.n_learners) for cascade in engine.cascades], young


def test_the_budget_is_shared_out():
    long_lived, young = members_of(budget=200)
    assert [n for _, n in long_lived] == [29] * 5 + [1]
    assert young == [[4] * N_SLOTS, [2] * N_SLOTS]  # a fiftieth and a hundredth of the budget
    assert sum(n for _, n in long_lived) + sum(map(sum, young)) <= 201
    assert members_of(budget=29)[1] == []  # too few for members of every age
    assert members_of(budget=30)[1] == [[1] * N_SLOTS] * 2
    assert sum(n for _, n in members_of(budget=30)[0]) + 2 * N_SLOTS <= 31
    gammas = [(1.0, 12), (0.7, 12), (0.4, 12), (0.2, 12), (1.0, 1)]
    assert members_of(learner=HoeffdingTrees(), budget=50) == (gammas, [])
    assert members_of(learner=HoeffdingTrees(), gammas=(0.5,)) == ([(0.5, 270), (1.0, 1)], [])
    assert [gamma for gamma, _ in members_of(gammas=[0.3])[0]] == [0.3] * 5 + [1.0]
    assert members_of(learner=Bins(), budget=1)[0] == [(1.0, 1), (0.7, 1), (0.4, 1), (0.2, 1), (1.0, 1)]


def test_members_start_at_the_label_and_pool_distributions():
    for cascade in OnlineBoostClassifier().fresh_state(1).engine.cascades:
        cells = cascade.cells
        assert (cells.start, cells.pool, cells.votes, cells.player) == ("label", "distribution", "label", "gradient")


def test_weights_are_readable_by_member_and_by_age():
    model = OnlineBoostClassifier(budget=30, seed=1)
    assert sum(model.member_weights_.values()) == pytest.approx(1.0)
    model.learn_many(X, Y)
    weights = model.member_weights_
    assert sum(weights.values()) == pytest.approx(1.0)
    assert min(weights.values()) >= 0.0
    for number, kind in enumerate(("MondrianTrees", "HoeffdingTrees")):
        ages = [f"{kind}, 32 to 63 rows old", f"{kind}, 4096 to 8191 rows old"]
        assert list(weights)[6 + 8 * number : 14 + 8 * number][:: len(AGES) - 1] == ages
        assert weights[ages[0]] > 0.0 == weights[ages[1]]  # nobody is that old yet
    assert list(weights)[22:] == ["nearest of 64 rows", "nearest of 256 rows", "nearest of 1024 rows", "last label"]
    assert "MondrianTrees(smoothing=5.0), gamma=1" in weights
    names = ["Bins(), gamma=0.5", "Bins(), unboosted", "last label"]
    assert list(OnlineBoostClassifier(Bins(), gammas=[0.5]).member_weights_) == names
    gammas = OnlineBoostClassifier(Bins()).member_weights_
    assert list(gammas)[:-1] == [*(f"Bins(), gamma={gamma}" for gamma in (1, 0.7, 0.4, 0.2)), "Bins(), unboosted"]
    assert sum(gammas.values()) == pytest.approx(1.0)


def test_voters_have_names_and_priors():
    voters = OnlineBoostClassifier(budget=30, seed=1).voters_
    assert sum(voters.values()) == pytest.approx(1.0)
    assert next(iter(voters)) == "slow mixture"
    assert len(voters) == blend.N_BLENDS + 6 + 1 + 2 * len(AGES) + len(WINDOWS) + 1
    assert "mean of the boosters" in voters
