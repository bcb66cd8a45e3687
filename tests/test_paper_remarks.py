"""What the paper says between its theorems: how the projection works, what mistakes do to a play, Appendix C."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocoboost.cascade.regimes import AGNOSTIC, Regime, gradient_row
from ocoboost.oco.players import PLAYERS
from ocoboost.theory.conditions import Asymmetric, OneVsAll, Plain
from test_paper_claims import averaged_votes, projected

FALLING_GAMMAS = (1.0, 0.8, 0.6, 0.4, 0.2, 0.1, 0.05)


@pytest.mark.parametrize("gamma", FALLING_GAMMAS)
def test_section_3_the_projection_goes_by_way_of_the_plane_of_the_simplex(gamma):
    """Step 1 is orthogonal; what lies in the simplex then stays (step 2), and the rest is projected (step 3)."""
    for h in averaged_votes():
        on_plane = h / gamma - (1.0 / gamma - 1.0) / len(h)
        assert on_plane.sum() == pytest.approx(1.0)
        expected = on_plane if on_plane.min() >= 0.0 else projected(on_plane)
        np.testing.assert_allclose(projected(h / gamma), expected, atol=1e-12)


def test_section_3_fewer_labels_have_mass_the_smaller_gamma_is():
    n_fewer = 0
    for h in averaged_votes():
        before = np.ones(len(h), dtype=bool)
        for gamma in FALLING_GAMMAS:
            has_mass = projected(h / gamma) > 1e-12
            assert not np.any(has_mass & ~before)  # whoever lost its mass never gets it back
            assert has_mass[np.argmax(h)]
            n_fewer += has_mass.sum() < before.sum()
            before = has_mass
    assert n_fewer > 50


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("gamma", [0.3, 0.7])
def test_section_3_mistakes_move_the_play_to_the_label_and_right_votes_away_from_it(k, gamma):
    """What makes later learners correct the mistakes of earlier ones."""
    regime, player, n = Regime(AGNOSTIC), PLAYERS["gradient"], 60
    game = regime.game(gamma=gamma, n_classes=k, n_learners=n)
    rng = np.random.default_rng(k)
    for share_of_mistakes in (0.0, 0.4, 0.8, 1.0):
        plays = np.full((1, k), 1.0 / k)
        memory, gradients = player.begin(game.domain, plays), np.empty((1, k))
        for number in range(n):
            is_mistake = rng.random() < share_of_mistakes
            vote = np.eye(k)[rng.integers(1, k) if is_mistake else 0]
            before = plays[0, 0]
            gradient_row(regime.code, vote, 0, gamma, gradients[0])
            player.step(game, plays, memory, gradients, gamma / np.sqrt(n), number)
            assert plays[0, 0] >= before - 1e-12 if is_mistake else plays[0, 0] <= before + 1e-12
            assert plays[0, 0] > before or not is_mistake or before > 1 - 1e-9
    assert plays[0, 0] == pytest.approx(1.0)  # all of them were mistakes


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_appendix_c_the_asymmetric_condition_asks_for_more_than_the_plain_one(k, seed):
    """(k h.y - 1) / (k - 1) is at least 2 h.y - 1, the step of Proposition 14, and grows apart from it with k."""
    rng = np.random.default_rng(seed)
    said, taught = rng.dirichlet(np.ones(k), size=4), np.eye(k)[rng.integers(k, size=4)]
    (asymmetric,), (plain,) = Asymmetric().demands(said, taught), Plain().demands(said, taught)
    assert np.all(asymmetric.gains >= plain.gains - 1e-12)
    assert np.max(asymmetric.gains - plain.gains) == pytest.approx((k - 2) / (k - 1))


@pytest.mark.parametrize("k", [2, 3, 5])
def test_appendix_c_when_the_best_gain_is_never_negative(k):
    """With uniform labels every hypothesis has a negative plain gain; half-guessing makes the one-vs-all gain zero."""
    taught = np.eye(k)
    guesses = np.full((k, k), 1.0 / k)
    (plain,) = Plain().demands(guesses, taught)
    assert plain.learner_gains.sum() == pytest.approx(2.0 - k)
    assert max(plain.gains.sum(axis=0)) == pytest.approx(2.0 - k)  # of the constants
    for label, demand in enumerate(OneVsAll().demands(guesses, taught)):
        half = np.full(k, 0.5 / (k - 1))
        half[label] = 0.5  # says this label with probability 1/2
        assert (demand.gains @ half).sum() == pytest.approx(0.0)
