"""What a mixture can tell beside its predictions: labels that look wrong, features that matter, reasons."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from ocoboost.data import tables
from ocoboost.data.parameters import Count
from ocoboost.errors import InvalidInputError
from ocoboost.online.mixture.engine import Mixture
from ocoboost.online.mixture.explaining import N_WALKS, NOTHING, Explanation, explain
from ocoboost.online.mixture.importances import importances
from ocoboost.online.mixture.judging import Suspect, suspects
from ocoboost.stream.protocol import StreamClassifier
from ocoboost.stream.told import Naming

AT_LEAST_ONE = Count(1)


class Insightful(StreamClassifier):
    """A classifier whose engine is a mixture."""

    @property
    def suspects_(self) -> list[Suspect]:
        """The rows whose given label looks wrong, worst first: at most `n_suspects` and some of the first rows.

        From what was said to each row before it was learned, and from members that were born after it
        (docs/audits.md). Empty before the first row.
        """
        if self._state is None:
            return []
        with self._turns.asking(self):
            return suspects(self._mixture(), self._state.schema, self._state.labels.known)

    def identify_rows(self, first_row: int, keys: Sequence[Hashable]) -> None:
        """Say what consecutive rows that were learned are called, for `suspects_`: an identifier each, or None."""
        if self._state is not None:
            with self._turns.learning(self):
                self._turns.check_alone(self)
                self._mixture().suspects.identify(first_row, keys)

    @property
    def feature_importances_(self) -> dict[Hashable, float]:
        """Each feature's share in what the votes of the native trees rest on, most important first.

        Read off the trees (docs/explanations.md). Empty before the first row.
        """
        if self._state is None:
            return {}
        with self._turns.asking(self):
            return importances(self._mixture(), self._state.schema, len(self._state.labels))

    def explain_one(self, x: dict[Any, Any], *, n_walks: int = N_WALKS) -> Explanation:
        """Why a row gets its label: what every feature adds to its probability, and what the members say.

        The prior and all contributions add up to the probability; `n_walks` are averaged (docs/explanations.md). A row
        is answered `n_walks` times for every feature, so this takes a while.

        >>> from ocoboost import OnlineBoostClassifier
        >>> model = OnlineBoostClassifier(seed=1)
        >>> for number in range(200):
        ...     model.learn_one({"size": number % 10, "day": number % 7}, "large" if number % 10 > 4 else "small")
        >>> why = model.explain_one({"size": 9, "day": 3})
        >>> why.label, next(iter(why.contributions))
        ('large', 'size')
        >>> abs(why.prior + sum(why.contributions.values()) - why.probability) < 1e-9
        True
        """
        with Naming(self):
            row = tables.read_row(x)
            if n_walks not in AT_LEAST_ONE:
                raise InvalidInputError(f"n_walks must {AT_LEAST_ONE}, got {n_walks!r}.")
        if self._state is None or not len(self._state.labels):
            return NOTHING
        with self._turns.asking(self):
            state = self._checked([row])
            return explain(self._mixture(), state.schema, state.labels.known, row, state.seed, int(n_walks))

    def debug_one(self, x: dict[Any, Any], *, n_walks: int = N_WALKS) -> str:
        """`explain_one` as text."""
        return str(self.explain_one(x, n_walks=n_walks))

    def _mixture(self) -> Mixture:
        mixture = self._ready().engine
        assert isinstance(mixture, Mixture)
        return mixture
