"""Reshaped probabilities: their twin, their bound, and that they take the shape that flipped labels have."""

from __future__ import annotations

import numpy as np
import pytest

from labellings import LABELLINGS, check_excess, labelled
from ocoboost.online.mixture.bounds import reshaping_bound
from ocoboost.online.mixture.reshaping import FLOORS, POWERS, SHARE, VOTES, first_shares, reshape, update

pytestmark = pytest.mark.kernels


def shapes(probabilities, voted):
    """Every share of the votes with every power and every floor; (votes, powers, floors, classes)."""
    sharp = np.array([probabilities**power / (probabilities**power).sum() for power in POWERS])
    floors, share = np.array(FLOORS)[None, None, :, None], np.array(VOTES)[:, None, None, None]
    return (1.0 - floors) * ((1.0 - share) * sharp[None, :, None, :] + share * voted) + floors / len(probabilities)


def said_to(probabilities, voted, labels, weights=None):
    """What the kernels say to each row before they learn its label, and the shares at the end."""
    shares = first_shares()
    sharpened, out = np.zeros((len(POWERS), probabilities.shape[1])), np.zeros_like(probabilities)
    for row, label in enumerate(labels):
        reshape(probabilities[row], voted[row], shares, sharpened, out[row])
        update(sharpened, voted[row, label], label, 1.0 if weights is None else weights[row], shares)
    return out, shares


@pytest.mark.parametrize("n_classes", [1, 2, 6])
def test_rows_go_through_as_in_the_twin(n_classes):
    draw = np.random.default_rng(n_classes)
    probabilities = draw.dirichlet(np.full(n_classes, 0.5), size=60)
    probabilities = 0.999 * probabilities + 0.001 / n_classes
    labels, weights = draw.integers(n_classes, size=60), draw.choice([0.0, 0.3, 1.0], size=60)
    voted = np.eye(n_classes)[draw.integers(n_classes, size=60)]
    voted[::2] = draw.dirichlet(np.ones(n_classes), size=30)
    found, shares = said_to(probabilities, voted, labels, weights)
    prior = expected = first_shares()
    for row, label in enumerate(labels):
        answers = shapes(probabilities[row], voted[row])
        np.testing.assert_allclose(found[row], np.tensordot(expected, answers, 3), rtol=1e-9)
        expected = expected * answers[..., label] ** weights[row]
        expected = (1.0 - SHARE) * expected / expected.sum() + SHARE * prior
    np.testing.assert_allclose(shares, expected, rtol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert found.min() > 0.0


@pytest.mark.parametrize("kind", LABELLINGS)
@pytest.mark.parametrize("n_rows", [1, 30, 2000])
def test_the_bound_holds(kind, n_rows):
    probabilities = 0.999 * np.random.default_rng(n_rows).dirichlet(np.full(4, 0.5), size=n_rows) + 0.00025
    labels = labelled(kind, probabilities, seed=n_rows)
    voted = np.eye(4)[probabilities.argmin(axis=1)]  # which must not help
    found, _ = said_to(probabilities, voted, labels)
    check_excess(kind, labels, probabilities, found, reshaping_bound(n_rows))


def test_flipped_labels_get_their_shape():
    """The mode is right on 80 % of the rows and the others are alike, while p is unsure of the mode and of the rest."""
    draw = np.random.default_rng(3)
    n_rows, modes, others = 3000, draw.integers(5, size=3000), draw.integers(1, 5, size=3000)
    probabilities = np.full((n_rows, 5), 0.08)
    every = np.arange(n_rows)
    probabilities[every, modes] = 0.56
    probabilities[every, (modes + others) % 5] = 0.20
    labels = np.where(draw.random(n_rows) < 0.8, modes, (modes + draw.integers(1, 5, size=n_rows)) % 5)
    found, shares = said_to(probabilities, np.eye(5)[draw.integers(5, size=n_rows)], labels)
    late = slice(n_rows // 2, None)
    assert abs(found[every, modes][late].mean() - 0.8) < 0.05
    before, after = (-np.log(said[every, labels][late]).mean() for said in (probabilities, found))
    assert after < before - 0.05
    assert shares[:, :, 1:].sum() > 0.9  # with a floor


def test_votes_are_taken_up_where_they_know_more():
    draw = np.random.default_rng(4)
    n_rows, every = 2000, np.arange(2000)
    labels = draw.integers(3, size=n_rows)
    voted = np.eye(3)[np.where(draw.random(n_rows) < 0.9, labels, (labels + 1) % 3)]
    probabilities = 0.999 * draw.dirichlet(np.ones(3), size=n_rows) + 0.001 / 3
    found, shares = said_to(probabilities, voted, labels)
    assert shares[-1].sum() > 0.9
    assert -np.log(found[every, labels])[1000:].mean() < np.log(3) - 0.2
