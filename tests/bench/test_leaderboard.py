"""The leaderboard: whom it knows, what it measures, and what is left of a run that fails."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import pytest

from ocoboost.bench import contestants, leaderboard, leaderboard_page, measures, peers, prequential, stream_files
from ocoboost.bench.jobs import Store, run_all
from ocoboost.errors import DataFileError
from ocoboost.report import render

LABELS = random.Random(1).choices("abc", weights=(5, 3, 1), k=400)
GUESSES = [label if random.Random(row).random() < 0.7 else "b" for row, label in enumerate(LABELS)]


def settings(*models, streams=("stagger-abrupt-1", "squares-1")):
    return leaderboard.Settings(models, streams, 200, seed=1)


def test_kappas_are_what_their_definitions_say():
    right = sum(g == y for g, y in zip(GUESSES, LABELS, strict=True)) / 400
    chance = sum(LABELS.count(c) * GUESSES.count(c) for c in "abc") / 400**2
    repeated = sum(a == b for a, b in pairwise(LABELS)) / 400
    assert measures.kappa(GUESSES, LABELS) == pytest.approx(100 * (right - chance) / (1 - chance))
    assert measures.kappa_temporal(GUESSES, LABELS) == pytest.approx(100 * (right - repeated) / (1 - repeated))
    assert measures.kappa(LABELS, LABELS) == measures.kappa_temporal(LABELS, LABELS) == 100.0
    assert measures.kappa(["a"] * 3, ["a"] * 3) == 100.0  # where the formula would be 0 / 0


def test_accuracy_after_changes_stops_at_the_next_change_and_at_the_end():
    found = measures.after_changes(GUESSES, LABELS, [10, 30, 395], n_rows=50)
    spans = [slice(10, 30), slice(30, 80), slice(395, 400)]
    assert found == [measures.accuracy(GUESSES[span], LABELS[span]) for span in spans]
    assert measures.after_changes(GUESSES, LABELS, []) == []


def test_the_baselines_say_the_last_and_the_most_frequent_label():
    said = {
        name: prequential.stream(model(), [{}] * 400, LABELS).predictions
        for name, model in contestants.BASELINES.items()
    }
    assert said["last-label"] == [None, *LABELS[:-1]]
    majority = [max(dict.fromkeys(LABELS[:row]), key=LABELS[:row].count, default=None) for row in range(400)]
    assert said["majority"] == majority
    assert measures.kappa_temporal(said["last-label"], LABELS) == 0.0


def test_every_ensemble_can_be_asked_for_in_another_size():
    for title, parameter in peers.RIVER_SIZES.items():
        found = contestants.find(f"{title.lower().replace(' ', '-')}-7")
        assert getattr(peers.river(found.title, 1, found.size), parameter) == 7
    assert contestants.find("capymoa-leveraging-bagging-100") == (
        "capymoa-leveraging-bagging-100",
        "CapyMOA leveraging bagging",
        100,
    )
    assert contestants.find("capymoa-sam-knn").title == "CapyMOA SAM-kNN"
    for name in ("capymoa-knn-7", "boost-7", "river-arf-0", "river-arf-", "river-arf-x", "nobody"):
        assert contestants.find(name) is None
    for name in (*contestants.DEFAULTS, *contestants.CAPYMOA_DEFAULTS):
        assert contestants.find(name) is not None


@pytest.mark.slow  # ten seconds
def test_a_run_has_every_measure_and_a_job_says_what_decides_it(tmp_path):
    store, known = Store(tmp_path / "results.jsonl"), leaderboard.catalogue()
    chosen = settings("last-label", "majority", "hoeffding")
    run_all(leaderboard.plan(chosen, known), leaderboard.run, store)
    comparison, failed = leaderboard.finished(chosen, known, store)
    assert not failed
    assert len(comparison.runs) == 6
    (result,) = comparison.runs["stagger-abrupt-1", 0.0, "hoeffding"]
    assert result["changes"] == [50, 100, 150]
    assert result["after"] == pytest.approx(sum(result["after_each"]) / 3, abs=0.01)
    assert comparison.runs["squares-1", 0.0, "hoeffding"][0]["after"] is None
    assert all(result[measure] is not None for measure in leaderboard.MEASURES)
    html = render(leaderboard_page.page(comparison, dict.fromkeys(chosen.streams, "development"), [], {}))
    assert "critical difference" in html
    assert html.count("<svg") == 1 + 2  # ranks, and accuracy over time for each stream


def test_a_peer_that_fails_is_named_and_tried_again_next_time(tmp_path, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("no Java\nand more")

    monkeypatch.setattr(peers, "river", fail)
    store, known = Store(tmp_path / "results.jsonl"), leaderboard.catalogue()
    chosen = settings("majority", "river-arf-2")
    run_all(leaderboard.plan(chosen, known), leaderboard.run, store)
    comparison, failed = leaderboard.finished(chosen, known, store)
    assert failed == {f"river-arf-2 on {name}": "RuntimeError: no Java" for name in chosen.streams}
    assert leaderboard.complete(comparison).settings.models == ("majority",)
    assert len(Store(tmp_path / "results.jsonl").results) == 2
    monkeypatch.setattr(leaderboard.contestants.prequential, "stream", fail)
    with pytest.raises(RuntimeError):  # ours may not
        leaderboard.run({"stream": "squares-1", "rows": 50, "model": "boost", "seed": 1})


def test_runs_of_peers_outlive_our_sources(tmp_path):
    jobs = [{"stream": "squares-1", "model": model} for model in ("boost", "river-arf-30", "last-label", "gone")]
    lines = [json.dumps({"job": job, "code": "other", "result": {"accuracy": 1.0}}) for job in jobs]
    (tmp_path / "results.jsonl").write_text("\n".join(lines))
    store = Store(tmp_path / "results.jsonl", any_code=leaderboard.is_of_others)
    assert [store.get(job) is not None for job in jobs] == [False, True, True, False]


def test_known_files_are_cut_into_rows_for_development_and_the_rest(tmp_path):
    lines = [f"{row},{row % 3}" for row in range(10_020)]
    (tmp_path / "weather.csv").write_text("\n".join(["x,rain", *lines]))
    (tmp_path / "mine.csv").write_text("label,x,y\na,1,\nb,2,red\na,3,blue\n")
    found = stream_files.find(tmp_path)
    assert {name: entry.use for name, entry in found.items()} == {
        "mine": "reported",
        "weather-first": "development",
        "weather-rest": "reported",
    }
    first, rest = found["weather-first"].load(), found["weather-rest"].load()
    assert (len(first.rows), len(rest.rows)) == (10_000, 20)
    assert rest.rows[0] == ({"x": 10_000.0}, "1")
    assert len(found["weather-rest"].load(7).rows) == 7
    with pytest.raises(DataFileError, match="no column 'rain'"):
        stream_files.find(tmp_path, "rain")["mine"].load()
    assert stream_files.find(tmp_path, "label")["mine"].load().rows[1] == ({"x": 2.0, "y": "red"}, "b")


def test_a_job_on_a_file_is_known_again_under_another_folder(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.csv").write_text("x,label\n1,a\n2,b\n")
    chosen = settings("majority", streams=("mine",))
    jobs = [leaderboard.plan(chosen, leaderboard.catalogue(tmp_path / folder)) for folder in ("one", "two")]
    assert jobs[0] == jobs[1]
    (tmp_path / "two" / "mine.csv").write_text("x,label\n1,a\n2,c\n")
    assert leaderboard.plan(chosen, leaderboard.catalogue(tmp_path / "two")) != jobs[0]


def test_blocks_can_be_had_from_the_accuracy_so_far():
    right = [guess == label for guess, label in zip(GUESSES, LABELS, strict=True)]
    blocks = [100 * sum(right[first : first + 10]) / 10 for first in range(0, 400, 10)]
    assert leaderboard_page.by_block(measures.curve(GUESSES, LABELS, 40), 400) == pytest.approx(blocks, abs=0.5)
