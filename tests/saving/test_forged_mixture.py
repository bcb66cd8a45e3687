"""Forged mixtures: weights, watch, ages, neighbours and the last label are refused, or the model works."""

from __future__ import annotations

import numpy as np
import pytest

import ocoboost
from forging import File, entry, forged, refusal, replace, sealed, state
from model_files import MODELS, long_stream, taught
from ocoboost.errors import ModelFileError
from ocoboost.online.mixture.blend import Weights
from ocoboost.online.mixture.drift import Watch


@pytest.fixture(scope="module")
def ages(tmp_path_factory):
    """150 rows were learned, the last of them under a key; another key waits."""
    model, rows = MODELS["ages"](seed=3), list(long_stream(150))
    taught(model, rows[:-1])
    x, y, _ = rows[-1]
    model.predict_one(x, key="answered")
    model.predict_one(x, key="waiting")
    model.learn_one(x, y, key="answered")
    path = tmp_path_factory.mktemp("saved") / "model.oco"
    ocoboost.save(model, path)
    return path.read_bytes()


def put(value):
    return lambda array: array.reshape(-1).__setitem__(0, value)


REFUSED = {
    "a slow weight": (("weights", 0), put(0.5), "not a distribution"),
    "no slow weight": (("weights", 0), put(np.nan), "finite"),
    "a quick weight": (("weights", 1), put(-1.0), "not a distribution"),
    "a pool": (("weights", 2), put(1e300), "pools"),
    "an infinite pool": (("weights", 2), put(np.inf), "finite"),
    "a belief": (("weights", 3), put(2.0), "not a distribution"),
    "a belief in a shape": (("weights", 4), put(2.0), "not a distribution"),
    "a belief in being sure": (("weights", 5), put(2.0), "not a distribution"),
    "a weight that has not settled": (("weights", 6), put(0.5), "not a distribution"),
    "no weight to settle": (("weights", 6), put(np.nan), "finite"),
    "regret that nobody travelled": (("weights", 7), put(1e6), "regret"),
    "infinite regret": (("weights", 7), put(-np.inf), "finite"),
    "a way of less than nothing": (("weights", 8), put(-1.0), "regret"),
    "a weight of less than nothing": (("weights", 9), put(-1.0), "regret"),
    "one voter less": (("weights", 7), lambda array: array[:, 1:], "shape"),
    "one copy less": (("weights", 8), lambda array: array[1:], "shape"),
    "whole numbers": (("weights", 3), lambda array: array.view(np.int64), "expected float64"),
    "a bet that lost more than its stake": (("watch", 0), put(0.05), "bets on changes"),
    "a debt": (("watch", 0), put(-1.0), "bets on changes"),
    "a fortune that nobody noticed": (("watch", 0), put(1e9), "bets on changes"),
    "an infinite fortune": (("watch", 0), put(np.inf), "finite"),
    "a bet from before the stream": (("watch", 1), put(-1), "bets on changes"),
    "a bet from the future": (("watch", 1), put(150), "bets on changes"),
    "more mistakes than rows": (("watch", 2), put(1.1), "watch for changes"),
    "mistakes that are no number": (("watch", 2), put(np.nan), "finite"),
    "neither standing nor not": (("watch", 3), put(2), "watch for changes"),
    "not standing without a change": (("watch", 3), put(0), "watch for changes"),
    "a change that is not counted": (("watch", 4), put(7), "rows of changes"),
    "a change that is not noted": (("watch", 3), lambda stands: stands.__setitem__(1, 7), "watch for changes"),
    "more changes than rows": (("watch", 5), put(151), "number of changes"),
    "fewer changes than none": (("watch", 5), put(-1), "number of changes"),
    "one age less": (("watch", 0), lambda capital: capital[1:], "shape"),
    "a longer memory of changes": (("watch", 4), lambda changes: np.vstack([changes, changes]), "shape"),
    "rows as fractions": (("watch", 1), lambda begun: begun.astype(float), "expected int64"),
    "neighbours with other labels": (("neighbours", "labels"), put(4), "labels of the neighbours"),
    "neighbours without labels": (("neighbours", "labels"), put(-1), "labels of the neighbours"),
    "neighbours of no weight": (("neighbours", "weights"), put(0.0), "labels of the neighbours"),
    "neighbours far off": (("neighbours", "rows"), put(-np.inf), "rows of the neighbours"),
    "neighbours with a column less": (("neighbours", "rows"), lambda rows: rows[:, 1:], "rows of the neighbours"),
    "ranges of nothing": (("neighbours", "low"), put(np.nan), "rows of the neighbours"),
    "ranges of fewer columns": (("neighbours", "high"), lambda high: high[1:], "columns of the neighbours"),
    "a rate far above 1": (("prediction_sets", 0), put(1e9), "prediction sets: rates"),
    "a rate that is no number": (("prediction_sets", 0), put(np.nan), "finite"),
    "one level less": (("prediction_sets", 0), lambda rates: rates[1:], "shape"),
    "labels of no probability": (("prediction_sets", 1), put(0.0), "recent labels"),
    "more recent labels than rows": (("prediction_sets", 1), put(1e4), "recent labels"),
    "answers of a larger mixture": (("keyed", "members"), lambda members: np.append(members, 0.5), "ledger"),
    "answers below nothing": (("keyed", "members"), put(-0.5), "nobody can have given"),
    "answers above everything": (("keyed", "said"), put(1.5), "nobody can have given"),
    "long-lived members asleep": (("keyed", "awake"), put(0), "nobody can have given"),
    "half awake": (("keyed", "awake"), put(2), "nobody can have given"),
    "a probability of nothing": (("keyed", "said"), lambda said: said.fill(0.0), "nobody can have issued"),
    "a threshold below nothing": (("keyed", "thresholds"), put(-1.0), "nobody can have given"),
    "an answer without labels": (("keyed", "n_classes"), put(0), "numbers of labels"),
    "an answer with more labels": (("keyed", "n_classes"), put(5), "numbers of labels"),
    "ranges of all columns but one": (("neighbours", "low"), lambda low: low[1:], "columns of the neighbours"),
    "a suspect from the future": (("suspects", "first", 0), put(150), "rows of the suspects"),
    "a suspect twice": (("suspects", "first", 0), put(1), "rows of the suspects"),
    "suspects with other labels": (("suspects", "first", 1), put(4), "labels of the suspects"),
    "a suspect that is more than certain": (("suspects", "worst", 2), put(1.5), "labels of the suspects"),
    "a suspect that is no number": (("suspects", "worst", 2), put(np.nan), "finite"),
    "a suspect far off": (("suspects", "worst", 3), put(np.inf), "rows of the suspects"),
    "suspects with fewer columns": (("suspects", "worst", 3), lambda rows: rows[:, 1:], "rows of the suspects"),
    "one label less": (("suspects", "first", 1), lambda labels: labels[1:], "suspects"),
    "more confidence than rows": (("suspects", "sums"), put(1e9), "sums of the suspects"),
    "sums of other labels": (("suspects", "sums"), lambda sums: sums[:, 1:], "shape"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_forged_arrays_are_refused(name, ages, tmp_path):
    keys, change, message = REFUSED[name]
    file = File(ages)
    place = entry(state(file.header, "learned"), *keys)["array"]
    changed = change(file.arrays[place])
    file.arrays[place] = file.arrays[place] if changed is None else changed
    assert message in refusal(sealed(file.header, file.arrays), tmp_path)


VALUES = {
    "n_rows": [-1, 0, 149, 151, 2**53, 2**62, 10**30, 1.5, None, True, "150"],
    "last_label": [-2, -1, 4, 10**6, 2**63, 0.0, None, True, "0"],
    "weights": [[], None, {"dict": []}],
    "watch": [[], None, {"dict": []}],
    "members": [[], None],
    "ages": [[], None, [1], [[], []], [1, 1], {"dict": []}],
    "neighbours": [None, [], {"dict": []}],
    "suspects": [None, [], {"dict": []}],
    "prediction_sets": [None, [], {"dict": []}],
    "keyed": [None, [], {"dict": []}],
}
KEYED = {
    "keys": [None, [], [1], [{"tuple": ["a", True]}] * 2, [{"tuple": ["a", False]}], [{"tuple": [[], True]}]],
    "marks": [None, [], ["12345678"], [{"bytes": "00"}]],
    "n_dropped": [-1, None, 1.5],
    "n_unmatched": [-1, None, True],
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in KEYED.items() for value in values])
def test_forged_ledgers_are_refused(key, value, ages, tmp_path):
    """Two predictions were made under a key, and one of them is answered."""
    refusal(forged(ages, lambda header: replace(state(header, "learned", "keyed"), key, value)), tmp_path)


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in VALUES.items() for value in values])
def test_forged_values_are_refused(key, value, ages, tmp_path):
    """150 rows are learned: another number of them asks for another row of birth."""
    content = forged(ages, lambda header: replace(state(header, "learned"), key, value))
    if key == "n_rows" and value == 151:  # nobody was born in between
        works(content, tmp_path)
    else:
        refusal(content, tmp_path)


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("value", [-1, 0, 95, 97, 128, 10**9, 96.0, None, True])
def test_forged_births_are_refused(value, kind, ages, tmp_path):
    content = forged(ages, lambda header: replace(state(header, "learned", "ages", kind, 0), "born", value))
    assert "invalid row of birth" in refusal(content, tmp_path)


