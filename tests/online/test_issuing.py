"""Predictions that somebody else keeps: the same bits as with keys, and nothing of them in the model."""

from __future__ import annotations

import pytest

from model_files import knowledge
from ocoboost import OnlineBoostClassifier
from ocoboost.errors import InvalidInputError
from services import stream


def boost() -> OnlineBoostClassifier:
    return OnlineBoostClassifier(budget=30, seed=1)


def kept_elsewhere(rows, delay, n_at_once=1):
    """A model whose labels come late, and what was said to every row; learned in blocks."""
    model, waiting, said = boost(), [], []
    for row, label in rows:
        answered, issued = model.answer_issued_one(row) if n_at_once == 1 else model.answer_issued([row])
        said.append((answered.labels[0], answered.probabilities[0].tolist()))
        waiting.append((row, label, issued[0]))
        if len(waiting) >= delay + n_at_once:
            learn(model, waiting[:n_at_once])
            del waiting[:n_at_once]
    return model, said


def learn(model, entries):
    return model.learn_issued(*map(list, zip(*entries, strict=True)))


def keyed(rows, delay):
    """The same with the model's own ledger, row by row."""
    model, said = boost(), []
    for number in range(len(rows)):
        label = model.predict_one(rows[number][0], key=number)
        said.append((label, list(model.predict_proba_one(rows[number][0], key=number).values())))
        if number >= delay:
            row, label = rows[number - delay]
            model.learn_one(row, label, key=number - delay)
    return model, said


def weighed(model):
    """What is learned from what was said."""
    mixture = model.state_.engine
    return [array.tobytes() for array in (*mixture.weights, *mixture.watch, *mixture.prediction_sets.state())]


@pytest.mark.parametrize("with_text", [False, True])
def test_what_is_kept_elsewhere_teaches_what_the_ledger_teaches(with_text):
    rows = [(row if with_text else {"a": row["a"]}, label) for row, label in stream(120)]
    by_key, said = keyed(rows, 20)
    elsewhere, said_too = kept_elsewhere(rows, 20)
    assert said_too == said
    assert weighed(elsewhere) == weighed(by_key)
    assert elsewhere.n_waiting_ == elsewhere.n_unmatched_ == 0
    now = boost()
    now.learn_many([row for row, _ in rows[:100]], [label for _, label in rows[:100]])
    assert weighed(now) != weighed(elsewhere)  # which learned from what was said 20 rows before


def test_blocks_change_no_bit():
    rows, one = stream(150), boost()
    entries = []
    for number, (row, label) in enumerate(rows):
        if number % 10 == 0 and number >= 30:
            learn(one, entries[number - 30 : number - 20])
        entries.append((row, label, one.answer_issued([row])[1][0] if number % 3 else None))
    blocks, single = boost(), boost()
    said = learn(blocks, entries)
    alone = [answered for entry in entries for answered in learn(single, [entry])]
    assert knowledge(blocks) == knowledge(single)
    assert [label for one in said for label in one.labels] == [one.labels[0] for one in alone]


def test_a_row_that_brings_a_label_was_answered_as_it_was_answered_then():
    model = boost()
    model.learn_many([{"a": 1.0}, {"a": 2.0}] * 20, ["x", "y"] * 20)
    answered, issued = model.answer_issued([{"a": 1.0}])
    model.learn_many([{"a": 1.0}] * 40, ["y"] * 40)
    (said,) = model.learn_issued([{"a": 1.0}], ["new"], issued)
    assert said.labels == answered.labels == ["x"]
    assert said.probabilities[0].tolist() == [*answered.probabilities[0].tolist(), 0.0]


def test_bytes_that_no_model_of_this_kind_said_are_refused():
    model, other = boost(), OnlineBoostClassifier(budget=30, coverages=[0.9], seed=1)
    for one in (model, other):
        one.learn_many([{"a": 1.0}, {"a": 2.0}], ["x", "y"])
    _, issued = other.answer_issued([{"a": 1.0}])
    _, own = model.answer_issued([{"a": 1.0}])
    before = knowledge(model)
    for data in (issued[0], own[0][:-8], own[0] + b"12345678", b"", own[0][:-8] + b"\xff" * 8):
        with pytest.raises(InvalidInputError, match="issued"):
            model.learn_issued([{"a": 1.0}], ["x"], [data])
    assert knowledge(model) == before


def test_nothing_is_issued_before_the_first_label():
    answered, issued = boost().answer_issued_one({"a": 1.0})
    assert (answered.labels, issued) == ([None], [None])
