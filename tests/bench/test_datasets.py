"""The datasets are those of the paper, row for row, wherever they come from."""

from __future__ import annotations

import csv
import gzip
import os
import types
from collections import Counter
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest
import river.datasets
import sklearn.datasets

from ocoboost.bench import datasets
from ocoboost.bench.datasets import files

DATA = os.environ.get(files.DATA_VARIABLE)
WITHOUT_FILES = [name for name, dataset in datasets.PAPER.items() if dataset.origin != "fetched"]


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch):
    monkeypatch.delenv(files.DATA_VARIABLE, raising=False)
    files.load_raw.cache_clear()
    yield
    files.load_raw.cache_clear()


def value(cell):
    try:
        return float(cell)
    except ValueError:
        return cell


def as_multiset(rows):
    return Counter((tuple("" if v is None else value(v) for v in x.values()), y) for x, y in rows)


@pytest.mark.parametrize("name", WITHOUT_FILES)
def test_a_dataset_is_what_the_catalogue_says(name):
    rows, entry = datasets.load_raw(name), datasets.PAPER[name]
    assert len(rows) == entry.n_rows
    assert {len(x) for x, _ in rows} == {entry.n_features}
    assert len({y for _, y in rows}) == entry.n_classes
    assert datasets.checksum(rows) == entry.sha256
    n_nominal = sum(isinstance(v, str) for v in rows[0][0].values())
    assert n_nominal == {"cars": 6, "abalone": 1}.get(name, 0)


@pytest.mark.skipif(DATA is None, reason=f"{files.DATA_VARIABLE} names no folder with copies of the datasets")
@pytest.mark.parametrize("name", datasets.PAPER)
def test_the_rows_are_those_of_an_independent_copy(name):
    with gzip.open(Path(DATA) / f"{name}.csv.gz", "rt", newline="") as lines:
        header, *records = csv.reader(lines)
    keep = [i for i, column in enumerate(header[:-1]) if name != "mice" or column.endswith("_N")]
    theirs = Counter((tuple(value(cells[i]) for i in keep), cells[-1]) for cells in records)
    ours = datasets.load_raw(name, Path(DATA))
    assert list(ours[0][0]) == [header[i] for i in keep]
    assert as_multiset(ours) == theirs
    if name != "segment":  # whose copies differ in order, and in the last digits written
        assert datasets.checksum(ours) == datasets.PAPER[name].sha256


def test_segment_has_the_rows_of_rivers_copy():
    def to_five_digits(values):
        return tuple(float(f"{v:.5g}") for v in values)

    theirs = Counter((to_five_digits(x.values()), y.upper()) for x, y in river.datasets.ImageSegments())
    ours = datasets.load("segment")
    assert {x.pop("region-pixel-count") for x, _ in ours} == {9.0}  # which River leaves out
    assert Counter((to_five_digits(x.values()), y) for x, y in ours) == theirs


def test_a_file_of_mice_gives_its_proteins_only(tmp_path):
    with gzip.open(tmp_path / "mice.csv.gz", "wt") as out:
        out.write("MouseID,DYRK1A_N,ITSN1_N,Genotype,Treatment,Behavior,class\n")
        out.write("309_1,0.5,,Control,Memantine,C/S,c-CS-m\n309_2,0.25,0.75,Ts65Dn,Saline,S/C,t-SC-s\n")
    rows = [({"DYRK1A_N": 0.5, "ITSN1_N": None}, "c-CS-m"), ({"DYRK1A_N": 0.25, "ITSN1_N": 0.75}, "t-SC-s")]
    assert datasets.load_raw("mice", tmp_path) == rows


def test_every_entry_names_source_licence_and_checksum():
    for entry in datasets.PAPER.values():
        assert "UCI" in entry.citation
        assert entry.licence == "CC BY 4.0"
        assert entry.url.startswith("https://doi.org/10.24432/")
        assert len(entry.sha256) == 64


def test_damage_is_noticed(monkeypatch):
    monkeypatch.setattr(files, "checksum", lambda rows: "0" * 64)
    with pytest.raises(datasets.DatasetDamagedError, match="copy of yeast is damaged"):
        datasets.load("yeast")


def mice_of(n_rows):
    names = ["MouseID", *(f"p{i}_N" for i in range(77))]
    data = np.arange(n_rows * 78, dtype=float).reshape(n_rows, 78)
    data[1, 3] = np.nan
    return types.SimpleNamespace(
        feature_names=names, data=data, target=np.array(["c-CS-m", "t-CS-s"] * n_rows)[:n_rows]
    )


def test_mice_is_fetched_with_the_proteins_only_and_means_for_gaps(monkeypatch):
    asked = {}

    def fetch(**options):
        asked.update(options)
        return mice_of(3)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    rows = datasets.load("mice")
    assert asked["data_id"] == 40966
    assert [len(x) for x, _ in rows] == [77] * 3
    assert rows[1][0]["p2_N"] == (rows[0][0]["p2_N"] + rows[2][0]["p2_N"]) / 2
    assert datasets.load_raw("mice")[1][0]["p2_N"] is None


def test_without_network_and_file_the_reason_is_given(monkeypatch, tmp_path):
    def fetch(**options):
        raise URLError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    with pytest.raises(datasets.DatasetMissingError, match=r"no data folder.*OpenML could not be reached: no route"):
        datasets.load("mice")
    with pytest.raises(datasets.DatasetMissingError, match=r"there is no .*mice\.csv\.gz"):
        datasets.load("mice", tmp_path)


def test_scikit_learn_accepts_what_it_is_asked(monkeypatch, tmp_path):
    def unreachable(*arguments, **options):
        raise URLError("no route to host")

    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", unreachable)
    with pytest.raises(datasets.DatasetMissingError, match="OpenML could not be reached: no route"):
        datasets.load("mice")


def test_a_folder_may_hold_other_datasets(monkeypatch, tmp_path):
    with gzip.open(tmp_path / "mine.csv.gz", "wt") as out:
        out.write("a,b,class\n1,red,yes\n,blue,no\n3,red,yes\n")
    assert datasets.load("mine", tmp_path)[1] == ({"a": 2.0, "b": "blue"}, "no")
    monkeypatch.setenv(files.DATA_VARIABLE, str(tmp_path))
    assert datasets.load("mine")[0] == ({"a": 1.0, "b": "red"}, "yes")
    with pytest.raises(datasets.DatasetMissingError, match=r"'other' is not one of balance, cars.*other\.csv\.gz"):
        datasets.load("other")


def test_status_tells_where_a_dataset_is(tmp_path):
    assert datasets.status("cars") == "made from its rule"
    assert datasets.status("yeast") == "in the package"
    assert "OpenML (40966)" in datasets.status("mice")
    (tmp_path / "mice.csv.gz").touch()
    assert datasets.status("mice", tmp_path) == f"in {tmp_path}"
