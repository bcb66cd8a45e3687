"""Columns by the thousand: the work grows with their number, not with its square."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ocoboost import HoeffdingTrees
from ocoboost.data.rows import NumberRows
from ocoboost.learners.hoeffding import ensemble

N_COLUMNS = 2000


class Name(str):
    """A name that counts how often it is compared."""

    __slots__ = ()
    n_compared = 0

    def __eq__(self, other):
        Name.n_compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_columns_are_put_in_order_without_searching_for_each():
    names = [Name(f"c{(7 * column) % N_COLUMNS}") for column in range(N_COLUMNS)]
    Name.n_compared = 0
    rows = NumberRows.read(names, np.arange(N_COLUMNS)[None])
    assert Name.n_compared < 20 * N_COLUMNS  # a search for each would be 2,000,000
    assert rows.names == sorted(names)
    assert {name: rows.numbers[0, place] for place, name in enumerate(rows.names)} == {
        name: float(place) for place, name in enumerate(names)
    }


def test_trees_take_up_new_columns_without_searching_through_the_old(monkeypatch):
    n_seen = [0]

    def counting_max(*arguments, **options):
        if len(arguments) == 1 and hasattr(arguments[0], "__len__"):
            n_seen[0] += len(arguments[0])
        return max(*arguments, **options)

    monkeypatch.setattr(ensemble, "max", counting_max, raising=False)
    rows = pd.DataFrame(np.arange(2.0 * N_COLUMNS).reshape(2, N_COLUMNS)).rename(columns="c{}".format)
    model = HoeffdingTrees(feature_share=0.5, seed=1)
    model.learn_many(rows.iloc[:, ::2], ["x", "y"])
    model.learn_many(rows.assign(text="red"), ["x", "y"])
    assert n_seen[0] < 20 * N_COLUMNS  # a search for each new column would be 2,000,000
    assert len(model.columns_) == N_COLUMNS + 1
    columns = model.state_.engine.ensemble.columns
    assert sorted(columns.numeric) == [-1, *range(N_COLUMNS)]  # every column has a place of its own
    assert sorted(columns.nominal) == [-1] * N_COLUMNS + [0]
