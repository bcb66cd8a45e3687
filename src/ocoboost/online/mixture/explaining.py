"""Why a row gets its label: what every feature adds to the label's probability, and who voted for it.

What is explained is the probability of the predicted label, p(row). It is compared with other rows: some of the latest
ones, from the memory of the neighbours. On a walk from such a row to the one that is explained the features are
replaced one after another, and each adds the difference that its replacement makes; the steps of a walk add up to
p(row) - p(other row). Contributions are the means over walks in several orders, each order also taken backwards, so
they add up to p(row) less the mean p of the other rows, the prior, with nothing left over. With more and more walks
they approach Shapley values (Strumbelj & Kononenko, 2014).

With a learner of one's own there is no memory of rows: then a walk begins with a row without features, and adds them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.data.labels import Label
from ocoboost.data.rows import Row
from ocoboost.data.schema import Block, Schema
from ocoboost.online.mixture.engine import Mixture
from ocoboost.online.mixture.standing import member_names, member_weights
from ocoboost.spelling import shortened

N_WALKS = 32
MOST_SHOWN = 10  # features, and members, in text


class MemberVote(NamedTuple):
    """What one member says to a row."""

    name: str
    weight: float  # of the member in the mixture
    label: Label  # that it finds most probable
    probability: float  # that it gives to the label which the mixture predicts


class Explanation(NamedTuple):
    """Why a row gets its label: ``prior`` and all ``contributions`` add up to ``probability``."""

    label: Label | None
    probability: float
    prior: float
    contributions: dict[Hashable, float]  # the largest first
    members: list[MemberVote]  # the weightiest first

    def __str__(self) -> str:
        if self.label is None:
            return "Nothing is predicted before the first label is learned."
        lines = [f"{shortened(self.label)}: probability {self.probability:.4f}, prior {self.prior:.4f}", "Features:"]
        shown = list(self.contributions.items())[:MOST_SHOWN]
        lines += [f"  {added:+.4f}  {shortened(name)}" for name, added in shown]
        if len(self.contributions) > len(shown):
            others = sum(list(self.contributions.values())[MOST_SHOWN:])
            lines.append(f"  {others:+.4f}  {len(self.contributions) - len(shown):,} others")
        lines.append("Members:")
        lines += [
            f"  {vote.weight:.3f}  {vote.name}: {shortened(vote.label)} ({vote.probability:.2f})"
            for vote in self.members[:MOST_SHOWN]
        ]
        return "\n".join(lines)


NOTHING = Explanation(None, 0.0, 0.0, {}, [])


def explain(mixture: Mixture, schema: Schema, known: Sequence[Label], row: Row, seed: int, n_walks: int) -> Explanation:
    """Explain what the mixture says to a row."""
    block = Block([row], schema)
    said = mixture.answer(block, len(known), mixture.n_rows)
    label = int(said.labels[0])
    names = list(schema.kinds)
    orders = _orders(len(names), n_walks, seed, mixture.n_rows)
    background = _latest(mixture, len(schema.columns), n_walks)
    if len(background):
        place = {name: number for number, name in enumerate(names)}
        feature = np.array([place[column.name] for column in schema.columns])  # of every column of the matrix
        steps = _walk_codes(block.codes[0], background, feature, orders)
        walks = Block.of_codes(steps, schema)
    else:
        walks = Block(_walk_rows(row, names, orders), schema)
    probabilities = _probabilities(mixture, walks, len(known), label).reshape(len(orders), len(names) + 1)
    added = np.zeros(len(names))
    for order, steps in zip(orders, np.diff(probabilities, axis=1), strict=True):
        added[order] += steps / len(orders)
    contributions = dict(zip(names, added.tolist(), strict=True))
    return Explanation(
        known[label],
        float(probabilities[0, -1]),
        float(probabilities[:, 0].mean()),
        dict(sorted(contributions.items(), key=lambda item: -abs(item[1]))),
        _votes(mixture, block, known, label),
    )


def _orders(n_features: int, n_walks: int, seed: int, n_rows: int) -> list[IntArray]:
    """The orders of all walks: drawn, and the same backwards."""
    draws = np.random.default_rng([seed, n_rows])
    drawn = [draws.permutation(n_features) for _ in range(-(-n_walks // 2))]
    return [order[::step] for order in drawn for step in (1, -1)][:n_walks]


def _latest(mixture: Mixture, n_columns: int, n_walks: int) -> FloatArray:
    """The rows at which walks begin, spread over the latest ones; each serves an order and its opposite."""
    if mixture.neighbours is None or mixture.neighbours.memory.counts[0] == 0:
        return np.empty((0, n_columns))
    memory = mixture.neighbours.memory
    n_held, n_rows = int(memory.counts[0]), -(-n_walks // 2)
    places = (int(memory.counts[1]) - 1 - np.arange(n_rows) * n_held // n_rows) % len(memory.rows)
    rows = np.full((n_rows, n_columns), np.nan)
    rows[:, : memory.low.size] = memory.rows[places]
    return np.repeat(rows, 2, axis=0)[:n_walks]


def _walk_codes(x: FloatArray, background: FloatArray, feature: IntArray, orders: list[IntArray]) -> FloatArray:
    """All rows of all walks, one after another: before the first replacement, after it, and so on."""
    n_features = len(orders[0])
    step = np.empty(n_features, dtype=np.int64)
    walks = np.empty((len(orders), n_features + 1, x.size))
    for number, order in enumerate(orders):
        step[order] = np.arange(n_features)  # at which a feature is replaced
        is_replaced = step[feature] < np.arange(n_features + 1)[:, None]
        walks[number] = np.where(is_replaced, x, background[number])
    return walks.reshape(-1, x.size)


def _walk_rows(row: Row, names: list[Hashable], orders: list[IntArray]) -> list[Row]:
    """The same from a row without features."""
    return [
        {names[number]: row[names[number]] for number in sorted(order[:n_there]) if names[number] in row}
        for order in orders
        for n_there in range(len(names) + 1)
    ]


def _probabilities(mixture: Mixture, block: Block, n_classes: int, label: int) -> FloatArray:
    said = mixture.answer(block, n_classes, mixture.n_rows).probabilities
    assert said is not None
    return said[:, label]


def _votes(mixture: Mixture, block: Block, known: Sequence[Label], label: int) -> list[MemberVote]:
    """What the members say that have an answer."""
    answers, awake = mixture.ask_members(block, len(known), mixture.n_rows)
    others = np.delete(np.arange(len(answers)), len(mixture.members))  # without the mean of the boosters
    weights = member_weights(mixture)
    votes = [
        MemberVote(name, weights[name], known[int(answers[place, 0].argmax())], float(answers[place, 0, label]))
        for name, place in zip(member_names(mixture), others, strict=True)
        if awake[place, 0]
    ]
    return sorted(votes, key=lambda vote: -vote.weight)
