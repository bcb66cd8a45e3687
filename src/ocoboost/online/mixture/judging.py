"""Which of the rows that were kept are suspect, as far as is known now.

What was said to a row before it was learned comes from a model that had seen only the rows before it: of the first
rows of a stream, nearly nothing. But a member of some age that was born after the row has not learned it either, and
may have seen much more. So every row that is kept is put to the eldest member of each kind that was born after it, and
the two scores are averaged, each weighted by the number of rows behind it; those behind a judge, which is a small
forest, count half.

A new concept looks like wrong labels. Where the stream changed (``drift``), rows from the beginning of the change until
it was noticed were scored by members that knew the old concept only: of these rows, only the second score counts, and
without one they are not suspect. Rows from before a change are not put to members that have learned rows from after it.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.data.labels import Label
from ocoboost.data.schema import Block, Schema
from ocoboost.online.mixture.ages import UNBORN
from ocoboost.online.mixture.drift import drift_of
from ocoboost.online.mixture.engine import Mixture

LEAST_AGE = 32  # rows that a judge has learned
JUDGE_WEIGHT = 0.5  # of such a row; chosen on the tables of benchmarks/portfolio.py


class Suspect(NamedTuple):
    """A row whose given label looks wrong; the names are those of cleanlab."""

    row: int  # its place in the stream, counted from 0
    given_label: Label
    predicted_label: Label  # the one that is believed
    label_quality: float  # the probability of the given label
    is_label_issue: bool  # among the worst of its given label, as many as are confidently something else
    key: Hashable = None  # what the caller called the row


class Judged(NamedTuple):
    """Rows that were kept, in the order of the stream, and what is known of them now."""

    numbers: IntArray
    given: IntArray
    believed: IntArray
    quality: FloatArray  # the probability of the given label
    confidence: FloatArray  # of the one that is believed


def suspects(mixture: Mixture, schema: Schema, known: list[Label]) -> list[Suspect]:
    """The rows whose label is not the most probable one, worst first."""
    judged = judge(mixture, schema, len(known))
    sums, keys = mixture.suspects.notes.sums, mixture.suspects.keys
    usual = sums[0] / np.maximum(sums[1] - 1.0, 1.0)  # the first row of a label was not scored
    is_issue = label_issues(judged.given, judged.believed, judged.quality, judged.confidence, usual)
    order = np.lexsort((judged.numbers, judged.quality))
    return [
        Suspect(
            int(judged.numbers[place]),
            known[judged.given[place]],
            known[judged.believed[place]],
            float(judged.quality[place]),
            bool(is_issue[place]),
            keys.get(int(judged.numbers[place])),
        )
        for place in order[judged.believed[order] != judged.given[order]]
    ]


def label_issues(
    given: IntArray, believed: IntArray, quality: FloatArray, confidence: FloatArray, usual: FloatArray
) -> NDArray[np.bool_]:
    """Which rows have a wrong label, by confident learning (Northcutt, Jiang & Chuang, 2021).

    A row is confidently another label if that is at least as probable as it usually is where it is given. As many rows
    of a given label as are confidently another are issues: those with the lowest quality.
    """
    is_issue = np.zeros(len(given), dtype=bool)
    is_other = (believed != given) & (confidence >= usual[believed])
    for label in np.unique(given[is_other]):
        places = np.flatnonzero((given == label) & (believed != given))
        worst = places[np.argsort(quality[places], kind="stable")]
        is_issue[worst[: np.count_nonzero(is_other[places])]] = True
    return is_issue


def judge(mixture: Mixture, schema: Schema, n_classes: int) -> Judged:
    """What is known now of every row that was kept."""
    both = zip(mixture.suspects.first(), mixture.suspects.worst(), strict=True)
    numbers, labels, scores, rows = (np.concatenate(arrays) for arrays in both)
    numbers, places = np.unique(numbers, return_index=True)
    given, believed = labels[places].T.copy()
    quality, confidence = scores[places].T.copy()
    n_behind = numbers.astype(float)  # the rows behind a score
    is_past = np.zeros(len(numbers), dtype=bool)
    for change in drift_of(mixture.watch).changes:
        n_behind[(numbers >= change.row) & (numbers <= change.noticed)] = 0.0
        is_past |= numbers < change.row
    for born, asked in _judges(mixture, numbers, is_past).items():
        said = _ask(mixture, born, Block.of_codes(rows[places[asked]], schema), n_classes)
        weight = JUDGE_WEIGHT * (mixture.n_rows - born)
        modes, at = said.argmax(axis=1), np.arange(len(asked))
        share = weight / (weight + n_behind[asked])
        quality[asked] += share * (said[at, given[asked]] - quality[asked])
        confidence[asked] += share * (said[at, modes] - confidence[asked])
        believed[asked] = np.where(share > 0.5, modes, believed[asked])
        n_behind[asked] += weight
    unknown = n_behind == 0.0
    believed[unknown], quality[unknown] = given[unknown], 1.0
    return Judged(numbers, given, believed, quality, confidence)


def _judges(mixture: Mixture, numbers: IntArray, is_past: NDArray[np.bool_]) -> dict[int, IntArray]:
    """By the row of their birth, the eldest members that have not learned a row, and the places of those rows."""
    births = sorted({slot.born for kind in mixture.ages for slot in kind.slots if slot.born != UNBORN})
    judges, youngest = {}, -1
    for born in births:
        asked = np.flatnonzero((numbers < born) & (numbers >= youngest) & ~is_past)
        youngest = born
        if len(asked) and mixture.n_rows - born >= LEAST_AGE:
            judges[born] = asked
    return judges


def _ask(mixture: Mixture, born: int, block: Block, n_classes: int) -> FloatArray:
    """What the members that were born at a row say, on average."""
    slots = [slot for kind in mixture.ages for slot in kind.slots if slot.born == born]
    said = [slot.cascade.answer(block, n_classes, mixture.n_rows).shares for slot in slots]
    mean: FloatArray = np.mean(said, axis=0)
    return mean
