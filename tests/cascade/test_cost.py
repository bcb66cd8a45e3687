"""Section 3: if a learner costs Q, a row costs O(NQ + N k log k). Counted, not timed.

Learners: every one of the N votes and learns once per row. All else: reads and writes of the arrays of a row's game, in
the kernels themselves, run uncompiled on arrays that count.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from boosters import relabelling
from ocoboost.cascade import regimes
from ocoboost.cascade.cascade import Cascade
from ocoboost.cascade.regimes import AGNOSTIC, PAIRWISE, REALIZABLE, Regime
from ocoboost.oco import losses, moves, projections
from ocoboost.oco.players import PLAYERS
from strategies import PLAYER_NAMES

N_LEARNERS = 64
KERNELS = {
    losses: ["agnostic_gradient", "realizable_gradient", "pairwise_gradient"],
    projections: ["project_row", "move_two_and_project"],
    moves: [
        "project_row",
        "move_two_and_project",
        "step_row",
        "_step_on_simplex",
        "_step_on_interval",
        "descend_row",
        "descend_on_interval",
        "_exponentiate_row",
        "_bet_row",
        "_squared_norm_along_simplex",
    ],
    regimes: ["teach_row", "teach_against_rivals", "gradient_row", "move_row", "draw_label"],
}


class Counting:
    """A vector whose reads and writes are counted, those of its slices too."""

    def __init__(self, values, count):
        self.values, self.count = values, count

    @property
    def size(self):
        return self.values.size

    def __getitem__(self, place):
        if isinstance(place, slice):
            return Counting(self.values[place], self.count)
        self.count[0] += 1
        return self.values[place]

    def __setitem__(self, place, value):
        self.count[0] += self.values[place].size
        self.values[place] = value


@pytest.fixture
def uncompiled(monkeypatch):
    """The kernels of a row's game as plain functions, which take any arrays."""
    for module, names in KERNELS.items():
        for name in names:
            function = getattr(module, name)
            monkeypatch.setattr(module, name, getattr(function, "py_func", function))


def votes_of(kind, k):
    rng = np.random.default_rng(k)
    return {
        "random": lambda play, i: int(rng.integers(k)),
        "right": lambda play, i: 0,
        "wrong": lambda play, i: 1 + i % (k - 1),
        "spiteful": lambda play, i: int(np.argmax(play)) if len(play) > 1 else int(play[0] > 0.5),
        "clustered": lambda play, i: int(rng.geometric(0.2)) % k,
    }[kind]


def operations(regime, player, k, kind):
    """Reads and writes of one row's game, and of the projection of its votes."""
    playing = Regime(regime).playing(
        PLAYERS[player], gamma=0.3, n_classes=k, n_learners=N_LEARNERS, start="uniform", step_size=None
    )
    plays, memories = regimes.begin_games(playing, np.zeros(1, dtype=np.int64))
    count = [0]
    play, memory = Counting(plays[0], count), Counting(memories[0], count)
    pooled, choose = np.zeros(k), votes_of(kind, k)
    for learner in range(N_LEARNERS):
        regimes.teach_row(regime, play, 0, 1.0, False, 0.0, Counting(np.empty(k), count))
        vote = np.zeros(k)
        vote[choose(plays[0], learner)] = 1.0
        pooled += vote
        gradient = Counting(np.empty(plays.shape[1]), count)
        regimes.move_row(playing, play, memory, 0, Counting(vote, count), learner, gradient)
    scaled = Counting(pooled / (0.3 * N_LEARNERS), count)
    projections.project_row(scaled, scaled)
    return count[0]


@pytest.mark.parametrize("kind", ["random", "right", "wrong", "spiteful", "clustered"])
@pytest.mark.parametrize("player", PLAYER_NAMES)
@pytest.mark.parametrize("regime", [AGNOSTIC, REALIZABLE, PAIRWISE])
def test_the_players_of_a_row_cost_at_most_n_k_log_k(regime, player, kind, uncompiled):
    per_unit = [operations(regime, player, k, kind) / (N_LEARNERS * k * math.log2(k)) for k in (4, 16, 64, 256)]
    assert max(per_unit) <= 20
    assert per_unit[-1] <= per_unit[0]  # no faster than N k log k, over a factor of 64 in k


class Idle:
    """Learners that count how often they are asked, and vote for the first label."""

    name, takes_weights, max_classes, n_bytes = "idle", True, None, 0

    def __init__(self):
        self.n_voted = self.n_taught = 0

    def prepare(self, block, *, learning):
        return block

    def vote_and_learn(self, learner, block, label_weights, out):
        self.n_voted += len(block)
        self.n_taught += int((label_weights.sum(axis=1) > 0).sum())
        out[:] = 0.0
        out[:, 0] = 1.0


@pytest.mark.parametrize("k", [2, 9, 40])
def test_every_learner_is_asked_and_taught_once_a_row(k):
    learners = Idle()
    cells = relabelling(AGNOSTIC, gamma=0.3, n_learners=N_LEARNERS, relabel="random", seed=1)
    Cascade(cells, learners).learn(range(30), np.arange(30) % k, np.ones(30), n_classes=k, first_row=0)
    assert learners.n_voted == learners.n_taught == 30 * N_LEARNERS  # whatever k is
