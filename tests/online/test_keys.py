"""Predictions under a key: what was said when counts, and nothing else is written."""

from __future__ import annotations

import pickle
import threading
from itertools import pairwise

import numpy as np
import pytest
from river import evaluate, metrics

import ocoboost
from awkward_rows import spoiled, stream
from laws import learned
from ocoboost import OnlineBoostClassifier
from ocoboost.errors import ConcurrentUseError, InvalidInputError
from ocoboost.online.mixture.keyed import Keyed
from ocoboost.online.mixture.sets import STEP

CLASSES = ["k0", "k1", "k2", "late label"]


def made(**options):
    return OnlineBoostClassifier(**({"budget": 30, "seed": 2, "classes": CLASSES} | options))


def known(model):
    """Everything but the ledger, and what suspects are called."""
    mixture = model.state_.engine
    keyed, keys = mixture.keyed, mixture.suspects.keys
    mixture.keyed, mixture.suspects.keys = Keyed(keyed.ledger.most, keyed.ledger.most_bytes), {}
    try:
        return learned(model)
    finally:
        mixture.keyed, mixture.suspects.keys = keyed, keys


@pytest.mark.parametrize("spoil", [False, True])
def test_a_label_that_comes_at_once_is_learned_as_without_a_key(spoil):
    rows = spoiled(stream()) if spoil else stream()
    plain, keyed = made(), made()
    for number, (x, label) in enumerate(rows):
        said = keyed.predict_proba_one(x, key=number)
        assert said == plain.predict_proba_one(x)
        keyed.learn_one(x, label, key=number)
        plain.learn_one(x, label)
        if number == 100:
            keyed = pickle.loads(pickle.dumps(keyed))
    assert known(keyed) == known(plain)
    assert (keyed.n_waiting_, keyed.n_dropped_, keyed.n_unmatched_) == (0, 0, 0)


def test_with_a_key_nothing_but_the_ledger_changes():
    model = made()
    model.learn_many(*map(list, zip(*stream(80), strict=True)))
    before, n_bytes = known(model), model.memory_usage_
    for number, (x, _) in enumerate(stream(10)):
        label, probabilities, chosen = (
            method(x, key=number) for method in (model.predict_one, model.predict_proba_one, model.predict_set_one)
        )
        assert label == model.predict_one(x)
        assert probabilities == model.predict_proba_one(x)
        assert chosen == model.predict_set_one(x)
    assert known(model) == before
    assert model.n_waiting_ == 10
    assert model.memory_usage_ > n_bytes


def delayed(model, rows, delay, first=0):
    """Predict under keys, and learn each row so many rows later; returns the model."""
    for number in range(first, len(rows) + delay):
        if number < len(rows):
            model.predict_one(rows[number][0], key=("row", number))
        if number >= first + delay:
            x, label = rows[number - delay]
            model.learn_one(x, label, key=("row", number - delay))
    return model


def test_the_same_is_said_again_until_the_label_comes():
    rows = stream(120)
    model = made()
    model.learn_many(*map(list, zip(*rows[:60], strict=True)))
    x = rows[60][0]
    said = model.predict_proba_one(x, key="a"), model.predict_set_one(x, 0.8, key="a"), model.predict_one(x, key="a")
    model.learn_many(*map(list, zip(*rows[61:], strict=True)))
    again = model.predict_proba_one(x, key="a"), model.predict_set_one(x, 0.8, key="a"), model.predict_one(x, key="a")
    assert said == again
    assert said[0] != model.predict_proba_one(x)


def test_what_was_said_then_counts():
    """The blend learns from the members' answers of then: a twin replays them through the kernel's own shell."""
    rows = stream(200)
    keyed = delayed(made(), rows, 25)
    plain = made()
    for x, label in rows:
        plain.learn_one(x, label)
    members = [model.state_.engine.cascades[0].ensemble.state() for model in (keyed, plain)]
    assert pickle.dumps(members[0]) == pickle.dumps(members[1])  # trees learn the rows as ever
    weights = [model.state_.engine.weights.quick for model in (keyed, plain)]
    assert not np.array_equal(*weights)
    rates = [model.state_.engine.prediction_sets.sets.rates for model in (keyed, plain)]
    assert not np.array_equal(*rates)


