"""The account of a run: where the regret of a booster comes from.

Every run of Algorithms 1 and 4, whatever its learners, labels and draws, satisfies for every rival (any sequence of
labels, and so the best hypothesis of any class), in gains, summed over rows:

    regret  =  players + learners + draws + pooling - projection - relabelling

    players       regret of the rows' games, over N: shrinks with more learners, like 1 / sqrt(N)
    learners      (gamma * the rival's gain on what was taught - the learners' gain on it) / gamma, on average over
                  learners: shrinks with better learners, or more rows to learn from
    draws         luck of random relabelling, zero on average; zero if lessons are fractional
    pooling       what is lost (or won) by pooling other votes than the players see
    projection    what the projection lemma leaves on the table; never negative
    relabelling   the same for the lemma that compares rival and label on a play; never negative

Theorem 1 is this line with the last two dropped. The proof is the paper's, with an equality where it has a lemma.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade import Cascade, answer
from ocoboost.encoding import Labels
from ocoboost.errors import InvalidInputError
from ocoboost.oco.players import PLAYERS
from ocoboost.regimes import REALIZABLE
from ocoboost.theory import bounds, replay
from ocoboost.theory.classes import Searchable
from ocoboost.theory.record import Record, Stretch, joined
from ocoboost.theory.reports import Parts, Report, advantage


@dataclass
class Account:
    """Keeps a booster's run and says where its regret comes from; see `OnlineBooster.account`."""

    record: Record
    labels: Labels
    hypotheses: Searchable

    def report(self, rival: Searchable | Sequence[Any] | None = None, *, member: int | None = None) -> Report:
        """The account so far.

        ``rival`` is a class with ``best_in_class``, or a label for every row recorded; None is the class given to
        ``account``. Of a mixture the member with the least regret is shown unless one is named.
        """
        if self.record.n_rows == 0:
            raise InvalidInputError("account: no row was learned since the account was opened; learn some first.")
        labels = np.concatenate([rows.labels for rows in self.record.rows])
        weights = np.concatenate([rows.weights for rows in self.record.rows])
        if not weights.any():
            raise InvalidInputError("account: all rows have weight 0, so there is no regret to account for.")
        name, said = self._rival(self.hypotheses if rival is None else rival, labels, weights)
        if member is None:
            members = range(len(self.record.cascades))
            member = max(members, key=lambda number: _expected(self.record, number)) if len(members) > 1 else 0
        return _report(self.record, member, name, said)

    def _rival(self, rival: Any, labels: IntArray, weights: FloatArray) -> tuple[str, IntArray]:
        """What to call the rival, and its label for every row."""
        if not hasattr(rival, "best_in_class"):
            said = list(rival)
            if len(said) != len(labels):
                raise InvalidInputError(f"account: rival has {len(said)} labels for {len(labels)} recorded rows.")
            places = {label: index for index, label in enumerate(self.labels.known)}
            return "the given rival", np.array([places.get(label, replay.NO_LABEL) for label in said], dtype=np.int64)
        features = joined([rows.features for rows in self.record.rows])
        gains = np.zeros((len(labels), len(self.labels)))
        gains[np.arange(len(labels)), labels] = weights
        best = rival.best_in_class(features, gains).hypothesis
        return f"the best of {type(rival).__name__}", np.asarray(best(features), dtype=np.int64)

    def __str__(self) -> str:
        return str(self.report())

    def __rich__(self) -> Any:
        return self.report().__rich__()


def _expected(record: Record, member: int) -> float:
    """How many rows a member is expected to get right."""
    cascade, total = record.cascades[member], 0.0
    for rows, heard in record.stretches(member):
        distributions = answer(heard.pooled / cascade.n_learners, cascade.gamma).distributions
        total += float(rows.weights @ distributions[np.arange(len(rows.labels)), rows.labels])
    return total


def _report(record: Record, member: int, name: str, said: IntArray) -> Report:
    totals = _Totals(record.cascades[member])
    first = 0
    for stretch in record.stretches(member):
        last = first + len(stretch.rows.labels)
        known = np.where(said[first:last] < stretch.rows.n_classes, said[first:last], replay.NO_LABEL)
        totals.add(stretch, known)
        first = last
    return totals.report(name, member, len(record.cascades))


