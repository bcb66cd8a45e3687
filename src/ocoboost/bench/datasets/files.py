"""Where rows come from: the rules, the files in the package, a folder of local files, or OpenML."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import lzma
import os
import socket
import warnings
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, TextIO

from ocoboost.bench.datasets import rules
from ocoboost.bench.datasets.catalogue import PAPER
from ocoboost.bench.datasets.streams import Stream, imputed

DATA_VARIABLE = "OCOBOOST_DATA"
_RULES: dict[str, Callable[[], Stream]] = {"balance": rules.balance, "cars": rules.cars}
_MICE_ON_OPENML = 40966
_SECONDS_TO_CONNECT = 10.0
# Columns that tell the label: Genotype, Treatment and Behavior determine it, and the identifier names the mouse.
_LEAKS = {"mice": ("MouseID", "Genotype", "Treatment", "Behavior")}


class DatasetMissingError(FileNotFoundError):
    """A dataset is not in the package, and not where else it was looked for."""


class DatasetDamagedError(ValueError):
    """The rows of a dataset in the package are not those that were put there."""


def load(name: str, data_dir: Path | None = None) -> Stream:
    """A dataset of the paper, or ``name.csv.gz`` in a folder, in file order; missing numbers are their column's mean.

    The folder is ``data_dir``, or what ``OCOBOOST_DATA`` says; its files have a header, and the label comes last.

    >>> rows = load("yeast")
    >>> len(rows), rows[0][1]
    (1484, 'MIT')
    """
    return imputed(load_raw(name, data_dir))


@cache
def load_raw(name: str, data_dir: Path | None = None) -> Stream:
    """As ``load``, but a missing cell is None. The rows are shared: do not change them."""
    origin = PAPER[name].origin if name in PAPER else "local"
    if origin == "rule":
        return _RULES[name]()
    if origin == "shipped":
        return _shipped(name)
    path = _local_path(name, data_dir)
    if path is not None and path.exists():
        with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
            return _read(lines, leaks=_LEAKS.get(name, ()))
    where = f"no data folder was given ({DATA_VARIABLE})" if path is None else f"there is no {path}"
    if origin == "fetched":
        return _fetch_mice(where)
    raise DatasetMissingError(f"dataset {name!r} is not one of {', '.join(PAPER)}, and {where}")


def status(name: str, data_dir: Path | None = None) -> str:
    """Whether a dataset of the paper is present, and as what, without fetching anything."""
    if PAPER[name].origin != "fetched":
        return {"rule": "made from its rule", "shipped": "in the package"}[PAPER[name].origin]
    path = _local_path(name, data_dir)
    if path is not None and path.exists():
        return f"in {path.parent}"
    return f"fetched from OpenML ({_MICE_ON_OPENML}) when needed, and kept by scikit-learn"


def checksum(rows: Stream) -> str:
    """SHA-256 of the rows as CSV text: whole numbers without a point, others as Python writes them.

    It does not depend on the file that the rows came from.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*rows[0][0], "class"])
    writer.writerows([*map(_as_text, x.values()), y] for x, y in rows)
    return hashlib.sha256(text.getvalue().encode()).hexdigest()


def _local_path(name: str, data_dir: Path | None) -> Path | None:
    folder = data_dir or os.environ.get(DATA_VARIABLE)
    return Path(folder) / f"{name}.csv.gz" if folder else None


def _shipped(name: str) -> Stream:
    content = resources.files(__package__).joinpath("data", f"{name}.csv.xz").read_bytes()
    rows = _read(io.StringIO(lzma.decompress(content).decode(), newline=""))
    if checksum(rows) != PAPER[name].sha256:
        raise DatasetDamagedError(f"the package's copy of {name} is damaged; install it again")
    return rows


def _read(lines: TextIO, leaks: Iterable[str] = ()) -> Stream:
    header, *records = csv.reader(lines)
    hidden = set(leaks)
    return [
        ({key: _as_value(cell) for key, cell in zip(header, cells[:-1], strict=False) if key not in hidden}, cells[-1])
        for cells in records
    ]


def _fetch_mice(where: str) -> Stream:
    """Mice from OpenML; scikit-learn keeps the download."""
    from sklearn.datasets import fetch_openml

    try:
        with _time_limit(_SECONDS_TO_CONNECT), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about retries: what counts is said below
            found: Any = fetch_openml(
                data_id=_MICE_ON_OPENML, as_frame=False, parser="liac-arff", n_retries=1, delay=0.1
            )
    except OSError as error:
        reason = getattr(error, "reason", error)
        raise DatasetMissingError(f"{where}, and OpenML could not be reached: {reason}") from error
    proteins = [(i, name) for i, name in enumerate(found.feature_names) if name.endswith("_N")]
    return [
        ({name: None if values[i] != values[i] else float(values[i]) for i, name in proteins}, str(label))  # NaN
        for values, label in zip(found.data, found.target, strict=True)
    ]


@contextmanager
def _time_limit(seconds: float) -> Any:
    """No connection made inside may keep silent for longer: fetch_openml would wait forever."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def _as_value(cell: str) -> float | str | None:
    if cell == "":
        return None
    try:
        return float(cell)
    except ValueError:
        return cell


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return repr(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
