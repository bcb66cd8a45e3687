"""The cascade against the literal loops of the paper: the same votes, and the same D up to rounding."""

from __future__ import annotations

import numpy as np
import pytest
from river import tree

import paper_loop
from boosters import relabelling
from ocoboost import HoeffdingTrees, MondrianTrees
from ocoboost.cascade.cascade import Cascade
from ocoboost.cascade.regimes import AGNOSTIC, PAIRWISE, REALIZABLE
from ocoboost.data import tables
from ocoboost.data.schema import Block, Schema
from ocoboost.learners import foreign
from ocoboost.randomness import RELABEL, uniform
from ocoboost.theory.record import Record
from toy_learners import Bins, Witness

N_ROWS, N_WARM, N_CLASSES, N_LEARNERS, GAMMA, SEED = 160, 30, 5, 7, 0.3, 11
ALGORITHMS = {AGNOSTIC: paper_loop.algorithm_1, REALIZABLE: paper_loop.algorithm_4, PAIRWISE: paper_loop.pairwise}
# Rounding must not decide what trees do. Plays weigh 1 in all, so the grace period is not a whole number; and leaves
# below the root vote by majority and do not split: after a label's first row there, its variance is a rounding error.
STUMP = {"grace_period": 9.5, "delta": 0.5, "tau": 0.5, "max_depth": 1, "leaf_prediction": "mc"}
NATIVE = {"stumps": HoeffdingTrees(**STUMP), "naive Bayes": HoeffdingTrees(), "Mondrian trees": MondrianTrees()}
FOREIGN = {"bins": Bins(), "River's stumps": tree.HoeffdingTreeClassifier(**STUMP)}
QUICK, SLOWER = ["stumps", "naive Bayes", "bins"], ["Mondrian trees", "River's stumps"]  # uncompiled


def read():
    """Rows as the package knows them, and a schema that holds them all.

    Numbers are drawn: if a column were constant within a label, its variance would be a rounding error.
    """
    rng = np.random.default_rng(SEED)
    labels = rng.integers(N_CLASSES, size=N_ROWS + N_WARM)
    centres = rng.normal(size=(N_CLASSES, 4))
    rows, schema = tables.read_rows(centres[labels] + rng.normal(size=(len(labels), 4))), Schema()
    for additions in schema.plan(rows).values():
        schema.apply(additions, n_classes=2)
    return rows, labels, schema


ROWS, LABELS, SCHEMA = read()


def ensemble(name):
    """Learners that know a little: to fresh ones all labels look alike, and rounding would decide between them."""
    if name in NATIVE:
        learners = NATIVE[name].make_ensemble(N_LEARNERS, SEED)
    else:
        learners = foreign.make_ensemble(FOREIGN[name], N_LEARNERS, SEED, N_CLASSES)
    lessons = np.random.default_rng(SEED).dirichlet(np.ones(N_CLASSES), size=(N_LEARNERS, N_WARM))
    block = learners.prepare(Block(ROWS[N_ROWS:], SCHEMA), learning=True)
    for number in range(N_LEARNERS):
        learners.vote_and_learn(number, block, lessons[number], np.empty((N_WARM, N_CLASSES)))
    return learners


def draw(row, learner):
    return uniform(np.uint64(SEED), RELABEL, row, learner)


def literal(name, regime, relabel):
    """A run of the paper's algorithm."""
    learners = ensemble(name)
    stream = [
        (learners.prepare(Block([row], SCHEMA), learning=True), int(label))
        for row, label in zip(ROWS[:N_ROWS], LABELS[:N_ROWS], strict=True)
    ]
    return ALGORITHMS[regime](
        learners,
        stream,
        n_learners=N_LEARNERS,
        n_classes=N_CLASSES,
        gamma=GAMMA,
        draw=draw if relabel == "random" else None,
    )


def driven(name, regime, relabel, *, by_parts, n_jobs=1):
    """Votes, of shape (rows, learners), and D of every row, from the driver; the rows come in blocks."""
    cells = relabelling(regime, gamma=GAMMA, n_learners=N_LEARNERS, relabel=relabel, seed=SEED)
    learners = ensemble(name)
    cascade = Cascade(cells, Witness(learners) if by_parts else learners, n_jobs)
    (tape,) = Record.of([cascade], None).tapes
    distributions = []
    for first, last in [(0, 1), (1, 20), (20, N_ROWS)]:
        block = Block(ROWS[first:last], SCHEMA)
        answers = cascade.learn(block, LABELS[first:last], np.ones(last - first), N_CLASSES, first)
        distributions.append(answers.distributions)
    votes = np.concatenate([heard.seen.labels for heard in tape.heard], axis=1).T
    return votes, np.concatenate(distributions)


@pytest.mark.parametrize("relabel", ["fractional", "random"])
@pytest.mark.parametrize("regime", ALGORITHMS, ids=["Algorithm 1", "Algorithm 4", "pairwise"])
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.kernels) for name in QUICK] + SLOWER)
def test_the_cascade_is_the_papers_loop(name, regime, relabel):
    expected = literal(name, regime, relabel)
    distributions = np.array(expected.distributions)
    assert len(np.unique(expected.votes)) == N_CLASSES  # learners that all say the same would prove little
    assert np.ptp(expected.votes, axis=1).max() > 0
    assert 0.0 < distributions.max(axis=1).min() < 1.0
    ways = [{"by_parts": True}]
    if name in NATIVE:
        ways += [{"by_parts": False}, {"by_parts": False, "n_jobs": 3}]
    for way in ways:
        votes, ours = driven(name, regime, relabel, **way)
        np.testing.assert_array_equal(votes, expected.votes, err_msg=str(way))
        np.testing.assert_allclose(ours, distributions, rtol=0, atol=1e-12, err_msg=str(way))
