"""The categories that a block of rows brings, before any of them is added to the schema."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from ocoboost.data.text import MOST_CATEGORIES, MOST_CODES, category_of

if TYPE_CHECKING:
    from ocoboost.data.schema import Additions, Schema


class PlannedCategories:
    """The categories that a block brings, within the limits on their number."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._new: dict[Hashable, set[str]] = {}
        self._others: set[Hashable] = set()
        self._n_codes = sum(map(schema.n_codes, schema.categories))

    def add(self, name: Hashable, text: str, added: Additions) -> None:
        """Note what a text brings."""
        if name in self._others or name in self._schema.others:
            return
        known, category = self._schema.categories.get(name, {}), category_of(text)
        new = self._new.setdefault(name, set())
        if category in known or category in new:
            return
        if len(known) + len(new) < MOST_CATEGORIES and self._n_codes < MOST_CODES:
            new.add(category)
            added.categories.append((name, category))
        else:
            self._others.add(name)
            added.others.append(name)
        self._n_codes += 1
