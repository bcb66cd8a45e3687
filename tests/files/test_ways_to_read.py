"""PyArrow and the cell-by-cell reader: where PyArrow does not decline, both read the same rows, bit for bit."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocoboost.data.rows import NumberRows
from ocoboost.errors import DataFileError
from ocoboost.files.columns import Columns
from ocoboost.files.delimited import Delimited
from ocoboost.files.headers import DELIMITERS
from ocoboost.files.records import RawChunk

NUMBERS = {"x": "numbers"}
TEXTS = {"t": "text", "x": "numbers"}


def reader_of(kinds, delimiter=",", header=None):
    return Delimited("rows.csv", Columns("y", kinds=dict(kinds)), delimiter, header or [*kinds, "y"])


def chunk_of(data):
    return RawChunk(data, 7, 7 + len(data), 3, data.count(b"\n") + (not data.endswith(b"\n")))


def read_both(data, kinds, delimiter=",", header=None):
    """What PyArrow reads, or None if it declines; it must not differ from what the cell-by-cell reader reads."""
    reader, raw = reader_of(kinds, delimiter, header), chunk_of(data)
    fast = reader.read_with_arrow(raw)
    if fast is None:
        return None
    slow = reader.read_by_cell(raw)  # must not raise either
    assert not slow.bad
    assert fast[:3] == slow[:3] == raw[1:4]
    assert [list(row.items()) for row in fast.rows] == [list(row.items()) for row in slow.rows]
    assert (fast.labels, list(fast.lines)) == (slow.labels, slow.lines)
    if isinstance(fast.rows, NumberRows):
        assert fast.rows.numbers.tobytes() == slow.rows.numbers.tobytes()  # minus zero too
    return fast


# -- numbers -----------------------------------------------------------------------------------------------------------

ordinary = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**30), 10**30).map(str),
    st.floats(-1e6, 1e6).map(lambda value: f"{value:.3f}"),
    st.from_regex(r"-?[0-9]{1,40}\.[0-9]{0,40}([eE][-+]?[0-9]{1,2})?", fullmatch=True),
    st.tuples(st.integers(0, 10**19), st.integers(-330, 280)).map(lambda number: "{}e{}".format(*number)),
    st.sampled_from(["-0", "007", ".5", "-.5e1", "5.", "5e-324", "2.2250738585072011e-308", "1.7976931348623157e308"]),
)


@settings(max_examples=300)
@given(cells=st.lists(ordinary, min_size=1, max_size=30), delimiter=st.sampled_from(DELIMITERS), quoted=st.booleans())
def test_every_decimal_is_read_as_the_nearest_double(cells, delimiter, quoted):
    quote = '"' if quoted else ""
    data = "".join(f"{quote}{cell}{quote}{delimiter}a\n" for cell in cells).encode()
    fast = read_both(data, NUMBERS, delimiter)
    assert fast is not None  # ordinary numbers are never left to the slow reader
    assert fast.rows.numbers.tobytes() == np.array([[float(cell)] for cell in cells]).tobytes()


@given(mantissa=st.integers(2**52, 2**53 - 1), n_twos=st.integers(0, 200), off=st.integers(-1, 1))
def test_ties_between_two_doubles_are_rounded_to_even(mantissa, n_twos, off):
    digits = ((2 * mantissa + 1) << n_twos) + off
    for text in (str(digits), f"{digits}.000", f"{digits}000e-3"):
        fast = read_both(f"{text},a\n".encode(), NUMBERS)
        assert fast.rows.numbers[0, 0] == float(digits)


@pytest.mark.parametrize("cell", ["", "NA", "NaN", "?", "null", " 1", "2 ", "\t3", '"4"', '" 5"'])
def test_missing_cells_spaces_and_quotes_are_read_by_pyarrow(cell):
    assert read_both(f"{cell},a\n2.5,b\n".encode(), NUMBERS) is not None


@pytest.mark.parametrize(
    "cell", ["inf", "-inf", "Infinity", "1e999", "nan(1)", "-nan", "NAN", " NA", "1_0", "0x1", "١", "1,5", "-"]
)
def test_unusual_cells_are_left_to_the_cell_by_cell_reader(cell):
    assert read_both(f'"{cell}",a\n2.5,b\n'.encode(), NUMBERS) is None


# -- tables ------------------------------------------------------------------------------------------------------------

labels = st.one_of(st.sampled_from(["a", "b", "ab", "NA", "?", "Zoë", " a", ""]), st.text(max_size=3))
texts = st.text(st.characters(codec="utf-8"), max_size=8)
unusual = st.sampled_from(["", " 1", "2 ", "+3", "1e5", "NA", "?", "NaN", "1_0", "0x1", "١", "inf", "1e999", "nan(1)"])


@given(rows=st.lists(st.tuples(texts, st.one_of(ordinary, unusual), labels), min_size=1, max_size=20))
def test_tables_that_are_written_as_csv(rows):
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    read_both(out.getvalue().encode(), TEXTS)


@given(
    rows=st.lists(st.tuples(ordinary, st.sampled_from(["a", "b b", "Zoë"]), ordinary), min_size=1, max_size=8),
    order=st.permutations(["b", "y", "a"]),
    delimiter=st.sampled_from(DELIMITERS),
    line_end=st.sampled_from(["\n", "\r\n"]),
    is_closed=st.booleans(),
)
def test_tables_of_numbers_in_any_order_of_columns(rows, order, delimiter, line_end, is_closed):
    lines = [delimiter.join(row[("b", "y", "a").index(name)] for name in order) for row in rows]
    data = (line_end.join(lines) + (line_end if is_closed else "")).encode()
    kinds = {"a": "numbers", "b": "numbers"}
    assert read_both(data, kinds, delimiter, order) is not None


PIECES = ["1", "-2.5", "NA", "nan(1)", "inf", "+1", "a", "b", "é", "?", " ", "\t", '"', '""', ",", ",", ",", "\n", "\n"]
PIECES += ["\r\n", "\r", "\ufeff", "\0", "\x0b", "\x1c", "\x85", "\u2028"]


@settings(max_examples=500)
@given(text=st.lists(st.sampled_from(PIECES), max_size=30).map("".join), kinds=st.sampled_from([NUMBERS, TEXTS]))
def test_any_bytes_at_all(text, kinds):
    """Quotes in odd places, rows of any length, empty lines, carriage returns, byte order marks, zero bytes."""
    read_both(text.encode(), kinds)


UNEVEN = ["1", "1,a,b", "1,", "\n1,a", "1,a\n\n", "1,a\r\r", "\r1,a", "1\r,a", "1,a\0", "1,a\n2", '1,"a\nb"']


@pytest.mark.parametrize("text", UNEVEN)
@pytest.mark.parametrize("end", ["", "\n"])
def test_what_is_not_one_record_per_line_is_left_to_the_cell_by_cell_reader(text, end):
    assert read_both((text + end).encode(), NUMBERS) is None


@pytest.mark.parametrize("text", ['1,"a', '1,a\n2,"a', '1,a\n2,"a""', '1,a"\n2,"b'])
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_quote_that_is_never_closed_is_left_to_the_cell_by_cell_reader(text, end):
    data = (text + end).encode()
    assert read_both(data, NUMBERS) is None
    (bad,) = reader_of(NUMBERS).read_by_cell(chunk_of(data)).bad
    assert (bad.line, bad.is_last) == (3 + text.count("\n"), True)


@pytest.mark.parametrize("text", ['1,"a"', '1,a"', '"1",""""', '1,"a""b"'])
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_quote_in_the_last_line_is_read_by_pyarrow_if_it_is_closed(text, end):
    assert read_both((text + end).encode(), NUMBERS) is not None


