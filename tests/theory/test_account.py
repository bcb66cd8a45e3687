"""The account: its parts add up on every run, and it sees exactly what happened."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocoboost import (
    HoeffdingTrees,
    MondrianTrees,
    OnlineAgnosticBoostClassifier,
    OnlineBoostClassifier,
    OnlineRealizableBoostClassifier,
    StumpExperts,
)
from ocoboost.bench import synthetic
from ocoboost.errors import InvalidInputError
from ocoboost.learners.experts.stumps import StumpClass
from ocoboost.theory import replay
from ocoboost.theory.classes import Constants, QuantileStumps
from ocoboost.theory.replay import lessons
from strategies import PLAYER_NAMES, streams
from strategies import settings as booster_settings
from toy_learners import Bins, Witness

BOOSTERS = [OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier]
LEARNERS = [HoeffdingTrees(grace_period=5), MondrianTrees(), Bins()]


def columns(rows):
    return [x for x, _ in rows], [y for _, y in rows]


def check_adds_up(report):
    assert report.regret == pytest.approx(report.parts.regret, abs=1e-9)
    assert report.parts.projection >= -1e-9
    assert report.parts.relabelling >= -1e-9
    assert report.parts.players <= report.player_bound + 1e-9
    # Theorem 1's inequality, for this run: what the two lemmas leave on the table is never negative.
    gains = report.parts.players + report.parts.learners + report.parts.draws + report.parts.pooling
    assert report.regret <= gains + 1e-9


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@settings(max_examples=25)
@given(
    stream=streams(),
    parameters=booster_settings(),
    player=st.sampled_from(PLAYER_NAMES),
    relabel=st.sampled_from(["fractional", "random"]),
    start=st.sampled_from(["uniform", "label"]),
    comparator=st.lists(st.sampled_from(["x", "y", "z", 7, "never seen"]), min_size=14, max_size=14),
)
def test_the_parts_add_up_on_any_run_against_any_comparator(
    booster, learner, stream, parameters, player, relabel, start, comparator
):
    model = booster(learner, player=player, relabel=relabel, start=start, **parameters)
    account = model.account()
    weights = [w for *_, w in stream]
    model.learn_many([x for x, *_ in stream], [y for _, y, _ in stream], w=weights)
    if not any(weights):
        with pytest.raises(InvalidInputError, match="all rows have weight 0"):
            account.report()
        return
    check_adds_up(account.report(comparator[: len(stream)]))
    check_adds_up(account.report())
    check_adds_up(account.report(Constants()))


@pytest.mark.kernels
@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("relabel", ["fractional", "random"])
@pytest.mark.parametrize("votes", ["label", "distribution"])
def test_a_replay_knows_to_the_bit_what_every_learner_was_taught(booster, relabel, votes):
    X, y = columns(synthetic.load("noisy", 80, seed=1).rows)
    model = booster(Bins(), n_learners=5, gamma=0.3, relabel=relabel, votes=votes, seed=2)
    account = model.account()
    cascade = model.state_.engine.cascades[0]
    witness = cascade.ensemble = Witness(cascade.ensemble)
    model.learn_many(X[:30], y[:30])
    for row in range(30, 80):
        model.learn_one(X[row], y[row])
    spans = list(account.record.spans(0))
    assert [span.rows.n_classes for span in spans] == [1, 2, 3]
    for learner, replayed in enumerate(zip(*(lessons(cascade.cells, span) for span in spans), strict=True)):
        told = witness.taught[learner]
        ours = [row for lesson in replayed for row in lesson.taught]
        assert len(told) == len(ours) == 80
        for one, other in zip(told, ours, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.kernels
@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("relabel", ["fractional", "random"])
@pytest.mark.parametrize("votes", ["label", "distribution"])
def test_a_tally_sums_what_the_lessons_say(booster, relabel, votes):
    X, y = columns(synthetic.load("noisy", 60, seed=1).rows)
    gamma = 0.3
    model = booster(
        Bins(), n_learners=5, gamma=gamma, relabel=relabel, votes=votes, classes=synthetic.RULE_CLASSES, seed=2
    )
    account = model.account()
    weights = np.random.default_rng(1).random(60)
    model.learn_many(X, y, w=weights)
    (span,) = account.record.spans(0)
    cells, labels = account.record.tapes[0].cells, span.rows.labels
    comparator = np.arange(60) % 4 - 1  # says nothing at times
    tally = replay.tally(cells, span, comparator)
    said = np.vstack([np.eye(3), np.zeros(3)])[comparator]  # the last row for -1
    truth = np.eye(3)[labels]
    losses, slopes = np.zeros(60), np.zeros((60, 3) if booster is OnlineAgnosticBoostClassifier else (60, 1))
    for sums, lesson in zip(tally.learner_sums, lessons(cells, span), strict=True):
        mass = lesson.taught.sum(axis=1)

        def gain(who, lesson):
            return weights @ (2 * (who * lesson).sum(axis=1) - lesson.sum(axis=1))

        edge = weights * ((lesson.votes * lesson.taught).sum(axis=1) - mass / 3)
        comparator_edge = weights * ((said * lesson.taught).sum(axis=1) - mass / 3)
        expected = {
            replay.VOTE_GAIN: gain(lesson.votes, lesson.taught),
            replay.COMPARATOR_GAIN: gain(said, lesson.taught),
            replay.VOTE_GAIN_MEANT: gain(lesson.votes, lesson.meant),
            replay.COMPARATOR_GAIN_MEANT: gain(said, lesson.meant),
            replay.LABEL_GAIN_MEANT: gain(truth, lesson.meant),
            replay.MASS: weights @ mass,
            replay.EDGE: edge.sum(),
            replay.COMPARATOR_EDGE: comparator_edge.sum(),
            replay.EDGE_SQUARED: edge @ edge,
            replay.EDGES_CROSSED: edge @ comparator_edge,
            replay.COMPARATOR_EDGE_SQUARED: comparator_edge @ comparator_edge,
        }
        np.testing.assert_allclose(sums, [expected[place] for place in range(replay.N_SUMS)], atol=1e-12)
        if booster is OnlineAgnosticBoostClassifier:
            slope, play = 2 * (lesson.votes / gamma - truth), lesson.meant
        else:
            slope = ((2 * (lesson.votes * truth).sum(axis=1) - 1) / gamma - 1)[:, None]
            play = lesson.meant.sum(axis=1, keepdims=True)
        losses += (slope * play).sum(axis=1)
        slopes += slope
    least = slopes.min(axis=1) if booster is OnlineAgnosticBoostClassifier else np.minimum(slopes[:, 0], 0)
    np.testing.assert_allclose(tally.player_regrets, losses - least, atol=1e-12)


@pytest.mark.kernels
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_recording_changes_nothing_and_any_cut_gives_the_same_account(learner):
    X, y = columns(synthetic.load("noisy", 200, seed=1).rows)
    choices = {"n_learners": 4, "gamma": 0.3, "start": "label", "pool": "distribution", "seed": 2}
    models = [OnlineAgnosticBoostClassifier(learner, n_jobs=n_jobs, **choices) for n_jobs in (1, 1, 1, 2)]
    accounts = [model.account() for model in models[1:]]
    predictions = [model.predict_learn_many(X, y) for model in models[:2]]
    predictions.append([])
    for x, label in zip(X, y, strict=True):
        predictions[2].append(models[2].predict_one(x))
        models[2].learn_one(x, label)
    predictions.append(models[3].predict_learn_many(X, y))
    assert predictions[0] == predictions[1] == predictions[2] == predictions[3]
    reports = [account.report().to_dict() for account in accounts]
    assert reports[0] == reports[1] == reports[2]


@pytest.mark.parametrize("pool", ["label", "distribution"])
@pytest.mark.parametrize("booster", BOOSTERS)
def test_the_accuracy_is_that_of_the_booster(booster, pool):
    stream = synthetic.load("noisy", 300, seed=1)
    options = {"start": "label", "pool": pool, "classes": synthetic.RULE_CLASSES, "seed": 2}
    model = booster(HoeffdingTrees(), n_learners=5, gamma=0.3, **options)
    model.learn_many(*columns(stream.rows[:100]))
    account = model.account()  # in the middle of a stream
    chances = []
    for x, y in stream.rows[100:]:
        chances.append(model.predict_proba_one(x)[y])
        model.learn_one(x, y)
    report = account.report(stream.best_labels[100:])
    best = np.mean([y == label for (_, y), label in zip(stream.rows[100:], stream.best_labels[100:], strict=True)])
    assert report.n_rows == 200
    assert report.accuracy == pytest.approx(np.mean(chances), abs=1e-12)
    assert report.regret == pytest.approx(2 * (best - np.mean(chances)), abs=1e-12)
    check_adds_up(report)


def test_the_best_of_a_class_is_the_comparator_with_least_mistakes():
    stream = synthetic.load("noisy", 400, seed=3)
    model = OnlineAgnosticBoostClassifier(HoeffdingTrees(), n_learners=3, gamma=0.5, classes=synthetic.RULE_CLASSES)
    account = model.account(StumpClass(3, 3, n_cells=synthetic.RULE_CELLS))
    X, y = columns(stream.rows)
    model.learn_many(X, y)
    share = np.mean([label == best for label, best in zip(y, stream.best_labels, strict=True)])
    assert account.report().comparator_accuracy >= share  # the rule is in the class; another may be luckier
    assert account.report(stream.best_labels).comparator_accuracy == pytest.approx(share)
    assert account.report(QuantileStumps(n_cells=16)).comparator_accuracy >= share - 0.05


def test_a_mixture_has_an_account_for_every_member():
    X, y = columns(synthetic.load("noisy", 150, seed=1).rows)
    model = OnlineBoostClassifier(budget=10, seed=1)
    account = model.account()
    before = model.member_weights_
    model.learn_many(X, y)
    assert model.member_weights_ != before
    reports = [account.report(member=number) for number in range(6)]
    for report in reports:
        check_adds_up(report)
        assert report.whole_regret == pytest.approx(reports[0].whole_regret)
    assert account.report().regret == pytest.approx(min(report.regret for report in reports))
    assert "of the mixture" in str(account)


def test_an_account_survives_a_pickle_and_starts_over_after_reset():
    X, y = columns(synthetic.load("noisy", 100, seed=1).rows)
    model = OnlineAgnosticBoostClassifier(HoeffdingTrees(), n_learners=3, gamma=0.5, seed=1)
    account = model.account()
    model.learn_many(X[:50], y[:50])
    copy = pickle.loads(pickle.dumps(model))
    for one in (model, copy):
        one.learn_many(X[50:], y[50:])
    assert copy.account().report().to_dict() == account.report().to_dict() == model.account().report().to_dict()
    model.reset()
    fresh = model.account()
    with pytest.raises(InvalidInputError, match="no row was learned"):
        fresh.report()


@pytest.mark.parametrize(
    "model",
    [OnlineAgnosticBoostClassifier(HoeffdingTrees(), n_learners=3, seed=1), OnlineBoostClassifier(budget=6, seed=1)],
    ids=lambda model: type(model).__name__,
)
def test_after_most_rows_no_more_is_kept(model):
    X, y = columns(synthetic.load("noisy", 90, seed=1).rows)
    model = model.clone()
    account = model.account(most_rows=40)
    for first in range(0, 90, 30):
        model.learn_many(X[first : first + 30], y[first : first + 30])
    report = account.report()
    assert 40 <= report.n_rows <= 60  # whole blocks
    check_adds_up(report)


def test_a_comparator_of_the_wrong_length_is_an_error():
    model = OnlineAgnosticBoostClassifier(HoeffdingTrees(), n_learners=2, gamma=0.5, seed=1)
    account = model.account()
    model.learn_many([{"a": 1}, {"a": 2}], ["x", "y"])
    with pytest.raises(InvalidInputError, match="comparator has 1 labels for 2 recorded rows"):
        account.report(["x"])


def test_what_it_says():
    from rich.console import Console

    stream = synthetic.load("noisy", 300, seed=1)
    model = OnlineAgnosticBoostClassifier(HoeffdingTrees(), n_learners=5, gamma=0.5, seed=1)
    account = model.account()
    model.learn_many(*columns(stream.rows))
    text = str(account)
    for word in ("comparator", "regret", "players", "learners", "Theorem 1", "advantage", "advice"):
        assert word in text
    console = Console(record=True, width=150, file=io.StringIO())
    console.print(account)
    assert "Theorem 1" in console.export_text()
    plain = account.report().to_dict()
    assert plain["parts"]["regret"] == pytest.approx(plain["regret"])
    assert len(plain["advantages"]) == 5


class Stubborn(Bins):
    """Always votes for the label after the last one it was taught with full weight: it learns nothing.

    Parameters
    ----------
    seed
        Has no effect.
    """

    def learn_one(self, x, y, *, w=1.0):
        self.counts = {"all": {(y + 1) % 3: 1.0}}


def test_advice_is_better_learners_for_bad_ones_and_more_learners_for_few_good_ones():
    stream = synthetic.load("noisy", 1500, seed=1)
    classes = synthetic.RULE_CLASSES
    choices = {"gamma": 1.0, "start": "uniform", "pool": "distribution", "votes": "distribution", "seed": 1}
    few_good = OnlineAgnosticBoostClassifier(StumpExperts(n_cells=8), n_learners=2, classes=classes, **choices)
    many_bad = OnlineAgnosticBoostClassifier(Stubborn(), n_learners=30, classes=classes, **choices)
    for model, advice in ((few_good, "Add learners"), (many_bad, "Use better learners")):
        account = model.account()
        model.learn_many(*columns(stream.rows))
        report = account.report(stream.best_labels)
        check_adds_up(report)
        assert report.advice.startswith(advice), report
