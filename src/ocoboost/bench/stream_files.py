"""Streams in files: every CSV file of a folder, in the order of its rows.

The label is the last column unless another one is named. Some files are known (``benchmarks/stream_files.py`` writes
them): their first rows are for development and the rest is reported, as two streams.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from ocoboost.bench.drifting import Drifting, Use
from ocoboost.data.labels import Label
from ocoboost.data.rows import Row
from ocoboost.errors import DataFileError
from ocoboost.files.columns import Columns, check_labels
from ocoboost.files.opening import Fingerprint, read_head
from ocoboost.files.sources import Source

N_ROWS = 50_000
SUFFIXES = (".csv", ".csv.gz")
# How many of the first rows are for development; all others, and all other files, are reported.
# Rainfall has the days and labels of weather.
FIRST_ROWS = {"elec": 20_000, "moving_squares": 20_000, "rainfall": 10_000, "weather": 10_000}


class FileEntry(NamedTuple):
    """Rows of a file as a stream, and what they may be used for. Where they change is not known."""

    name: str
    use: Use
    path: Path
    first: int = 0
    last: int | None = None
    target: str | None = None

    def load(self, n_rows: int = N_ROWS) -> Drifting:
        """At most ``n_rows`` of its rows."""
        last = self.first + n_rows if self.last is None else min(self.first + n_rows, self.last)
        return Drifting(list(islice(read(self.path, self.target), self.first, last)), ())

    def told(self) -> dict[str, Any]:
        """What tells the file apart from another of the same name."""
        digest, _ = Fingerprint.of(read_head(str(self.path)))
        return {"digest": digest, "bytes": self.path.stat().st_size, "target": self.target}


def find(folder: Path, target: str | None = None) -> dict[str, FileEntry]:
    """The streams in a folder, by name."""
    entries: list[FileEntry] = []
    for path in sorted(path for path in folder.iterdir() if path.name.endswith(SUFFIXES)):
        name = path.name.removesuffix(".gz").removesuffix(".csv")
        if name in FIRST_ROWS:
            end = FIRST_ROWS[name]
            entries.append(FileEntry(f"{name}-first", "development", path, 0, end, target))
            entries.append(FileEntry(f"{name}-rest", "reported", path, end, None, target))
        else:
            entries.append(FileEntry(name, "reported", path, target=target))
    return {entry.name: entry for entry in entries}


def read(path: Path, target: str | None = None) -> Iterator[tuple[Row, Any]]:
    """Rows and labels of a file; a row that cannot be used is an error with its line number."""
    if target is None:
        header = Source(str(path), Columns(None))
        target = header.header[-1]
        header.close()
    source, seen, n_rows = Source(str(path), Columns(target)), set[Label](), 0
    with closing(source.chunks()) as chunks:
        for chunk in chunks:
            if chunk.bad:
                raise chunk.bad[0].error(source.name, can_skip=False)
            n_rows += len(chunk.labels)
            seen.update(chunk.labels)
            check_labels(source.name, target, len(seen), n_rows)
            yield from zip(chunk.rows, chunk.labels, strict=True)
    if not n_rows:
        raise DataFileError(f"{path}: no usable rows after the header.")
