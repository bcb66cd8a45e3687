"""Numbers beyond the range of floats, against whole numbers and fractions, which have no range."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocoboost.learners.experts.wide import NOTHING, wide_add, wide_exp, wide_multiply, wide_ratio

wide = st.tuples(st.floats(2.0**-256, 2.0**256, exclude_max=True), st.integers(-6, 6))


def exact(number):
    mantissa, steps = number
    return Fraction(mantissa) * Fraction(2) ** (512 * steps)


def is_close(number, expected, bits=50):
    return abs(exact(number) - expected) <= expected / 2**bits


def is_normal(number):
    return 2.0**-257 <= number[0] < 2.0**256


@pytest.mark.kernels
@given(wide, wide)
def test_sums_and_products_are_those_of_fractions(a, b):
    total, product = wide_add(*a, *b), wide_multiply(*a, *b)
    assert is_close(total, exact(a) + exact(b))
    assert is_close(product, exact(a) * exact(b))
    assert is_normal(total)
    assert is_normal(product)
    small, large = sorted([a, b], key=exact)
    quotient = float(exact(small) / exact(large))
    assert math.isclose(wide_ratio(*small, *large), quotient, rel_tol=1e-15, abs_tol=2.0**-512)


@pytest.mark.kernels
@given(wide)
def test_zero_adds_nothing(a):
    assert wide_add(*a, 0.0, NOTHING) == a
    assert wide_add(0.0, NOTHING, *a) == a


@pytest.mark.kernels
@given(st.integers(-40_000, 40_000), st.integers(0, 8))
def test_exp_keeps_its_digits_far_from_one(whole, eighths):
    x = whole + eighths / 8  # exact, so that all error is exp's own
    halves = [wide_exp(x / 2), wide_exp(x / 2)]
    assert is_close(wide_multiply(*halves[0], *halves[1]), exact(wide_exp(x)), bits=47)
    if abs(x) < 170:
        assert wide_exp(x) == (math.exp(x), 0)