def test_coverage_is_that_of_the_sets_that_were_issued():
    rows, delay = stream(300), 40
    model, missed = made(), 0
    issued = {}
    for number in range(len(rows) + delay):
        if number < len(rows):
            issued[number] = model.predict_set_one(rows[number][0], 0.9, allow_empty=True, key=number)
        if number >= delay:
            x, label = rows[number - delay]
            missed += label not in issued[number - delay]
            model.learn_one(x, label, key=number - delay)
    rate = model.state_.engine.prediction_sets.sets.rates[1]
    assert rate == pytest.approx(0.1 + STEP * (0.1 * len(rows) - missed))


def test_dropped_and_unknown_keys_are_learned_as_without_one_and_counted():
    rows = stream(40)
    small, plain = made(ledger_size=5), made()
    small.learn_one(*rows[0], key="never predicted")
    plain.learn_one(*rows[0])
    for number, (x, _) in enumerate(rows):
        small.predict_one(x, key=number)
    assert (small.n_waiting_, small.n_dropped_, small.n_unmatched_) == (5, 35, 1)
    for number, (x, label) in enumerate(rows[:30]):
        small.learn_one(x, label, key=number)
        plain.learn_one(x, label)
    assert small.n_unmatched_ == 31
    assert known(small) == known(plain)


def test_the_ledger_counts_towards_the_limit():
    rows = stream(400)
    model = made(budget=10, max_size=4.0, ledger_size=10_000)
    model.learn_many(*map(list, zip(*rows, strict=True)))
    for number in range(3000):
        model.predict_one(rows[number % 400][0], key=number)
    keyed = model.state_.engine.keyed
    assert 0 < keyed.ledger.n_bytes <= 4.0 * 2**20 / 32
    assert model.n_waiting_ + model.n_dropped_ == 3000
    assert model.memory_usage_ <= 4.0 * 2**20


def test_saving_and_resuming_keep_what_waits(tmp_path):
    rows, delay = stream(200), 30
    whole = delayed(made(), rows, delay)
    model = made()
    for number in range(100):
        model.predict_one(rows[number][0], key=("row", number))
        if number >= delay:
            model.learn_one(*rows[number - delay], key=("row", number - delay))
    ocoboost.save(model, tmp_path / "model.oco")
    model = ocoboost.load(tmp_path / "model.oco")
    assert model.n_waiting_ == delay
    for number in range(100, len(rows) + delay):
        if number < len(rows):
            model.predict_one(rows[number][0], key=("row", number))
        model.learn_one(*rows[number - delay], key=("row", number - delay))
    assert learned(model) == learned(whole)


def test_suspects_are_charged_to_what_was_said_and_named_by_the_key():
    rows = stream(150)
    model = made()
    model.learn_many(*map(list, zip(*rows, strict=True)))
    x, label = rows[0][0], "k0"  # it is k1; the first row of a label is not scored, so no new one
    said = model.predict_proba_one(x, key="order 66")
    model.learn_many(*map(list, zip(*stream(40, seed=8), strict=True)))
    model.learn_one(x, label, key="order 66")
    row, (first, worst, *_) = model.n_rows_ - 1, model.state_.engine.suspects.notes
    noted = [kept.scores[kept.numbers == row, 0].tolist() for kept in (first, worst)]
    assert [said[label]] in noted  # the probability that the given label had then
    assert [suspect.key for suspect in model.suspects_ if suspect.row == row] == ["order 66"]


def test_wrong_keys_raise_and_change_nothing():
    rows = stream(30)
    model = made()
    model.learn_many(*map(list, zip(*rows, strict=True)))
    model.predict_one(rows[0][0], key="a")
    model.predict_one(rows[1][0], key="b")
    model.learn_one(*rows[1], key="b")
    before = pickle.dumps(model)
    for call, message in {
        lambda: model.learn_one(*rows[2], key="a"): "another row was predicted under the key 'a'",
        lambda: model.predict_one(rows[2][0], key="a"): "another row was predicted under the key 'a'",
        lambda: model.learn_one(*rows[1], key="b"): "'b' was answered before",
        lambda: model.predict_one(rows[1][0], key="b"): "'b' was answered before",
        lambda: model.predict_one(rows[1][0], key=[1]): "cannot be a key",
        lambda: model.learn_one(*rows[1], key={}): "cannot be a key",
        lambda: model.learn_one(rows[0][0], "unknown label", key="a"): "label",
        lambda: model.predict_one({"p": float("inf")}, key="c"): "finite",
    }.items():
        with pytest.raises(InvalidInputError, match=message):
            call()
    assert pickle.dumps(model) == before
    assert model.n_waiting_ == 1


