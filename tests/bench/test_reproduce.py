"""The study behind the paper's table: what is drawn, what is chosen, and what the paper says."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import rankdata

from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier
from ocoboost.bench import datasets, jobs, measures, paper, prequential, reproduce

ROWS = datasets.shuffled(datasets.balance(), 1)[:150]
X, LABELS = [x for x, _ in ROWS], [y for _, y in ROWS]


def test_the_paper_has_four_boosters_on_seven_datasets():
    assert len(paper.TABLE) == 28
    assert paper.TABLE["agnostic", "balance"] == (84.4, 0.68, 11.5)
    assert paper.TABLE["realizable", "abalone"] == (22.0, 0.31, 248.2)
    assert tuple(datasets.PAPER) == paper.DATASETS


@pytest.mark.slow  # row by row
@pytest.mark.parametrize("classes", [None, ["B", "L", "R"]])
def test_a_trace_is_what_the_row_by_row_loop_predicts_and_samples(classes):
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


def naive_macro_f1(predictions, labels):
    scores = []
    for label in set(labels):
        hits = sum(p == y == label for p, y in zip(predictions, labels, strict=True))
        scores.append(2 * hits / (predictions.count(label) + labels.count(label)))
    return 100 * np.mean(scores)


@pytest.mark.parametrize("n_silent", [0, 1, 30])
def test_no_prediction_is_a_wrong_one_in_every_measure(n_silent):
    rng = np.random.default_rng(1)
    labels = [str(v) for v in rng.integers(0, 4, 200)]
    said = [y if rng.random() < 0.6 else str(rng.integers(0, 5)) for y in labels]  # "4" is never right
    said[:n_silent] = [None] * n_silent
    right = [p == y for p, y in zip(said, labels, strict=True)]
    assert measures.accuracy(said, labels) == pytest.approx(100 * np.mean(right))
    assert measures.macro_f1(said, labels) == pytest.approx(naive_macro_f1(said, labels))
    known = sorted(set(labels), reverse=True)
    pairs = Counter(zip(labels, said, strict=True))
    assert measures.confusion(said, labels, known).tolist() == [[pairs[y, p] for p in known] for y in known]
    curve = measures.curve(said, labels, 40)
    assert curve == [round(100 * np.mean(right[: 5 * (point + 1)]), 2) for point in range(40)]


def test_one_label_is_scored_without_a_warning():
    assert measures.accuracy([None, "a"], ["a", "a"]) == 50.0
    assert measures.macro_f1([None, "a"], ["a", "a"]) == pytest.approx(100 * 2 / 3)
    assert measures.confusion([None, "a"], ["a", "a"], ["a"]).tolist() == [[1]]


def test_mean_ranks_are_means_of_ranks_with_ties():
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


def test_one_job_of_every_kind_comes_first_so_that_processes_share_the_compiling():
    first = reproduce.plan(reproduce.Settings.quick(("balance", "cars"), 1))[:4]
    assert [job["booster"] for job in first] == ["agnostic", "mbbm", "boost", "adaboost-olm"]
    everything = reproduce.plan(reproduce.Settings())
    assert len({jobs.key(job) for job in everything}) == len(everything) == 5 * 7 * 18 + 7


def test_a_run_can_be_accounted_for():
    (job,) = reproduce.accounts(reproduce.Settings(("balance",)))
    result = reproduce.run_on(ROWS, {**job, "n_learners": 4})
    assert [name for name, _ in result["account"]][:3] == ["comparator", "booster", "regret"]
    assert reproduce.accounts(reproduce.Settings.quick(("balance",), 1)) == []
