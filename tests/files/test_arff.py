"""ARFF as Weka writes it: quotes of both kinds, escapes, spaces, declared values, in chunks of any size."""

from __future__ import annotations

import pytest

from ocoboost.files import records
from ocoboost.files.columns import Columns
from ocoboost.files.sources import Source


def rows_of(path):
    chunks = list(Source(str(path), Columns("y")).chunks())
    return [dict(row) for chunk in chunks for row in chunk.rows], [label for c in chunks for label in c.labels], chunks


HEADER = "@attribute n numeric\n@attribute 't t' string\n"
HEADER += "@attribute y{p,\"q r\", 's\\'t', don't, 6\" pipe} % it's 8\" wide\n@data\n"
LINES = {  # and the text and the label in it
    "1,a,p": ("a", "p"),
    " 1 ,\ta b , p \r": ("a b", "p"),
    "1,'a, b', \"q r\"": ("a, b", "q r"),
    "'1', \"it's\", 'q r' ": ("it's", "q r"),
    r"1,'a\'b, c','s\'t'": ("a'b, c", "s't"),
    r'1,"say \"x\" \\ \n\t\%\u00e9\ud800",p': ('say "x" \\ \n\t%é\\ud800', "p"),
    "1,'it''s \"\"',p": ('it\'s ""', "p"),
    r"1,C:\new,p": (r"C:\new", "p"),
    "1,it's,don't": ("it's", "don't"),
    '1,5" pipe,6" pipe': ('5" pipe', '6" pipe'),
    "1,?,p": (None, "p"),
    "1,'',p": (None, "p"),
}


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("begin", ["", "\ufeff"])
def test_cells_as_weka_writes_them(tmp_path, line, begin):
    (tmp_path / "rows.arff").write_bytes(f"{begin}{HEADER}% don't\n\n{line}\n".encode())
    rows, labels, (chunk,) = rows_of(tmp_path / "rows.arff")
    assert not chunk.bad
    text, label = LINES[line]
    assert (rows, labels, chunk.lines) == ([{"n": 1.0, "t t": text}], [label], [7])


@pytest.mark.parametrize("size", [30, 100, 1 << 20])
def test_chunks_of_any_size(tmp_path, monkeypatch, size):
    monkeypatch.setattr(records, "FIRST_SIZE", size)
    monkeypatch.setattr(records, "CHUNK_SIZE", size)
    path = tmp_path / "rows.arff"
    path.write_text(HEADER + "".join(f"{n}, 'it\\'s {n}', {'p' if n % 3 else 'x'}\n% isn't\n" for n in range(50)))
    rows, labels, chunks = rows_of(path)
    assert [row["t t"] for row in rows] == [f"it's {n}" for n in range(50) if n % 3]
    assert labels == ["p"] * 33
    assert [bad.line for chunk in chunks for bad in chunk.bad] == [5 + 2 * n for n in range(0, 50, 3)]
    for number, chunk in enumerate(chunks):
        again = list(Source(str(path), Columns("y")).chunks(chunk.start, chunk.first_line))
        assert [line for c in again for line in c.lines] == [line for c in chunks[number:] for line in c.lines]
