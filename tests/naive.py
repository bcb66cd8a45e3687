"""Slow, obvious twins of what the library does fast, written from the paper."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ocoboost.randomness import RELABEL, uniform


def project(point: np.ndarray) -> np.ndarray:
    """Euclidean projection onto the simplex: try every support, keep the nearest feasible point."""
    k = len(point)
    best, best_distance = None, np.inf
    for size in range(1, k + 1):
        for support in itertools.combinations(range(k), size):
            candidate = np.zeros(k)
            chosen = list(support)
            candidate[chosen] = point[chosen] - (point[chosen].sum() - 1.0) / size
            distance = ((candidate - point) ** 2).sum()
            if candidate.min() >= -1e-12 and distance < best_distance:
                best, best_distance = candidate, distance
    assert best is not None
    return np.maximum(best, 0.0)


def project_sorted(point: np.ndarray) -> np.ndarray:
    """The same by sorting, as the paper's Lemma on the projection describes it; for many labels."""
    ordered = np.sort(point)[::-1]
    thresholds = (np.cumsum(ordered) - 1.0) / np.arange(1, len(point) + 1)
    last = np.nonzero(ordered > thresholds)[0][-1]
    return np.maximum(point - thresholds[last], 0.0)


def boost(
    rows: list[tuple[dict[str, Any], int]],
    learners: list[Any],
    *,
    regime: str,
    gamma: float,
    n_classes: int,
    relabel: str,
    start: str,
    seed: int,
    votes: str = "label",
    pool: str = "label",
    step_size: float | None = None,
) -> list[np.ndarray]:
    """Algorithms 1 and 4, line by line, with projected gradient descent; returns D_t of every row."""
    n_learners = len(learners)
    step_size = gamma / np.sqrt(n_learners) if step_size is None else float(step_size)
    ones = np.ones(n_classes)
    distributions = []
    for t, (x, label) in enumerate(rows):
        cast: dict[str, list[np.ndarray]] = {"label": [], "distribution": []}
        for learner in learners:
            counts = learner.predict_proba_one(x)
            counts = np.array([counts.get(j, 0.0) for j in range(n_classes)])
            share = counts / counts.sum() if counts.sum() > 0 else ones / n_classes
            cast["distribution"].append(share)
            cast["label"].append(np.eye(n_classes)[int(np.argmax(share))])  # argmax takes the lowest index
        distributions.append(project_sorted(sum(cast[pool]) / (gamma * n_learners)))  # line 4
        y = np.eye(n_classes)[label]
        if regime == "agnostic":
            play = y.copy() if start == "label" else ones / n_classes
        else:
            play = 1.0 if start == "label" else 0.5
        for i, learner in enumerate(learners):
            draw = uniform(np.uint64(seed), RELABEL, t, i)
            if regime == "agnostic" and relabel == "fractional":
                for j in range(n_classes):
                    if play[j] > 0.0:
                        learner.learn_one(x, j, w=play[j])
            elif regime == "agnostic":
                learner.learn_one(x, int(np.searchsorted(np.cumsum(play), draw, side="right")), w=1.0)
            elif relabel == "fractional":
                if play > 0.0:
                    learner.learn_one(x, label, w=play)
            elif draw < play:
                learner.learn_one(x, label, w=1.0)
            if regime == "agnostic":  # line 9
                gradient = (2 * cast[votes][i] - ones) / gamma - (2 * y - ones)
                play = project_sorted(play - step_size * gradient)
            else:
                gradient = (2 * cast[votes][i] @ y - 1) / gamma - 1
                play = float(np.clip(play - step_size * gradient, 0.0, 1.0))
    return distributions


def binary_boost(
    votes: np.ndarray, signs: np.ndarray, draws: np.ndarray, *, gamma: float, step_size: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Brukhim, Chen, Hazan & Moran (2020) on given votes of shape (rows, learners) in {-1, +1}.

    Returns the probability of +1, the plays p in [-1, 1], and the taught labels.
    """
    n_rows, n_learners = votes.shape
    plays = np.zeros((n_rows, n_learners))
    taught = np.zeros((n_rows, n_learners), dtype=int)
    chance = np.zeros(n_rows)
    for t in range(n_rows):
        z = votes[t].sum() / (gamma * n_learners)
        chance[t] = 1.0 if z >= 1 else 0.0 if z <= -1 else (1 + z) / 2
        play = 0.0
        for i in range(n_learners):
            plays[t, i] = play
            taught[t, i] = signs[t] if draws[t, i] < (1 + play) / 2 else -signs[t]
            play = float(np.clip(play - step_size * (signs[t] * votes[t, i] / gamma - 1), -1.0, 1.0))
    return chance, plays, taught


def bet(gradients: np.ndarray, prior: np.ndarray, gradient_range: float) -> np.ndarray:
    """Orabona & Pal (2016), Algorithm 2, as printed: plain wealth, one bettor per expert. Returns all plays."""
    n, k = gradients.shape
    net, wealth, play = np.zeros(k), np.ones(k), prior.copy()
    plays = [play]
    for t in range(1, n + 1):
        stake = net / (t + n / 2) * wealth
        gain = (gradients[t - 1] @ play - gradients[t - 1]) / gradient_range
        gain = np.where(stake > 0, gain, np.maximum(gain, 0.0))
        wealth = wealth + stake * gain
        net = net + gain
        weights = prior * np.maximum(net / (t + 1 + n / 2) * wealth, 0.0)
        play = weights / weights.sum() if weights.sum() > 0 else prior.copy()
        plays.append(play)
    return np.array(plays)


def adagrad(gradients: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Gradient descent on the simplex with step diameter / sqrt(2 * sum of squared centred norms)."""
    play, squares = start.copy(), 0.0
    plays = [play]
    for gradient in gradients:
        squares += ((gradient - gradient.mean()) ** 2).sum()
        play = project_sorted(play - np.sqrt(2.0) / np.sqrt(2.0 * squares) * gradient)
        plays.append(play)
    return np.array(plays)
