"""Boosting must be better than what it boosts. These tests take minutes: `make test-slow`.

Prequential accuracy of the mode on Segment, five shuffles; `benchmarks/foreign_learners.py` has the whole study.
"""

from __future__ import annotations

import statistics

import pytest
from river import forest, tree

from ocoboost import OnlineAgnosticBoostClassifier
from ocoboost.bench import datasets

SHUFFLES = range(1, 6)
STUMP = tree.HoeffdingTreeClassifier(max_depth=1, split_criterion="gini")


def accuracy(predictions, rows):
    return statistics.fmean(p == y for p, (_, y) in zip(predictions, rows, strict=True))


def alone(model, rows):
    predictions = []
    for x, y in rows:
        predictions.append(model.predict_one(x))
        model.learn_one(x, y)
    return accuracy(predictions, rows)


def boosted(learner, rows, **options):
    model = OnlineAgnosticBoostClassifier(learner, n_learners=20, start="label", pool="label", **options)
    return accuracy(model.predict_learn_many([x for x, _ in rows], [y for _, y in rows]), rows)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_twenty_boosted_stumps_beat_one():
    streams = [datasets.shuffled(datasets.load("segment"), shuffle) for shuffle in SHUFFLES]
    single = statistics.fmean(alone(STUMP.clone(), rows) for rows in streams)
    best = max(
        statistics.fmean(boosted(STUMP, rows, gamma=gamma, seed=1) for rows in streams) for gamma in (0.3, 0.5, 0.7)
    )
    assert best > single


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_twenty_boosted_mondrian_trees_match_the_forest_of_twenty():
    streams = [datasets.shuffled(datasets.load("segment"), shuffle) for shuffle in SHUFFLES]
    forests = [alone(forest.AMFClassifier(n_estimators=20, seed=seed), rows) for seed, rows in enumerate(streams, 1)]
    tree_learner = forest.AMFClassifier(n_estimators=1)
    best = max(
        statistics.fmean(boosted(tree_learner, rows, gamma=gamma, seed=seed) for seed, rows in enumerate(streams, 1))
        for gamma in (0.7, 1.0)
    )
    assert best >= statistics.fmean(forests)
