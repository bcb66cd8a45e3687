"""A booster that acts: labels are played, and only "right" or "wrong" comes back for the label that was played.

The engine of a booster is kept as it is; what is added are the plays. With B the booster's proposal (its mode, or its
D) and k labels, a label is played with probability

    P = (1 - rate) B + rate / k,        rate = min(1, (k / t)^(1/3)) at play t

A row whose label was revealed, because the play was right, is learned with weight 1 / P[y]; all others are not. So a
row is learned with its own label, with weight 1 on average whatever P is: docs/bandit.md has what follows from that.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, checked_count
from ocoboost.cascade.answers import Answers
from ocoboost.data.rows import Row
from ocoboost.data.schema import Schema
from ocoboost.online.around import EngineAround
from ocoboost.randomness import ACT, draw_label, uniform
from ocoboost.stream.ledger import Ledger
from ocoboost.stream.state import Engine
from ocoboost.theory.bounds import exploration_rate


class Issued(NamedTuple):
    """A play that waits for its feedback."""

    row: Row
    label: int  # its index
    probability: float


class Acting(EngineAround):
    """An engine that also plays."""

    def __init__(self, engine: Engine, exploration: float | None, proposes_mode: bool, ledger_size: int) -> None:
        super().__init__(engine)
        self.exploration = exploration
        self.proposes_mode = proposes_mode
        self.ledger: Ledger[Issued] = Ledger(ledger_size)
        self.n_plays = 0  # calls of ``act_one``: the place of the next draw
        self.n_answered = 0
        self.n_right = 0

    def chances(self, answers: Answers) -> FloatArray:
        """P, for the next play; ``answers`` are to one row."""
        n_classes = answers.shares.shape[1]
        rate = exploration_rate(self.n_plays + 1, n_classes) if self.exploration is None else self.exploration
        proposal = answers.distributions[0]
        if self.proposes_mode:
            proposal = np.zeros(n_classes)
            proposal[int(answers.labels[0])] = 1.0
        out: FloatArray = (1.0 - rate) * proposal + rate / n_classes
        return out

    def play(self, chances: FloatArray, seed: int) -> int:
        """Draw a label; every call has a draw of its own, whatever was learned meanwhile."""
        label = draw_label(chances, uniform(np.uint64(seed), ACT, self.n_plays, 0))
        self.n_plays += 1
        return int(label)

    def note(self, is_right: bool) -> None:
        """Count a feedback."""
        self.n_answered += 1
        self.n_right += is_right

    def settings(self) -> list[dict[str, Any]]:
        acting = {"exploration": self.exploration, "mode": self.proposes_mode, "ledger_size": self.ledger.most}
        return [*super().settings(), acting]

    def state(self) -> dict[str, Any]:
        counts = {"n_plays": self.n_plays, "n_answered": self.n_answered, "n_right": self.n_right}
        return {**super().state(), "ledger": self.ledger.state(), **counts}

    def restore(self, saved: dict[str, Any], schema: Schema, n_classes: int) -> None:
        super().restore(saved, schema, n_classes)
        self.n_plays = checked_count(saved["n_plays"], "number of plays")
        self.n_answered = checked_count(saved["n_answered"], "number of answers")
        self.n_right = checked_count(saved["n_right"], "number of right plays")
        if not self.n_right <= self.n_answered:
            raise ValueError("more plays were right than were answered")
        for key, entry in saved["ledger"]["entries"]:
            self.ledger.issue(key, _issued(entry, n_classes))
            if entry is None:
                self.ledger.settle(key)
        self.ledger.n_dropped = checked_count(saved["ledger"]["n_dropped"], "number of plays dropped")


def _issued(saved: Any, n_classes: int) -> Issued:
    """An entry out of a model file; an answered one, None, is any."""
    row, label, probability = ({}, 0, 1.0) if saved is None else saved
    is_valid = isinstance(row, dict) and type(label) is int and 0 <= label < n_classes
    if not (is_valid and isinstance(probability, float) and 0.0 < probability <= 1.0):
        raise ValueError("a play that nobody can have made")
    return Issued(row, label, probability)
