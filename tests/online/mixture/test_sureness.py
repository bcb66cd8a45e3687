"""How sure to be of the most probable label: its twin, its bound, and that what is said comes true."""

from __future__ import annotations

import numpy as np
import pytest

from labellings import LABELLINGS, check_excess, labelled
from ocoboost.bench.measures import calibration_error
from ocoboost.online.mixture.bounds import sureness_bound
from ocoboost.online.mixture.sureness import SHARE, SHIFTS, SLOPES, first_shares, reckon, update

pytestmark = pytest.mark.kernels


def said_to(probabilities, labels, weights=None):
    """What the kernels say to each row before they learn its label, and the shares at the end."""
    shares, doubts, likeliest = first_shares(), np.empty((len(SLOPES), len(SHIFTS))), np.empty(1, dtype=np.int64)
    out = probabilities.copy()
    for row, label in enumerate(labels):
        reckon(out[row], shares, doubts, likeliest)
        update(doubts, likeliest, label, 1.0 if weights is None else weights[row], shares)
    return out, shares


def moved(p, slope, shift):
    """A distribution whose most probable label was moved, by the formula."""
    best = p.argmax()
    odds = (p[best] / (1.0 - p[best])) ** slope * np.exp(shift)
    others = np.delete(p, best)
    q = max(odds / (1.0 + odds), others.max() / (others.max() + others.sum()))
    out = p * (1.0 - q) / (1.0 - p[best])
    out[best] = q
    return out


def some(n_rows, n_classes, seed):
    return 0.999 * np.random.default_rng(seed).dirichlet(np.full(n_classes, 0.5), size=n_rows) + 0.001 / n_classes


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_rows_go_through_as_in_the_twin(n_classes):
    draw = np.random.default_rng(n_classes)
    probabilities = some(80, n_classes, n_classes)
    labels, weights = draw.integers(n_classes, size=80), draw.choice([0.0, 0.3, 1.0], size=80)
    found, shares = said_to(probabilities, labels, weights)
    prior = expected = first_shares()
    for row, label in enumerate(labels):
        answers = np.array([[moved(probabilities[row], slope, shift) for shift in SHIFTS] for slope in SLOPES])
        np.testing.assert_allclose(found[row], np.tensordot(expected, answers, 2), rtol=1e-9)
        expected = expected * answers[..., label] ** weights[row]
        expected = (1.0 - SHARE) * expected / expected.sum() + SHARE * prior
    np.testing.assert_allclose(shares, expected, rtol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert found.min() > 0.0


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_the_most_probable_label_stays_it(n_classes):
    probabilities = some(500, n_classes, 7)
    found, _ = said_to(probabilities, probabilities.argmin(axis=1))  # always wrong, so it is believed less and less
    every, best = np.arange(500), probabilities.argmax(axis=1)
    assert np.all(found[every, best] >= found.max(axis=1) * (1.0 - 1e-12))
    assert (found[every, best] - probabilities[every, best]).mean() < -0.05


def test_an_only_label_is_left_alone():
    found, shares = said_to(np.ones((5, 1)), np.zeros(5, dtype=np.int64))
    assert np.all(found == 1.0)
    assert shares.tobytes() == first_shares().tobytes()


def test_near_certainty_is_no_trouble():
    probabilities = np.array([[1.0 - 1e-17, 1e-17], [1e-100, 1.0], [1.0, 1e-100]] * 50)
    found, shares = said_to(probabilities, np.array([1, 0, 1] * 50))
    assert np.all(np.isfinite(found))
    assert found.min() > 0.0
    assert shares.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", LABELLINGS)
@pytest.mark.parametrize("n_rows", [1, 30, 2000])
def test_the_bound_holds(kind, n_rows):
    probabilities = some(n_rows, 4, n_rows)
    labels = labelled(kind, probabilities, seed=n_rows)
    found, _ = said_to(probabilities, labels)
    check_excess(kind, labels, probabilities, found, sureness_bound(n_rows))


def test_a_rare_label_that_cannot_be_told_is_learned_to_be_absent_from_plain_rows():
    """Of three labels one is said to have 8 % of every row, and has all of its own on rows that are not plain."""
    draw = np.random.default_rng(3)
    n_rows = 3000
    plain = draw.random(n_rows) < 0.75
    sides = draw.integers(2, size=n_rows)
    probabilities = np.full((n_rows, 3), 0.08)
    every = np.arange(n_rows)
    probabilities[every, sides] = np.where(plain, 0.9, 0.65)
    probabilities[every, 1 - sides] = np.where(plain, 0.02, 0.27)
    truth = np.where(plain, 0.98, 0.5)
    others = np.where(draw.random(n_rows) < 0.5, 1 - sides, 2)
    labels = np.where(draw.random(n_rows) < truth, sides, others)
    found, _ = said_to(probabilities, labels)
    late = slice(n_rows // 2, None)
    is_right = labels == sides
    before, after = (calibration_error(said.max(axis=1)[late], is_right[late]) for said in (probabilities, found))
    assert before > 0.08
    assert after < 0.03
    losses = [-np.log(said[every, labels][late]).mean() for said in (probabilities, found)]
    assert losses[1] < losses[0] - 0.03
