"""The study behind the paper's table: what is drawn, what is chosen, and what the paper says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.metrics import confusion_matrix, f1_score

from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier
from ocoboost.bench import datasets, jobs, measures, paper, prequential, reproduce

ROWS = datasets.shuffled(datasets.balance(), 1)[:150]
X, LABELS = [x for x, _ in ROWS], [y for _, y in ROWS]


def test_the_paper_has_four_boosters_on_seven_datasets():
    assert len(paper.TABLE) == 28
    assert paper.TABLE["agnostic", "balance"] == (84.4, 0.68, 11.5)
    assert paper.TABLE["realizable", "abalone"] == (22.0, 0.31, 248.2)
    assert tuple(datasets.PAPER) == paper.DATASETS


@pytest.mark.parametrize("classes", [None, ["B", "L", "R"]])
def test_the_pieces_say_what_the_row_by_row_loop_says(classes):
    def model():
        stump = HoeffdingTrees(max_depth=1, split_criterion="gini")
        return OnlineAgnosticBoostClassifier(
            stump, gamma=0.4, n_learners=5, start="uniform", pool="label", classes=classes, seed=7
        )

    trace, loop = prequential.stream(model(), X, LABELS), model()
    predictions, drawn = [], []
    for x, y in ROWS:
        predictions.append(loop.predict_one(x))
        drawn.append(loop.sample_one(x))
        loop.learn_one(x, y)
    assert trace.predictions == predictions
    assert trace.drawn == drawn
    assert predictions != drawn


def test_the_measures_are_scikit_learns():
    rng = np.random.default_rng(1)
    labels = [str(v) for v in rng.integers(0, 4, 200)]
    said = [y if rng.random() < 0.6 else str(rng.integers(0, 4)) for y in labels]
    known = sorted(set(labels))
    assert measures.macro_f1(said, labels) == pytest.approx(100 * f1_score(labels, said, average="macro"))
    np.testing.assert_array_equal(measures.confusion(said, labels, known), confusion_matrix(labels, said, labels=known))
    curve = measures.curve(said, labels, 40)
    assert len(curve) == 40
    assert curve[-1] == pytest.approx(measures.accuracy(said, labels), abs=0.01)
    scores = [{"a": 0.3, "b": 0.1, "c": 0.3}, {"a": 0.2, "b": 0.9, "c": 0.1}]
    expected = np.mean([rankdata([-v for v in row.values()]) for row in scores], axis=0)
    assert list(measures.mean_ranks(scores).values()) == expected.tolist()


def test_the_critical_differences_are_those_of_demsar():
    # Table 5(a) of Demšar (2006): critical values of the two-tailed Nemenyi test at 0.05.
    for n_models, quantile in {2: 1.960, 5: 2.728, 10: 3.164}.items():
        expected = quantile * (n_models * (n_models + 1) / (6 * 30)) ** 0.5
        assert measures.critical_difference(n_models, 30) == pytest.approx(expected, abs=0.002)


def result(whole, drawn):
    return {"whole": whole, "last": whole + 1, "whole_drawn": drawn, "last_drawn": drawn + 1, "seconds": 1.0}


def test_gamma_is_chosen_for_every_shuffle_by_the_whole_stream(tmp_path):
    settings = reproduce.Settings(("balance",), (1, 2))
    store = jobs.Store(tmp_path / "results.jsonl")
    planned = [job for job in reproduce.plan(settings) if job["booster"] == "agnostic"]
    for job in planned:
        best = {1: 0.3, 2: 0.7}[job["shuffle"]]
        store.add(
            job, result(90.0 if job["gamma"] == 1.0 else 50.0, 80.0 + job["shuffle"] if job["gamma"] == best else 40.0)
        )
    (cell,) = reproduce.cells(settings, jobs.Store(tmp_path / "results.jsonl")).values()
    assert cell.gammas == [0.3, 0.7]
    assert cell.interval("whole_drawn") == (81.5, pytest.approx(0.5))
    assert cell.interval("last_drawn")[0] == 82.5
    assert cell.interval("whole")[0] == 90.0
    assert cell.differs("whole")  # 90 ± 0 beside 84.4 ± 0.68
    assert cell.differs("whole_drawn")  # 81.5 ± 0.5
    assert cell.differs("last_drawn")  # 82.5 ± 0.5, 1.9 away; twice the error is 1.7


def test_a_cell_counts_only_shuffles_whose_grid_is_finished(tmp_path):
    settings = reproduce.Settings(("balance",), (1, 2))
    store = jobs.Store(tmp_path / "results.jsonl")
    planned = [job for job in reproduce.plan(settings) if job["booster"] == "mbbm"]
    for job in planned[:-1]:
        store.add(job, result(70.0, 60.0))
    (cell,) = reproduce.cells(settings, store).values()
    assert len(cell.best) == 1


def test_every_booster_comes_first_once_so_that_processes_share_out_the_compiling():
    first = reproduce.plan(reproduce.Settings.quick(("balance", "cars"), 1))[:4]
    assert [job["booster"] for job in first] == ["agnostic", "mbbm", "default", "adaboost-olm"]
    everything = reproduce.plan(reproduce.Settings())
    assert len({jobs.key(job) for job in everything}) == len(everything) == 5 * 7 * 18 + 7


def test_other_code_finds_no_old_runs(tmp_path, monkeypatch):
    settings = reproduce.Settings.quick(("balance",), 1)
    store = jobs.Store(tmp_path / "results.jsonl")
    store.add(reproduce.plan(settings)[0], {})
    assert store.get(reproduce.plan(settings)[0]) == {}
    monkeypatch.setattr(jobs, "code", lambda: "changed")
    assert store.get(reproduce.plan(settings)[0]) is None


def test_a_run_can_be_accounted_for():
    (job,) = reproduce.accounts(reproduce.Settings(("balance",)))
    result = reproduce.run_on(ROWS, {**job, "n_learners": 4})
    assert [name for name, _ in result["account"]][:3] == ["comparator", "booster", "regret"]
    assert reproduce.accounts(reproduce.Settings.quick(("balance",), 1)) == []