class _Totals:
    """Sums over the stretches of a run, weighted by the rows' weights."""

    def __init__(self, cascade: Cascade) -> None:
        self.cascade = cascade
        self.learner_sums = np.zeros((cascade.n_learners, replay.N_SUMS))
        self.n_rows = self.n_classes = 0
        self.weight = self.players = self.player_bound = self.pooling = self.projection = 0.0
        self.hits = self.right = self.expected = self.expected_whole = self.price = 0.0

    def add(self, stretch: Stretch, rival: IntArray) -> None:
        cascade, (rows, heard) = self.cascade, stretch
        n_learners, gamma, weights = cascade.n_learners, cascade.gamma, rows.weights
        weight = float(weights.sum())
        self.n_rows += len(weights)
        self.n_classes = rows.n_classes
        self.weight += weight
        self.right += float(weights @ (rival == rows.labels))
        answers = answer(heard.pooled / n_learners, gamma)
        met = np.arange(len(weights)), rows.labels
        chances = answers.distributions[met]
        self.expected += float(weights @ chances)
        self.hits += float(weights @ (answers.labels == rows.labels))
        self.expected_whole += float(weights @ (chances if rows.chances is None else rows.chances))
        if rows.n_classes == 1:
            return  # before a second label is known there is no game, and the lemmas do not hold
        tally = replay.tally(cascade, stretch, rival)
        self.learner_sums += tally.learner_sums
        self.players += float(weights @ tally.player_regrets) / n_learners
        bound = _player_bound(cascade, rows.n_classes)
        self.player_bound += weight * bound / n_learners

        shares = _seen_shares(stretch, cascade)
        distributions = answer(shares, gamma).distributions
        self.pooling += float(weights @ (2.0 * (distributions[met] - chances)))
        self.projection += float(
            weights @ (2.0 * (distributions[met] - 1.0) - _least_losses(cascade, shares, rows.labels))
        )
        mass = float(tally.learner_sums[:, replay.MASS].mean())
        self.price += mass * bounds.guessing_price(gamma=gamma, n_classes=rows.n_classes)

    def report(self, rival: str, member: int, n_members: int) -> Report:
        cascade, sums, weight, n_learners = self.cascade, self.learner_sums, self.weight, self.cascade.n_learners
        gamma = cascade.gamma
        column = sums.sum(axis=0) / n_learners
        learners = column[replay.RIVAL_GAIN] - column[replay.VOTE_GAIN] / gamma
        meant = column[replay.RIVAL_GAIN_MEANT] - column[replay.VOTE_GAIN_MEANT] / gamma
        relabelling = column[replay.RIVAL_GAIN_MEANT] - column[replay.LABEL_GAIN_MEANT] + 2.0 * (weight - self.right)
        parts = (self.players, learners, meant - learners, self.pooling, self.projection, relabelling)
        bound = bounds.agnostic_gain_regret_bound(
            weak_regret=gamma * learners,
            player_regret=self.player_bound / weight * n_learners,
            gamma=gamma,
            n_rounds=weight,
            n_learners=n_learners,
        )
        return Report(
            rival=rival,
            member=member,
            n_members=n_members,
            regime="realizable" if cascade.regime.code == REALIZABLE else "agnostic",
            relabel=cascade.relabel,
            gamma=gamma,
            n_rows=self.n_rows,
            n_classes=self.n_classes,
            n_learners=n_learners,
            rival_accuracy=self.right / weight,
            accuracy=self.expected / weight,
            accuracy_of_mode=self.hits / weight,
            regret=2.0 * (self.right - self.expected) / weight,
            parts=Parts(*(float(part) / weight for part in parts)),
            guessing_price=self.price / weight,
            player_bound=self.player_bound / weight,
            bound=float(bound),
            advantages=[advantage(*row[replay.EDGE :]) for row in sums.tolist()],
            whole_regret=2.0 * (self.right - self.expected_whole) / weight,
        )


def _player_bound(cascade: Cascade, n_classes: int) -> float:
    player, game = PLAYERS[cascade.player], cascade.game(n_classes)
    first = np.zeros(1, dtype=np.int64)  # the game is symmetric in the labels
    start = cascade.regime.starts(game, first, start=cascade.start, is_entropic=player.is_entropic)[0]
    return player.regret_bound(game, start, cascade.resolve_step(game))


def _seen_shares(stretch: Stretch, cascade: Cascade) -> FloatArray:
    """Each label's share of the votes that the players saw."""
    seen, n_classes = stretch.heard.seen, stretch.rows.n_classes
    if cascade.votes == "distribution":
        shares: FloatArray = seen.distributions.sum(axis=0) / cascade.n_learners
        return shares
    n_rows = seen.labels.shape[1]
    places = np.arange(n_rows) * n_classes + seen.labels
    counts = np.bincount(places.ravel(), minlength=n_rows * n_classes).reshape(n_rows, n_classes)
    return counts / cascade.n_learners


def _least_losses(cascade: Cascade, shares: FloatArray, labels: IntArray) -> FloatArray:
    """The least average loss that a fixed play has on each row, with the paper's constant."""
    met = np.arange(len(labels)), labels
    if cascade.regime.code == REALIZABLE:
        return np.minimum((2.0 * shares[met] - 1.0) / cascade.gamma - 1.0, 0.0)
    slopes = 2.0 * shares / cascade.gamma
    slopes[met] -= 2.0
    least: FloatArray = slopes.min(axis=1) + 1.0 - 1.0 / cascade.gamma
    return least
