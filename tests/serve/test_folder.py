"""Folders: who may use them, and models that do not belong to them."""

from __future__ import annotations

import shutil

import pytest

import ocoboost
from ocoboost.errors import ModelFileError
from ocoboost.serve.folder import Folder
from ocoboost.serve.limits import Limits
from services import begin, learn_all, running, trees


def test_one_process_at_a_time(tmp_path):
    folder = begin(tmp_path)
    with folder.locked(), pytest.raises(ModelFileError, match="another process"), Folder(tmp_path).locked():
        pass


def test_a_model_of_another_log_is_refused(tmp_path):
    one, other = begin(tmp_path / "one"), begin(tmp_path / "other")
    shutil.copy(one.file("trees"), other.file("trees"))
    with pytest.raises(ModelFileError, match="belongs to another log"), running(other):
        pass


def test_a_log_that_is_older_than_its_model_is_refused(tmp_path):
    folder = begin(tmp_path / "service")
    shutil.copy(folder.log, tmp_path / "old")
    with running(folder) as client:
        client.post("/learn", json={"features": {"v": 1}, "label": "x"})
        learn_all(client)
    for path in folder.path.glob("log.sqlite*"):
        path.unlink()
    shutil.copy(tmp_path / "old", folder.log)
    with pytest.raises(ModelFileError, match="learned up to row 1 of the log, which ends at 0"), running(folder):
        pass


def test_a_model_that_is_older_than_the_log_is_refused(tmp_path):
    folder = begin(tmp_path / "service")
    shutil.copy(folder.file("trees"), tmp_path / "old.oco")
    with running(folder, Limits(log_rows=1), save_every=0.0) as client:
        client.post("/learn", json={"rows": [{"features": {"v": n}, "label": "x"} for n in range(5)]})
        learn_all(client)
    database = folder.open(Limits(log_rows=1))
    database.begin()
    database.prune(5)
    database.commit()
    database.close()
    shutil.copy(tmp_path / "old.oco", folder.file("trees"))
    with pytest.raises(ModelFileError, match="which begins at 5"), running(folder):
        pass


def test_plain_model_files_and_odd_names_are_refused(tmp_path):
    folder = begin(tmp_path)
    database = folder.open(Limits())
    for name in ("", "../up", "a b", ".hidden", "x" * 41):
        with pytest.raises(ModelFileError, match="cannot name a model"):
            folder.add(name, trees(), database)
    with pytest.raises(ModelFileError, match="there is a model 'trees' already"):
        folder.add("trees", trees(), database)
    database.close()
    model = trees()
    model.learn_one({"v": 1}, "x")
    ocoboost.save(model, folder.file("trees"))
    with pytest.raises(ModelFileError, match="not the model of a service"), running(folder):
        pass


def test_an_empty_folder_is_said_to_be_one(tmp_path):
    with pytest.raises(ModelFileError, match="no model in it"), running(Folder(tmp_path / "none")):
        pass
