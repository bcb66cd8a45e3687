from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import naive
from ocoboost.oco.domains import Simplex, UnitInterval
from ocoboost.oco.losses import agnostic_gradient, agnostic_gradient_bound, agnostic_gradient_range
from ocoboost.oco.players import PLAYERS, Game
from strategies import PLAYER_NAMES

pytestmark = pytest.mark.kernels

DOMAINS = [Simplex(1), Simplex(2), Simplex(5), UnitInterval()]


def random_game(domain, n_steps, seed, scale=1.0):
    gradients = scale * np.random.default_rng(seed).normal(size=(n_steps, domain.dimension))
    centred = gradients if domain.is_interval else gradients - gradients.mean(axis=1, keepdims=True)
    norm = float(np.linalg.norm(centred, axis=1).max())
    spread = float(np.abs(gradients).max() if domain.is_interval else np.ptp(gradients, axis=1).max())
    return Game(domain, n_steps, norm, spread), gradients


def play_through(player, game, start, gradients, step_size):
    """All plays, the first one included."""
    plays = np.array([start])
    memory = player.begin(game.domain, plays)
    history = [plays[0].copy()]
    for i, gradient in enumerate(gradients):
        player.step(game, plays, memory, gradient[None, :], step_size, i)
        history.append(plays[0].copy())
    return np.array(history)


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize("name", PLAYER_NAMES)
def test_plays_stay_in_the_domain_and_begin_at_the_start(name, domain):
    player = PLAYERS[name]
    game, gradients = random_game(domain, 60, seed=1)
    start = domain.centre()
    history = play_through(player, game, start, gradients, player.optimal_step(game, start))
    np.testing.assert_array_equal(history[0], start)
    assert history.min() >= 0.0
    assert history.max() <= 1.0 + 1e-12
    if not domain.is_interval:
        np.testing.assert_allclose(history.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("domain", DOMAINS[1:], ids=str)
@pytest.mark.parametrize("name", PLAYER_NAMES)
def test_later_gradients_do_not_change_earlier_plays(name, domain):
    player = PLAYERS[name]
    game, gradients = random_game(domain, 20, seed=2)
    start = domain.centre()
    step_size = player.optimal_step(game, start)
    changed = gradients.copy()
    changed[10:] *= -1.0
    one = play_through(player, game, start, gradients, step_size)
    other = play_through(player, game, start, changed, step_size)
    np.testing.assert_array_equal(one[:11], other[:11])


@pytest.mark.parametrize("domain", DOMAINS[1:], ids=str)
@pytest.mark.parametrize("name", PLAYER_NAMES)
def test_rows_are_independent_games(name, domain):
    player = PLAYERS[name]
    game, _ = random_game(domain, 15, seed=3)
    gradients = np.random.default_rng(4).uniform(-0.5, 0.5, (15, 3, domain.dimension))
    start = domain.centre()
    step_size = player.optimal_step(game, start)
    plays = np.tile(start, (3, 1))
    memory = player.begin(domain, plays)
    for i in range(15):
        player.step(game, plays, memory, gradients[i], step_size, i)
    for row in range(3):
        alone = play_through(player, game, start, gradients[:, row], step_size)
        np.testing.assert_array_equal(plays[row], alone[-1])


@pytest.mark.parametrize("name", ["gradient", "lazy", "exponentiated", "scale-free", "coin"])
def test_adding_a_constant_to_simplex_gradients_changes_no_play(name):
    player = PLAYERS[name]
    domain = Simplex(4)
    game, gradients = random_game(domain, 40, seed=5)
    start = domain.centre()
    step_size = player.optimal_step(game, start)
    plain = play_through(player, game, start, gradients, step_size)
    shifted = play_through(player, game, start, gradients + 0.7, step_size)
    np.testing.assert_allclose(shifted, plain, atol=1e-9)


@pytest.mark.parametrize("domain", DOMAINS[1:], ids=str)
def test_scale_free_player_ignores_the_scale(domain):
    player = PLAYERS["scale-free"]
    game, gradients = random_game(domain, 40, seed=6)
    plain = play_through(player, game, domain.centre(), gradients, 0.0)
    scaled = play_through(player, game, domain.centre(), 1024.0 * gradients, 0.0)
    np.testing.assert_allclose(scaled, plain, atol=1e-12)


@given(hnp.arrays(np.int64, st.integers(1, 30), elements=st.integers(0, 3)), st.integers(0, 3))
def test_lazy_descent_has_its_closed_form_in_the_vote_counts(votes, label):
    gamma, k = 0.3, 4
    step_size = gamma / math.sqrt(len(votes))
    game = Game(
        Simplex(k),
        len(votes),
        agnostic_gradient_bound(gamma=gamma, n_classes=k),
        agnostic_gradient_range(gamma=gamma, n_classes=k),
    )
    gradients = np.empty((len(votes), k))
    for vote, gradient in zip(votes, gradients, strict=True):
        agnostic_gradient(np.eye(k)[vote], label, gamma, gradient)
    start = np.full(k, 1.0 / k)
    history = play_through(PLAYERS["lazy"], game, start, gradients, step_size)
    counts = np.zeros(k)
    for i, vote in enumerate(votes):
        counts[vote] += 1
        dual = start - 2 * step_size * (counts / gamma - (i + 1) * np.eye(k)[label])
        np.testing.assert_allclose(history[i + 1], naive.project_sorted(dual), atol=1e-12)


def test_exponentiated_gradient_is_the_softmax_of_minus_the_gradients():
    domain = Simplex(3)
    game, gradients = random_game(domain, 12, seed=7)
    history = play_through(PLAYERS["exponentiated"], game, domain.centre(), gradients, 0.4)
    weights = np.exp(-0.4 * gradients.cumsum(axis=0))
    np.testing.assert_allclose(history[1:], weights / weights.sum(axis=1, keepdims=True), atol=1e-12)


def test_exponentiated_gradient_on_the_interval_is_the_logistic_of_minus_the_gradients():
    game, gradients = random_game(UnitInterval(), 12, seed=8)
    history = play_through(PLAYERS["exponentiated"], game, np.array([0.5]), gradients, 0.4)
    np.testing.assert_allclose(history[1:], 1.0 / (1.0 + np.exp(0.4 * gradients.cumsum(axis=0))), atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_coin_betting_is_the_published_algorithm(seed):
    domain = Simplex(4)
    game, gradients = random_game(domain, 30, seed=seed)
    prior = np.random.default_rng(seed).dirichlet(np.ones(4))
    history = play_through(PLAYERS["coin"], game, prior, gradients, 0.0)
    np.testing.assert_allclose(history, naive.bet(gradients, prior, game.gradient_range), atol=1e-12)


def test_coin_betting_on_the_interval_bets_on_the_two_sides():
    game, gradients = random_game(UnitInterval(), 30, seed=3)
    history = play_through(PLAYERS["coin"], game, np.array([0.3]), gradients, 0.0)
    pairs = np.hstack([gradients, np.zeros_like(gradients)])
    twin = naive.bet(pairs, np.array([0.3, 0.7]), game.gradient_range)
    np.testing.assert_allclose(history[:, 0], twin[:, 0], atol=1e-12)


@pytest.mark.parametrize("k", [2, 5])
def test_scale_free_descent_is_adagrad_with_one_step_size(k):
    game, gradients = random_game(Simplex(k), 30, seed=4)
    start = np.eye(k)[0]
    history = play_through(PLAYERS["scale-free"], game, start, gradients, 0.0)
    np.testing.assert_allclose(history, naive.adagrad(gradients, start), atol=1e-10)


@pytest.mark.parametrize("name", PLAYER_NAMES)
def test_long_games_do_not_overflow(name):
    player = PLAYERS[name]
    domain = Simplex(3)
    gradients = np.tile([4.0, -2.0, 0.0], (20_000, 1))
    game = Game(domain, 20_000, 5.0, 6.0)
    history = play_through(player, game, domain.centre(), gradients, player.optimal_step(game, domain.centre()))
    assert np.isfinite(history).all()
    assert history[-1, 1] > 0.99


@pytest.mark.parametrize("name", [name for name in PLAYER_NAMES if PLAYERS[name].has_step_size])
def test_optimal_step_minimises_the_bound(name):
    player = PLAYERS[name]
    game, _ = random_game(Simplex(4), 50, seed=9)
    start = np.array([0.7, 0.1, 0.1, 0.1])
    best = player.optimal_step(game, start)
    bounds = [player.regret_bound(game, start, best * factor) for factor in (0.8, 1.0, 1.25)]
    assert min(bounds) == bounds[1]
