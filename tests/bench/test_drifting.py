"""Streams that change: at the rows that they name, and there only."""

from __future__ import annotations

from collections import Counter
from itertools import repeat

import numpy as np
import pytest

from ocoboost.bench import drifting
from ocoboost.bench.drifting import CATALOGUE, RECIPES, in_turn

STAGGER = (  # River's concepts, written out
    lambda x: x["size"] == 0 and x["color"] == 0,
    lambda x: x["color"] == 2 or x["shape"] == 0,
    lambda x: x["size"] in (1, 2),
)


@pytest.mark.parametrize("name", RECIPES)
def test_a_stream_has_the_rows_that_are_asked_for_and_changes_within_them(name):
    stream = RECIPES[name](1200, 1)
    assert len(stream.rows) == 1200
    assert list(stream.changes) == sorted(set(stream.changes))
    assert all(0 < change < 1200 for change in stream.changes)
    columns = set(stream.rows[0][0])
    assert all(set(x) == columns for x, _ in stream.rows)
    assert all(type(label) is str for _, label in stream.rows)
    assert len({label for _, label in stream.rows}) > 1
    assert RECIPES[name](1200, 1) == stream
    assert RECIPES[name](1200, 2) != stream


def test_development_and_reported_streams_have_no_rows_in_common_but_those_of_small_worlds():
    assert Counter(entry.use for entry in CATALOGUE.values()) == {use: len(RECIPES) for use in drifting.SEEDS}
    # There are only so many rows of two-valued columns, and packaged datasets are the same rows in another order.
    for name in set(RECIPES) - {"stagger-abrupt"} - {name for name in RECIPES if name.startswith("led")}:
        if not name.endswith(("swapped", "rotated")) or name.startswith("clouds"):
            first, second = (
                {tuple(x.values()) for x, _ in CATALOGUE[f"{name}-{seed}"].load(300).rows}
                for seed in drifting.SEEDS.values()
            )
            assert not first & second, name


def test_an_abrupt_change_is_at_the_row_that_is_named():
    stream = RECIPES["stagger-abrupt"](400, 3)
    assert stream.changes == (100, 200, 300)
    for part, concept in enumerate((0, 1, 2, 0)):
        rows = stream.rows[100 * part : 100 * (part + 1)]
        assert all(label == str(int(STAGGER[concept](x))) for x, label in rows)


def test_a_concept_that_comes_back_brings_rows_of_its_own():
    stream = RECIPES["mixed-abrupt"](400, 3)
    assert not {tuple(x.values()) for x, _ in stream.rows[:100]} & {tuple(x.values()) for x, _ in stream.rows[200:300]}


def test_a_gradual_change_goes_from_one_concept_to_the_next_within_its_width():
    stream = in_turn([repeat(({}, "a")), repeat(({}, "b"))], 20_000, seed=1, width=4000)
    is_new = np.array([label == "b" for _, label in stream.rows])
    assert stream.changes == (10_000,)
    assert not is_new[:10_000].any()
    assert is_new[14_000:].all()
    shares = is_new[10_000:14_000].reshape(4, 1000).mean(axis=1)
    assert shares == pytest.approx([1 / 8, 3 / 8, 5 / 8, 7 / 8], abs=4 * 0.5 / 1000**0.5)  # four standard errors


def test_a_rotation_and_a_swap_change_labels_half_way_and_nothing_else():
    rows = [({"x": number}, label) for number, label in enumerate("abcaabcaab")]
    rotated, swapped = drifting.rotated(rows), drifting.swapped(rows)
    assert [x for x, _ in rotated.rows] == [x for x, _ in rows]
    assert "".join(label for _, label in rotated.rows) == "abcaa" + "cabbc"
    assert "".join(label for _, label in swapped.rows) == "abcaa" + "acbba"
    assert rotated.changes == swapped.changes == (5,)


def test_squares_never_overlap_and_turn_back_after_a_thousand_rows():
    stream, place, step = drifting.squares(4500, 1), 0.0, 1.25 / 120
    for number, (x, label) in enumerate(stream.rows):
        begin = place + 1.25 * int(label)
        assert begin - 1e-9 <= x["x0"] <= begin + 1.0 + 1e-9
        place += step if number // 1000 % 2 == 0 else -step


def test_one_row_in_a_thousand_is_of_the_rare_class():
    stream = drifting.rare(100_000, 5)
    count = Counter(label for _, label in stream.rows)["2"]
    assert abs(count - 100) < 4 * 10  # four standard errors
