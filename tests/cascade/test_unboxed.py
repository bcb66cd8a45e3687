"""Values on pages: kernels see the same arrays, numbers and truth values as if Python had handed them over."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from ocoboost.cascade import unboxed
from ocoboost.compiling import IS_COMPILED, kernel

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")

NODE = np.dtype([("left", np.int64), ("weight", np.float64)])


class Inner(NamedTuple):
    matrix: Any
    nodes: Any
    count: int
    is_on: bool


class Outer(NamedTuple):
    inner: Inner
    empty: Any
    pair: tuple[int, float]
    seed: np.uint64


@kernel
def look(book, page, out):
    value = unboxed.read(book, page)
    inner = value.inner
    out[0] = inner.matrix[1, 2]
    out[1] = inner.nodes[1].weight + inner.nodes[1].left
    out[2] = inner.count
    out[3] = 1.0 if inner.is_on else 0.0
    out[4] = value.empty.shape[0] + value.pair[0] + value.pair[1]
    out[5] = value.seed >> np.uint64(60)
    inner.matrix[0, 0] += 1.0
    inner.nodes[0].left += 2


def outer(number: int) -> Outer:
    nodes = np.zeros(3, dtype=NODE)
    nodes[1] = (10 * number, 0.5)
    inner = Inner(np.arange(6.0).reshape(2, 3) + number, nodes, 7 + number, number % 2 == 1)
    return Outer(inner, np.empty((0, 4)), (number, 0.25), np.uint64(2**60 * (number + 1)))


def test_kernels_read_what_was_written_and_write_to_the_arrays():
    values = [outer(number) for number in range(4)]
    assert unboxed.can_hold("test", values[0])
    book = unboxed.empty_book("test", len(values))
    for page, value in enumerate(values):
        unboxed.write(book, page, value)
    for number, value in enumerate(values):
        out = np.zeros(6)
        look(book, number, out)
        expected = [5.0 + number, 10 * number + 0.5, 7 + number, number % 2, number + 0.25, number + 1]
        np.testing.assert_array_equal(out, expected)
        assert value.inner.matrix[0, 0] == number + 1.0
        assert value.inner.nodes[0]["left"] == 2


def test_a_page_may_be_written_again():
    book = unboxed.empty_book("test", 1) if unboxed.can_hold("test", outer(0)) else None
    for number in (3, 1):
        unboxed.write(book, 0, outer_kept := outer(number))
        out = np.zeros(6)
        look(book, 0, out)
        assert out[0] == outer_kept.inner.matrix[1, 2] == 5.0 + number


@pytest.mark.parametrize(
    "change",
    [
        lambda inner: inner._replace(matrix=np.asfortranarray(inner.matrix)),
        lambda inner: inner._replace(matrix=inner.matrix.astype(np.float32)),
        lambda inner: inner._replace(matrix=inner.matrix[0]),
        lambda inner: inner._replace(count=7.0),
        lambda inner: inner._replace(nodes=np.zeros(3)),
    ],
    ids=["order", "precision", "axes", "number", "records"],
)
def test_a_value_of_another_type_has_no_page(change):
    value = outer(2)
    assert unboxed.can_hold("test", value)
    assert not unboxed.can_hold("test", value._replace(inner=change(value.inner)))
    frozen = value.inner.matrix.copy()
    frozen.flags.writeable = False
    assert not unboxed.can_hold("test", value._replace(inner=value.inner._replace(matrix=frozen)))


def test_a_seed_may_have_any_bits():
    for seed in (2**63 + 5, 2**64 - 1, 0):
        value = outer(0)._replace(seed=np.uint64(seed))
        assert unboxed.can_hold("test", value)
        book, out = unboxed.empty_book("test", 1), np.zeros(6)
        unboxed.write(book, 0, value)
        look(book, 0, out)
        assert out[5] == seed >> 60


def test_numbers_of_other_sizes_are_refused_not_misread():
    class Short(NamedTuple):
        number: np.float32

    assert unboxed.can_hold("short", Short(np.float32(0.5)))
    with pytest.raises(TypeError, match="64 bits"):
        unboxed.empty_book("short", 1)
