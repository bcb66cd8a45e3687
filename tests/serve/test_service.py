"""The protocol, durability, challengers, limits: a service in process."""

from __future__ import annotations

import json
import shutil
import threading
import time

import pytest

import ocoboost
from model_files import knowledge
from ocoboost.serve import keeper as keeping
from ocoboost.serve.limits import Limits
from ocoboost.serve.served import Served
from services import begin, learn_all, log_of, running, stream, trees, wait_until


def feed(client, rows, delay=5, prefix="row"):
    """Predict rows and label each of them some rows later; returns the predictions."""
    said = []
    for number in range(len(rows) + delay):
        if number < len(rows):
            answer = client.post("/predict", json={"id": f"{prefix} {number}", "features": rows[number][0]})
            assert answer.status_code == 200, answer.text
            said.append(answer.json())
        if number >= delay:
            told = {"id": f"{prefix} {number - delay}", "label": rows[number - delay][1]}
            answer = client.post("/learn", json=told)
            assert (answer.status_code, answer.json()["status"]) == (200, "accepted")
    return said


def offline(make, folder):
    """The model that learns the log in one block."""
    log, model = log_of(folder), make()
    model.learn_many([row for _, _, row, _ in log], [label for *_, label in log])
    return model


def test_a_row_is_predicted_labelled_late_and_learned(tmp_path):
    with running(begin(tmp_path)) as client:
        first = client.post("/predict", json={"id": "a", "features": {"size": 1.5, "colour": "red"}})
        assert first.json() == {
            "id": "a",
            "label": None,
            "probabilities": {},
            "model": "trees",
            "rows": 0,
            "kept": True,
        }
        assert client.post("/learn", json={"id": "a", "label": "good"}).json() == {
            "id": "a",
            "status": "accepted",
            "number": 1,
        }
        learn_all(client)
        again = client.post("/predict", json={"features": {"size": 1.5}, "set": 0.9}).json()
        assert (again["label"], again["rows"], again["set"]) == ("good", 1, ["good"])
        assert again["probabilities"] == {"good": 1.0}


def test_the_same_label_again_is_a_duplicate_and_another_one_a_contradiction(tmp_path):
    folder = begin(tmp_path)
    with running(folder) as client:
        client.post("/learn", json={"id": "a", "features": {"v": 1}, "label": "x"})
        for body, status, said in (
            ({"id": "a", "label": "x"}, 200, "duplicate"),
            ({"id": "a", "label": "y"}, 409, "contradiction"),
            ({"id": "a", "features": {"v": 2}, "label": "x"}, 409, "contradiction"),
            ({"id": "b", "label": "x"}, 404, "unknown"),
        ):
            answer = client.post("/learn", json=body)
            assert (answer.status_code, answer.json()["status"]) == (status, said)
        batch = client.post("/learn", json={"rows": [{"id": "a", "label": "y"}, {"features": {"v": 3}, "label": "y"}]})
        assert [one["status"] for one in batch.json()["results"]] == ["contradiction", "accepted"]
    assert [(row, label) for _, _, row, label in log_of(folder)] == [({"v": 1}, "x"), ({"v": 3}, "y")]


def test_a_row_that_is_predicted_again_gets_its_first_answer(tmp_path):
    with running(begin(tmp_path)) as client:
        body = {"id": "a", "features": {"v": 1}}
        first = client.post("/predict", json=body).json()
        client.post("/learn", json={"features": {"v": 1}, "label": "x"})
        learn_all(client)
        assert client.post("/predict", json=body).json() == {**first, "repeated": True}
        client.post("/learn", json={"id": "a", "label": "x"})
        assert client.post("/predict", json=body).json() == {**first, "repeated": True}
        other = client.post("/predict", json={"id": "a", "features": {"v": 2}})
        assert other.status_code == 409
        assert client.post("/predict", json={**body, "id": "c", "keep": False}).json()["kept"] is False
        assert client.post("/learn", json={"id": "c", "label": "x"}).status_code == 404