def test_a_byte_order_mark_inside_a_file_belongs_to_its_cell():
    data = "\ufeffred,1,a\n".encode()
    assert read_both(data, TEXTS) is None
    assert reader_of(TEXTS).read_by_cell(chunk_of(data)).rows[0]["t"] == "\ufeffred"


@pytest.mark.parametrize("label", [b"\xff", b"\0"])
def test_bytes_that_are_not_text_are_an_error_whoever_reads_them(label):
    raw = chunk_of(b"1,a\n2," + label + b"\n")
    assert reader_of(NUMBERS).read_with_arrow(raw) is None
    with pytest.raises(DataFileError, match=r"rows\.csv, line 4: not UTF-8 text"):
        reader_of(NUMBERS).read_by_cell(raw)


def test_cells_may_be_as_long_as_records():
    text = "t" * 200_000
    chunk = read_both(f'{text},1,u\n"{text}",2,v\n'.encode(), TEXTS)
    assert [row["t"] for row in chunk.rows] == [text, text]


# -- decimal commas ----------------------------------------------------------------------------------------------------


@settings(max_examples=200)
@given(st.lists(ordinary, min_size=1, max_size=20), st.sampled_from(".,"), st.sampled_from(".,"))
def test_decimal_commas_are_read_alike_in_both_ways(cells, written, told):
    reader = reader_of(NUMBERS, ";")
    reader.columns.has_decimal_commas, reader.decimal = True, told
    data = "".join(f"{cell.replace('.', written)};a\n" for cell in cells).encode()
    raw = chunk_of(data)
    fast, slow = reader.read_with_arrow(raw), reader.read_by_cell(raw)
    assert not slow.bad
    assert slow.rows.numbers.ravel().tolist() == [float(cell) for cell in cells]
    assert reader.decimal == ("," if "," in data.decode() else ".")
    if fast is not None:
        assert fast.rows.numbers.tobytes() == slow.rows.numbers.tobytes()
    assert reader.read_with_arrow(raw) is not None  # now that it is known how numbers are written