def test_whole_numbers_and_floats_are_the_same_row():
    model = made(classes=["a", "b"])
    model.predict_one({"x": 1, "t": "red"}, key=1)
    model.learn_one({"t": "red", "x": 1.0}, "a", key=1)
    assert model.n_unmatched_ == 0


def test_labels_that_appear_while_a_row_waits():
    model = made(classes=None)
    rows = stream(60)
    model.learn_many(*map(list, zip(*rows, strict=True)))
    said = model.predict_proba_one(rows[0][0], key="early")
    model.learn_one(rows[1][0], "new")
    assert model.predict_proba_one(rows[0][0], key="early") == said
    model.learn_one(rows[0][0], "new", key="early")
    assert sum(model.predict_proba_one(rows[0][0]).values()) == pytest.approx(1.0)


def test_predicting_with_a_key_is_writing():
    model = made()
    model.learn_many(*map(list, zip(*stream(30), strict=True)))
    failed = []

    def ask():
        try:
            model.predict_one(stream(1)[0][0], key="a")
        except ConcurrentUseError as error:
            failed.append(error)

    with model._turns.learning(model):
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    assert len(failed) == 1
    assert model.n_waiting_ == 0


@pytest.mark.parametrize("delay", [None, 5])
def test_rivers_own_delay_works_as_ever(delay):
    rows = stream(60)
    found = evaluate.progressive_val_score(rows, made(), metrics.Accuracy(), delay=delay)
    assert found.get() > 0.3


# -- blocks ------------------------------------------------------------------------------------------------------------


def in_blocks(model, rows, sizes, delay):
    """``delayed`` with blocks of these sizes: each block is predicted whole, and labels come in blocks, too."""
    cuts, number = [0], 0
    while cuts[-1] < len(rows):
        cuts.append(min(len(rows), cuts[-1] + sizes[number % len(sizes)]))
        number += 1
    said, learned_to = [], 0
    for first, last in pairwise(cuts):
        keys = [("row", number) for number in range(first, last)]
        said += model.predict_proba_many([x for x, _ in rows[first:last]], keys=keys)
        until = len(rows) if last == len(rows) else max(learned_to, last - delay)
        X, y = [x for x, _ in rows[learned_to:until]], [label for _, label in rows[learned_to:until]]
        model.learn_many(X, y, keys=[("row", number) for number in range(learned_to, until)])
        learned_to = until
    return said


def one_by_one(model, rows, sizes, delay):
    """The same calls, row by row."""

    class Singly:
        def predict_proba_many(self, X, keys):
            return [model.predict_proba_one(x, key=key) for x, key in zip(X, keys, strict=True)]

        def learn_many(self, X, y, keys):
            for x, label, key in zip(X, y, keys, strict=True):
                model.learn_one(x, label, key=key)

    return in_blocks(Singly(), rows, sizes, delay)


@pytest.mark.parametrize("spoil", [False, True])
@pytest.mark.parametrize("options", [{}, {"ledger_size": 20}, {"class_weight": "balanced"}])
def test_blocks_under_keys_are_rows_under_keys(spoil, options):
    rows = spoiled(stream(260))[100:] if spoil else stream(160)
    block, single = made(**options), made(**options)
    assert in_blocks(block, rows, (7, 1, 30, 16), 25) == one_by_one(single, rows, (7, 1, 30, 16), 25)
    assert learned(block) == learned(single)
    counts = [(model.n_waiting_, model.n_dropped_, model.n_unmatched_) for model in (block, single)]
    assert counts[0] == counts[1]
    assert (counts[0][1] > 0) == ("ledger_size" in options)


def test_a_block_may_have_rows_without_a_key():
    rows = stream(90)
    block, single = made(), made()
    X, y = [x for x, _ in rows], [label for _, label in rows]
    keys = [None if number % 3 == 0 else number for number in range(40)]
    for model in (block, single):
        model.learn_many(X[50:], y[50:])
    said = block.predict_many(X[:40], keys=keys), block.predict_set_many(X[:40], 0.8, keys=keys)
    ones = (
        [single.predict_one(x, key=key) for x, key in zip(X, keys, strict=False)],
        [single.predict_set_one(x, 0.8, key=key) for x, key in zip(X, keys, strict=False)],
    )
    assert said == ones
    assert block.n_waiting_ == sum(key is not None for key in keys)
    block.learn_many(X[40:50], y[40:50])
    block.learn_many(X[:40], y[:40], keys=keys)
    for x, label, key in zip(X[40:50] + X[:40], y[40:50] + y[:40], [None] * 10 + keys, strict=True):
        single.learn_one(x, label, key=key)
    assert learned(block) == learned(single)
    assert block.predict_many(X[:3], keys=[None] * 3) == block.predict_many(X[:3])
    assert block.n_waiting_ == 0


