"""Classes learned through their Littlestone dimension (Daniely, Sabato, Ben-David & Shalev-Shwartz, 2015).

The dimension of a class is the depth of the deepest binary tree of points, the two edges below a point carrying
different labels, such that every path from the root is followed by some member. The standard optimal algorithm keeps
the members that agree with all labels so far (the version space) and says the label that leaves the version space of
highest dimension: on a stream labelled by a member it errs at most as often as the dimension says.

Without such a member, one runs that algorithm on made-up labels. An expert says what the algorithm says, except in at
most ``dimension`` rows, where it says some other label; the algorithm learns what the expert said. Every member of the
class agrees with one of these experts on the whole stream, and there are at most (n_rows * n_classes) ** dimension of
them, however many members the class has. They are never enumerated: experts with the same version space that have used
up the same number of deviations do the same from then on, so only the sum of their weights is kept.

Cost. All version spaces at a time split the class by what its members said to the points seen, so there are at most as
many as members: a row costs O(members * (dimension + 1) * classes). The dimension itself is computed over all version
spaces that can be reached, in the worst case exponentially many in the number of points: this is for small tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.data.rows import Row
from ocoboost.data.schema import Block
from ocoboost.learners.experts.ensemble import ExpertEnsemble
from ocoboost.learners.experts.hypotheses import TableClass, naming_row
from ocoboost.learners.experts.rates import LearningRate

VersionSpace: TypeAlias = int  # one bit per distinct member


class Littlestone:
    """The dimension of the version spaces of a table, and what the standard optimal algorithm says.

    >>> thresholds = TableClass([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]])
    >>> Littlestone(thresholds).dimension()
    2
    """

    def __init__(self, table: TableClass) -> None:
        distinct = np.unique(table.table, axis=0)
        self.n_points, self.n_classes = table.n_points, table.n_classes
        self.all_members: VersionSpace = (1 << len(distinct)) - 1
        self._saying = [
            [sum(1 << int(member) for member in np.flatnonzero(column == label)) for label in range(self.n_classes)]
            for column in distinct.T
        ]
        self._dimensions: dict[VersionSpace, int] = {}
        self._best: dict[tuple[VersionSpace, int], int] = {}

    def agreeing(self, space: VersionSpace, point: int, label: int) -> VersionSpace:
        """The members of ``space`` that give ``point`` this label."""
        return space & self._saying[point][label]

    def dimension(self, space: VersionSpace | None = None) -> int:
        """The Littlestone dimension of a version space, or of the whole class; -1 for the empty one."""
        space = self.all_members if space is None else space
        n_members = space.bit_count()
        if n_members <= 1:
            return n_members - 1
        if space not in self._dimensions:
            highest, limit = 0, n_members.bit_length() - 1  # 2 ** dimension members are needed
            for point in range(self.n_points):
                if highest == limit:
                    break
                parts = [part for label in range(self.n_classes) if (part := self.agreeing(space, point, label))]
                if len(parts) > 1:  # two labels, both of which leave as much as possible
                    highest = max(highest, 1 + sorted(map(self.dimension, parts))[-2])
            self._dimensions[space] = highest
        return self._dimensions[space]

    def best_label(self, space: VersionSpace, point: int) -> int:
        """What the standard optimal algorithm says: ties go to the lowest label."""
        key = (space, point)
        if key not in self._best:
            left = [self.dimension(self.agreeing(space, point, label)) for label in range(self.n_classes)]
            self._best[key] = left.index(max(left))
        return self._best[key]


class StandardOptimalAlgorithm:
    """Errs at most ``dimension`` times on any stream that a member of the class labels.

    >>> learner = StandardOptimalAlgorithm(TableClass([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]]))
    >>> learner.predict(1)
    0
    >>> learner.learn(1, 1)
    >>> learner.predict(2)
    1
    """

    def __init__(self, table: TableClass) -> None:
        self.tree = Littlestone(table)
        self.space = self.tree.all_members

    def predict(self, point: int) -> int:
        """The label that would leave most to be learned."""
        return self.tree.best_label(self.space, point)

    def learn(self, point: int, label: int) -> None:
        """Keep the members that agree."""
        self.space = self.tree.agreeing(self.space, point, label)


def n_experts(n_rows: int, n_deviations: int, n_classes: int) -> int:
    """The experts that deviate in at most ``n_deviations`` of ``n_rows`` rows: at most (n_rows * n_classes) ** that."""
    return sum(math.comb(n_rows, used) * (n_classes - 1) ** used for used in range(n_deviations + 1))


class Deviants(NamedTuple):
    """Experts that do the same from now on."""

    space: VersionSpace
    used: int  # deviations so far


class Move(NamedTuple):
    """What some experts say to a row."""

    after: Deviants  # who they are then
    label: int
    weight: float  # the logarithm of the summed weight of what they did so far
    futures: float  # the logarithm of the number of experts that share this past


Crowd: TypeAlias = dict[Deviants, float]  # their weights, as in a move


class LittlestoneEnsemble(ExpertEnsemble):
    """N learners over the experts of a table.

    Sums of weights cannot follow a rate that changes. So the stream is cut into epochs, the first of ``horizon`` rows
    (or of one row), each twice as long as the one before, and each starts from scratch with the rate for its length.
    """

    def __init__(
        self,
        n_learners: int,
        rate: LearningRate,
        seed: int,
        *,
        is_random: bool,
        table: TableClass,
        read: Callable[[Row], int],
    ) -> None:
        super().__init__("LittlestoneExperts", n_learners, rate, seed, is_random=is_random)
        self.table = table
        self.read = read
        self.max_classes = table.n_classes
        self.tree = Littlestone(table)
        self.n_deviations = self.tree.dimension()
        self.crowds: list[Crowd] = [{} for _ in range(n_learners)]

    @property
    def hypothesis_class(self) -> TableClass:
        return self.table

    def regret_bound(self, n_rows: int) -> float:
        """The sum over epochs of sqrt(2 rows ln(experts)), where ln(experts) is at most dimension * ln(rows * k)."""
        total, start = 0.0, 0
        while start < n_rows:
            length = self._epoch(start)[1]
            total += self._rate(length).regret_bound(self._log_size(length), min(length, n_rows - start))
            start += length
        return total

    def check(self, rows: Sequence[Row], *, learning: bool) -> None:
        for number, row in enumerate(rows):
            with naming_row(number):
                self.read(row)

    def prepare(self, block: Block, *, learning: bool) -> list[int]:
        return [self.read(row) for row in block.rows]

    # -- epochs --------------------------------------------------------------------------------------------------

    def _epoch(self, row: int) -> tuple[int, int]:
        """The first row and the length of the epoch that this row falls in."""
        first = self.rate.horizon or 1
        doubled = (row // first + 1).bit_length() - 1
        return first * (2**doubled - 1), first * 2**doubled

    def _rate(self, length: int) -> LearningRate:
        return LearningRate(self.rate.constant, length)

    def _log_size(self, length: int) -> float:
        return math.log(n_experts(length, self.n_deviations, self.table.n_classes))

    # -- votes ---------------------------------------------------------------------------------------------------

    def _crowd(self, learner: int) -> Crowd:
        """The experts as the next row meets them."""
        start, _ = self._epoch(int(self.n_rows[learner]))
        if self.n_rows[learner] == start:
            return {Deviants(self.tree.all_members, 0): 0.0}
        return self.crowds[learner]

    def _moves(self, learner: int, point: int) -> list[Move]:
        """What the experts say to a point."""
        row = int(self.n_rows[learner])
        start, length = self._epoch(row)
        rows_left, n_classes = start + length - row - 1, self.table.n_classes
        unused = range(self.n_deviations, -1, -1)
        futures = [math.log(n_experts(rows_left, n_deviations, n_classes)) for n_deviations in unused]
        moves = []
        for (space, used), weight in self._crowd(learner).items():
            best = self.tree.best_label(space, point)
            for label in range(n_classes):
                now_used = used if label == best else used + 1
                if now_used <= self.n_deviations:
                    after = Deviants(self.tree.agreeing(space, point, label), now_used)
                    moves.append(Move(after, label, weight, futures[now_used]))
        return moves

    def _shares(self, learner: int, row: int, out: FloatArray) -> None:
        out[:] = 0.0
        moves = [move for move in self._moves(learner, row) if move.label < len(out)]
        heaviest = max((move.weight + move.futures for move in moves), default=0.0)
        for move in moves:
            out[move.label] += math.exp(move.weight + move.futures - heaviest)

    def _credit(self, learner: int, row: int, label_weights: FloatArray) -> None:
        _, length = self._epoch(int(self.n_rows[learner]))
        rate = self._rate(length).at(self._log_size(length), 0.0)
        moved: Crowd = {}
        for after, label, weight, _ in self._moves(learner, row):
            gain = float(label_weights[label]) if label < len(label_weights) else 0.0
            grown = weight + rate * gain
            moved[after] = float(np.logaddexp(moved[after], grown)) if after in moved else grown
        self.crowds[learner] = moved
