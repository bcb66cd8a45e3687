"""Rows whose given label looks wrong: kept in bounded memory, alike in any blocks, judged by who never learned them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ocoboost
from ocoboost import OnlineBoostClassifier
from ocoboost.cascade.answers import Answers
from ocoboost.data.schema import Additions, Block, Schema
from ocoboost.online.mixture import judging
from ocoboost.online.mixture.ages import UNBORN
from ocoboost.online.mixture.drift import Change, Drift
from ocoboost.online.mixture.suspects import N_FIRST, Suspects

RNG = np.random.default_rng(3)
N_ROWS = 700
POINTS = RNG.normal(size=(N_ROWS, 3))
CLEAN = ((POINTS[:, 0] > 0).astype(int) + 2 * (POINTS[:, 1] > 0)).tolist()
FLIPPED = sorted(RNG.choice(N_ROWS, N_ROWS // 10, replace=False).tolist())
GIVEN = [(label + 1) % 4 if row in set(FLIPPED) else label for row, label in enumerate(CLEAN)]


def schema_of(n_columns):
    schema = Schema()
    schema.apply(Additions(kinds={f"c{column}": "numbers" for column in range(n_columns)}), 1)
    return schema


def said(probabilities):
    return Answers(probabilities, probabilities, probabilities=probabilities)


@st.composite
def runs(draw):
    """What was said to rows of a stream, their labels and weights, and where it is cut into blocks."""
    n_rows, n_classes = draw(st.integers(1, 40)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    coarse = rng.integers(1, 4, (n_rows, n_classes)).astype(float)  # many ties
    cuts = sorted({0, n_rows, *draw(st.lists(st.integers(0, n_rows), max_size=4))})
    return (
        rng.normal(size=(n_rows, 2)),
        rng.integers(0, n_classes, n_rows),
        rng.choice([0.0, 1.0, 2.0], n_rows),
        coarse / coarse.sum(axis=1, keepdims=True),
        cuts,
    )


def noted(n_suspects, run, cuts, saves=False):
    X, labels, weights, probabilities, _ = run
    schema, kept = schema_of(2), Suspects(n_suspects, None, is_judged=True)
    for first, last in pairwise(cuts):
        rows = slice(first, last)
        kept.note(first, Block.of_codes(X[rows], schema), labels[rows], weights[rows], said(probabilities[rows]))
        if saves:
            state, kept = kept.state(), Suspects(n_suspects, None, is_judged=True)
            kept.restore(state, schema, probabilities.shape[1], last)
    return kept


@settings(max_examples=60, deadline=None)
@given(run=runs(), n_suspects=st.integers(1, 12), saves=st.booleans())
def test_the_worst_rows_are_kept_however_the_stream_is_cut(run, n_suspects, saves):
    X, labels, weights, probabilities, cuts = run
    kept = noted(n_suspects, run, cuts, saves)
    seen, expected, sums = set(), [], np.zeros((2, probabilities.shape[1]))
    for row, label in enumerate(labels):  # the twin: score all rows, sort, cut off
        if weights[row] > 0.0:
            sums[1, label] += 1.0
            if label in seen:
                expected.append((probabilities[row, label], row))
                sums[0, label] += probabilities[row, label]
            seen.add(label)
    numbers, _, scores, rows = kept.worst()
    assert list(zip(scores[:, 0], numbers, strict=True)) == sorted(expected)[:n_suspects]
    np.testing.assert_array_equal(rows, X[numbers])
    np.testing.assert_array_equal(kept.notes.sums[:, : sums.shape[1]], sums)
    assert kept.first()[0].tolist() == np.flatnonzero(weights > 0.0)[:N_FIRST].tolist()


@pytest.mark.parametrize("max_bytes", [16.0, 500.0, 5_000.0, 50_000.0])
def test_suspects_keep_to_their_memory_when_columns_come(max_bytes):
    kept, rng = Suspects(1000, max_bytes, is_judged=True), np.random.default_rng(1)
    n_before = None
    for number, n_columns in enumerate((1, 3, 60)):
        probabilities = rng.dirichlet([1.0, 1.0], 400)
        block = Block.of_codes(rng.normal(size=(400, n_columns)), _grown(n_columns, number))
        kept.note(400 * number, block, rng.integers(0, 2, 400), np.ones(400), said(probabilities))
        kept.identify(400 * number, [f"row {row}" for row in range(400)])
        assert kept.n_bytes <= max_bytes
        worst = kept.worst()
        assert n_before is None or len(worst[0]) <= n_before
        n_before = len(worst[0])
        assert np.isnan(worst[3][worst[0] < 400][:, 1:]).all()  # what came later is missing in earlier rows


def _grown(n_columns, number):
    schema = schema_of(n_columns)
    schema.version = number
    return schema


@pytest.fixture(scope="module")
def model():
    model = OnlineBoostClassifier(budget=60, seed=1)
    model.learn_many(POINTS, GIVEN)
    model.identify_rows(0, [f"id {row}" for row in range(N_ROWS)])
    return model


def test_flipped_labels_are_found(model):
    found = model.suspects_
    top = [suspect.row for suspect in found[: len(FLIPPED)]]
    assert len(set(top) & set(FLIPPED)) > 0.75 * len(FLIPPED)  # a tenth by chance
    assert [suspect.label_quality for suspect in found] == sorted(suspect.label_quality for suspect in found)
    for suspect in found:
        assert suspect.given_label == GIVEN[suspect.row] != suspect.predicted_label
        assert suspect.key == f"id {suspect.row}"
    issues = [suspect for suspect in found if suspect.is_label_issue]
    right = np.mean([suspect.predicted_label == CLEAN[suspect.row] for suspect in issues])
    assert len(issues) > 0.5 * len(FLIPPED)
    assert right > 0.75


def test_early_rows_are_judged_by_members_that_never_learned_them(model):
    """Flips among the first rows are found as well as any: by then a member born later has seen much more."""
    state = model.state_
    judged = judging.judge(state.engine, state.schema, 4)
    early = judged.numbers < 100
    wrong = np.isin(judged.numbers, FLIPPED)
    first = dict(zip(state.engine.suspects.first()[0], state.engine.suspects.first()[2][:, 0], strict=True))
    unjudged = np.array([first[number] for number in judged.numbers[early]])

    def separation(quality):
        return quality[~wrong[early]].mean() - quality[wrong[early]].mean()

    assert separation(judged.quality[early]) > separation(unjudged) + 0.05
    births = [slot.born for kind in state.engine.ages for slot in kind.slots if slot.born != UNBORN]
    judges = judging._judges(state.engine, judged.numbers, np.zeros(len(judged.numbers), dtype=bool))
    assert set(judges) <= set(births)
    for born, asked in judges.items():
        assert judged.numbers[asked].max() < born
        assert not any(judged.numbers[asked].max() < other < born for other in births)  # the eldest of them


def test_a_new_concept_is_no_wrong_label(model, monkeypatch):
    """Rows of a change are judged by members born in it, or not at all; rows before it are left as they were."""
    state = model.state_
    plain = judging.judge(state.engine, state.schema, 4)
    change = Change(row=300, noticed=690)
    monkeypatch.setattr(judging, "drift_of", lambda watch: Drift(0.0, [change], 1))
    judged = judging.judge(state.engine, state.schema, 4)
    scores = dict(zip(*state.engine.suspects.first()[0::2], strict=True))
    births = [slot.born for kind in state.engine.ages for slot in kind.slots if N_ROWS - slot.born >= judging.LEAST_AGE]
    for place, number in enumerate(judged.numbers):
        if 0 < number < 300:
            assert judged.quality[place] == scores[number][0]
        elif number <= 690 and not any(number < born for born in births):
            assert judged.believed[place] == judged.given[place]
    assert not np.array_equal(plain.quality, judged.quality)


def test_suspects_do_not_depend_on_blocks_threads_or_files(model, tmp_path):
    others = [OnlineBoostClassifier(budget=60, seed=1, n_jobs=jobs) for jobs in (1, 2)]
    for row in range(200):
        others[0].learn_one(dict(enumerate(POINTS[row].tolist())), GIVEN[row])
        others[0].identify_rows(row, [f"id {row}"])
    others[1].learn_many(POINTS[:200], GIVEN[:200])
    others[1].identify_rows(0, [f"id {row}" for row in range(200)])
    ocoboost.save(others[1], tmp_path / "model.oco")
    others.append(ocoboost.load(tmp_path / "model.oco"))
    assert others[0].suspects_ == others[1].suspects_ == others[2].suspects_
    for other in others:
        other.learn_many(POINTS[200:], GIVEN[200:])
        other.identify_rows(200, [f"id {row}" for row in range(200, N_ROWS)])
        assert other.suspects_ == model.suspects_


def test_without_a_row_or_a_place_there_are_no_suspects():
    assert OnlineBoostClassifier().suspects_ == []
    model = OnlineBoostClassifier(budget=10, n_suspects=0, seed=1)
    model.learn_many(POINTS[:50], GIVEN[:50])
    assert model.suspects_ == []
    with pytest.raises(ocoboost.errors.InvalidParameterError, match="n_suspects"):
        OnlineBoostClassifier(n_suspects=-1).check_parameters()
