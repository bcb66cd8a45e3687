"""Text of any size: codes for the first categories, label statistics for all, in memory that does not grow."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocoboost import HoeffdingTrees, MondrianTrees, OnlineBoostClassifier
from ocoboost.data.schema import Column, Schema
from ocoboost.data.text import (
    LEANING,
    LONGEST,
    MOST_CATEGORIES,
    MOST_CODES,
    MOST_GROUPS,
    MOST_SHARES,
    TextCounts,
    category_of,
)

N_TEXTS = MOST_CATEGORIES + 5


def learned(rows, labels, n_classes):
    """A schema that has been through some rows, each with its label, and the matrix from before each was counted."""
    schema, encoded = Schema(), []
    for row, label in zip(rows, labels, strict=True):
        for additions in schema.plan([row]).values():
            schema.apply(additions, n_classes)
        encoded.append(schema.encode([row], np.array([label]), np.ones(1))[0])
    return schema, encoded


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 2), st.sampled_from([0.5, 1.0, 2.0])), max_size=40))
def test_shares_are_those_of_the_rows_before_with_the_same_text(rows):
    counts = TextCounts(2**16)
    for _ in range(3):
        counts.add_group()
    assert len({counts.place_of(text) for text in "abcd"}) == 4
    texts, labels, weights = ([row[part] for row in rows] for part in range(3))
    ours = counts.shares(texts, np.array(labels, dtype=np.int64), np.array(weights, dtype=float))
    seen, everything = defaultdict(Counter), Counter()
    for row, (text, label, weight) in enumerate(rows):
        for group in range(3):
            total = sum(everything.values())
            prior = everything[group] / total if total else 1.0 / 3.0
            expected = (seen[text][group] + LEANING * prior) / (sum(seen[text].values()) + LEANING)
            assert ours[row, group] == pytest.approx(expected, rel=1e-12)
        seen[text][label] += weight
        everything[label] += weight
    before = [array.copy() for array in counts.state()]
    counts.shares(texts, None, None)
    assert all(np.array_equal(*pair) for pair in zip(before, counts.state(), strict=True))


def test_statistics_begin_when_a_column_has_more_texts_than_codes():
    rows = [{"city": f"city {row % N_TEXTS}"} for row in range(3 * N_TEXTS)]
    labels = [row % N_TEXTS % 2 for row in range(len(rows))]
    schema, encoded = learned(rows, labels, n_classes=2)
    assert schema.columns == [Column("city"), Column("city", 0), Column("city", 1)]
    assert schema.n_codes("city") == MOST_CATEGORIES + 1
    assert [row[0] for row in encoded[N_TEXTS : 2 * N_TEXTS]] == [min(t, MOST_CATEGORIES) for t in range(N_TEXTS)]
    for text, row in enumerate(encoded[-N_TEXTS:]):  # by then every city was seen with its label
        assert row[1 + text % 2] > 0.5 > row[2 - text % 2]
    (missing,) = schema.encode([{"city": None}])
    assert np.isnan(missing).all()


def test_a_million_texts_take_no_more_memory_than_a_thousand():
    schema = Schema()
    sizes = []
    for n_texts in (1000, 20_000):
        rows = [{"id": f"{'x' * (row % 3000)}{row}"} for row in range(n_texts)]
        for _, additions in sorted(schema.plan(rows).items()):
            schema.apply(additions, 3)
        schema.encode(rows, np.arange(n_texts) % 3, np.ones(n_texts))
        sizes.append(schema.n_bytes)
    assert sizes[0] == sizes[1]


def test_many_columns_share_what_there_is():
    rows = [{f"c{column}": f"text {row}" for column in range(60)} for row in range(N_TEXTS)]
    schema = Schema()
    for _, additions in sorted(schema.plan(rows).items()):
        schema.apply(additions, 3 * MOST_GROUPS)
    assert sum(len(codes) for codes in schema.categories.values()) <= MOST_CODES
    assert len(schema.columns) == 60 + MOST_SHARES
    assert max(column.group for column in schema.columns) == MOST_GROUPS - 1
    assert schema.encode(rows).shape == (N_TEXTS, 60 + MOST_SHARES)


def test_long_texts_are_told_apart():
    first, second = "x" * 10**6, "x" * 10**6 + "y"
    assert category_of(first) != category_of(second)
    assert len(category_of(first)) == LONGEST


@pytest.mark.parametrize(
    "make",
    [
        lambda: HoeffdingTrees(n_learners=3, seed=1),
        lambda: MondrianTrees(n_learners=10, seed=1),
        lambda: OnlineBoostClassifier(budget=25, seed=1),
    ],
    ids=["hoeffding", "mondrian", "mixture"],
)
def test_a_rule_over_many_texts_is_learned(make):
    """Every city has a label of its own, and most were seen a dozen times."""
    rng = np.random.default_rng(1)
    usual = rng.integers(3, size=200)
    cities = rng.integers(200, size=3000)
    rows, labels = [{"a": float(rng.normal()), "city": f"city {c}"} for c in cities], [int(usual[c]) for c in cities]
    predicted = make().predict_learn_many(rows, labels)
    assert np.mean(np.array(predicted[-600:]) == np.array(labels[-600:])) > 0.9
