"""Small files of every format, and changes that leave little of them as it was."""

from __future__ import annotations

import gzip
import io
import json
import random

import pyarrow as pa
from pyarrow import parquet

FORMATS = ("csv", "csv.gz", "arff", "jsonl", "parquet")
# Bytes that mean something to one of the formats, or to what reads them.
TOKENS = [
    *(b",", b";", b"\t", b"|", b'"', b"'", b"\n", b"\r", b"\r\n", b"\0", b" ", b"{", b"}", b"[", b"]", b":", b"\\"),
    *(b"nan", b"inf", b"-inf", b"1e999", b"-0", b"1_000", b"0x10", b"NA", b"?", b"null", b"true", b"9" * 400),
    *(b"\xef\xbb\xbf", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\\ud800", b"\\u0000", "é".encode(), "𝔘".encode()),
    *(b"=1+1", b"[/]", b"[red]", b"\x1b[31m", b"@data\n", b"@attribute", b"%", b"y", b"a", b'"y": ', b"PAR1"),
    *(b"x" * 3000, b"\x1f\x8b", b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"\x80\x80\x80\x80\x80\x01"),
]


def _originals() -> dict[str, list[bytes]]:
    """Files that can be read, by their formats."""
    rng = random.Random(0)
    rows = [(round(rng.gauss(0, 1), 3), rng.choice(["red", "blue", None]), rng.choice("uvw")) for _ in range(60)]
    plain = "a,b,y\n" + "".join(f"{a},{b or ''},{y}\n" for a, b, y in rows)
    quoted = 'a;"b ""c""";y\r\n' + "".join(f'{a};"{b}, \n too";{y}\r\n' for a, b, y in rows[:30])
    objects = "".join(json.dumps({"a": a, "b": b, "y": y}) + "\n" for a, b, y in rows)
    mixed = "".join(f'{{"y": {i % 3}, "c{i % 4}": {i}, "d": "t{i % 5}"}}\n' for i in range(40))
    header = "% comment\n@relation r\n@attribute a numeric\n@attribute 'b' {red,blue}\n@attribute y string\n@data\n"
    arff = header + "".join(f"{a},{b or '?'},{y}\n" for a, b, y in rows)
    table = pa.table(dict(zip("aby", map(list, zip(*rows, strict=True)), strict=True)))
    numbers = pa.table({"a": range(50), "b": [i / 7 for i in range(50)], "y": [i % 3 for i in range(50)]})
    tables = [
        _parquet(table, compression="none", row_group_size=20),
        _parquet(table, compression="snappy", use_dictionary=False),
        _parquet(numbers, compression="none", use_dictionary=False, data_page_version="2.0"),
        _parquet(numbers, compression="gzip", row_group_size=11),
    ]
    return {
        "csv": [plain.encode(), quoted.encode()],
        "csv.gz": [gzip.compress(plain.encode(), mtime=0)],
        "arff": [arff.encode()],
        "jsonl": [objects.encode(), mixed.encode()],
        "parquet": tables,
    }


def _parquet(table: pa.Table, **options: object) -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, **options)
    return buffer.getvalue()


ORIGINALS = _originals()


def mutated(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """A file with one to eight changes; ``other`` is one to take bytes from."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5, 8))):
        at = rng.randrange(len(data) + 1)
        n_bytes = min(rng.choice((1, 1, 2, 4, 16, 200)), len(data) - at)
        kind = rng.randrange(9)
        if kind == 0:  # flip a bit
            changed = bytearray(data)
            if at < len(data):
                changed[at] ^= 1 << rng.randrange(8)
            data = bytes(changed)
        elif kind == 1:  # other bytes
            data = data[:at] + rng.randbytes(n_bytes) + data[at + n_bytes :]
        elif kind == 2:  # fewer
            data = data[:at] + data[at + n_bytes :]
        elif kind == 3:  # twice
            data = data[: at + n_bytes] + data[at:]
        elif kind == 4:  # truncated
            data = data[:at] if rng.random() < 0.3 else data[: len(data) - n_bytes]
        elif kind == 5:  # another file's
            begin = rng.randrange(len(other) + 1)
            data = data[:at] + other[begin : begin + rng.randrange(1, 400)] + data[at:]
        elif kind == 6:  # a token over what is there
            token = rng.choice(TOKENS)
            data = data[:at] + token + data[at + len(token) :]
        else:  # a token in between
            data = data[:at] + rng.choice(TOKENS) + data[at:]
    return data
