"""The nearest of the latest rows, against brute force and scikit-learn."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

from model_files import bits
from ocoboost.data.schema import Block, Schema
from ocoboost.online.mixture.neighbours import N_NEAREST, WINDOWS, Neighbours

pytestmark = pytest.mark.kernels
NOTHING = np.empty(0, dtype=np.int64), np.empty(0)


def taught(stream, max_bytes=None, n_classes=3, block=1):
    """What the neighbours say to every row, from before it was kept; blocks are cut where the schema grows."""
    neighbours, schema = Neighbours(max_bytes), Schema()
    said = np.zeros((len(WINDOWS), len(stream), n_classes))
    awake = np.zeros(said.shape[:2], dtype=np.int64)
    rows = [x for x, *_ in stream]
    plan = schema.plan(rows)
    cuts = sorted({0, len(stream), *plan, *range(0, len(stream), block)})
    for first, last in pairwise(cuts):
        if first in plan:
            schema.apply(plan[first], n_classes)
        labels, weights = np.array([y for _, y, _ in stream[first:last]]), np.array([w for *_, w in stream[first:last]])
        part, there = said[:, first:last], awake[:, first:last]
        neighbours.ask(Block(rows[first:last], schema), labels, weights, part, there)
    return neighbours, schema, said, awake


def naive_votes(stream, number, capacity, n_classes=3):
    """From the definition: distances in units of the ranges so far, the nearest of the latest rows that were kept."""
    kept = [(x, y, w) for x, y, w in stream[:number] if w > 0.0]
    x = stream[number][0]
    names = {name for row, *_ in kept for name in row}  # a column that is new tells no row from another
    spans = {}
    for name in names:
        values = [float(row[name]) for row in [*(row for row, *_ in kept), x] if isinstance(row.get(name), float)]
        spans[name] = max(values) - min(values) if values else 0.0
    every = []
    for window in WINDOWS:
        held = kept[::-1][: min(window, capacity)]
        distances = []
        for row, _, _ in held:
            total = 0.0
            for name in names:
                one, other = x.get(name), row.get(name)
                if one is None or other is None:
                    total += (one is None) != (other is None)
                elif isinstance(one, str):
                    total += one != other
                elif spans[name] > 0.0:
                    total += ((one - other) / spans[name]) ** 2
            distances.append(np.sqrt(total))
        votes = np.zeros(n_classes)
        for place in np.argsort(distances, kind="stable")[:N_NEAREST]:
            votes[held[place][1]] += held[place][2] / (distances[place] + 1e-9)
        every.append(votes / votes.sum())
    return np.array(every)


def mixed_stream(seed, n_rows=90):
    draw = np.random.default_rng(seed)
    stream = []
    for row in range(n_rows):
        x = {"a": float(draw.normal()), "b": float(draw.integers(3))}
        if row > 20:
            x["c"] = ["red", "blue", "green"][draw.integers(3)]
        if row > 50:
            x["d"] = float(draw.random())
        x = {name: value for name, value in x.items() if draw.random() < 0.9}
        stream.append((x, int(draw.integers(3)), float(draw.choice([0.0, 1.0, 1.0, 2.5]))))
    return stream


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("max_bytes", [None, 1000.0])
def test_numbers_text_and_gaps_as_in_the_twin(seed, max_bytes):
    """Columns appear little by little; with little memory, fewer rows fit each time."""
    stream = mixed_stream(seed)
    neighbours, _, said, awake = taught(stream, max_bytes)
    n_columns = 0
    for row in range(1, len(stream)):
        n_columns = len({name for x, *_ in stream[:row] for name in x})
        capacity = 1024 if max_bytes is None else (1000 - 24 * n_columns - 16) // (8 * (n_columns + 2))
        now = len({name for x, *_ in stream[: row + 1] for name in x})
        if now > n_columns:  # the memory shrinks before the row is answered
            capacity = 1024 if max_bytes is None else (1000 - 24 * now - 16) // (8 * (now + 2))
        if any(w > 0.0 for *_, w in stream[:row]):
            assert np.all(awake[:, row])
            np.testing.assert_allclose(said[:, row], naive_votes(stream, row, capacity), atol=1e-6)
    assert max_bytes is None or neighbours.n_bytes <= max_bytes
    assert not awake[0, 0]


def test_a_block_is_as_good_as_its_rows():
    stream = mixed_stream(7)
    one, _, said, awake = taught(stream, 3000.0)
    other, _, same, there = taught(stream, 3000.0, block=13)
    assert said.tobytes() == same.tobytes()
    assert awake.tobytes() == there.tobytes()
    assert bits(one.state()) == bits(other.state())


def test_plain_numbers_as_scikit_learn_has_them():
    draw = np.random.default_rng(1)
    X, y = draw.random((400, 3)), draw.integers(0, 3, size=400)
    X[0], X[1] = 0.0, 1.0  # the ranges are known from the start
    stream = [(dict(zip("abc", map(float, x), strict=True)), int(label), 1.0) for x, label in zip(X, y, strict=True)]
    _, _, said, _ = taught(stream, block=50)
    for row in (70, 150, 399):
        for number, window in enumerate(WINDOWS):
            latest = slice(max(0, row - window), row)
            oracle = KNeighborsClassifier(N_NEAREST, weights="distance").fit(X[latest], y[latest])
            np.testing.assert_allclose(said[number, row], oracle.predict_proba(X[row : row + 1])[0], atol=1e-6)


def test_asking_keeps_nothing():
    neighbours, schema, *_ = taught(mixed_stream(1))
    before = bits(neighbours.state())
    said, awake = np.zeros((3, 2, 3)), np.zeros((3, 2), dtype=np.int64)
    neighbours.ask(Block([{"a": 0.1, "c": "violet"}, {}], schema), *NOTHING, said, awake)
    assert bits(neighbours.state()) == before
    assert np.all(awake)
    np.testing.assert_allclose(said.sum(axis=2), 1.0)


def test_rows_of_weight_zero_are_not_kept_and_any_weights_do_no_harm():
    stream = [({"a": float(row)}, row % 2, 0.0) for row in range(5)]
    neighbours, _, _, awake = taught(stream)
    assert neighbours.memory.counts.tolist() == [0, 0]
    assert not np.any(awake)
    rows = [({"a": 0.0}, 0, 1e300), ({"a": 1.0}, 1, 5e-324), ({"a": 0.0}, 2, 1.0), ({"a": 1.0}, 1, 1.0)]
    _, _, said, _ = taught(rows)
    np.testing.assert_allclose(said[:, 1:].sum(axis=2), 1.0)
    assert np.all(said[:, 3, 0] > 0.99)  # as heavy as rows come


@settings(max_examples=50)
@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, 1e308, -1e308, 5e-324, 1e-300, 1e18]), min_size=2, max_size=12))
def test_any_numbers_do_no_harm(values):
    _, _, said, _ = taught([({"a": value, "b": 1.0}, row % 3, 1.0) for row, value in enumerate(values)])
    np.testing.assert_allclose(said[:, 1:].sum(axis=2), 1.0)
    assert said.min() >= 0.0


def test_with_too_little_memory_it_remembers_nothing():
    neighbours, _, _, awake = taught(mixed_stream(1), 60.0)
    assert neighbours.n_bytes <= 60
    assert not np.any(awake[:, 60:])


@pytest.mark.parametrize("max_bytes", [None, 1000.0, 60.0])
def test_a_restored_memory_goes_on_as_before(max_bytes):
    stream = mixed_stream(3, 120)
    neighbours, schema, *_ = taught(stream, max_bytes)
    copy = Neighbours(max_bytes)
    copy.restore(neighbours.state(), schema, 3)
    assert bits(copy.state()) == bits(neighbours.state())
    assert copy.n_bytes == neighbours.n_bytes
    answers = []
    for each in (neighbours, copy):
        said, awake = np.zeros((3, 9, 3)), np.zeros((3, 9), dtype=np.int64)
        labels, weights = np.arange(9) % 3, np.ones(9)
        each.ask(Block([x for x, *_ in mixed_stream(4)[80:89]], schema), labels, weights, said, awake)
        answers.append((said.tobytes(), awake.tobytes(), bits(each.state())))
    assert answers[0] == answers[1]


FORGERIES = {
    "a version of the future": ("version", lambda v: v + 1),
    "an old version with all columns of a new one": ("version", lambda v: -1),
    "ranges of fewer columns": ("low", lambda low: low[1:]),
    "no ranges": ("high", lambda high: high * np.nan),
    "a column less": ("rows", lambda rows: rows[:, 1:]),
    "an infinite value": ("rows", lambda rows: rows * np.inf),
    "a row less": ("rows", lambda rows: rows[1:]),
    "more rows than fit": ("rows", lambda rows: np.repeat(rows, 40, axis=0)),
    "a label too high": ("labels", lambda labels: labels + 3),
    "a label below 0": ("labels", lambda labels: labels - 3),
    "labels that are no whole numbers": ("labels", lambda labels: labels.astype(float)),
    "a weight of 0": ("weights", lambda weights: weights * 0.0),
    "an infinite weight": ("weights", lambda weights: weights * np.inf),
    "no array": ("weights", lambda weights: weights.tolist()),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_what_cannot_have_been_learned_is_refused(name):
    neighbours, schema, *_ = taught(mixed_stream(3))
    key, change = FORGERIES[name]
    state = neighbours.state()
    with np.errstate(invalid="ignore"):
        state[key] = change(state[key])
    with pytest.raises(ValueError, match="neighbours"):
        Neighbours(None).restore(state, schema, 3)
