"""The account of a run: where the regret of a booster comes from.

Every run of Algorithms 1 and 4, whatever its learners, labels and draws, satisfies for every comparator (any sequence
of labels, and so the best hypothesis of any class), in gains, summed over rows:

    regret  =  players + learners + draws + pooling - projection - relabelling

    players       regret of the rows' games, over N: shrinks with more learners, like 1 / sqrt(N)
    learners      (gamma * the comparator's gain on what was taught - the learners' gain on it) / gamma, on average over
                  learners: shrinks with better learners, or more rows to learn from
    draws         luck of random relabelling, zero on average; zero if lessons are fractional
    pooling       what is lost (or gained) by pooling votes other than those the players see
    projection    what the inequality of the projection lemma leaves over; never negative
    relabelling   the same for the lemma that compares comparator and label on a play; never negative

Theorem 1 is this equation without the last two terms. The proof is the paper's, with equalities in place of lemmas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.answers import projected
from ocoboost.cascade.regimes import REALIZABLE
from ocoboost.cascade.relabelling import Relabelling
from ocoboost.data.labels import Labels
from ocoboost.errors import InvalidInputError
from ocoboost.oco.players import PLAYERS
from ocoboost.theory import bounds, replay
from ocoboost.theory.classes import Searchable
from ocoboost.theory.record import Record, Span, joined
from ocoboost.theory.reports import Parts, Report, advantage


@dataclass
class Account:
    """Records a booster's run and shows where its regret comes from; see `Accountable.account`."""

    record: Record
    labels: Labels
    hypotheses: Searchable

    def report(self, comparator: Searchable | Sequence[Any] | None = None, *, member: int | None = None) -> Report:
        """The account so far.

        ``comparator`` is a class with ``best_in_class``, or a label for every row recorded; None is the class given to
        ``account``. For a mixture, the member with the least regret is shown unless one is named.
        """
        if self.record.n_rows == 0:
            raise InvalidInputError("account: no row was learned since it was opened; learn some first.")
        labels = np.concatenate([rows.labels for rows in self.record.rows])
        weights = np.concatenate([rows.weights for rows in self.record.rows])
        if not weights.any():
            raise InvalidInputError("account: all rows have weight 0, so there is no regret to account for.")
        name, said = self._comparator(self.hypotheses if comparator is None else comparator, labels, weights)
        if member is None:
            members = range(len(self.record.tapes))
            member = max(members, key=lambda number: _expected(self.record, number)) if len(members) > 1 else 0
        return _report(self.record, member, name, said)

    def _comparator(self, comparator: Any, labels: IntArray, weights: FloatArray) -> tuple[str, IntArray]:
        """What to call the comparator, and its label for every row."""
        if not hasattr(comparator, "best_in_class"):
            said = list(comparator)
            if len(said) != len(labels):
                raise InvalidInputError(f"account: comparator has {len(said)} labels for {len(labels)} recorded rows.")
            places = {label: index for index, label in enumerate(self.labels.known)}
            return "the given comparator", np.array(
                [places.get(label, replay.NO_LABEL) for label in said], dtype=np.int64
            )
        features = joined([rows.features for rows in self.record.rows])
        gains = np.zeros((len(labels), len(self.labels)))
        gains[np.arange(len(labels)), labels] = weights
        best = comparator.best_in_class(features, gains).hypothesis
        return f"the best of {type(comparator).__name__}", np.asarray(best(features), dtype=np.int64)

    def __str__(self) -> str:
        return str(self.report())

    def __rich__(self) -> Any:
        return self.report().__rich__()


def _expected(record: Record, member: int) -> float:
    """How many rows a member is expected to get right."""
    cells, total = record.tapes[member].cells, 0.0
    for rows, heard in record.spans(member):
        distributions = cells.answers_to(heard.pooled).distributions
        total += float(rows.weights @ distributions[np.arange(len(rows.labels)), rows.labels])
    return total


def _report(record: Record, member: int, name: str, said: IntArray) -> Report:
    totals = _Totals(record.tapes[member].cells)
    first = 0
    for span in record.spans(member):
        last = first + len(span.rows.labels)
        known = np.where(said[first:last] < span.rows.n_classes, said[first:last], replay.NO_LABEL)
        totals.add(span, known)
        first = last
    return totals.report(name, member, len(record.tapes))


