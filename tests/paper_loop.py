"""Algorithms 1 and 4 as the paper writes them, and the pairwise booster: row by row, learner by learner, in NumPy.

Nothing of the package is used but two methods of an ensemble of weak learners, ``vote`` and ``vote_and_learn``; draws
come as an argument. Numbers at the right are the statements of the algorithm, counted from the first after its input;
loops count. What the package offers beyond the paper (another start, votes or pools that are distributions, another
step) is in the last three arguments and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from naive import project_sorted

Draw = Callable[[int, int], float]  # in [0, 1), by row and learner; both count from 0


class Learners(Protocol):
    """All that the algorithms ask of N weak learners; ``x`` is one row, in the form that they take."""

    def vote(self, learner: int, x: Any, out: np.ndarray, /) -> None: ...

    def vote_and_learn(self, learner: int, x: Any, label_weights: np.ndarray, out: np.ndarray, /) -> None: ...


class Beyond(NamedTuple):
    """What is not the paper's."""

    start: str = "uniform"  # where a game starts; or at the "label"
    votes: str = "label"  # what the players see of a learner; or its "distribution"
    pool: str = "label"  # what is summed for the prediction; or "distribution"
    step_size: float | None = None  # None: gamma / sqrt(N)


class Run(NamedTuple):
    """What happened, by row."""

    distributions: list[np.ndarray]  # D_t
    votes: list[list[int]]  # the label that every learner voted for


def algorithm_1(
    learners: Learners,
    stream: Sequence[tuple[Any, int]],
    *,
    n_learners: int,
    n_classes: int,
    gamma: float,
    draw: Draw | None,
    beyond: Beyond = Beyond(),  # noqa: B008, a named tuple
) -> Run:
    """Online agnostic boosting; ``draw`` None teaches the plays themselves instead of labels drawn from them."""
    step_size = gamma / math.sqrt(n_learners) if beyond.step_size is None else beyond.step_size
    run, losses = Run([], []), []  # what A was shown of a row
    for t, (x, label) in enumerate(stream):  # 1: for t = 1, ..., T
        W = [vote_on(learners, i, x, n_classes) for i in range(n_learners)]  # 2: receive example x_t
        h = sum(one_hot(w) if beyond.pool == "label" else w for w in W)  # 3: accumulate h_t = sum_i W_i(x_t)
        D = project_sorted(h / (gamma * n_learners))  # 4: set D_t = Π(h_t / (γN))
        run.distributions.append(D)  # 5: predict ŷ_t ~ D_t
        y = np.eye(n_classes)[label]  # 6: receive true label y_t
        p = y if beyond.start == "label" else np.full(n_classes, 1 / n_classes)
        for i in range(n_learners):  # 7: for i = 1, ..., N
            if i > 0:  # 8: if i > 1, obtain p_t^i = A(l_t^1, ..., l_t^{i-1}); else initialize p_t^1 = 1/k
                p = project_sorted(p - step_size * losses[-1])
            said = one_hot(W[i]) if beyond.votes == "label" else W[i]
            losses.append((2 * said - 1) / gamma - (2 * y - 1))  # 9: reveal loss l_t^i(p) = p . this
            if draw is not None:  # 10: sample random label y_t^i ~ p_t^i, and pass (x_t, y_t^i) to W_i
                lesson = np.eye(n_classes)[int(np.searchsorted(np.cumsum(p), draw(t, i), side="right"))]
            else:
                lesson = p
            teach(learners, i, x, lesson, W[i])
        losses.clear()  # 11: reset A
        run.votes.append([int(np.argmax(w)) for w in W])
    return run


