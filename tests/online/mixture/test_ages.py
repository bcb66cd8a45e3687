"""Members of every age: each answers as trees do that were taught only the rows since its birth."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from model_files import bits
from ocoboost import HoeffdingTrees, MondrianTrees
from ocoboost.cascade.cascade import Cascade
from ocoboost.data.schema import Block, Schema
from ocoboost.learners.alone import plain_cells
from ocoboost.online.mixture.ages import AGES, N_SLOTS, UNBORN, Ages, last_birth, slots_for
from ocoboost.randomness import member_seed

N_TREES, N_CLASSES = 2, 3


KINDS = {
    "mondrian": MondrianTrees(smoothing=3.0),
    "hoeffding": HoeffdingTrees(feature_share=0.7, grace_period=5, delta=0.5, tau=0.5),  # splits whenever it can
}
kinds = pytest.mark.parametrize("kind", KINDS)


def make(kind, seed):
    return Cascade(plain_cells(N_TREES, seed), KINDS[kind].make_ensemble(N_TREES, seed))


def stream(n_rows, seed=0):
    draw = np.random.default_rng(seed)
    rows = []
    for row in range(n_rows):
        x = {"a": float(draw.normal()), "c": ["red", "blue", "green"][draw.integers(3)]}
        if row > 70:
            x["b"] = float(draw.normal())
        rows.append((x, int(x["a"] > 0) + (x["c"] == "red"), float(draw.choice([0.0, 1.0, 2.0]))))
    return rows


def taught(ages, rows, cuts=(), first=0, schema=None):
    """What every age says to each row, from before it was learned."""
    schema = schema or Schema()
    said, awake = np.zeros((len(AGES), len(rows), N_CLASSES)), np.zeros((len(AGES), len(rows)), dtype=np.int64)
    plan = schema.plan([x for x, *_ in rows])
    edges = sorted({0, len(rows), *plan, *cuts})
    for begin, end in pairwise(edges):
        if begin in plan:
            schema.apply(plan[begin], N_CLASSES)
        x, y, w = zip(*rows[begin:end], strict=True)
        block, part, there = Block(list(x), schema), said[:, begin:end], awake[:, begin:end]
        for task in ages.tasks(block, np.array(y), np.array(w), N_CLASSES, first + begin, part, there):
            task()
    return schema, said, awake


def new(kind):
    return Ages(slots_for(lambda number, seed: make(kind, seed), range(100, 100 + N_SLOTS)), kind)


@kinds
def test_every_age_answers_as_trees_taught_only_since_its_birth(kind):
    rows = stream(210)
    ages = new(kind)
    schema, said, awake = taught(ages, rows)
    probes = [({"a": -0.3, "b": 1.0, "c": "blue"}, 0, 1.0), ({"a": 2.0, "c": "red"}, 0, 1.0)]
    for row in (31, 32, 63, 64, 100, 127, 128, 160, 209):
        for place, order in enumerate(AGES):
            assert awake[place, row] == (row >= 2**order)
            if row < 2**order:
                continue
            born = row - 2**order - (row - 2**order) % 2**order  # the multiple of 2**order that long ago
            slot = next(s for s in ages.slots if born in range(s.first_birth, row + 1, s.period))
            fresh = make(kind, member_seed(slot.seed, born // slot.period))
            _, alone = learn_alone(fresh, rows, born, row + 1)
            np.testing.assert_array_equal(said[place, row], alone)
    answers, there = np.zeros((len(AGES), 2, N_CLASSES)), np.zeros((len(AGES), 2), dtype=np.int64)
    ages.answer(Block([x for x, *_ in probes], schema), N_CLASSES, len(rows), answers, there)
    assert there[:, 0].tolist() == [int(len(rows) >= 2**order) for order in AGES]
    _, said, _ = taught(ages, probes[:1], first=len(rows), schema=schema)
    np.testing.assert_array_equal(answers[:, 0], said[:, 0])  # asked or taught: the same answer


def learn_alone(cascade, rows, born, end):
    """Trees that have the columns of the whole stream, and learn the rows from ``born`` on."""
    schema = Schema()
    plan = schema.plan([x for x, *_ in rows[:end]])
    edges = sorted({0, born, end - 1, end, *plan})
    answers = None
    for begin, stop in pairwise(edges):
        if begin in plan:
            schema.apply(plan[begin], N_CLASSES)
        if begin >= born:
            x, y, w = zip(*rows[begin:stop], strict=True)
            answers = cascade.learn(Block(list(x), schema), np.array(y), np.array(w), N_CLASSES, begin)
    return schema, answers.shares[-1]


@kinds
@pytest.mark.parametrize("cuts", [(), (1,), (31, 32, 33), (64, 100, 127), tuple(range(0, 210, 7))])
def test_births_do_not_depend_on_how_the_stream_is_cut(cuts, kind):
    rows = stream(210)
    one, other = new(kind), new(kind)
    _, said, awake = taught(one, rows)
    _, same, there = taught(other, rows, cuts)
    assert (said.tobytes(), awake.tobytes()) == (same.tobytes(), there.tobytes())
    assert bits(one.state()) == bits(other.state())
    assert [slot.born for slot in one.slots] == [last_birth(slot, 210) for slot in one.slots]
    assert [slot.born for slot in one.slots] == [160, 192, 128, UNBORN, UNBORN, UNBORN, UNBORN, 0, UNBORN]


@kinds
def test_a_restart_leaves_no_trace(kind):
    """The bits of its state are those of a new ensemble with that seed, which has the same columns and classes."""
    rows = stream(120)
    used, fresh = make(kind, 5), make(kind, 9)
    schema, _ = learn_alone(used, rows, 0, 120)
    assert used.ensemble.trees.n_nodes.max() > 1
    used.ensemble.restart(9)
    x, y, w = zip(*stream(60, seed=3), strict=True)
    block = Block(list(x), schema)
    fresh.ensemble.prepare(block, learning=True)
    fresh.ensemble.grow_classes(N_CLASSES)
    assert bits(used.ensemble.state()) == bits(fresh.ensemble.state())
    assert used.ensemble.settings() == fresh.ensemble.settings()
    answers = [c.learn(block, np.array(y), np.array(w), N_CLASSES, 0).shares.tobytes() for c in (used, fresh)]
    assert answers[0] == answers[1]
    assert bits(used.ensemble.state()) == bits(fresh.ensemble.state())


@kinds
def test_restored_members_go_on_as_before(kind):
    rows = stream(300)
    ages = new(kind)
    schema, *_ = taught(ages, rows[:150])
    copy = new(kind)
    copy.restore(ages.state(), schema, N_CLASSES, 150)
    assert copy.settings() == ages.settings()
    assert bits(copy.state()) == bits(ages.state())
    said = [taught(each, rows[150:], first=150, schema=schema)[1].tobytes() for each in (ages, copy)]
    assert said[0] == said[1]
    assert bits(copy.state()) == bits(ages.state())


@pytest.mark.parametrize("born", [UNBORN, 0, 31, 33, 10**9, -7, 96.0, True, None, "96"])
def test_a_row_of_birth_that_does_not_follow_from_the_clock_is_refused(born):
    ages = new("mondrian")
    schema, *_ = taught(ages, stream(150))
    state = ages.state()
    assert state[0]["born"] == 96
    state[0]["born"] = born
    with pytest.raises(ValueError, match="invalid row of birth"):
        new("mondrian").restore(state, schema, N_CLASSES, 150)
