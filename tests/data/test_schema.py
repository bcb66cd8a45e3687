from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ocoboost.data.rows import NumberRows, as_row
from ocoboost.data.schema import Schema
from ocoboost.errors import InvalidInputError

matrices = hnp.arrays(
    np.float64, st.tuples(st.integers(0, 6), st.integers(1, 4)), elements=st.sampled_from([1.0, 2.0, np.nan])
)


def plan_and_apply(schema, rows, n_classes=2):
    plan = schema.plan(rows)
    for row in sorted(plan):
        schema.apply(plan[row], n_classes)
    return plan


@given(matrices, matrices)
def test_a_matrix_is_planned_like_its_rows(first, second):
    by_matrix, by_row = Schema(), Schema()
    for matrix in (first, second):
        names = [f"c{column}" for column in range(matrix.shape[1])]
        rows = [as_row(dict(zip(names, values, strict=True)), row) for row, values in enumerate(matrix.tolist())]
        assert plan_and_apply(by_matrix, NumberRows.read(names, matrix)) == plan_and_apply(by_row, rows)
        assert list(by_matrix.kinds.items()) == list(by_row.kinds.items())
        np.testing.assert_array_equal(by_matrix.encode(NumberRows.read(names, matrix)), by_row.encode(rows))


def test_columns_of_a_matrix_are_sorted_by_name():
    rows = NumberRows.read(["b", "a"], np.array([[1, 2]]))
    assert rows[0] == {"a": 2, "b": 1}
    assert list(rows[0]) == ["a", "b"]
    assert rows[:1].numbers.tolist() == [[2.0, 1.0]]


def test_numbers_in_a_text_column_are_refused():
    schema = Schema()
    plan_and_apply(schema, [{"a": "red"}])
    with pytest.raises(InvalidInputError, match=r"column 'a' at row 1 is 5\.0, but the column held text before"):
        schema.plan(NumberRows.read(["a"], np.array([[np.nan], [5.0]])))
