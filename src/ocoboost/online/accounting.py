"""Boosters that can account for their regret."""

from __future__ import annotations

from ocoboost.stream.protocol import StreamClassifier
from ocoboost.theory.classes import QuantileStumps, Searchable
from ocoboost.theory.meters import Account
from ocoboost.theory.record import Record


class Accountable(StreamClassifier):
    """Base of the boosters whose rows play games, so that the regret can be split between players and learners."""

    def account(self, hypotheses: Searchable | None = None, *, most_rows: int | None = None) -> Account:
        """Record the votes from the next row on; the account shows where the regret comes from.

        ``hypotheses`` is the class to compare with; None stands for stumps on a grid of 16 quantiles. A vote takes one
        byte of memory (two above 256 labels, eight per label if players see distributions), a row that of its features;
        recording stops after ``most_rows`` rows.

        >>> from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier
        >>> from ocoboost.bench import synthetic
        >>> stream = synthetic.load("axis rule", 500, seed=1)
        >>> model = OnlineAgnosticBoostClassifier(
        ...     HoeffdingTrees(), gamma=0.5, n_learners=10, classes=["00", "01", "02"], seed=1
        ... )
        >>> account = model.account()
        >>> model.learn_many([x for x, _ in stream.rows], [y for _, y in stream.rows])
        >>> report = account.report(stream.best_labels)
        >>> abs(report.regret - report.parts.regret) < 1e-9
        True
        """
        if self._state is None:
            self._state = self._begin()
            self._watch.parameters(self)
        state = self._state
        if not isinstance(state.record, Record):
            state.record = Record.of(state.engine.cascades, most_rows)
        return Account(state.record, state.labels, QuantileStumps() if hypotheses is None else hypotheses)
