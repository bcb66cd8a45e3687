"""Several boosters on the same stream, mixed by exponential weights.

Every booster offers label distributions, and each distribution is an expert that loses 1 - D[y] on a row: the chance
that a label drawn from it is wrong. The mixture's distribution is the weighted mean of its experts', so its loss is
the weighted mean of their losses, and the classical regret bounds for exponential weights hold for it row by row,
whatever the stream does (Herbster & Warmuth, 1998; Cesa-Bianchi & Lugosi, 2006).

Time is cut into epochs [1], [2, 3], [4, 7], ...; within one the learning rate and the fixed share stand still. After
every row 1 / (length of the epoch) of all weight is shared out evenly, so that every expert can recover.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray, checked_count, checked_like
from ocoboost.cascade.answers import Answers, projected
from ocoboost.cascade.cascade import Cascade
from ocoboost.compiling import kernel
from ocoboost.data.schema import Block, Schema

# Beside its own D, every member of a mixture offers one for this gamma: nearly the mode of its votes. Otherwise
# members whose votes are spread thinly, as those of deep trees are, would lose to worse ones with concentrated votes.
SHARP_GAMMA = 0.03


@kernel
def epoch_length(row: int) -> int:
    """The length of the epoch that a row (from 0) belongs to."""
    length = 1
    while 2 * length <= row + 1:
        length *= 2
    return length


@kernel
def fixed_share(length: int) -> float:
    """How much of all weight is shared out evenly after a row."""
    return 1.0 / max(length, 2)


@kernel
def learning_rate(length: int, n_experts: int) -> float:
    """The rate that balances the two terms of an epoch's bound."""
    return math.sqrt(8.0 * math.log(n_experts / fixed_share(length)) / length)


@kernel
def mix_rows(
    distributions: FloatArray,
    labels: IntArray,
    row_weights: FloatArray,
    first_row: int,
    weights: FloatArray,
    weights_before: FloatArray,
) -> None:
    """Row by row: record the experts' weights in ``weights_before``, then update ``weights`` by their losses.

    ``distributions`` has shape (experts, rows, classes), ``weights_before`` (rows, experts).
    """
    n_experts = weights.size
    for row in range(labels.size):
        length = epoch_length(first_row + row)
        rate, share = learning_rate(length, n_experts), fixed_share(length)
        total = 0.0
        for expert in range(n_experts):
            weights_before[row, expert] = weights[expert]
            loss = 1.0 - distributions[expert, row, labels[row]]
            weights[expert] *= math.exp(-rate * row_weights[row] * loss)
            total += weights[expert]
        for expert in range(n_experts):
            kept = weights[expert] / total if total > 0.0 else 1.0 / n_experts
            weights[expert] = (1.0 - share) * kept + share / n_experts


@kernel
def mix_answers(answers: FloatArray, weights: FloatArray, out: FloatArray) -> None:
    """Sum the experts' rows, of shape (experts, rows, classes), into ``out``; ``weights`` is (rows, experts)."""
    for expert in range(answers.shape[0]):  # in a fixed order: the same bits for every cut of the stream
        for row in range(answers.shape[1]):
            for j in range(answers.shape[2]):
                out[row, j] += weights[row, expert] * answers[expert, row, j]


class Member(NamedTuple):
    """A cascade in a mixture."""

    name: str  # what reports call it
    cascade: Cascade
    is_boosted: bool = True  # the mean of the members is that of the boosters