@pytest.mark.parametrize("block_seconds", [0.0, 0.04])
def test_the_model_is_that_of_an_offline_run_over_the_log(tmp_path, monkeypatch, block_seconds):
    monkeypatch.setattr(keeping, "BLOCK_SECONDS", block_seconds)
    folder = begin(tmp_path)
    with running(folder) as client:
        feed(client, stream(150))
        learn_all(client)
        assert client.service.health() == (True, {"status": "ok", "troubles": []})
    assert knowledge(ocoboost.load(folder.file("trees"))) == knowledge(offline(trees, folder))


def test_a_model_file_of_any_age_becomes_the_same_model(tmp_path):
    """What a kill leaves: the log, and files that are older than its end."""
    folder = begin(tmp_path / "service")
    rows = stream(120)
    old = [tmp_path / "0.oco"]
    shutil.copy(folder.file("trees"), old[0])
    for part in range(3):
        with running(folder) as client:
            feed(client, rows[40 * part : 40 * part + 40], prefix=f"part {part}")
            learn_all(client)
        old.append(tmp_path / f"{part + 1}.oco")
        shutil.copy(folder.file("trees"), old[-1])
    last = Served.read(folder.file("trees"), None)
    assert last.position == last.model.n_rows_ == last.scores.n_rows == 120
    for path in old:
        shutil.copy(path, folder.file("trees"))
        with running(folder) as client:
            learn_all(client)
        again = Served.read(folder.file("trees"), None)
        assert knowledge(again.model) == knowledge(last.model) == knowledge(offline(trees, folder))
        assert repr(again.notes()) == repr(last.notes())


def test_a_row_that_no_model_can_learn_is_left_out_at_every_replay_alike(tmp_path):
    """Two requests that contradict each other may both come before the model has learned the first."""
    folder = begin(tmp_path / "service")
    shutil.copy(folder.file("trees"), tmp_path / "old.oco")
    rows = [({"v": 1}, "x"), ({"v": "text"}, "x"), ({"v": 2.5}, "y"), ({"v": 4}, "y")]
    with running(folder) as client:
        batch = [{"features": row, "label": label} for row, label in rows]
        assert client.post("/learn", json={"rows": batch}).status_code == 200
        learn_all(client)
        assert client.service.keeper.models["trees"].n_refused == 1
        late = client.post("/learn", json={"features": {"v": "text"}, "label": "x"})
        assert late.status_code == 422  # by now the column is known
    first = ocoboost.load(folder.file("trees"))
    shutil.copy(tmp_path / "old.oco", folder.file("trees"))
    with running(folder) as client:
        learn_all(client)
        assert client.service.keeper.models["trees"].position == 4
    assert knowledge(ocoboost.load(folder.file("trees"))) == knowledge(first)
    assert first.n_rows_ == 3


def test_models_are_saved_while_they_serve(tmp_path):
    folder = begin(tmp_path)
    with running(folder, save_every=0.0) as client:
        feed(client, stream(30))
        wait_until(lambda: Served.read(folder.file("trees"), None).position > 0)


def test_challengers_learn_the_same_log_and_one_is_promoted(tmp_path):
    make = {"trees": trees, "deep": lambda: trees(max_depth=1), "more": lambda: trees(n_learners=3)}
    folder = begin(tmp_path, **{name: one() for name, one in make.items()})
    with running(folder) as client:
        feed(client, stream(60))
        learn_all(client)
        wait_until(lambda: {one["position"] for one in client.get("/model").json()["models"].values()} == {60})
        status = client.get("/model").json()
        assert status["champion"] == "trees"
        assert all(one["accuracy"] is not None for one in status["models"].values())
        assert client.post("/promote", json={"model": "nobody"}).status_code == 404
        assert client.post("/promote", json={"model": "more"}).json() == {"champion": "more"}
        assert client.post("/predict", json={"features": {"a": 1.0}}).json()["model"] == "more"
    with running(folder) as client:
        assert client.post("/predict", json={"features": {"a": 1.0}}).json()["model"] == "more"
    for name, one in make.items():
        assert knowledge(ocoboost.load(folder.file(name))) == knowledge(offline(one, folder))


