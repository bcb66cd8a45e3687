"""The improper game on games small enough for a linear program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from ocoboost.batch.game import AgnosticPayoff, RealizablePayoff, RowPlayers, payoff_value, play, worst_value
from ocoboost.cascade.regimes import AGNOSTIC, REALIZABLE, Regime
from ocoboost.oco.domains import Simplex
from ocoboost.oco.players import PLAYERS, Game
from strategies import PLAYER_NAMES


class MatrixPayoff:
    """f_i(p, q) = p . matrices[i] . q, for B's mixed strategies q."""

    def __init__(self, matrices):
        self.matrices = matrices  # (rows, A's actions, B's actions)

    def slopes(self, strategy):
        return self.matrices @ strategy

    def offset(self, strategy):
        return 0.0


class HypothesesPayoff:
    """A booster's payoff, as a function of a mixture over a finite class of hypotheses."""

    def __init__(self, payoff, votes):
        self.payoff, self.votes = payoff, votes  # (hypotheses, rows, classes)

    def slopes(self, strategy):
        return self.payoff.slopes(np.tensordot(strategy, self.votes, 1))

    def offset(self, strategy):
        return self.payoff.offset(np.tensordot(strategy, self.votes, 1))


def value_by_linear_program(slopes, offsets, on_interval):
    """max over mixtures q of min over plays: maximise sum_i v_i + offset . q, with v_i below every corner's payoff.

    ``slopes`` has shape (rows, corners of a play, B's actions); on the interval the corner 0 is added.
    """
    m, corners, actions = slopes.shape
    if on_interval:
        slopes, corners = np.concatenate([slopes, np.zeros_like(slopes)], axis=1), corners + 1
    upper = np.zeros((m * corners, actions + m))
    upper[:, :actions] = -slopes.reshape(m * corners, actions)
    upper[np.arange(m * corners), actions + np.repeat(np.arange(m), corners)] = 1.0
    result = linprog(
        -np.concatenate([offsets, np.ones(m)]),
        A_ub=upper,
        b_ub=np.zeros(m * corners),
        A_eq=np.concatenate([np.ones(actions), np.zeros(m)])[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * actions + [(None, None)] * m,
    )
    assert result.success
    return -result.fun, result.x[:actions]


@settings(max_examples=30)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(2, 4), st.integers(1, 5), st.sampled_from(PLAYER_NAMES)
)
def test_proposition_6_the_averaged_strategy_is_nearly_optimal(seed, m, d, actions, name):
    rng = np.random.default_rng(seed)
    matrices = rng.choice([rng.uniform(-1, 1, (m, d, actions)), rng.integers(-1, 2, (m, d, actions)).astype(float)])
    payoff, player, n_stages = MatrixPayoff(matrices), PLAYERS[name], 40
    game = Game(Simplex(d), n_stages, np.sqrt(d), 2.0)
    start = game.domain.centre()
    step = player.optimal_step(game, start)
    rows = RowPlayers(payoff, player, game, np.tile(start, (m, 1)), step)
    best_response = lambda rows, stage: np.eye(actions)[np.einsum("id,ida->a", rows.plays, matrices).argmax()]  # noqa: E731
    averaged = np.mean(list(play(rows, best_response, n_stages)), axis=0)

    value, optimal = value_by_linear_program(matrices, np.zeros(actions), on_interval=False)
    bound = m * player.regret_bound(game, start, step) / n_stages
    reached = worst_value(payoff, averaged, on_interval=False)
    assert value - bound - 1e-9 <= reached <= value + 1e-7
    assert worst_value(payoff, optimal, on_interval=False) == pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize("regime", [AGNOSTIC, REALIZABLE])
@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(2, 4), st.integers(1, 6))
def test_the_values_of_the_boosters_games(regime, seed, m, k, n_hypotheses):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=m)
    votes = np.eye(k)[rng.integers(k, size=(n_hypotheses, m))]
    on_interval = regime == REALIZABLE
    if on_interval:
        votes[rng.integers(n_hypotheses)] = np.eye(k)[labels]  # realizable: one of them is right everywhere
    inner = RealizablePayoff(labels, k) if on_interval else AgnosticPayoff(labels, k)
    payoff = HypothesesPayoff(inner, votes)
    unit = np.eye(n_hypotheses)
    offsets = np.array([payoff.offset(q) for q in unit])
    slopes = np.stack([payoff.slopes(q) for q in unit], axis=2)
    # The realizable slopes are affine in q, so that on mixtures, whose weights sum to 1, they are linear.
    value, _ = value_by_linear_program(slopes, offsets, on_interval)
    correlations = (2 * votes[:, np.arange(m), labels] - 1).mean(axis=1)
    assert value == pytest.approx(0.0 if on_interval else m * correlations.max() - m, abs=1e-7)


@pytest.mark.parametrize("regime", [AGNOSTIC, REALIZABLE])
@pytest.mark.parametrize("name", PLAYER_NAMES)
@pytest.mark.parametrize("gamma", [0.2, 0.6, 1.0])
def test_an_improper_oracle_keeps_the_bound_up_to_its_measured_error(regime, name, gamma):
    rng = np.random.default_rng(7)
    m, k, n_stages = 12, 3, 60
    labels = rng.integers(k, size=m)
    proper = np.eye(k)[np.where(rng.random((6, m)) < 0.6, labels, rng.integers(k, size=(6, m)))]
    improper = np.eye(k)[rng.integers(k, size=(40, m))] / gamma
    if regime == REALIZABLE:
        proper[0] = np.eye(k)[labels]
    payoff = RealizablePayoff(labels, k) if regime == REALIZABLE else AgnosticPayoff(labels, k)
    player = PLAYERS[name]
    game = Regime(regime).game(gamma=gamma, n_classes=k, n_learners=n_stages)
    centre = game.domain.centre()
    starts = Regime(regime).starts(k, start="uniform", is_entropic=player.is_entropic, centre=centre)[labels]
    step = player.default_step(game, starts[0], gamma)
    rows = RowPlayers(payoff, player, game, starts, step)
    errors = []

    def oracle(rows, stage):
        offered = [improper[j] for j in rng.choice(40, 10)] + [proper[j] / gamma for j in rng.choice(6, 2)]
        answer = max(offered, key=lambda q: payoff_value(payoff, rows.plays, q))
        best = max(payoff_value(payoff, rows.plays, q) for q in proper)
        errors.append(best - payoff_value(payoff, rows.plays, answer))
        return answer

    averaged = np.mean(list(play(rows, oracle, n_stages)), axis=0)
    value = max(worst_value(payoff, q, on_interval=regime == REALIZABLE) for q in proper)  # both have a pure optimum
    slack = m * player.regret_bound(game, starts[0], step) / n_stages + np.mean(errors)
    assert worst_value(payoff, averaged, on_interval=regime == REALIZABLE) >= value - slack - 1e-9