@pytest.mark.parametrize("value", [-1, 10**6, 2**60, None, 1.0])
def test_forged_versions_of_the_neighbours_columns_are_refused(value, ages, tmp_path):
    content = forged(ages, lambda header: replace(state(header, "learned", "neighbours"), "version", value))
    assert "neighbours" in refusal(content, tmp_path)


def works(content, tmp_path):
    """A model that loads predicts and learns, with distributions throughout."""
    (tmp_path / "model.oco").write_bytes(content)
    model = ocoboost.load(tmp_path / "model.oco")
    rows = [x for x, _, _ in long_stream(70)]
    with np.errstate(all="ignore"):
        model.learn_many(rows, [model.classes_[y % len(model.classes_)] for _, y, _ in long_stream(70)])
    for x in rows[:5]:
        for said in (model.predict_proba_one(x), model.distribution_one(x), model.vote_shares_one(x)):
            assert sum(said.values()) == pytest.approx(1.0)
    assert sum(model.member_weights_.values()) == pytest.approx(1.0)
    assert 0.0 <= model.drift_.score < 1.0
    assert all(suspect.given_label != suspect.predicted_label for suspect in model.suspects_)


NUMBERS = [np.nan, np.inf, -np.inf, -1.0, 0.0, 0.5, 1.0, 1e-300, 5e-324, 1e18, 1e308, -1e308]


