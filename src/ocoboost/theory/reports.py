"""What an account shows: the parts of a regret, the learners' advantage, the bound, and advice."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

NORMAL_95 = 1.959964
# Below this average regret, in gains, no change is advised.
SMALL_REGRET = 0.02


class Advantage(NamedTuple):
    """A learner's edge over guessing, as a share of the comparator's, on what it was taught; NaN if that has none."""

    estimated_gamma: float
    low: float  # of a 95 % confidence interval
    high: float


UNKNOWN = Advantage(math.nan, math.nan, math.nan)


class Parts(NamedTuple):
    """The terms of the account, averages per row in gains."""

    players: float
    learners: float
    draws: float
    pooling: float
    projection: float
    relabelling: float

    @property
    def regret(self) -> float:
        """Their sum, with signs."""
        return self.players + self.learners + self.draws + self.pooling - self.projection - self.relabelling


@dataclass(frozen=True)
class Report:
    """An account after some rows. Regrets are averages per row in gains: twice those in mistakes."""

    comparator: str
    member: int
    n_members: int
    regime: str
    relabel: str
    gamma: float
    n_rows: int
    n_classes: int
    n_learners: int
    comparator_accuracy: float
    accuracy: float  # expected, of labels drawn from D: what the theorems are about
    accuracy_of_mode: float  # of the most probable label
    regret: float  # measured: from D, the labels and the comparator
    parts: Parts
    guessing_loss: float  # the part of `parts.learners` that gamma and the number of labels explain by themselves
    player_bound: float  # the most that `parts.players` can be
    bound: float  # Theorem 1 with the measured regret of the learners and the players' bound
    advantages: list[Advantage]
    whole_regret: float  # of the mixture; the same for a single booster

    @property
    def estimated_gamma(self) -> Advantage:
        """The median advantage of the learners that have one, and the medians of their limits."""
        known = [advantage for advantage in self.advantages if math.isfinite(advantage.estimated_gamma)]
        return Advantage(*np.median(known, axis=0).tolist()) if known else UNKNOWN

    @property
    def advice(self) -> str:
        """One sentence about the largest part of the regret that can be changed."""
        if self.whole_regret <= SMALL_REGRET:
            return f"Nothing to do: the booster is not behind {self.comparator}; try a larger class of comparators."
        edge = self.estimated_gamma.estimated_gamma
        about = f"; their advantage is about {edge:.2f}, gamma is {self.gamma:g}." if math.isfinite(edge) else "."
        price = f"the price of gamma {self.gamma:g} with {self.n_classes} labels"
        players = "Add learners: most regret comes from the players ({:.3f}), and shrinks like 1 / sqrt(N)."
        learners = "Use better learners, or give them more rows: most regret comes from them ({:.3f})"
        reasons = {
            players: self.parts.players,
            learners + about: self.learners_own,
            f"Raise gamma: most regret is {price} ({{:.3f}}).": self.price_kept,
            "Pool the votes that the players see: pooling others costs most ({:.3f}).": self.parts.pooling,
        }
        reason = max(reasons, key=lambda reason: reasons[reason])
        return reason.format(reasons[reason])

    @property
    def learners_own(self) -> float:
        """The learners' part without the price of gamma: what they lack in advantage over guessing."""
        return self.parts.learners - self.guessing_loss

    @property
    def price_kept(self) -> float:
        """What is left of the price of gamma after the projection: zero where all labels keep a share of D."""
        return self.guessing_loss - self.parts.projection

    def to_dict(self) -> dict[str, Any]:
        """Everything, as numbers, text, lists and dicts that JSON can hold; an unknown advantage is None."""
        plain = asdict(self)
        plain["parts"] = {**self.parts._asdict(), "regret": self.parts.regret}
        plain["advantages"] = [_plain(advantage) for advantage in self.advantages]
        plain |= {"learners_own": self.learners_own, "price_kept": self.price_kept}
        return {**plain, "estimated_gamma": _plain(self.estimated_gamma), "advice": self.advice}

    def rows(self) -> list[tuple[str, str]]:
        """Name and value of every line of the account, for printing."""
        parts, edge = self.parts, self.estimated_gamma
        known = [advantage.estimated_gamma for advantage in self.advantages if math.isfinite(advantage.estimated_gamma)]
        spread = f"median {edge.estimated_gamma:.3f}, 95 % [{edge.low:.3f}, {edge.high:.3f}]"
        extremes = f"; learners from {min(known):.3f} to {max(known):.3f}" if known else ""
        lines = [
            ("comparator", f"{self.comparator}, right on {self.comparator_accuracy:.1%} of rows"),
            (
                "booster",
                f"right on {self.accuracy:.1%} if labels are drawn from D, {self.accuracy_of_mode:.1%} with its mode",
            ),
            ("regret", f"{self.regret:+.3f} per row in gains, {self.regret / 2:+.3f} in mistakes"),
            ("  players", f"{parts.players:+.3f} (at most {self.player_bound:.3f})"),
            ("  learners", f"{parts.learners:+.3f} ({self.learners_own:.3f}, and {self.guessing_loss:.3f} for gamma)"),
            ("  draws", f"{parts.draws:+.3f}"),
            ("  pooling", f"{parts.pooling:+.3f}"),
            ("  projection", f"{-parts.projection:+.3f}"),
            ("  relabelling", f"{-parts.relabelling:+.3f}"),
            ("Theorem 1", f"{self.bound:.3f}, with the learners' regret as measured"),
            ("advantage", spread + extremes if known else "the comparator has no edge over guessing"),
            ("advice", self.advice),
        ]
        if self.n_members > 1:
            lines.insert(3, ("  of the mixture", f"{self.whole_regret:+.3f}; below: member {self.member}, its best"))
        return lines

    def __str__(self) -> str:
        title = f"{self.n_rows:,} rows, {self.n_learners} learners, gamma {self.gamma:g}, {self.regime}, {self.relabel}"
        return "\n".join([title, *(f"{name:<14} {value}" for name, value in self.rows())])

    def __rich__(self) -> Any:
        from rich.table import Table

        table = Table(title=str(self).split("\n", 1)[0], show_header=False)
        for name, value in self.rows():
            table.add_row(name, value)
        return table


def advantage(
    edge: float, comparator_edge: float, squared: float, crossed: float, comparator_squared: float
) -> Advantage:
    """A ratio of sums over rows with its interval, from the sums, squares and products of its terms.

    The error is that of a sum of martingale differences. Terms are not centred row by row, which can only widen the
    interval: a learner that gets better has a drift, and the drift counts as noise.
    """
    if comparator_edge <= NORMAL_95 * math.sqrt(comparator_squared):
        return UNKNOWN
    ratio = edge / comparator_edge
    variance = squared - 2.0 * ratio * crossed + ratio**2 * comparator_squared
    error = NORMAL_95 * math.sqrt(max(0.0, variance)) / comparator_edge
    return Advantage(ratio, ratio - error, ratio + error)


def _plain(advantage: Advantage) -> dict[str, float] | None:
    return advantage._asdict() if math.isfinite(advantage.estimated_gamma) else None