class Mixture:
    """Cascades side by side, and how much each of their answers counts (see ``stream.state.Engine``).

    Every member offers its own D and a sharpened one, and so does the mean of the boosters' vote shares.
    """

    def __init__(self, members: Sequence[Member]) -> None:
        self.members = members
        self.cascades = [member.cascade for member in members]
        n_experts = 2 * (len(members) + 1)
        self.weights: FloatArray = np.full(n_experts, 1.0 / n_experts)
        self.n_rows = 0

    def learn(
        self,
        block: Block,
        labels: IntArray,
        weights: FloatArray,
        n_classes: int,
        first_row: int,
        *,
        answering: bool = True,
    ) -> Answers:
        """Teach a block to every member, then move the weights row by row."""
        experts = self._experts(
            [cascade.learn(block, labels, weights, n_classes, first_row) for cascade in self.cascades]
        )
        weights_before = np.empty((len(labels), self.weights.size))
        mix_rows(experts.distributions, labels, weights, self.n_rows, self.weights, weights_before)
        self.n_rows += len(labels)
        return _mixed(experts, weights_before) if answering else Answers.none(len(labels))

    def answer(self, block: Block, n_classes: int, n_learned: int) -> Answers:
        experts = self._experts([cascade.answer(block, n_classes, n_learned) for cascade in self.cascades])
        return _mixed(experts, np.tile(self.weights, (len(block), 1)))

    def _experts(self, own: list[Answers]) -> Answers:
        """The members' answers, and that of the boosters' mean: each as it is, then sharpened. Axis 0 is the expert."""
        boosted = [answers for member, answers in zip(self.members, own, strict=True) if member.is_boosted]
        mean = np.zeros_like(own[0].shares)
        for answers in boosted:
            mean += answers.shares / len(boosted)
        own = [*own, Answers(mean, mean)]
        shares = np.stack([answers.shares for answers in own])
        sharp = projected(shares.reshape(-1, shares.shape[2]), SHARP_GAMMA).reshape(shares.shape)
        distributions = np.stack([answers.distributions for answers in own])
        return Answers(np.concatenate([distributions, sharp]), np.concatenate([shares, shares]))

    def member_weights(self) -> dict[str, float]:
        """Each member's share in the mixture, by name; the mean counts for all boosters alike."""
        *own, mean = self.weights.reshape(2, -1).sum(axis=0)
        n_boosted = sum(member.is_boosted for member in self.members)
        return {
            member.name: float(weight + mean / n_boosted if member.is_boosted else weight)
            for member, weight in zip(self.members, own, strict=True)
        }

    def settings(self) -> list[dict[str, Any]]:
        return [settings for cascade in self.cascades for settings in cascade.settings()]

    def state(self) -> dict[str, Any]:
        members = [cascade.state() for cascade in self.cascades]
        return {"weights": self.weights, "n_rows": self.n_rows, "members": members}

    def restore(self, saved: dict[str, Any], schema: Schema, n_classes: int) -> None:
        self.weights[:] = checked_like(saved["weights"], self.weights, "weights of the mixture")
        self.n_rows = checked_count(saved["n_rows"], "number of rows of the mixture")
        for cascade, member in zip(self.cascades, saved["members"], strict=True):
            cascade.restore(member, schema, n_classes)


def _mixed(experts: Answers, weights: FloatArray) -> Answers:
    """The experts' answers, averaged with each row's weights, of shape (rows, experts)."""
    mixed = Answers(np.zeros(experts.shares.shape[1:]), np.zeros(experts.shares.shape[1:]))
    mix_answers(experts.distributions, weights, mixed.distributions)
    mix_answers(experts.shares, weights, mixed.shares)
    for mean in (mixed.distributions, mixed.shares):
        np.minimum(mean, 1.0, out=mean)  # the weights sum to one up to rounding
    return mixed


def regret_bound(n_rows: int, n_experts: int) -> float:
    """The most by which the mixture's summed loss 1 - D[y] can exceed that of the best expert, rows of weight 1.

    Expected mistakes of the sampled prediction are exactly that loss. The mode makes at most twice as many mistakes
    as the loss: if it is wrong then D[y] <= 1/2.

    >>> round(regret_bound(1000, 12)), round(regret_bound(100_000, 12))
    (144, 1980)
    """
    bound = 0.0
    least = 1.0 / n_experts  # what an expert's weight is at least, when an epoch begins
    for length, n_epoch_rows in _epochs(n_rows):
        rate, share = learning_rate(length, n_experts), fixed_share(length)
        bound += (-math.log(least) - n_epoch_rows * math.log1p(-share)) / rate + rate * n_epoch_rows / 8.0
        least = share / n_experts
    return bound


def _epochs(n_rows: int) -> Iterator[tuple[int, int]]:
    """The lengths of the epochs, and how many of their rows have come."""
    length = 1
    while n_rows > 0:
        yield length, min(length, n_rows)
        n_rows -= length
        length *= 2