def test_a_challenger_that_comes_later_learns_what_the_log_has(tmp_path):
    folder = begin(tmp_path)
    with running(folder) as client:
        feed(client, stream(40))
    trained = trees()
    trained.learn_one({"a": 1.0}, "up")
    database = folder.open(Limits())
    folder.add("later", trees(seed=2), database)
    folder.add("trained", trained, database)
    database.close()
    with running(folder) as client:
        learn_all(client)
        rows = {name: one.model.n_rows_ for name, one in client.service.keeper.models.items()}
    assert rows == {"trees": 40, "later": 40, "trained": 1}


def test_predictions_are_answered_between_blocks(tmp_path, monkeypatch):
    """While a model learns, whoever asks waits for one block, not for the log."""
    monkeypatch.setattr(keeping, "MOST_ROWS", 8)
    folder = begin(tmp_path)
    entered, go = threading.Event(), threading.Event()
    learn = Served.learn

    def slow(self, entries):
        assert len(entries) <= 8
        entered.set()
        go.wait(10)
        learn(self, entries)

    monkeypatch.setattr(Served, "learn", slow)
    with running(folder) as client:
        batch = [{"features": row, "label": label} for row, label in stream(200)]
        client.post("/learn", json={"rows": batch})
        entered.wait(10)
        answers = []
        asking = threading.Thread(
            target=lambda: answers.append(client.post("/predict", json={"features": {"a": 1.0}}).json())
        )
        asking.start()
        wait_until(lambda: client.service.keeper.n_rows_waiting == 1)
        go.set()
        asking.join()
        assert 0 < answers[0]["rows"] <= 8
        learn_all(client)


def test_nobody_waits_for_a_thread_that_has_ended(tmp_path, monkeypatch):
    def fail(self, rows):
        raise RuntimeError("a mistake")

    with running(begin(tmp_path)) as client:
        monkeypatch.setattr(Served, "answer", fail)
        assert client.post("/predict", json={"features": {"a": 1.0}}).status_code == 503
        wait_until(lambda: client.get("/health").status_code == 503)
        assert client.post("/predict", json={"features": {"a": 1.0}}).status_code == 503


def test_counters_add_up(tmp_path):
    limits = Limits(pending_rows=10)
    with running(begin(tmp_path), limits) as client:
        rows = stream(40)
        feed(client, rows, delay=2)
        for number in range(15):
            client.post("/predict", json={"id": f"never {number}", "features": rows[0][0]})
        client.post("/learn", json={"id": "never 0", "label": "up"})
        learn_all(client)
        status = client.get("/model").json()
        n = status["counters"]
        assert status["pending"] == 10
        assert n["predictions_kept"] == 55 == n["labels_of_predictions"] + n["expired_by_number"] + status["pending"]
        assert (n["labels_accepted"], n["labels_unknown"], n["expired_by_number"]) == (40, 1, 5)
        metrics = client.get("/metrics").text
        assert "ocoboost_labels_accepted_total 40" in metrics
        assert 'ocoboost_request_seconds_count{kind="predict"} 55' in metrics


def test_rows_expire_by_age(tmp_path):
    with running(begin(tmp_path), Limits(pending_seconds=0.05)) as client:
        client.post("/predict", json={"id": "a", "features": {"v": 1}})
        time.sleep(0.1)
        client.post("/predict", json={"id": "b", "features": {"v": 1}})
        assert client.post("/learn", json={"id": "a", "label": "x"}).status_code == 404
        assert client.post("/learn", json={"id": "b", "label": "x"}).status_code == 200
        assert client.get("/model").json()["counters"]["expired_by_age"] == 1


