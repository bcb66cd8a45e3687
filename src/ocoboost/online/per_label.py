"""One engine for each label, which is asked whether that label is right.

A play says of one label whether it is right, and whether it was played depends on the row and on the past, not on the
row's label. So among the rows on which a label was played, it is as often right as it always is on such rows: the
engine of that label learns "right" or "wrong" with weight 1, whatever the play's probability was, and every play
teaches something (docs/bandit.md). A row whose label is known is learned by all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray, checked_count
from ocoboost.cascade.answers import Answers
from ocoboost.cascade.cascade import Cascade
from ocoboost.data.schema import Block, Schema, Widths
from ocoboost.learners.hoeffding.classifier import HoeffdingTrees
from ocoboost.learners.trees import NativeTrees
from ocoboost.online.boost import OnlineBoostClassifier
from ocoboost.online.booster import LearnerBooster
from ocoboost.randomness import member_seed
from ocoboost.stream.state import Engine

VERDICTS = (False, True)  # the labels that every engine tells apart


class Verdict(NamedTuple):
    """What a play said."""

    label: int  # its index
    is_right: bool


class PerLabel:
    """Engines that tell right from wrong, one for each label, as one engine that tells labels apart."""

    def __init__(self, engines: Sequence[Engine]) -> None:
        self.engines = engines
        self.n_learned = [0] * len(engines)  # rows
        self.verdict: Verdict | None = None  # on the row that is learned next; None: its label is known

    @property
    def cascades(self) -> Sequence[Cascade]:
        return [cascade for engine in self.engines for cascade in engine.cascades]

    # -- learning and answering ------------------------------------------------------------------------------------

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
        if self.verdict is not None:
            label, is_right = self.verdict
            self._teach(label, block, np.full(len(labels), is_right), np.ones(len(labels)), answering=False)
            return Answers.none(len(labels))
        said = [
            self._teach(label, block, labels == label, weights, answering=answering)
            for label in range(len(self.engines))
        ]
        return combined(said) if answering else Answers.none(len(labels))

    def _teach(self, label: int, block: Block, is_right: Any, weights: FloatArray, *, answering: bool) -> Answers:
        verdicts, n_learned = is_right.astype(np.int64), self.n_learned[label]
        said = self.engines[label].learn(block, verdicts, weights, len(VERDICTS), n_learned, answering=answering)
        self.n_learned[label] += len(verdicts)
        return said

    def answer(self, block: Block, n_classes: int, n_learned: int) -> Answers:
        return combined(
            [
                engine.answer(block, len(VERDICTS), n_own)
                for engine, n_own in zip(self.engines, self.n_learned, strict=True)
            ]
        )

    def learn_row(self, codes: FloatArray, label: int, weight: float, n_classes: int, row: int, version: int) -> bool:
        """Only a verdict takes the short way: of several engines one might have to go the long one."""
        if self.verdict is None:
            return False
        played, is_right = self.verdict
        n_own = self.n_learned[played]
        is_learned = self.engines[played].learn_row(codes, int(is_right), 1.0, len(VERDICTS), n_own, version)
        self.n_learned[played] += is_learned
        return is_learned

    def answer_row(self, codes: FloatArray, n_classes: int, n_learned: int, version: int) -> Answers | None:
        said = []
        for engine, n_own in zip(self.engines, self.n_learned, strict=True):
            answers = engine.answer_row(codes, len(VERDICTS), n_own, version)
            if answers is None:
                return None
            said.append(answers)
        return combined(said)

    # -- memory and files ------------------------------------------------------------------------------------------

    @property
    def n_bytes(self) -> int | None:
        sizes = [engine.n_bytes for engine in self.engines]
        return None if any(size is None for size in sizes) else sum(size for size in sizes if size is not None)

    def least_size(self, widths: Widths, n_classes: int, max_bytes: float) -> float:
        share = max_bytes / len(self.engines)
        return len(self.engines) * max(engine.least_size(widths, len(VERDICTS), share) for engine in self.engines)

    def settings(self) -> list[dict[str, Any]]:
        return [
            {**told, "asked about": label} for label, engine in enumerate(self.engines) for told in engine.settings()
        ]

    def state(self) -> dict[str, Any]:
        return {"engines": [engine.state() for engine in self.engines], "n_learned": list(self.n_learned)}

    def restore(self, saved: dict[str, Any], schema: Schema, n_classes: int) -> None:
        self.n_learned = [checked_count(number, "number of rows about a label") for number in saved["n_learned"]]
        if len(self.n_learned) != len(self.engines):
            raise ValueError("another number of labels")
        for engine, state in zip(self.engines, saved["engines"], strict=True):
            engine.restore(state, schema, len(VERDICTS))


def combined(said: Sequence[Answers]) -> Answers:
    """What the engines of all labels say, as one answer: each label's probability of being right, over their sum."""
    return Answers(_normed([each.label_probabilities for each in said]), _normed([each.shares for each in said]))


def _normed(said: Sequence[FloatArray]) -> FloatArray:
    """The columns for "right" side by side, as shares; the same for all labels if nobody calls any of them right."""
    right = np.stack([each[:, 1] for each in said], axis=1)
    totals = right.sum(axis=1, keepdims=True)
    return np.where(totals > 0.0, right / np.where(totals > 0.0, totals, 1.0), 1.0 / right.shape[1])


def per_label(booster: LearnerBooster, n_labels: int, seed: int) -> PerLabel:
    """Fresh engines of a booster, one for each label, which divide its memory among them."""
    if isinstance(booster, OnlineBoostClassifier):
        max_size = None if booster.max_size is None else booster.max_size / n_labels
        # Suspects, costs and keys belong to labels, of which these engines know nothing.
        booster = booster.clone({"max_size": max_size, "n_suspects": 0, "costs": None, "ledger_size": 1})
    else:
        learner = HoeffdingTrees() if booster.learner is None else booster.learner
        if isinstance(learner, NativeTrees) and learner.max_size is not None:
            booster = booster.clone({"learner": learner.clone({"max_size": learner.max_size / n_labels})})
    seeds = [member_seed(seed, label) for label in range(n_labels)]
    return PerLabel([booster.clone({"classes": VERDICTS, "seed": own}).fresh_state(own).engine for own in seeds])