@pytest.mark.slow
def test_mutated_parts_are_refused_or_harmless(ages, tmp_path):
    """Numbers in every array of the mixture's own, and of its neighbours."""
    whole = File(ages)
    learned = state(whole.header, "learned")
    places = [entry(learned, "weights", number)["array"] for number in range(len(Weights._fields))]
    places += [entry(learned, "watch", number)["array"] for number in range(len(Watch._fields))]
    places += [entry(learned, "prediction_sets", number)["array"] for number in range(2)]
    places += [entry(learned, "keyed", name)["array"] for name in ("members", "awake", "said", "thresholds")]
    places += [entry(learned, "neighbours", name)["array"] for name in ("rows", "labels", "weights", "low", "high")]
    places += [entry(learned, "suspects", name, number)["array"] for name in ("first", "worst") for number in range(4)]
    places.append(entry(learned, "suspects", "sums")["array"])
    outcomes = {"refused": 0, "works": 0}
    for case in range(160):
        draw = np.random.default_rng(case)
        file = whole.copy()
        array = file.arrays[places[case % len(places)]].reshape(-1)
        value = draw.choice(NUMBERS)
        array[draw.integers(array.size)] = value if array.dtype.kind == "f" else draw.choice([-1, 0, 1, 3, 4, 2**62])
        try:
            works(sealed(file.header, file.arrays), tmp_path)
            outcomes["works"] += 1
        except ModelFileError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 10
    assert sum(outcomes.values()) == 160
