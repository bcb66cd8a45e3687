"""Rows for peers that take only numbers: complete, with the same columns, and without a look ahead."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocoboost.bench.encoding import MOST_CATEGORIES, N_HASHED, Encoder, present

values = st.none() | st.floats(-9, 9) | st.sampled_from(["red", "blue", ""])
kinds = {"a": st.none() | st.floats(-9, 9), "b": st.none() | st.sampled_from("rgb"), "c": values}
rows = st.lists(st.fixed_dictionaries({"a": kinds["a"]}, optional={"b": kinds["b"]}), max_size=30)


@given(rows, rows)
def test_every_row_has_the_same_columns_and_only_finite_numbers(first, later):
    encoder = Encoder(first)
    encoded = [encoder.encode(row) for row in first + later]
    assert len({tuple(row) for row in encoded}) <= 1
    assert all(type(value) is float and math.isfinite(value) for row in encoded for value in row.values())


@given(rows, rows)
def test_a_row_is_encoded_without_what_comes_after_it(first, later):
    one, other = Encoder(first), Encoder(first)
    assert [one.encode(row) for row in first] == [other.encode(row) for row in first + later][: len(first)]


def test_a_missing_number_is_the_mean_so_far():
    encoder = Encoder([{"a": 1.0}])
    numbers = [encoder.encode({"a": value})["a"] for value in (None, 1.0, None, 4.0, None)]
    assert numbers == [0.0, 1.0, 1.0, 4.0, 2.5]
    assert encoder.encode({})["a"] == 2.5


def test_few_texts_have_a_column_each_and_others_are_none_of_them():
    encoder = Encoder([{"b": "red"}, {"b": None}, {"b": "blue"}])
    assert encoder.encode({"b": "blue"}) == {"b=red": 0.0, "b=blue": 1.0}
    assert encoder.encode({"b": "green"}) == encoder.encode({"b": None}) == {"b=red": 0.0, "b=blue": 0.0}


def test_many_texts_are_hashed():
    encoder = Encoder([{"b": f"city {i}"} for i in range(MOST_CATEGORIES + 1)])
    encoded = [encoder.encode({"b": f"city {i}"}) for i in range(300)]
    assert {sum(row.values()) for row in encoded} == {1.0}
    assert len(encoded[0]) == N_HASHED
    assert {tuple(row.values()) for row in encoded} == {
        tuple(float(i == j) for j in range(N_HASHED)) for i in range(N_HASHED)
    }
    assert sum(encoder.encode({"b": None}).values()) == 0.0


@pytest.mark.parametrize("row", [{"a": None, "b": "x"}, {"b": "x"}])
def test_rivers_trees_are_given_what_is_there(row):
    assert present(row) == {"b": "x"}