def algorithm_4(
    learners: Learners,
    stream: Sequence[tuple[Any, int]],
    *,
    n_learners: int,
    n_classes: int,
    gamma: float,
    draw: Draw | None,
    beyond: Beyond = Beyond(),  # noqa: B008, a named tuple
) -> Run:
    """Online realizable boosting; ``draw`` None passes the true label with weight p instead of with probability p."""
    step_size = gamma / math.sqrt(n_learners) if beyond.step_size is None else beyond.step_size
    run, losses = Run([], []), []  # what A was shown of a row
    for t, (x, label) in enumerate(stream):  # 1: for t = 1, ..., T
        W = [vote_on(learners, i, x, n_classes) for i in range(n_learners)]  # 2: receive example x_t
        h = sum(one_hot(w) if beyond.pool == "label" else w for w in W)  # 3: accumulate h_t = sum_i W_i(x_t)
        D = project_sorted(h / (gamma * n_learners))  # 4: set D_t = Π(h_t / (γN))
        run.distributions.append(D)  # 5: predict ŷ_t ~ D_t
        y = np.eye(n_classes)[label]  # 6: receive true label y_t
        p = 1.0 if beyond.start == "label" else 0.5
        for i in range(n_learners):  # 7: for i = 1, ..., N
            if i > 0:  # 8: if i > 1, obtain p_t^i = A(l_t^1, ..., l_t^{i-1}); else initialize p_t^1 = 0.5
                p = min(max(p - step_size * losses[-1], 0.0), 1.0)
            said = one_hot(W[i]) if beyond.votes == "label" else W[i]
            losses.append((2 * said @ y - 1) / gamma - 1)  # 9: reveal loss l_t^i(p) = p * this
            weight = p if draw is None else float(draw(t, i) < p)
            teach(learners, i, x, weight * y, W[i])  # 10: pass (x_t, y_t) to W_i with probability p_t^i
        losses.clear()  # 11: reset A
        run.votes.append([int(np.argmax(w)) for w in W])
    return run


def pairwise(
    learners: Learners,
    stream: Sequence[tuple[Any, int]],
    *,
    n_learners: int,
    n_classes: int,
    gamma: float,
    draw: Draw | None,
    beyond: Beyond = Beyond(),  # noqa: B008, a named tuple
) -> Run:
    """The pairwise booster as docs/theory.md has it; its losses are doubled, as all losses here are in gains."""
    step_size = gamma / math.sqrt(n_learners) if beyond.step_size is None else beyond.step_size
    run = Run([], [])
    for t, (x, label) in enumerate(stream):
        W = [vote_on(learners, i, x, n_classes) for i in range(n_learners)]
        h = sum(one_hot(w) if beyond.pool == "label" else w for w in W)
        run.distributions.append(project_sorted(h / (gamma * n_learners)))
        rivals = [j for j in range(n_classes) if j != label]
        r = np.full(n_classes, 1 / n_classes)
        if beyond.start == "label":
            r = np.array([1 / len(rivals) if j in rivals else 0.0 for j in range(n_classes)])
        for i in range(n_learners):
            said = one_hot(W[i]) if beyond.votes == "label" else W[i]
            all_rivals = 1 - r[label]
            gains = np.zeros(n_classes)  # r_j on the label and -r_j on its rival j, summed over rivals
            loss = np.zeros(n_classes)  # of r, which is linear: that of r_j
            gains[label] = all_rivals
            for j in rivals:
                gains[j] -= r[j]
                loss[j] = (said[label] - said[j]) / gamma - 1
            lesson = (gains + all_rivals) / n_classes  # the same for all labels added, so that none is below 0
            if draw is not None:
                drawn = int(np.searchsorted(np.cumsum(lesson), draw(t, i), side="right"))
                lesson = np.eye(n_classes + 1)[drawn][:n_classes]  # beyond the last label: nothing
            teach(learners, i, x, lesson, W[i])
            r = project_sorted(r - step_size * 2 * loss)
        run.votes.append([int(np.argmax(w)) for w in W])
    return run


def vote_on(learners: Learners, learner: int, x: Any, n_classes: int) -> np.ndarray:
    """A learner's vote, as a distribution over labels."""
    out = np.empty((1, n_classes))
    learners.vote(learner, x, out)
    return out[0]


def one_hot(vote: np.ndarray) -> np.ndarray:
    """The label that a vote names; ties go to the lowest index."""
    return np.eye(len(vote))[int(np.argmax(vote))]


def teach(learners: Learners, learner: int, x: Any, label_weights: np.ndarray, voted: np.ndarray) -> None:
    """Pass a row to a learner. It votes once more before it learns, and must say the same."""
    out = np.empty((1, len(voted)))
    learners.vote_and_learn(learner, x, label_weights[None].copy(), out)
    np.testing.assert_array_equal(out[0], voted)
