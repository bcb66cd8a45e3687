"""Files that cannot be used: one line that names the file, the line and the fix, and exit code 2."""

from __future__ import annotations

import gzip

import pytest

import ocoboost
from command_line import GOOD, write_rows
from command_line import ocoboost as command
from ocoboost.files import records
from ocoboost.run import runner
from ocoboost.run.checkpoint import Settings


def long_file(line, n_lines=60_000):
    return "a,b,y\n" + "".join(line if n == 50_000 else f"{n},1,{'uv'[n % 2]}\n" for n in range(1, n_lines))


BAD = {
    "missing target": (GOOD.replace("y", "Label"), "no column 'y' (--target); the columns are 'a', 'b', 'Label'."),
    "close target": (GOOD.replace(",y", ",Y "), "no column 'y' (--target); did you mean 'Y '?"),
    "empty": ("", "empty file; the first line must name the columns."),
    "blank": ("\n\n", "empty file"),
    "header only": ("a,b,y\n", "no usable rows after the header."),
    "target only": ("y\nu\nv\n", "no columns besides the target"),
    "short row": (GOOD + "5,6\n", "line 42: 2 cells, but the header has 3."),
    "shorter row": (GOOD + "5\n", "line 42: 1 cell, but the header has 3."),
    "long row": (GOOD + "5,6,u,7\n", "line 42: 4 cells, but the header has 3."),
    "binary junk": (bytes(range(256)) * 50, "line 1: not UTF-8 text"),
    "zero bytes": (GOOD.encode() + b"\0\0\n", "line 42: not UTF-8 text (a zero byte); is this a binary file?"),
    "late zero byte": (long_file("1,1,\0u\n"), "line 50,001: not UTF-8 text (a zero byte); is this a binary file?"),
    "latin": (GOOD.encode() + "é,1,u\n".encode("latin-1"), "line 42: not UTF-8 text (byte 0xe9)"),
    "labels": ("a,y\n" + "".join(f"{n},{n}\n" for n in range(100)), "column 'y' has 100 distinct labels in its first"),
    "text in row 50,000": (long_file("abc,1,u\n"), "line 50,001: 'abc' in numeric column 'a' is not a number"),
    "odd nan in row 50,000": (long_file("nan(1),1,u\n"), "line 50,001: 'nan(1)' in numeric column 'a' is not a number"),
    "infinity": (GOOD + "inf,1,u\n", "line 42: 'inf' in column 'a' is not a finite number"),
    "overflow in row 50,000": (long_file("1e999,1,u\n"), "line 50,001: '1e999' in column 'a' is not a finite number"),
    "no label": (GOOD + "1,1,\n", "line 42: no label: column 'y' is empty."),
    "no label in row 50,000": (long_file("1,1,\n"), "line 50,001: no label: column 'y' is empty."),
    "short row 50,000": (long_file("1,1\n"), "line 50,001: 2 cells, but the header has 3."),
    "open quote": (GOOD + '1,"1,u\n' + GOOD * 3, "line 42: "),
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
        ('{"a": 1, "y": "u"}\n[1]\n', "line 2: not a JSON object"),
        ('{"a": 1, "y": "u"}\n{"a": "x", "y": "u"}\n', "line 2: 'a' is \"x\", but it held numbers before"),
        ('{"a": 1, "y": "u"}\n{"a": [1], "y": "u"}\n', "line 2: 'a' is an array"),
        ('{"a": 1, "y": "u"}\n{"a": 1}\n', "line 2: no label: 'y' is missing"),
        ('{"a": 1, "y": "u"}\n{"a": 1, "y": null}\n', "line 2: no label: 'y' is null"),
        ('{"a": 1, "y": "u"}\n{"a": 1' + "0" * 400 + ', "y": "u"}\n', "line 2: 'a' is 1000"),
        ('{"a": 1, "Y": "u"}\n', "rows.jsonl: no column 'y' (--target); did you mean 'Y'?"),
        ("", "no usable rows"),
    ],
    "rows.arff": [
        ("@relation r\n@attribute a numeric\n", "no @data line"),
        ("@relation r\n@attribute a date\n@data\n", "line 2: attribute 'a' has the unsupported type 'date'"),
        ("a,b\n1,2\n", "line 1: 'a,b' does not belong in an ARFF header"),
        ("@attribute a real\n@attribute y {u}\n@data\nx,u\n", "line 4: 'x' in numeric column 'a'"),
    ],
    "rows.parquet": [("not parquet", "not a Parquet file"), ("", "not a Parquet file")],
    "rows.csv.gz": [(gzip.compress(GOOD.encode() * 9, mtime=0)[:-20], "damaged or truncated gzip file")],
    "rows.xls": [("", "unknown file extension; name the format with --format (csv, parquet, arff, jsonl)")],
}


@pytest.mark.parametrize(("name", "content", "message"), [(name, *case) for name in OTHER for case in OTHER[name]])
def test_bad_files_of_other_formats(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    result = command("run", tmp_path / name, "--target", "y", "--model", "hoeffding")
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


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