class _Totals:
    """Sums over the spans of a run, weighted by the rows' weights."""

    def __init__(self, cells: Relabelling) -> None:
        self.cells = cells
        self.learner_sums = np.zeros((cells.n_learners, replay.N_SUMS))
        self.n_rows = self.n_classes = 0
        self.weight = self.players = self.player_bound = self.pooling = self.projection = 0.0
        self.hits = self.right = self.expected = self.expected_whole = self.price = 0.0

    def add(self, span: Span, comparator: IntArray) -> None:
        cells, (rows, heard) = self.cells, span
        n_learners, gamma, weights = cells.n_learners, cells.gamma, rows.weights
        weight = float(weights.sum())
        self.n_rows += len(weights)
        self.n_classes = rows.n_classes
        self.weight += weight
        self.right += float(weights @ (comparator == rows.labels))
        answers = cells.answers_to(heard.pooled)
        met = np.arange(len(weights)), rows.labels
        chances = answers.distributions[met]
        self.expected += float(weights @ chances)
        self.hits += float(weights @ (answers.labels == rows.labels))
        self.expected_whole += float(weights @ (chances if rows.chances is None else rows.chances))
        if rows.n_classes == 1:
            return  # before a second label is known there is no game, and the lemmas do not hold
        tally = replay.tally(cells, span, comparator)
        self.learner_sums += tally.learner_sums
        self.players += float(weights @ tally.player_regrets) / n_learners
        bound = _player_bound(cells, rows.n_classes)
        self.player_bound += weight * bound / n_learners

        shares = _seen_shares(span, cells)
        distributions = projected(shares, gamma)
        self.pooling += float(weights @ (2.0 * (distributions[met] - chances)))
        self.projection += float(
            weights @ (2.0 * (distributions[met] - 1.0) - _least_losses(cells, shares, rows.labels))
        )
        mass = float(tally.learner_sums[:, replay.MASS].mean())
        self.price += mass * bounds.guessing_loss(gamma=gamma, n_classes=rows.n_classes)

    def report(self, comparator: str, member: int, n_members: int) -> Report:
        cells, sums, weight, n_learners = self.cells, self.learner_sums, self.weight, self.cells.n_learners
        gamma = cells.gamma
        column = sums.sum(axis=0) / n_learners
        learners = column[replay.COMPARATOR_GAIN] - column[replay.VOTE_GAIN] / gamma
        meant = column[replay.COMPARATOR_GAIN_MEANT] - column[replay.VOTE_GAIN_MEANT] / gamma
        missed = 2.0 * (weight - self.right)
        relabelling = column[replay.COMPARATOR_GAIN_MEANT] - column[replay.LABEL_GAIN_MEANT] + missed
        parts = (self.players, learners, meant - learners, self.pooling, self.projection, relabelling)
        bound = bounds.agnostic_gain_regret_bound(
            weak_regret=gamma * learners,
            player_regret=self.player_bound / weight * n_learners,
            gamma=gamma,
            n_rounds=weight,
            n_learners=n_learners,
        )
        return Report(
            comparator=comparator,
            member=member,
            n_members=n_members,
            regime="realizable" if cells.regime.code == REALIZABLE else "agnostic",
            relabel=cells.relabel,
            gamma=gamma,
            n_rows=self.n_rows,
            n_classes=self.n_classes,
            n_learners=n_learners,
            comparator_accuracy=self.right / weight,
            accuracy=self.expected / weight,
            accuracy_of_mode=self.hits / weight,
            regret=2.0 * (self.right - self.expected) / weight,
            parts=Parts(*(float(part) / weight for part in parts)),
            guessing_loss=self.price / weight,
            player_bound=self.player_bound / weight,
            bound=float(bound),
            advantages=[advantage(*row[replay.EDGE :]) for row in sums.tolist()],
            whole_regret=2.0 * (self.right - self.expected_whole) / weight,
        )


def _player_bound(cells: Relabelling, n_classes: int) -> float:
    player, game = PLAYERS[cells.player], cells.game(n_classes)
    playing = cells.choices(n_classes)
    return player.regret_bound(game, playing.starts[0], playing.step_size)  # the game is symmetric in the labels


def _seen_shares(span: Span, cells: Relabelling) -> FloatArray:
    """Each label's share of the votes that the players saw."""
    seen, n_classes = span.heard.seen, span.rows.n_classes
    if cells.votes == "distribution":
        shares: FloatArray = seen.distributions.sum(axis=0) / cells.n_learners
        return shares
    n_rows = seen.labels.shape[1]
    places = np.arange(n_rows) * n_classes + seen.labels
    counts = np.bincount(places.ravel(), minlength=n_rows * n_classes).reshape(n_rows, n_classes)
    return counts / cells.n_learners


def _least_losses(cells: Relabelling, shares: FloatArray, labels: IntArray) -> FloatArray:
    """The least average loss that a fixed play has on each row, with the paper's constant."""
    met = np.arange(len(labels)), labels
    if cells.regime.code == REALIZABLE:
        return np.minimum((2.0 * shares[met] - 1.0) / cells.gamma - 1.0, 0.0)
    slopes = 2.0 * shares / cells.gamma
    slopes[met] -= 2.0
    least: FloatArray = slopes.min(axis=1) + 1.0 - 1.0 / cells.gamma
    return least
