"""What was answered is what counts: the log brings it back with the label, after any restart alike."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

import ocoboost
from model_files import knowledge
from ocoboost.errors import ModelFileError
from ocoboost.serve.folder import read_served
from ocoboost.serve.limits import Limits
from services import begin, learn_all, running, stream


def boost():
    return ocoboost.OnlineBoostClassifier(budget=30, seed=1)


def feed(client, rows, delay, prefix):
    for number in range(len(rows) + delay):
        if number < len(rows):
            asked = {"id": f"{prefix} {number}", "features": rows[number][0]}
            assert client.post("/predict", json=asked).json()["kept"]
        if number >= delay:
            told = {"id": f"{prefix} {number - delay}", "label": rows[number - delay][1]}
            assert client.post("/learn", json=told).json()["status"] == "accepted"


def test_a_mixture_is_held_to_what_it_answered_after_a_restart_too(tmp_path):
    folder = begin(tmp_path / "service", boost=boost(), beside=boost())
    rows, old = stream(90), [tmp_path / "0.oco"]
    shutil.copy(folder.file("boost"), old[0])
    for part in range(2):
        with running(folder) as client:
            if part == 0:  # as long as no label is known, nothing is said
                client.post("/learn", json={"features": {"a": 0.0}, "label": "up"})
                learn_all(client)
            feed(client, rows[45 * part : 45 * part + 45], 15, f"part {part}")
            for number in range(5):  # rows whose labels never come change nothing
                client.post("/predict", json={"id": f"never {part} {number}", "features": rows[number][0]})
            learn_all(client)
        old.append(tmp_path / f"{part + 1}.oco")
        shutil.copy(folder.file("boost"), old[-1])
    last = read_served(folder.file("boost"), None)
    with closing(sqlite3.connect(folder.log)) as connection:
        (right,) = connection.execute("SELECT sum(answer = label) FROM log").fetchone()
    assert last.scores.n_right == right  # what was answered, not what would be said now
    for path in old:
        shutil.copy(path, folder.file("boost"))
        with running(folder) as client:
            learn_all(client)
        again = read_served(folder.file("boost"), None)
        assert knowledge(again.model) == knowledge(last.model)
        assert repr(again.notes()) == repr(last.notes())
    beside = read_served(folder.file("beside"), None).model  # which answered nobody, and learned what it said itself
    plain = boost()
    plain.learn_one({"a": 0.0}, "up")
    plain.learn_many([row for row, _ in rows], [label for _, label in rows])
    assert knowledge(beside) == knowledge(plain) != knowledge(last.model)


def test_a_model_is_not_held_to_what_another_one_of_its_name_said(tmp_path):
    folder = begin(tmp_path, boost=boost())
    rows = stream(30)
    with running(folder) as client:
        feed(client, rows, 5, "row")
    folder.file("boost").unlink()
    begin(tmp_path, boost=ocoboost.OnlineBoostClassifier(budget=30, seed=2))
    with running(folder) as client:
        learn_all(client)
        assert client.service.keeper.models["boost"].n_refused == 0
    plain = ocoboost.OnlineBoostClassifier(budget=30, seed=2)
    plain.learn_many([row for row, _ in rows], [label for _, label in rows])
    assert knowledge(ocoboost.load(folder.file("boost"))) == knowledge(plain)


# -- right and wrong ----------------------------------------------------------------------------------------------


def player(seed=1):
    booster = ocoboost.OnlineAgnosticBoostClassifier(n_learners=3, seed=1)
    return ocoboost.OnlineBanditBoostClassifier(booster, classes=["down", "late", "up"], seed=seed)


def play(client, rows, prefix):
    """Play all rows, then say of each whether it was right; the plays."""
    played = []
    for number, (row, _) in enumerate(rows):
        played.append(client.post("/predict", json={"id": f"{prefix} {number}", "features": row}).json())
        assert np.isclose(sum(played[-1]["probabilities"].values()), 1.0)
    for number, (_, label) in enumerate(rows):
        told = {"id": f"{prefix} {number}", "right": played[number]["label"] == label}
        assert client.post("/feedback", json=told).json()["status"] == "accepted"
    return played


def test_a_model_that_plays_learns_from_feedback_what_it_learns_offline(tmp_path):
    folder = begin(tmp_path / "service", player=player(), other=player(2))
    rows, played = stream(80), []
    shutil.copy(folder.file("player"), tmp_path / "first.oco")
    for part in range(2):
        with running(folder) as client:
            played += play(client, rows[40 * part : 40 * part + 40], f"part {part}")
            client.post("/predict", json={"features": rows[0][0]})  # and nobody ever says whether that was right
            learn_all(client)
            assert client.get("/model").json()["takes_feedback"]
            standing = client.service.keeper.models["player"].standing()
    n_right = sum(one["label"] == label for one, (_, label) in zip(played, rows, strict=True))
    assert 0 < n_right < 80
    assert standing["accuracy"] == n_right / 80
    offline, other = player(), player(2)
    for number, (one, (row, label)) in enumerate(zip(played, rows, strict=True)):
        for model in (offline, other):
            model.learn_feedback_one(row, one["label"], one["probabilities"][one["label"]], one["label"] == label)
            model.state_.engine.n_plays = number + 1 + (number >= 40)
    assert knowledge(ocoboost.load(folder.file("player"))) == knowledge(offline)
    assert knowledge(ocoboost.load(folder.file("other"))) == knowledge(other)
    shutil.copy(tmp_path / "first.oco", folder.file("player"))
    with running(folder) as client:
        learn_all(client)
    assert knowledge(ocoboost.load(folder.file("player"))) == knowledge(offline)


def test_no_two_plays_share_a_draw_after_a_restart(tmp_path):
    folder = begin(tmp_path, player=player())
    played = []
    for _ in range(2):
        with running(folder) as client:
            played += [client.post("/predict", json={"features": {"a": 1.0}}).json()["label"] for _ in range(30)]
    assert played[:30] != played[30:]  # nothing was learned in between, and the first plays explore


def test_feedback_counts_once_and_needs_a_model_that_plays(tmp_path):
    with running(begin(tmp_path / "player", player=player())) as client:
        said = client.post("/predict", json={"id": "a", "features": {"v": 1.0}}).json()
        for right, code, status in ((True, 200, "accepted"), (True, 200, "duplicate"), (False, 409, "contradiction")):
            answer = client.post("/feedback", json={"id": "a", "right": right})
            assert (answer.status_code, answer.json()["status"]) == (code, status)
        assert client.post("/feedback", json={"rows": [{"id": "b", "right": True}]}).json()["results"] == [
            {"id": "b", "status": "unknown", "error": "nothing was predicted under this id, or it has expired."}
        ]
        assert client.post("/feedback", json={"id": "b", "right": True}).status_code == 404
        assert client.post("/feedback", json={"id": "a", "right": 1}).status_code == 422
        refused = client.post("/learn", json={"id": "a", "label": said["label"]})
        assert (refused.status_code, "/feedback" in refused.json()["error"]) == (409, True)


def test_models_that_learn_from_labels_and_from_feedback_cannot_share_a_log(tmp_path):
    folder = begin(tmp_path, player=player())
    with closing(folder.open(Limits())) as database, pytest.raises(ModelFileError, match="right and wrong"):
        folder.add("boost", boost(), database)
    assert not folder.file("boost").exists()
