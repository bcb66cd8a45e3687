"""Potentials against their recursion, the finite formula in fractions, draws, and boosting by majority."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from ocoboost.cascade import potential_tables, potentials
from ocoboost.cascade.potential_tables import EXACT, FAST, METHODS, MONTE_CARLO

N_LEARNERS = 30


class Asker:
    """Potentials and importances for one gamma, number of labels and number of learners."""

    def __init__(self, method: int, gamma: float, n_classes: int, n_learners: int = N_LEARNERS, seed: int = 1) -> None:
        self.tables = potential_tables.make_potentials(
            method, gamma=gamma, n_classes=n_classes, n_learners=n_learners, seed=seed
        )
        self.scratch = potential_tables.make_scratch(n_classes, n_learners)
        self.n_learners = n_learners

    def __call__(self, n, counts, label):
        # A learner's memory is for one n; the last slot but n stands for the learner with n votes to come.
        counts = np.array(counts, dtype=np.int64)
        if n > self.n_learners - 1:
            self.tables.values[0] = -1.0
        value = potentials.potential(self.tables, max(0, self.n_learners - 1 - n), n, counts, label, self.scratch)
        if n > self.n_learners - 1:
            self.tables.values[0] = -1.0
        return value

    def importance(self, n, counts, label):
        counts = np.array(counts, dtype=np.int64)
        return potentials.importance(self.tables, self.n_learners - 1 - n, n, counts, label, self.scratch)


@st.composite
def states(draw, max_classes=6, n_learners=N_LEARNERS):
    """Vote counts after some of the learners, the true label, and how many votes are to come."""
    n_classes = draw(st.integers(2, max_classes))
    votes = draw(st.lists(st.integers(0, n_classes - 1), max_size=n_learners - 1))
    counts = [votes.count(label) for label in range(n_classes)]
    return counts, draw(st.integers(0, n_classes - 1)), n_learners - 1 - len(votes)


GAMMAS = [0.001, 0.1, 0.3, 0.9]
ASKERS = {(gamma, n_classes): Asker(EXACT, gamma, n_classes) for gamma in GAMMAS for n_classes in range(2, 7)}


@pytest.mark.kernels
@pytest.mark.parametrize("gamma", GAMMAS)
@given(state=states())
def test_one_step_of_the_recursion(gamma, state):
    counts, label, n = state
    phi = ASKERS[gamma, len(counts)]
    eye = np.eye(len(counts), dtype=int)
    other = (1 - gamma) / len(counts)
    expected = sum(
        (other + gamma * (j == label)) * phi(n, np.array(counts) + eye[j], label) for j in range(len(counts))
    )
    assert phi(n + 1, counts, label) == pytest.approx(expected, abs=1e-12)


@pytest.mark.kernels
@pytest.mark.parametrize("gamma", ["1/1000", "3/10"])
@settings(max_examples=30)
@given(state=states(max_classes=4, n_learners=10))
def test_exact_potentials_are_the_recursion_in_fractions(gamma, state):
    counts, label, n = state
    expected = naive.potential(n, naive.gaps_of(np.array(counts), label), Fraction(gamma))
    phi = Asker(EXACT, float(Fraction(gamma)), len(counts), n_learners=10)
    assert phi(n, counts, label) == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.kernels
@given(n=st.integers(0, 25), gap=st.integers(-25, 25), gamma=st.sampled_from(["1/1000", "1/10", "9/10"]))
def test_two_labels_closed_form_agrees_with_the_finite_formula(n, gap, gamma):
    counts = [25 + gap, 25]
    expected = naive.potential_by_coefficients(n, (gap,), Fraction(gamma))
    assert Asker(EXACT, float(Fraction(gamma)), 2)(n, counts, 0) == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.kernels
@pytest.mark.parametrize("gamma", GAMMAS)
def test_three_labels_table_agrees_with_the_sum_over_windows(gamma, monkeypatch):
    table = Asker(EXACT, gamma, 3)
    monkeypatch.setattr(potential_tables, "MOST_OF_THREE", 0)
    windows = Asker(EXACT, gamma, 3)
    assert table.tables.of_three.size > windows.tables.of_three.size == 0
    for n in (0, 1, 2, 13, N_LEARNERS - 1):
        for near, far in itertools.product(range(-n - 2, n + 3), repeat=2):
            counts = [40, 40 - near, 40 - far]
            assert table(n, counts, 0) == pytest.approx(windows(n, counts, 0), abs=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_classes", "gamma", "counts"), [(3, 0.1, [4, 3, 2]), (5, 0.05, [0] * 5), (10, 0.3, [0, 3] * 5)]
)
def test_exact_potentials_agree_with_a_million_draws(n_classes, gamma, counts):
    generator = np.random.default_rng(1)
    chances = np.full(n_classes, (1 - gamma) / n_classes)
    chances[0] += gamma
    for n in (1, 12, 29):
        finals = np.array(counts) + generator.multinomial(n, chances, size=1_000_000)
        share = float(np.mean(finals[:, 0] <= finals[:, 1:].max(axis=1)))
        value = Asker(EXACT, gamma, n_classes)(n, counts, 0)
        # Three standard errors: one false alarm in 370, nine times; the seed is fixed.
        assert abs(value - share) <= 3 * math.sqrt(max(value * (1 - value), 1e-6) / 1e6)


@pytest.mark.kernels
@pytest.mark.parametrize("gamma", GAMMAS)
@given(state=states())
def test_two_potentials_give_the_importance_of_k(gamma, state):
    counts, label, n = state
    phi = ASKERS[gamma, len(counts)]
    raised = np.array(counts) + np.eye(len(counts), dtype=int)[label]
    identity = len(counts) / (1 - gamma) * (phi(n + 1, counts, label) - phi(n, raised, label))
    assert identity == pytest.approx(phi.importance(n, counts, label), abs=1e-12)
    assert phi.importance(n, counts, label) >= -1e-15


@pytest.mark.kernels
@pytest.mark.parametrize("gamma", GAMMAS)
def test_with_two_labels_importance_is_the_weight_of_boosting_by_majority(gamma):
    phi, edge = Asker(EXACT, gamma, 2), gamma / 2
    for i in range(1, N_LEARNERS + 1):
        for right in range(i):
            wrong, left = i - 1 - right, N_LEARNERS - i
            c = (left + 1 - (right - wrong)) // 2
            weight = math.comb(left, c) * (0.5 + edge) ** c * (0.5 - edge) ** (left - c) if 0 <= c <= left else 0.0
            assert phi.importance(left, [wrong, right], 1) == pytest.approx(weight, abs=1e-12)


def test_a_thousand_learners_stay_within_the_range_of_doubles():
    for gamma, n_classes in [(0.001, 3), (0.3, 28), (0.999, 5)]:
        phi = Asker(EXACT, gamma, n_classes, n_learners=1000)
        other = (1 - gamma) / n_classes
        for n in (3, 400, 999):
            for counts in (np.zeros(n_classes, dtype=int), np.arange(n_classes)):
                steps = [phi(n - 1, counts + step, 0) for step in np.eye(n_classes, dtype=int)]
                assert phi(n, counts, 0) == pytest.approx(gamma * steps[0] + other * sum(steps), abs=1e-12)


def test_fast_potentials_are_close():
    generator = np.random.default_rng(1)
    for n_classes, gamma in [(2, 0.3), (3, 0.1), (10, 0.05), (28, 0.1)]:
        fast, exact = (Asker(method, gamma, n_classes, n_learners=100) for method in (FAST, EXACT))
        errors, weight_errors, weights = [], [], []
        for _ in range(300):
            n_voted = int(generator.integers(100))
            counts = generator.multinomial(n_voted, generator.dirichlet(np.full(n_classes, 0.5)))
            n, label = 99 - n_voted, int(generator.choice([int(counts.argmax()), int(generator.integers(n_classes))]))
            errors.append(abs(fast(n, counts, label) - exact(n, counts, label)))
            weights.append(exact.importance(n, counts, label))
            weight_errors.append(abs(fast.importance(n, counts, label) - weights[-1]))
        assert np.mean(errors) < 0.015
        assert np.max(errors) < 0.1
        assert np.mean(weight_errors) < 0.2 * np.mean(weights)


@pytest.mark.kernels
def test_drawn_potentials_are_unbiased_and_keyed_by_their_arguments():
    counts = [3, 1, 0, 2]
    exact = Asker(EXACT, 0.1, 4)(12, counts, 0)
    values = [Asker(MONTE_CARLO, 0.1, 4, seed=seed)(12, counts, 0) for seed in range(200)]
    # Four standard errors of the mean of 200 means of 100 draws.
    assert abs(np.mean(values) - exact) < 4 * math.sqrt(0.25 / 20_000)
    assert np.std(values) == pytest.approx(math.sqrt(exact * (1 - exact) / 100), rel=0.3)
    asker = Asker(MONTE_CARLO, 0.1, 4)
    first = asker(12, counts, 0)
    asker(12, [0, 5, 0, 0], 0)
    asker.tables.values[:] = -1.0  # forget
    assert asker(12, [3, 2, 1, 0], 0) == first  # a permutation of the other labels
    assert len({Asker(MONTE_CARLO, 0.1, 4)(n, counts, 0) for n in (9, 10, 11, 12)}) > 1


@pytest.mark.parametrize("method", METHODS)
def test_remembering_changes_no_bit_and_no_size(method):
    generator = np.random.default_rng(2)
    asker = Asker(METHODS[method], 0.1, 5)
    size = asker.tables.values.nbytes + asker.tables.keys.nbytes
    states = [(generator.multinomial(10, np.full(5, 0.2)), int(generator.integers(5))) for _ in range(300)]
    first = [asker(19, counts, label) for counts, label in states]
    assert [asker(19, counts, label) for counts, label in states] == first
    assert [Asker(METHODS[method], 0.1, 5)(19, counts, label) for counts, label in states] == first
    assert asker.tables.values.nbytes + asker.tables.keys.nbytes == size


@pytest.mark.kernels
def test_a_small_memory_forgets_and_answers_the_same(monkeypatch):
    generator = np.random.default_rng(3)
    states = [(generator.multinomial(15, np.full(6, 1 / 6)), int(generator.integers(6))) for _ in range(500)]
    plenty = Asker(EXACT, 0.1, 6)
    monkeypatch.setattr(potential_tables, "N_REMEMBERED", 1)
    little = Asker(EXACT, 0.1, 6)
    assert little.tables.values.shape[1] == 64
    assert [little(14, *state) for state in states] == [plenty(14, *state) for state in states]
