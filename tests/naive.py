"""Slow, obvious twins of what the library does fast, written from the paper."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from ocoboost.randomness import CONSTANTS, TIES, uniform


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


def vote_shares(learner: Any, x: dict[str, Any], n_classes: int) -> np.ndarray:
    """A learner's vote; uniform if it knows nothing."""
    counts = learner.predict_proba_one(x)
    counts = np.array([counts.get(j, 0.0) for j in range(n_classes)])
    return counts / counts.sum() if counts.sum() > 0 else np.full(n_classes, 1.0 / n_classes)


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


@cache
def potential(n: int, gaps: tuple[int, ...], gamma: Fraction) -> Fraction:
    """OnlineMBBM's potential by its recursion; ``gaps`` are the true label's votes minus those of each other label."""
    if n == 0:
        return Fraction(int(min(gaps) <= 0))
    other = (1 - gamma) / (len(gaps) + 1)
    value = (gamma + other) * potential(n - 1, tuple(sorted(gap + 1 for gap in gaps)), gamma)
    for place in range(len(gaps)):
        moved = (*gaps[:place], gaps[place] - 1, *gaps[place + 1 :])
        value += other * potential(n - 1, tuple(sorted(moved)), gamma)
    return value


def potential_by_coefficients(n: int, gaps: tuple[int, ...], gamma: Fraction) -> Fraction:
    """The same by the finite formula: sum over the true label's votes, coefficient of a product of polynomials."""
    n_others = len(gaps)
    chance = gamma + (1 - gamma) / (n_others + 1)
    ahead = Fraction(0)
    for c in range(n + 1):
        m = n - c
        bounds = [gap + c - 1 for gap in gaps]
        if min(bounds) < 0:
            continue
        product = [Fraction(1)] + [Fraction(0)] * m
        for bound in bounds:
            series = [Fraction(int(j <= bound), math.factorial(j)) for j in range(m + 1)]
            product = [sum((product[i] * series[j - i] for i in range(j + 1)), Fraction(0)) for j in range(m + 1)]
        inside = product[m] * math.factorial(m) / n_others**m
        ahead += math.comb(n, c) * chance**c * (1 - chance) ** m * inside
    return 1 - ahead


def gaps_of(counts: np.ndarray, label: int) -> tuple[int, ...]:
    """The true label's votes minus those of each other label, ascending."""
    return tuple(sorted(int(counts[label] - counts[j]) for j in range(len(counts)) if j != label))


def pick(values: np.ndarray, draw: float) -> int:
    """The place of the largest value; among several the one that the draw points at."""
    places = np.flatnonzero(values == values.max())
    return int(places[int(draw * len(places))])


def published_constants(n_learners: int, seed: int) -> np.ndarray:
    draws = [uniform(np.uint64(seed), CONSTANTS, i, 0) for i in range(n_learners)]
    return 10.0 + 190.0 * np.array(draws)


def boost_by_majority(
    rows: list[tuple[dict[str, Any], int, float]],
    learners: list[Any],
    *,
    phi: Callable[[int, np.ndarray, int], float],
    n_classes: int,
    seed: int = 0,
    deviations: frozenset[str] = frozenset(),
) -> tuple[list[np.ndarray], list[list[float]]]:
    """OnlineMBBM, with ``phi(votes to come, vote counts, true label)``; returns every row's vote counts and lessons."""
    n_learners, eye = len(learners), np.eye(n_classes, dtype=int)
    to_come = [n_learners - i + ("horizon" in deviations) for i in range(1, n_learners + 1)]

    def importance(i: int, counts: np.ndarray, label: int) -> float:
        right = phi(to_come[i], counts + eye[label], label)
        return sum(phi(to_come[i], counts + eye[j], label) - right for j in range(n_classes))

    if "constants" in deviations:
        scales = 0.1 * published_constants(n_learners, seed) / (n_classes - 1)
    else:
        scales = np.full(n_learners, 1 / np.mean([importance(i, 0 * eye[0], 0) for i in range(n_learners)]))
    results, lessons = [], []
    for t, (x, label, weight) in enumerate(rows):
        counts, taught = np.zeros(n_classes, dtype=int), []
        for i, learner in enumerate(learners):
            share = vote_shares(learner, x, n_classes)
            w = scales[i] * importance(i, counts, label)
            taught.append(weight * max(1e-10 if "constants" in deviations else 0.0, w))
            if "min-cost" in deviations:
                costs = [
                    sum(share[r] * phi(to_come[i], counts + eye[j], r) for r in range(n_classes))
                    for j in range(n_classes)
                ]
                draw = uniform(np.uint64(seed), TIES, t, i) if "ties" in deviations else 0.0
                vote = pick(np.floor(-np.array(costs) * 2.0**40 + 0.5), draw)
            else:
                vote = int(np.argmax(share))
            counts = counts + eye[vote]
        results.append(counts)
        lessons.append(taught)
        for learner, w in zip(learners, taught, strict=True):
            if w > 0.0:
                learner.learn_one(x, label, w=w)
    return results, lessons


def boost_logistic(
    rows: list[tuple[dict[str, Any], int, float]],
    learners: list[Any],
    *,
    n_classes: int,
    seed: int = 0,
    deviations: frozenset[str] = frozenset(),
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Adaboost.OLM; returns the experts' shares at every row, the alphas and the logarithms of the experts' weights."""
    n_learners = len(learners)
    alphas, log_weights = np.zeros(n_learners), np.zeros(n_learners)
    constants = published_constants(n_learners, seed)
    results = []
    for t, (x, label, weight) in enumerate(rows):
        score, shares = np.zeros(n_classes), np.zeros(n_classes)
        expert_weights = np.exp(log_weights - log_weights.max())
        step_size = 2 * math.sqrt(2) / ((n_classes - 1) * math.sqrt(t + 1))
        for i, learner in enumerate(learners):
            cost = np.array([[sigma(score[j] - score[r]) for j in range(n_classes)] for r in range(n_classes)])
            for r in range(n_classes):
                cost[r, r] = -(cost[r].sum() - cost[r, r])
            importance = -cost[label, label]
            if "constants" not in deviations:
                lesson = 2 * importance / (n_classes - 1)
            else:
                lesson = 5.0 if i == 0 else max(1e-10, constants[i] * importance / (n_classes - 1))
            share = vote_shares(learner, x, n_classes)
            if "min-cost" in deviations:
                draw = uniform(np.uint64(seed), TIES, t, n_learners + i) if "ties" in deviations else 0.0
                vote = pick(np.floor(-(share @ cost) * 2.0**40 + 0.5), draw)
            else:
                vote = int(np.argmax(share))
            if vote == label:
                slope = -sum(sigma(score[j] - score[label] - alphas[i]) for j in range(n_classes) if j != label)
            else:
                slope = sigma(score[vote] + alphas[i] - score[label])
            score[vote] += alphas[i]
            draw = uniform(np.uint64(seed), TIES, t, i) if "ties" in deviations else 0.0
            expert = pick(score, draw)
            shares[expert] += expert_weights[i]
            alphas[i] = np.clip(alphas[i] - step_size * weight * slope, -2, 2)
            log_weights[i] -= weight * (expert != label)
            if weight > 0.0:
                learner.learn_one(x, label, w=weight * lesson)
        results.append(shares / expert_weights.sum())
    return results, alphas, log_weights


def sigma(z: float) -> float:
    return 1 / (1 + math.exp(-z))
