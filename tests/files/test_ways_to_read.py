"""A chunk of a table of text can be read in three ways: where they do not decline, they read the same, to the bit."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocoboost.compiling import IS_COMPILED
from ocoboost.data.rows import NumberRows
from ocoboost.files import delimited, records
from ocoboost.files.columns import Columns
from ocoboost.files.decimals import nearest

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="the kernel counts on numbers of 64 bits")


class _Stream:
    name = "rows.csv"


def reader_and_chunk(data, header, kinds, delimiter=","):
    columns = Columns("y", kinds=dict(kinds))
    reader = delimited.Delimited(_Stream(), columns, delimited.Dialect(delimiter, '"'), list(header))
    n_lines = data.count(b"\n") + (not data.endswith(b"\n"))
    return reader, records.RawChunk(data, 0, len(data), 1, n_lines)


cells = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**9), 10**9).map(str),
    st.sampled_from(["", " 1", "2 ", "+3", "1e5", ".5", "5.", "NA", "?", "NaN", "1_0", "0x1", "١", "inf", "1e999"]),
)
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=8)


def read_in_every_way(data, header, kinds, delimiter=","):
    """What the ways say that did not decline, and what the slow one says, who never does."""
    reader, raw = reader_and_chunk(data, header, kinds, delimiter)
    return reader.read_plain(raw), reader.read_fast(raw), reader.read_slow(raw)


def assert_same(chunk, slow):
    assert not slow.bad
    assert [list(row.items()) for row in chunk.rows] == [list(row.items()) for row in slow.rows]
    assert (chunk.labels, list(chunk.lines)) == (slow.labels, slow.lines)
    if isinstance(chunk.rows, NumberRows):
        assert chunk.rows.numbers.tobytes() == slow.rows.numbers.tobytes()  # minus zero too


@given(rows=st.lists(st.tuples(cells, cells, texts, st.sampled_from("ab")), min_size=1, max_size=20))
def test_the_fast_way_and_the_slow_way_read_the_same(rows):
    """Both are given every chunk; where the fast one does not decline, the rows are equal, to the bit."""
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    kinds = {"a": "numbers", "b": "numbers", "t": "text"}
    plain, fast, slow = read_in_every_way(out.getvalue().encode(), [*kinds, "y"], kinds)
    assert plain is None
    if fast is not None:
        assert_same(fast, slow)


plain_cells = st.one_of(
    cells,
    st.floats(-1e6, 1e6).map(repr),
    st.from_regex(r"-?[0-9]{0,20}(\.[0-9]{0,20})?([eE][-+]?[0-9]{0,4})?", fullmatch=True),
)
plain_labels = st.one_of(st.sampled_from(["a", "b", "ab", "NA", "?", "Zoë"]), st.text("xyz \t\0\x80", max_size=3))


@given(
    rows=st.lists(st.tuples(plain_cells, plain_labels, plain_cells), min_size=1, max_size=8),
    order=st.permutations(["b", "y", "a"]),
    delimiter=st.sampled_from(delimited.DELIMITERS),
    line_end=st.sampled_from(["\n", "\r\n"]),
    is_closed=st.booleans(),
)
def test_plain_numbers_and_the_slow_way_read_the_same(rows, order, delimiter, line_end, is_closed):
    lines = [delimiter.join(row[("b", "y", "a").index(name)] for name in order) for row in rows]
    data = (line_end.join(lines) + (line_end if is_closed else "")).encode()
    if b"\0" in data:
        return  # the slow way stops there
    plain, fast, slow = read_in_every_way(data, order, {"a": "numbers", "b": "numbers"}, delimiter)
    for chunk in (plain, fast):
        if chunk is not None:
            assert_same(chunk, slow)


magnitudes = st.one_of(st.floats(1e-40, 1e40), st.just(0.0), st.integers(0, 10**15).map(float))


@given(numbers=st.lists(st.tuples(magnitudes, st.booleans(), st.integers(0, 18)), min_size=1, max_size=30))
def test_numbers_of_any_size_are_plain(numbers):
    texts = [("-" if is_negative else "") + f"{number:.{n_digits}g}" for number, is_negative, n_digits in numbers]
    data = "".join(f"{text},a\n" for text in texts).encode()
    plain, _, slow = read_in_every_way(data, ["x", "y"], {"x": "numbers"})
    assert_same(plain, slow)


@pytest.mark.parametrize("cell", ["1", "-0", "007", ".5", "5.", "1e5", "1E-05", "0.1234567890123456789", "", "1e+22"])
def test_plain_numbers(cell):
    data = f"{cell},a\n2.5,b\n".encode()
    plain, _, slow = read_in_every_way(data, ["x", "y"], {"x": "numbers"})
    assert_same(plain, slow)


NO_NUMBERS = ["-", ".", "1e", "1e-", "--1", " 1", "1 ", "+1", "1.2.3", "nan", "1e65", "1e0005", "12345678901234567890"]
NO_TABLES = [
    "1",
    "1,a,b",
    "1,",
    "\n1,a",
    "1,a\n\n",
    "1,a\r\r",
    "1\r,a",
    "1,a\0",
    '1,"a"',
    "1,a\n2",
    "1,a\n2,",
    "1,a\n-",
]
TOO_MANY_LABELS = "\n".join(f"1,{number}" for number in range(65))


@pytest.mark.parametrize("text", [f"{cell},a" for cell in NO_NUMBERS] + NO_TABLES + [TOO_MANY_LABELS])
@pytest.mark.parametrize("end", ["", "\n"])
def test_what_is_not_plain_is_left_to_others(text, end):
    reader, raw = reader_and_chunk((text + end).encode(), ["x", "y"], {"x": "numbers"})
    assert reader.read_plain(raw) is None


def test_labels_that_are_not_text_are_left_to_others():
    reader, raw = reader_and_chunk(b"1,\xff\n", ["x", "y"], {"x": "numbers"})
    assert reader.read_plain(raw) is None


@settings(max_examples=500)
@given(digits=st.integers(0, 10**19 - 1), power=st.integers(-64, 64))
def test_the_nearest_double(digits, power):
    assert nearest(np.uint64(digits), power) == float(f"{digits}e{power}")


@given(mantissa=st.integers(2**52, 2**53 - 1), n_twos=st.integers(0, 10), off=st.integers(-1, 1))
def test_the_nearest_double_of_a_tie_and_beside_it(mantissa, n_twos, off):
    digits = ((2 * mantissa + 1) << n_twos) + off
    if digits < 10**19:
        assert nearest(np.uint64(digits), 0) == float(digits)
        for power in (-1, -2, -3):
            if digits * 10**-power < 10**19:
                assert nearest(np.uint64(digits * 10**-power), power) == float(digits)
