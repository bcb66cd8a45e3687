"""The weak-learning conditions of the paper: what is asked of a learner. ``checks`` checks them on a run.

A condition asks for ``gamma * (gain of the best hypothesis) - (gain of the learner) <= R``, with R sub-linear in the
number of rows.

    OneVsOne          Definition 1, the main text's: the rival label is the vote itself whenever the vote is wrong
    Plain             the first alternative of the appendix: 2 h.y - 1 on both sides
    OneVsAll          the second: the same for the rows of every label by themselves
    Asymmetric        the third: (k h.y - 1) / (k - 1) for the hypothesis
    Guessing          not in the paper: (k h.y - 1) / (k - 1) on both sides
    RealizableOnline  a gain of gamma per row where some hypothesis makes no mistake
    AgnosticBatch     OneVsAll on a sample
    RealizableBatch   a correlation of gamma under given weights

What they can and cannot ask for, each with a test:

- With three or more labels, gamma < 1 and labels drawn uniformly, no learner satisfies OneVsOne, Plain, OneVsAll or
  Asymmetric, whatever the class: a vote gains -(k - 2) / k on average, and should gain at least gamma times that. The
  paper lets the adversary choose the rival label after the vote; then OneVsOne fails at gamma = 1 too, if the class
  holds the constants, the best of which gains at least 0. With a rival chosen before the vote, ``rivals``, it can be
  met by exponential weights.
- Plain says little unless some hypothesis is right on half of the rows: the paper's own caveat (Appendix C).
- OneVsAll and AgnosticBatch compare with a different hypothesis for every label. If the class holds constants, the
  best one for a label is always right on its rows: then they ask for accuracy (1 + gamma) / 2 on every label, whatever
  the labels, and are met only with a slack of that order. Look at the slack, not only at the verdict.
- Guessing can be met by exponential weights at gamma = 1 and so at every gamma, since the best gain over guessing of a
  class with constants is never negative. What it guarantees for a booster is ``bounds.guessing_gain_regret_bound``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray


class Demand(NamedTuple):
    """One inequality of a condition."""

    about: str  # "" or the label it is about
    learner_gains: FloatArray  # (rows,)
    gains: FloatArray | None  # (rows, classes), of saying each label; None: the best hypothesis makes no mistake


class Condition(ABC):
    """What is asked of a learner whose votes and lessons are distributions over labels, of shape (rows, classes)."""

    is_realizable = False

    @abstractmethod
    def demands(self, votes: FloatArray, taught: FloatArray) -> Iterator[Demand]:
        """The inequalities that must hold."""

    @property
    def name(self) -> str:
        return type(self).__name__


def plain_gain(votes: FloatArray, taught: FloatArray) -> FloatArray:
    """The learner's gain on each row: 2 W.y - 1 for a label."""
    gains: FloatArray = 2.0 * (votes * taught).sum(axis=1) - taught.sum(axis=1)
    return gains


@dataclass(frozen=True, eq=False)
class OneVsOne(Condition):
    """Definition 1. ``rivals`` (a label per row, other than the one taught) are fixed before the vote.

    Without them the rival is the vote if that is wrong, and any other label, drawn uniformly, if it is right: its mean
    is taken. That is the choice in the proof of Theorem 1.
    """

    rivals: IntArray | None = None

    def demands(self, votes: FloatArray, taught: FloatArray) -> Iterator[Demand]:
        mass = taught.sum(axis=1, keepdims=True)
        n_classes = votes.shape[1]
        if self.rivals is not None:
            gains = taught - mass * np.eye(n_classes)[self.rivals]
            yield Demand("", (votes * gains).sum(axis=1), gains)
            return
        met = votes * taught
        others = (met.sum(axis=1, keepdims=True) - met) / max(n_classes - 1, 1)
        yield Demand("", plain_gain(votes, taught), votes * (2.0 * taught - mass) + (1.0 - votes) * taught - others)


@dataclass(frozen=True)
class Plain(Condition):
    """Gains 2 h.y - 1. It asks for something only if the best hypothesis is right on more than half of the rows."""

    def demands(self, votes: FloatArray, taught: FloatArray) -> Iterator[Demand]:
        yield Demand("", plain_gain(votes, taught), 2.0 * taught - taught.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class OneVsAll(Condition):
    """Gains 2 h.y - 1 over the rows taught each label; the best hypothesis is found for each label separately."""

    def demands(self, votes: FloatArray, taught: FloatArray) -> Iterator[Demand]:
        for label in range(votes.shape[1]):
            share = taught[:, label]
            if share.any():
                gains = -np.repeat(share[:, None], votes.shape[1], axis=1)
                gains[:, label] = share
                yield Demand(f"label {label}", share * (2.0 * votes[:, label] - 1.0), gains)


@dataclass(frozen=True)
class Asymmetric(Condition):
    """Gains (k h.y - 1) / (k - 1) for the best hypothesis, 2 W.y - 1 for the learner."""

    def demands(self, votes: FloatArray, taught: FloatArray) -> Iterator[Demand]:
        yield Demand("", plain_gain(votes, taught), _over_guessing(taught))


@dataclass(frozen=True)
class Guessing(Condition):
    """Gains (k h.y - 1) / (k - 1), zero for guessing, on both sides. The same as Plain for two labels."""

    def demands(self, votes: FloatArray, taught: FloatArray) -> Iterator[Demand]:
        gains = _over_guessing(taught)
        yield Demand("", (votes * gains).sum(axis=1), gains)


@dataclass(frozen=True)
class RealizableOnline(Condition):
    """A gain of gamma for every row (or unit of weight) taught, where some hypothesis of the class is always right."""

    is_realizable = True

    def demands(self, votes: FloatArray, taught: FloatArray) -> Iterator[Demand]:
        yield Demand("", plain_gain(votes, taught), None)


class AgnosticBatch(OneVsAll):
    """The same demands on a sample; ``slack_per_row`` is the paper's epsilon_0."""


class RealizableBatch(RealizableOnline):
    """The same demand for a learner fitted to a sample: rows are weighted by what is taught, its weights p."""


def _over_guessing(taught: FloatArray) -> FloatArray:
    n_classes = taught.shape[1]
    gains: FloatArray = (n_classes * taught - taught.sum(axis=1, keepdims=True)) / max(n_classes - 1, 1)
    return gains


ONLINE_CONDITIONS: tuple[Condition, ...] = (OneVsOne(), Plain(), OneVsAll(), Asymmetric(), Guessing())