def test_a_key_that_waits_gets_no_new_labels_in_a_block():
    model = made(classes=None, costs={"new": {"k0": 9.0, "k1": 9.0, "k2": 9.0}})
    rows = stream(60)
    model.learn_many(*map(list, zip(*rows, strict=True)))
    x, other = rows[0][0], rows[1][0]
    said, chosen, inside = (
        method(x, key="early") for method in (model.predict_proba_one, model.predict_one, model.predict_set_one)
    )
    model.learn_one(rows[1][0], "new")
    early, late = model.predict_proba_many([x, other], keys=["early", "late"])
    assert early == {**said, "new": 0.0}
    assert late == model.predict_proba_one(other)
    assert model.predict_many([x, other], keys=["early", "late"])[0] == chosen
    assert model.predict_set_many([x], keys=["early"]) == [inside]


def test_a_block_with_a_wrong_key_changes_nothing():
    rows = stream(40)
    X, y = [x for x, _ in rows], [label for _, label in rows]
    model = made(ledger_size=3)
    model.learn_many(X, y)
    model.predict_many(X[:2], keys=["a", "b"])
    model.learn_one(X[1], y[1], key="b")
    before = pickle.dumps(model)
    for call, message in {
        lambda: model.predict_many(X[2:5], keys=["c", "a", "d"]): "another row was predicted under the key 'a'",
        lambda: model.predict_many(X[2:4], keys=["c", "c"]): "another row was predicted under the key 'c'",
        lambda: model.predict_proba_many(X[2:4], keys=["c", []]): "cannot be a key",
        lambda: model.predict_set_many(X[1:3], keys=["b", "c"]): "'b' was answered before",
        lambda: model.learn_many([X[0], X[2], X[0]], y[:3], keys=["a", None, "a"]): "'a' was answered before",
        lambda: model.learn_many(X[:2], y[:2], keys=["a", "b"]): "'b' was answered before",
        lambda: model.learn_many(X[1:3], y[1:3], keys=[None, "a"]): "another row",
        lambda: model.learn_many(X[:2], y[:2], keys=["a"]): "keys has 1 entries",
        lambda: model.predict_many(X[:1], keys="a"): "keys must hold one per row",
    }.items():
        with pytest.raises(InvalidInputError, match=message):
            call()
        assert pickle.dumps(model) == before


def test_a_key_that_a_block_drops_may_be_issued_again_in_it():
    rows = stream(40)
    X, y = [x for x, _ in rows], [label for _, label in rows]
    block, single = made(ledger_size=2), made(ledger_size=2)
    for model in (block, single):
        model.learn_many(X, y)
        model.predict_one(X[0], key="a")
    block.predict_many(X[2:6], keys=["b", "c", "a", "b"])
    for x, key in zip(X[2:6], ["b", "c", "a", "b"], strict=True):
        single.predict_one(x, key=key)
    assert learned(block) == learned(single)
    assert block.n_dropped_ == 3


def test_keys_of_arrays_and_frames():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 3)), ["a" if draw < 0.5 else "b" for draw in rng.random(30)]
    array, frame = (made(classes=["a", "b"]) for _ in range(2))
    keys = np.arange(30)
    said = array.predict_many(X, keys=keys)
    assert frame.predict_many(pandas.DataFrame(X), keys=pandas.Series(keys)).tolist() == said
    array.learn_many(X, y, keys=keys)
    frame.learn_many(pandas.DataFrame(X), y, keys=keys.tolist())
    assert learned(array) == learned(frame)
    assert array.n_unmatched_ == 0
    array.predict_one({0: 1.0, 1: 2.0, 2: 3.0}, key=30)
    array.learn_many(np.array([[1, 2, 3]]), ["a"], keys=[30])
    assert array.n_unmatched_ == 0