def test_on_a_full_disk_predictions_go_on_and_labels_are_refused(tmp_path):
    folder = begin(tmp_path)
    with running(folder) as client:
        feed(client, stream(20))
        learn_all(client)
        connection = client.service.database.connection
        n_pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {n_pages}")
        long = {f"column {n}": "x" * 900 for n in range(5)}
        before = dict(client.service.database.counters)
        answer = client.post("/predict", json={"id": "full", "features": {"a": 1.0}, "keep": True})
        for number in range(20):  # until the last page is full
            answer = client.post("/predict", json={"id": f"full {number}", "features": long})
            if not answer.json()["kept"]:
                break
        assert (answer.status_code, answer.json()["kept"]) == (200, False)
        refused = client.post("/learn", json={"features": long, "label": "up"})
        assert refused.status_code == 507
        assert "free space on the disk" in refused.json()["error"]
        assert client.get("/health").status_code == 503
        connection.execute("PRAGMA max_page_count = 1000000")
        assert client.post("/learn", json={"features": {"a": 2.0}, "label": "up"}).json()["number"] == 21
        assert client.get("/health").status_code == 200
        after = client.service.database.counters
        assert after["labels_accepted"] == before["labels_accepted"] + 1
        learn_all(client)
    assert knowledge(ocoboost.load(folder.file("trees"))) == knowledge(offline(trees, folder))


def test_a_label_is_acknowledged_after_its_commit(tmp_path, monkeypatch):
    with running(begin(tmp_path)) as client:
        database = client.service.database
        commit, order = database.commit, []

        def slow():
            time.sleep(0.05)
            commit()
            order.append("committed")

        monkeypatch.setattr(database, "commit", slow)
        client.post("/learn", json={"features": {"v": 1}, "label": "x"})
        order.append("acknowledged")
        assert order == ["committed", "acknowledged"]


def test_many_requests_share_a_commit(tmp_path, monkeypatch):
    with running(begin(tmp_path)) as client:
        committer = client.service.committer
        commit = committer.database.commit
        monkeypatch.setattr(committer.database, "commit", lambda: (time.sleep(0.05), commit()))
        before = committer.n_commits

        def learn(number):
            client.post("/learn", json={"id": str(number), "features": {"v": number}, "label": "x"})

        threads = [threading.Thread(target=learn, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert committer.n_commits - before < 12
        learn_all(client)


def test_closed_classes_are_checked_before_the_log(tmp_path):
    model = ocoboost.OnlineAgnosticBoostClassifier(n_learners=2, classes=["x", "y"], seed=1)
    with running(begin(tmp_path, boosted=model)) as client:
        answer = client.post("/learn", json={"features": {"v": 1}, "label": "z"})
        assert (answer.status_code, client.service.database.last_number) == (422, 0)


def test_suspects_are_labels_that_the_model_does_not_believe(tmp_path):
    with running(begin(tmp_path)) as client:
        rows = [{"features": {"v": n % 2}, "label": "ab"[n % 2]} for n in range(200)]
        client.post("/learn", json={"rows": rows})
        client.post("/learn", json={"id": "odd", "features": {"v": 0}, "label": "b"})
        learn_all(client)
        wait_until(lambda: client.get("/suspects").json()["suspects"])
        worst = client.get("/suspects").json()["suspects"][0]
        assert (worst["id"], worst["given"], worst["believed"]) == ("odd", "b", "a")


def test_a_model_that_learns_from_labels_takes_no_feedback(tmp_path):
    with running(begin(tmp_path)) as client:
        answer = client.post("/feedback", json={"id": "a", "right": True})
        assert answer.status_code == 409
        assert "/learn" in answer.json()["error"]


def test_the_scores_are_those_of_a_prequential_run(tmp_path):
    folder = begin(tmp_path)
    with running(folder) as client:
        feed(client, stream(80))
        learn_all(client)
        served = client.service.keeper.models["trees"]
        said = trees().predict_learn_many(*zip(*[(row, label) for _, _, row, label in log_of(folder)], strict=True))
        right = sum(one == label for one, (*_, label) in zip(said, log_of(folder), strict=True))
        assert served.scores.n_right == right == sum(served.recent)
        assert json.dumps(served.portrait())
