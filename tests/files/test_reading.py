"""Files as rows: every format gives the same rows, from the first one or from any chunk."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import sys
import time
import warnings

import numpy as np
import pytest

from ocoboost.errors import DataFileError, HazardWarning
from ocoboost.files import parquet as parquet_files
from ocoboost.files import records
from ocoboost.files.ahead import read_ahead
from ocoboost.files.columns import MISSING, Columns, as_number
from ocoboost.files.opening import ByteStream
from ocoboost.files.sources import Source, format_of

ROWS = [
    {"size": 1.5, "colour": "red", "n": 3.0, "y": "a"},
    {"size": None, "colour": 'dark "blue"', "n": -1e300, "y": "b"},
    {"size": 2.0, "colour": None, "n": 0.1, "y": "a"},
    {"size": -0.25, "colour": "two\nlines, and a comma", "n": 1e-7, "y": "b"},
] * 3


def rows_of(path, *, target="y", **options):
    source = Source(str(path), Columns(target), **options)
    chunks = list(source.chunks())
    return [dict(row) for chunk in chunks for row in chunk.rows], [label for c in chunks for label in c.labels], chunks


def expected(rows=ROWS):
    return [{name: row[name] for name in sorted(row) if name != "y"} for row in rows]


def as_csv(rows, delimiter=","):
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows({name: "" if value is None else value for name, value in row.items()} for row in rows)
    return out.getvalue().encode()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_csv_with_any_delimiter_also_gzipped(tmp_path, delimiter, pack):
    path = tmp_path / "rows.csv"
    path.write_bytes(pack(as_csv(ROWS, delimiter)))
    rows, labels, _ = rows_of(path)
    assert rows == expected()
    assert labels == [row["y"] for row in ROWS]


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ('"size, cm";"weight, kg";"x, y";y', ["size, cm", "weight, kg", "x, y"]),
        ('"a;b;c",y,"d""; e;f"', ["a;b;c", 'd"; e;f']),
        ('5" pipe,6" pipe,y', ['5" pipe', '6" pipe']),
        ('a|"b,,,"|y', ["a", "b,,,"]),
    ],
)
def test_delimiters_in_quoted_names_do_not_count(tmp_path, header, names):
    (tmp_path / "rows.csv").write_text(header + "\n")
    source = Source(str(tmp_path / "rows.csv"), Columns("y"))
    source.close()
    assert [name for name in source.header if name != "y"] == names


def test_decimal_commas_are_numbers_where_semicolons_delimit(tmp_path):
    path = tmp_path / "rows.csv"
    lines = [f"{n},5;{n}.25;a, b;{n};x" for n in range(60_000)]  # more than a chunk
    path.write_text("p;q;t;n;y\n" + "\n".join(lines) + "\n")
    rows, _, chunks = rows_of(path)
    assert len(chunks) > 1
    assert rows == [{"n": float(n), "p": n + 0.5, "q": n + 0.25, "t": "a, b"} for n in range(60_000)]
    path.write_text("p;y\n1.234,5;x\n1,234,5;x\n0,5;x\n")  # both signs, or two commas: no number
    rows, _, _ = rows_of(path)
    assert [row["p"] for row in rows] == ["1.234,5", "1,234,5", "0,5"]
    path.write_text("p\ty\n0,5\tx\n")  # elsewhere a comma may group thousands
    assert rows_of(path)[0] == [{"p": "0,5"}]


def test_a_number_that_seems_to_stand_for_missing_is_told(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c,y\n" + "1.5,-999,9999,x\n-9999,500,1,y\n2.5,-999,2,x\n-9999,,3,y\n")
    with pytest.warns(HazardWarning) as said:  # b has others as large, c has one
        rows_of(path)
    (told,) = said
    assert str(told.message).startswith(f"{path}: column 'a' holds -9999 in 2 of the first 4 rows that have a number")
    assert "leave those cells empty" in str(told.message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(Source(str(path), Columns(None, only={"a": "a"})).chunks())  # to predict: it was said when it was learned


def test_every_format_gives_the_same_rows(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    parquet.write_table(pa.Table.from_pylist(ROWS), tmp_path / "rows.parquet", row_group_size=5)
    simple = [row for row in ROWS if row["colour"] in ("red", None)]
    head = "% a comment\n@relation things\n@attribute size numeric\n@ATTRIBUTE 'colour' {red,blue}\n"
    head += "@attribute\tn real\n@attribute y {a,b}\n\n@data\n"
    lines = [",".join("?" if value is None else str(value) for value in row.values()) for row in simple]
    (tmp_path / "rows.arff").write_text(head + "% none\n" + "\n".join(lines) + "\n")
    for name in ("rows.jsonl", "rows.parquet"):
        assert rows_of(tmp_path / name)[:2] == (expected(), [row["y"] for row in ROWS])
    assert rows_of(tmp_path / "rows.arff")[:2] == (expected(simple), [row["y"] for row in simple])


@pytest.mark.parametrize("cell", ["1", " 1.5e3 ", "-.5", "5."])
def test_numbers(cell):
    assert as_number(cell) == float(cell)


@pytest.mark.parametrize("cell", ["1_000", "١", "abc", "", "0x10", "1,5", "--1"])
def test_what_looks_like_a_number_but_is_none(cell):
    assert as_number(cell) is None


@pytest.mark.parametrize("cell", sorted(MISSING))
def test_missing_cells_however_they_are_spelled(tmp_path, monkeypatch, cell):
    monkeypatch.setattr(records, "FIRST_SIZE", 10)  # both ways to read
    (tmp_path / "rows.csv").write_text("n,t,y\n" + f"1,x,a\n{cell},{cell},b\n" * 20)
    rows, labels, _ = rows_of(tmp_path / "rows.csv")
    assert rows == [{"n": 1.0, "t": "x"}, {"n": None, "t": None}] * 20
    assert labels == ["a", "b"] * 20


def test_quoted_line_breaks_do_not_end_a_record_and_lines_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "FIRST_SIZE", 64)
    monkeypatch.setattr(records, "CHUNK_SIZE", 100)
    text = "t,y\n" + "".join(f'"row {n}\n\nand more",a\n' for n in range(50))
    (tmp_path / "rows.csv").write_text(text)
    rows, _, chunks = rows_of(tmp_path / "rows.csv")
    assert [row["t"] for row in rows] == [f"row {n}\n\nand more" for n in range(50)]
    assert [line for chunk in chunks for line in chunk.lines] == [2 + 3 * n for n in range(50)]
    assert len(chunks) > 5


@pytest.mark.parametrize("size", [40, 64, 100, 1000, 1 << 20])
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_quote_that_is_never_closed_is_found_in_chunks_of_any_size(tmp_path, monkeypatch, size, end):
    monkeypatch.setattr(records, "FIRST_SIZE", size)
    monkeypatch.setattr(records, "CHUNK_SIZE", size)
    text = "t,u,y\n" + "".join(f'"row {n}\n\nand more","""{n}""",a\n' for n in range(9))
    (tmp_path / "rows.csv").write_text(text + 'x,"z,a\n' + "x,z,a\n" * 40 + "x,z,a" + end)
    source, rows, bad = Source(str(tmp_path / "rows.csv"), Columns("y")), [], []

    def read():
        for chunk in source.chunks():
            rows.extend(map(dict, chunk.rows))
            bad.extend(chunk.bad)

    with pytest.raises(DataFileError, match=r"line 29: the quote that opens column 'u' is never closed"):
        read()
    assert rows == [{"t": f"row {n}\n\nand more", "u": f'"{n}"'} for n in range(9)]
    assert [(record.line, record.is_last) for record in bad] == [(29, True)]


@pytest.mark.parametrize("size", [20, 64, 1 << 20])
def test_quotes_within_cells_open_nothing(tmp_path, monkeypatch, size):
    monkeypatch.setattr(records, "FIRST_SIZE", size)
    monkeypatch.setattr(records, "CHUNK_SIZE", size)
    (tmp_path / "rows.csv").write_text('t,y\n5" pipe,a\n' + '6" or 7",b\n' * 10 + 'x,a"\n')
    rows, labels, chunks = rows_of(tmp_path / "rows.csv")
    assert [row["t"] for row in rows] == ['5" pipe', *['6" or 7"'] * 10, "x"]
    assert labels == ["a", *["b"] * 10, 'a"']
    assert not any(chunk.bad for chunk in chunks)


def test_a_chunk_that_ends_within_quotes_is_an_error_too(tmp_path, monkeypatch):
    """Quotes that are text upset the count by which records are told apart, and then a quoted line break is one end."""
    monkeypatch.setattr(records, "FIRST_SIZE", 24)
    monkeypatch.setattr(records, "CHUNK_SIZE", 24)
    (tmp_path / "rows.csv").write_text('t,y\n5" pipe,a\n"two\nlines",b\n' + "x,a\n" * 20)
    with pytest.raises(DataFileError, match=r"line 3: the quote that opens column 't' is not closed by line 4"):
        rows_of(tmp_path / "rows.csv")


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.jsonl", "rows.parquet"])
def test_reading_resumes_at_any_chunk(tmp_path, monkeypatch, name):
    monkeypatch.setattr(records, "FIRST_SIZE", 1000)
    monkeypatch.setattr(records, "CHUNK_SIZE", 2000)
    monkeypatch.setattr(parquet_files, "ROWS_AT_A_TIME", 70)
    table = [{"a": n / 7, "b": "xyz"[n % 3], "y": "ab"[n % 2]} for n in range(1000)]
    path = tmp_path / name
    if name.endswith("parquet"):
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.Table.from_pylist(table), path, row_group_size=300)
    elif "jsonl" in name:
        path.write_text("".join(json.dumps(row) + "\n" for row in table))
    else:
        path.write_bytes((gzip.compress if name.endswith("gz") else bytes)(as_csv(table)))
    _, _, chunks = rows_of(path)
    assert len(chunks) > 5
    for number, chunk in enumerate(chunks):
        again = list(Source(str(path), Columns("y")).chunks(chunk.start, chunk.first_line))
        assert [tuple(line for c in again for line in c.lines)] == [
            tuple(line for c in chunks[number:] for line in c.lines)
        ]
        assert [dict(row) for c in again for row in c.rows] == [dict(row) for c in chunks[number:] for row in c.rows]


def test_a_column_that_shows_late_is_decided_when_it_shows(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "FIRST_SIZE", 100)
    monkeypatch.setattr(records, "CHUNK_SIZE", 100)
    lines = ["a,late,y"] + [f"{n},,u" for n in range(100)] + [f"{n},word,v" for n in range(50)]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    rows, _, _ = rows_of(tmp_path / "rows.csv")
    assert [row["late"] for row in rows] == [None] * 100 + ["word"] * 50


def test_a_number_among_a_hundred_is_a_mistake_not_a_column_of_text(tmp_path):
    lines = ["a,y"] + [f"{n},u" for n in range(100)] + ["1o0,v"]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    chunk = rows_of(tmp_path / "rows.csv")[2][0]
    assert [(bad.line, "'1o0'" in bad.why) for bad in chunk.bad] == [(102, True)]
    assert len(chunk.rows) == 100


def test_time_grows_with_the_number_of_columns_not_with_its_square(tmp_path):
    took = []
    for n_columns in (5_000, 5_000, 40_000):  # the first warms up
        lines = [[f"c{n}" for n in range(n_columns)] + ["y"]] + [["1"] * n_columns + ["ab"[n % 2]] for n in range(3)]
        (tmp_path / "rows.csv").write_text("".join(",".join(line) + "\n" for line in lines))
        began = time.process_time()
        rows, labels, _ = rows_of(tmp_path / "rows.csv")
        took.append(time.process_time() - began)
        assert (len(rows[0]), labels) == (n_columns, ["a", "b", "a"])
    assert took[2] < 24 * took[1]  # eight times as many; the square would be 64


def test_text_and_left_out_columns(tmp_path):
    (tmp_path / "rows.csv").write_text("zip,id,a,y\n01234,1,1,u\n99,2,2,v\n")
    source = Source(str(tmp_path / "rows.csv"), Columns("y", frozenset({"id"}), frozenset({"zip"})))
    assert [dict(row) for chunk in source.chunks() for row in chunk.rows] == [
        {"a": 1.0, "zip": "01234"},
        {"a": 2.0, "zip": "99"},
    ]


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_a_name(tmp_path):
    (tmp_path / "rows.csv").write_bytes("\ufeffa,y\r\n1,u\r\n2,v\r\n".encode())
    assert rows_of(tmp_path / "rows.csv")[:2] == ([{"a": 1.0}, {"a": 2.0}], ["u", "v"])


def test_a_pipe_is_read_as_it_comes(monkeypatch):
    pieces = [b"a,y\n1", b",u\n2,v\n", b'"3', b'",u\n']

    class Pipe(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            piece = pieces.pop(0) if pieces else b""
            buffer[: len(piece)] = piece
            return len(piece)

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Pipe())))
    assert rows_of("-")[:2] == ([{"a": 1.0}, {"a": 2.0}, {"a": 3.0}], ["u", "v", "u"])


def test_json_rows_keep_the_types_of_labels_and_may_lack_columns(tmp_path):
    lines = [{"a": 1, "y": 1}, {"b": True, "y": False}, {"a": None, "b": 2, "y": "1"}, {"a": math.nan, "y": 1.5}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, lines)))
    rows, labels, _ = rows_of(tmp_path / "rows.jsonl")
    assert rows == [{"a": 1.0}, {"b": 1.0}, {"a": None, "b": 2.0}, {"a": None}]
    assert list(map(repr, labels)) == ["1", "False", "'1'", "1.5"]


def test_json_may_begin_with_a_byte_order_mark(tmp_path):
    (tmp_path / "rows.jsonl").write_bytes('\ufeff{"a": 1, "y": "u"}\n{"a": 2, "y": "v"}\n'.encode())
    rows, labels, (chunk,) = rows_of(tmp_path / "rows.jsonl")
    assert (rows, labels, chunk.bad) == ([{"a": 1.0}, {"a": 2.0}], ["u", "v"], [])
    assert (chunk.start, chunk.end) == (0, 41)


def test_extensions_tell_the_format():
    assert [format_of(name) for name in ("a.tsv", "b.ARFF", "c.json.gz", "-")] == ["csv", "arff", "jsonl", "csv"]
    with pytest.raises(DataFileError, match="unknown file extension"):
        format_of(__file__)
    with pytest.raises(DataFileError, match=r"rows\.xyz: cannot be read"):
        format_of("rows.xyz")


def test_errors_of_a_reader_come_at_their_place():
    def items():
        yield 1
        raise DataFileError("here")

    ahead = read_ahead(items())
    assert next(ahead) == 1
    with pytest.raises(DataFileError, match="here"):
        next(ahead)


def test_a_file_that_vanishes_or_shrinks_is_noticed(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a\n" * 100)
    for harm in (path.unlink, lambda: path.write_text("")):
        path.write_text("a\n" * 100)
        stream = ByteStream(str(path))
        assert stream.read(10)
        harm()
        with pytest.raises(DataFileError, match=r"(deleted|truncated) while being read"):
            list(iter(lambda: stream.read(1000), b""))  # noqa: B023
        stream.close()


def test_parquet_types(tmp_path):
    import datetime
    from decimal import Decimal

    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table(
        {
            "whole": pa.array([1, None, 3], pa.int32()),
            "flag": pa.array([True, False, None]),
            "colour": pa.array(["red", None, "blue"]).dictionary_encode(),
            "price": pa.array([Decimal("1.50"), Decimal("2.25"), None]),
            "y": pa.array([1, 0, 1], pa.int8()),
        }
    )
    parquet.write_table(table, tmp_path / "rows.parquet")
    rows, labels, _ = rows_of(tmp_path / "rows.parquet")
    assert rows == [
        {"colour": "red", "flag": 1.0, "price": 1.5, "whole": 1.0},
        {"colour": None, "flag": 0.0, "price": 2.25, "whole": None},
        {"colour": "blue", "flag": None, "price": None, "whole": 3.0},
    ]
    assert labels == [1, 0, 1]
    dates = pa.table({"day": pa.array([datetime.date(2020, 1, 1)]), "y": pa.array([1])})
    parquet.write_table(dates, tmp_path / "dates.parquet")
    for target, message in (("y", "leave it out with --drop 'day'"), ("day", "can be read; convert it.")):
        with pytest.raises(DataFileError, match=message):
            rows_of(tmp_path / "dates.parquet", target=target)


@pytest.mark.parametrize("kind", ["plain", "gzipped", "gzipped in two parts"])
def test_how_far_a_reader_is_counts_what_was_yielded_not_what_was_read_ahead(tmp_path, kind):
    numbers = np.random.default_rng(0).random(150_000).tolist()
    text = ("a,y\n" + "".join(f"{number},{number > 0.5}\n" for number in numbers)).encode()
    path = tmp_path / ("rows.csv" if kind == "plain" else "rows.csv.gz")
    half = len(text) // 2
    parts = {"plain": [text], "gzipped": [gzip.compress(text, 1)]}
    parts["gzipped in two parts"] = [gzip.compress(text[:half], 1), gzip.compress(text[half:], 1)]
    path.write_bytes(b"".join(parts[kind]))
    source = Source(str(path), Columns("y"))
    said = [(source.fraction(chunk.end), chunk.end / len(text)) for chunk in source.chunks()]
    assert len(said) > 3
    for fraction, right in said:
        assert fraction == pytest.approx(right, abs=0.2 if "parts" in kind else 1e-9)
    assert said[-1][0] == 1.0
