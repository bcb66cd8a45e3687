"""Files that cannot be used: one line that names the file, the line and the fix, and exit code 2."""

from __future__ import annotations

import bz2
import gzip
import lzma

import pytest

import ocoboost
from command_line import GOOD, said, write_rows
from command_line import ocoboost as command
from ocoboost.files import records
from ocoboost.run import runner
from ocoboost.run.checkpoint import Settings
from ocoboost.saving.container import MAGIC


def long_file(line, n_lines=60_000):
    return "a,b,y\n" + "".join(line if n == 50_000 else f"{n},1,{'uv'[n % 2]}\n" for n in range(1, n_lines))


SKIP = "; --on-error skip leaves such rows out."
BAD = {
    "missing target": (GOOD.replace("y", "Label"), "no column 'y' (--target); the columns are 'a', 'b', 'Label'."),
    "close target": (GOOD.replace(",y", ",Y "), "no column 'y' (--target); did you mean 'Y '?"),
    "other delimiter": (
        GOOD.replace(",", ":"),
        "no column 'y' (--target); the columns are 'a:b:y'; with --delimiter ':' there is a column 'y'.",
    ),
    "likelier delimiter": ("a,b,c;d;y\n1,2,3;4;u\n", "; with --delimiter ';' there is a column 'y'."),
    "likelier tab": ("a,b,c\ty\n1,2,3\tu\n", "; with --delimiter tab there is a column 'y'."),
    "unknown delimiter": (
        GOOD.replace(",", "~"),
        "the columns are 'a~b~y'; the header is read as one column: if it names more, give --delimiter.",
    ),
    "empty": ("", "empty file; the first line must name the columns."),
    "blank": ("\n\n", "empty file"),
    "header only": ("a,b,y\n", "no usable rows after the header."),
    "target only": ("y\nu\nv\n", "no columns besides the target"),
    "short row": (GOOD + "5,6\n", "line 42: 2 cells, but the header has 3" + SKIP),
    "shorter row": (GOOD + "5\n", "line 42: 1 cell, but the header has 3" + SKIP),
    "long row": (GOOD + "5,6,u,7\n", "line 42: 4 cells, but the header has 3" + SKIP),
    "binary junk": (bytes(range(256)) * 50, "line 1: not UTF-8 text"),
    "zero bytes": (GOOD.encode() + b"\0\0\n", "line 42: not UTF-8 text (a zero byte); is this a binary file?"),
    "late zero byte": (long_file("1,1,\0u\n"), "line 50,001: not UTF-8 text (a zero byte); is this a binary file?"),
    "latin": (
        GOOD.encode() + "é,1,u\n".encode("latin-1"),
        "line 42: not UTF-8 text (byte 0xe9); convert text of another encoding (iconv -t utf-8).",
    ),
    "UTF-16": (GOOD.encode("utf-16"), "text in UTF-16; convert it to UTF-8"),
    "zip or workbook": (b"PK\x03\x04" + bytes(30), "a zip archive or an Excel workbook; unpack it, or save"),
    "old workbook": (b"\xd0\xcf\x11\xe0" + bytes(30), "an Excel workbook; save the table as CSV."),
    "Parquet": (b"PAR1\x15\x04" + bytes(30), "a Parquet file; name the format with --format parquet."),
    "zstd": (b"\x28\xb5\x2f\xfd" + bytes(30), "compressed by zstd, and only gzip is read; unpack it."),
    "xz": (b"\xfd7zXZ\0" + bytes(30), "compressed by xz, and only gzip is read; unpack it."),
    "bzip2": (bz2.compress(GOOD.encode()), "compressed by bzip2, and only gzip is read; unpack it."),
    "model": (MAGIC + bytes(30), "a model that ocoboost saved, not a table; give the file with the rows in its place."),
    "labels": ("a,y\n" + "".join(f"{n},{n}\n" for n in range(100)), "column 'y' has 100 distinct labels in its first"),
    "text in row 50,000": (long_file("abc,1,u\n"), "line 50,001: 'abc' in numeric column 'a' is not a number"),
    "odd nan in row 50,000": (long_file("nan(1),1,u\n"), "line 50,001: 'nan(1)' in numeric column 'a' is not a number"),
    "infinity": (GOOD + "inf,1,u\n", "line 42: 'inf' in column 'a' is not a finite number"),
    "overflow in row 50,000": (long_file("1e999,1,u\n"), "line 50,001: '1e999' in column 'a' is not a finite number"),
    "no label": (GOOD + "1,1,\n", "line 42: no label: column 'y' is empty" + SKIP),
    "no label in row 50,000": (long_file("1,1,\n"), "line 50,001: no label: column 'y' is empty" + SKIP),
    "short row 50,000": (long_file("1,1\n"), "line 50,001: 2 cells, but the header has 3" + SKIP),
    "open quote": (
        GOOD + '1,"1,u\n' + GOOD * 3,
        "line 42: the quote that opens column 'b' is never closed, so nothing from there on can be read; close or "
        "delete it.",
    ),
    "open quote in row 50,000": (long_file('1,1,"u\n'), "line 50,001: the quote that opens column 'y' is never closed"),
    "open quote in the header": ('a,"b,y\n1,2,u\n', "line 1: unclosed quote in the header."),
    "same names": ("a,a,y\n1,2,u\n", "duplicate column 'a'; rename all but one."),
    "carriage returns": ("a,b,y\r1,2,u\r", "lines end with carriage returns only"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_clear_line_and_exit_code_2(tmp_path, name):
    content, message = BAD[name]
    path = tmp_path / "rows.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = command("run", path, "--target", "y", "--model", "hoeffding")
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 1
    assert message in result.stderr
    assert "rows.csv" in result.stderr
    assert result.stdout == ""


OTHER = {
    "rows.jsonl": [
        ('{"a": 1, "y": "u"}\n{"a": 1\n', "line 2: not valid JSON"),
        ('{"a": 1, "y": "u"}\n[1]\n', "line 2: not a JSON object; write one object per line"),
        ('{"a": 1, "y": "u"}\n{"a": "x", "y": "u"}\n', "line 2: 'a' is \"x\", but it held numbers before"),
        ('{"a": 1, "y": "u"}\n{"a": [1], "y": "u"}\n', "line 2: 'a' is an array"),
        ('{"a": 1, "y": "u"}\n{"a": 1}\n', "line 2: no label: 'y' is missing"),
        ('{"a": 1, "y": "u"}\n{"a": 1, "y": null}\n', "line 2: no label: 'y' is null"),
        ('{"a": 1, "y": "u"}\n{"a": 1' + "0" * 400 + ', "y": "u"}\n', "line 2: 'a' is 1000"),
        ('{"a": 1}\n{"a": 1, "y": "u"}\n', "line 1: no label: 'y' is missing" + SKIP),
        ('{"a": 1, "Y": "u"}\n{"a": 2, "Y": "v"}\n', "rows.jsonl: no column 'y' (--target); did you mean 'Y'?"),
        ("", "no usable rows"),
    ],
    "rows.arff": [
        ("@relation r\n@attribute a numeric\n", "no @data line"),
        ("@relation r\n@attribute a date\n@data\n", "line 2: attribute 'a' has the unsupported type 'date'"),
        ("a,b\n1,2\n", "line 1: 'a,b' does not belong in an ARFF header"),
        ("@attribute a real\n@attribute y {u}\n@data\nx,u\n", "line 4: 'x' in numeric column 'a'"),
        (
            "@attribute a real\n@attribute y {u,'v w'}\n@data\n1,'v w'\n1,v\n",
            "line 5: 'v' in column 'y' is none of the values that the header declares ('u', 'v w'); correct it, or "
            "declare it; --on-error skip",
        ),
        ("@attribute a {p}\n@attribute y {u}\n@data\n?,u\nP,u\n", "line 5: 'P' in column 'a' is none of the values"),
        ("@attribute a real\n@attribute y {u}\n@data\n1,?\n", "line 4: no label: column 'y' is missing"),
        ("@attribute a real\n@attribute y {u\n@data\n1,u\n", "attribute 'y': '{u' does not end with a }"),
        ("@attribute a real\n@attribute y {u} real\n@data\n1,u\n", "attribute 'y': '{u} real' does not end with a }"),
        (
            "@attribute 'abc numeric\n@attribute y {u}\n@data\n1,u\n",
            "has no name, or the quote around it is not closed",
        ),
        ("@attribute {u,v}\n@attribute y {u}\n@data\n1,u\n", "has no name, or the quote around it is not closed"),
        ("@attribute a real\n@attribute y string\n@data\n1,'u\n", 'line 4: the quote that opens cell 2, "\'u", is not'),
        (
            "@attribute a real\n@attribute y string\n@data\n1,'u'v\n",
            "line 4: the quote that opens cell 2, \"'u'v\", is",
        ),
        (
            "@attribute a real\n@attribute y {u,v}\n@data\n{0 1, 1 v}\n",
            "line 4: '{0 1, 1 v}' is a sparse row, and sparse ARFF is not supported; convert the file",
        ),
    ],
    "rows.parquet": [("not parquet", "not a Parquet file"), ("", "not a Parquet file")],
    "rows.csv.gz": [(gzip.compress(GOOD.encode() * 9, mtime=0)[:-20], "damaged or truncated gzip file")],
    "rows.xyz": [("", "unknown file extension; name the format with --format (csv, parquet, arff, jsonl)")],
    "rows.csv.xz": [(lzma.compress(GOOD.encode()), "compressed by xz, and only gzip is read; unpack it.")],
    "rows.csv.bz2": [(bz2.compress(GOOD.encode(), 1), "compressed by bzip2, and only gzip is read; unpack it.")],
    "rows.csv.zst": [(b"\x28\xb5\x2f\xfd" + bytes(30), "compressed by zstd, and only gzip is read; unpack it.")],
    "rows.zip": [
        (b"PK\x03\x04" + bytes(30), "a zip archive or an Excel workbook; unpack it, or save the table as CSV.")
    ],
    "rows.oco": [
        (MAGIC + bytes(30), "rows.oco: a model that ocoboost saved, not a table; give the file with the rows")
    ],
    "rows.xls": [("", "rows.xls: Excel workbooks are not read; save the table as CSV.")],
}


@pytest.mark.parametrize(("name", "content", "message"), [(name, *case) for name in OTHER for case in OTHER[name]])
def test_bad_files_of_other_formats(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    result = command("run", tmp_path / name, "--target", "y", "--model", "hoeffding")
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_column_that_begins_like_a_parquet_file(tmp_path):
    (tmp_path / "rows.csv").write_text(GOOD.replace("a,", "PAR1,"))
    assert command("run", tmp_path / "rows.csv", "--target", "y", "--model", "hoeffding").exit_code == 0


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "__index_level_0__"])
def test_the_row_index_that_pandas_writes(tmp_path, name):
    path = tmp_path / "rows.csv"
    path.write_text(GOOD.replace("a,", f"{name},"))
    result = command("run", path, "--target", "y", "--model", "hoeffding")
    assert result.exit_code == 0
    assert said(result.stderr) == [
        f"ocoboost: warning: {path}: column 1, {name!r}, looks like the row index that pandas writes, which says "
        f"nothing about rows to come; leave it out with --drop {name!r}."
    ]
    result = command("run", path, "--target", "y", "--model", "hoeffding", "--drop", name)
    assert (result.exit_code, said(result.stderr)) == (0, [])


def test_a_delimiter_at_the_end_of_every_line_makes_a_column_of_missing_cells(tmp_path):
    (tmp_path / "rows.csv").write_text("".join(line + ",\n" for line in GOOD.splitlines()))
    result = command("run", tmp_path / "rows.csv", "--target", "y", "--model", "hoeffding")
    assert (result.exit_code, said(result.stderr)) == (0, [])


def test_a_file_that_does_not_exist_or_is_a_directory(tmp_path):
    for path in (tmp_path / "no.csv", tmp_path):
        result = command("run", path, "--target", "y", "--format", "csv")
        assert result.exit_code == 2
        assert "cannot be read" in result.stderr


def test_a_file_that_is_deleted_in_the_middle(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "FIRST_SIZE", 2000)
    monkeypatch.setattr(records, "CHUNK_SIZE", 5000)
    path = write_rows(tmp_path / "rows.csv")
    run = runner.Run(ocoboost.HoeffdingTrees(), str(path), Settings("label"))
    steps = run.steps()
    next(steps)
    path.unlink()
    with pytest.raises(ocoboost.errors.DataFileError, match="deleted while being read"):
        list(steps)


def test_bad_rows_can_be_skipped_and_are_reported(tmp_path):
    (tmp_path / "rows.csv").write_text(GOOD + "5,6\n" + "1,2,v\n" * 60 + "1,x,u\n" * 7 + "7,8,u\n")
    result = command("run", tmp_path / "rows.csv", "--target", "y", "--on-error", "skip", "--model", "hoeffding")
    assert result.exit_code == 0
    assert "skipped" in result.stderr
    assert "line 42: 2 cells" in result.stderr
    assert "... and 3 more rows" in result.stderr
    assert "101 rows" in result.stdout


def test_a_first_row_of_json_without_a_label_is_skipped_as_any_other(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n' + '{"a": 1, "y": "u"}\n{"a": 2, "y": "v"}\n' * 20)
    result = command("run", tmp_path / "rows.jsonl", "--target", "y", "--on-error", "skip", "--model", "hoeffding")
    assert result.exit_code == 0
    assert "line 1: no label: 'y' is missing" in result.stderr
    assert "40 rows" in result.stdout


UNCLOSED = {  # where the quote opens, and its line
    "label": (GOOD + '1,2,"u\n' + "3,4,v\n" * 20_000, "line 42: the quote that opens column 'y' is never closed"),
    "feature": (GOOD + '1,"2,u\n' + "3,4,v\n" * 20_000, "line 42: the quote that opens column 'b' is never closed"),
    "last line": (GOOD + '1,2,"u', "line 42: the quote that opens column 'y' is never closed"),
    "after a line break": (GOOD + '"1\n",2,"u\n3,4,v\n', "line 43: the quote that opens column 'y' is never closed"),
    "one cell too many": (GOOD + '1,2,3,"u\n3,4,v\n', "line 42: the quote that opens cell 4 is never closed"),
}


@pytest.mark.parametrize("place", UNCLOSED)
@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_a_quote_that_is_never_closed_swallows_nothing(tmp_path, place, on_error):
    """The rows before it are learned; what comes after it is not one bad row, nor one label."""
    content, message = UNCLOSED[place]
    path, model = tmp_path / "rows.csv", tmp_path / "model.oco"
    path.write_text(content)
    options = ["--target", "y", "--model", "hoeffding", "--on-error", on_error]
    for where, read in ((path, None), ("-", content)):
        result = command("run", where, *options, "--save", model, stdin=read)
        assert (result.exit_code, result.stdout) == (2, "")
        (line,) = said(result.stderr)
        assert message in line
        assert "--on-error" not in line
        assert ocoboost.load(model).n_rows_ == 40
        model.unlink()
    for other in ("audit", "predict"):
        (tmp_path / "good.csv").write_text(GOOD)
        command("run", tmp_path / "good.csv", *options, "--save", model)
        what = ["audit", path, "--target", "y"] if other == "audit" else ["predict", model, path]
        result = command(*what, "--on-error", on_error)
        assert result.exit_code == 2
        (line,) = said(result.stderr)
        assert message in line


@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_a_run_goes_on_once_the_quote_is_closed(tmp_path, on_error):
    """As in a file that is being written: it ends within a quoted cell, and has grown when it is read again."""
    path, model, whole = tmp_path / "rows.csv", tmp_path / "model.oco", tmp_path / "whole.oco"
    options = ["--target", "y", "--model", "hoeffding", "--text", "b", "--on-error", on_error]
    path.write_text(GOOD + '5,"6\nand')
    stopped = command("run", path, *options, "--save", model)
    assert stopped.exit_code == 2
    assert "goes on once it is corrected." in stopped.stderr
    path.write_text(GOOD + '5,"6\nand more",v\n' + "7,8,u\n" * 10)
    assert command("run", path, "--resume", model).exit_code == 0
    assert command("run", path, *options, "--save", whole).exit_code == 0
    assert ocoboost.load(model).n_rows_ == 51
    assert model.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_a_run_goes_on_once_a_stray_quote_is_removed(tmp_path, on_error):
    path, model = tmp_path / "rows.csv", tmp_path / "model.oco"
    options = ["--target", "y", "--model", "hoeffding", "--text", "b", "--on-error", on_error]
    path.write_text(GOOD + '5,"6,v\n' + "7,8,u\n" * 10)
    assert command("run", path, *options, "--save", model).exit_code == 2
    path.write_text(GOOD + "5,6,v\n" + "7,8,u\n" * 10)
    assert command("run", path, "--resume", model).exit_code == 0
    assert ocoboost.load(model).n_rows_ == 51


@pytest.mark.parametrize("options", [["audit"], ["compare", "--models", "hoeffding"], ["run", "--key", "b"]], ids=str)
def test_other_commands_that_can_skip_bad_rows_say_so(tmp_path, options):
    (tmp_path / "rows.csv").write_text(GOOD + "5,6\n")
    name, *more = options
    more += ["--out", tmp_path / "out"] if name == "compare" else []
    result = command(name, tmp_path / "rows.csv", "--target", "y", *more)
    assert "rows.csv, line 42: 2 cells, but the header has 3" + SKIP in result.stderr


MISTAKES = [
    (["--target"], "requires an argument"),
    ([], "--target"),
    (["--target", "y", "--delimiter", "ab"], "must be a single ASCII character or 'tab', got 'ab'"),
    (["--target", "y", "--delimiter", '"'], "must be a single ASCII character"),
    (["--target", "y", "--drop", "z"], "no column 'z' (--drop)"),
    (["--resume", "no.oco"], "no.oco: cannot be read"),
    (["--target", "y", "--save", "no/such/folder/model.oco"], "cannot be written"),
]


@pytest.mark.parametrize(("options", "message"), MISTAKES)
def test_a_users_mistake(tmp_path, options, message):
    (tmp_path / "rows.csv").write_text(GOOD)
    result = command("run", tmp_path / "rows.csv", *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
