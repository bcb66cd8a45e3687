"""Positive numbers too large or too small for a float: a mantissa and how many times 2**512 multiplies it.

Weights of experts span thousands of orders of magnitude, and which of them will matter is not known until all are
summed; sums of logarithms are safe too, but take two transcendental functions each. A mantissa lies in
[2**-256, 2**256), so the product of two is still a float. Zero is ``(0.0, NOTHING)``.
"""

from __future__ import annotations

import math

from ocoboost.compiling import kernel

_STEP = 2.0**512
_BACK = 2.0**-512
_LARGEST = 2.0**256
_SMALLEST = 2.0**-256
_LOG_STEP = 512.0 * math.log(2.0)
# The same in two parts, the first of so few digits that its multiples are exact.
_LOG_STEP_HIGH = 354.8913564463146
_LOG_STEP_LOW = 3.773953313365913e-10
NOTHING = -(2**62)


@kernel
def wide_exp(x: float) -> tuple[float, int]:
    """e to the power x."""
    steps = math.floor(x / _LOG_STEP + 0.5)
    return math.exp(x - steps * _LOG_STEP_HIGH) * (1.0 - steps * _LOG_STEP_LOW), int(steps)


@kernel
def wide_add(a: float, a_steps: int, b: float, b_steps: int) -> tuple[float, int]:
    """The sum; a term less than 2**-512 of the other is dropped."""
    if a_steps < b_steps:
        a, a_steps, b, b_steps = b, b_steps, a, a_steps
    if a_steps == b_steps:
        a += b
    elif a_steps == b_steps + 1:
        a += b * _BACK
    if a >= _LARGEST:
        return a * _BACK, a_steps + 1
    return a, a_steps


@kernel
def wide_multiply(a: float, a_steps: int, b: float, b_steps: int) -> tuple[float, int]:
    """The product."""
    product = a * b
    steps = a_steps + b_steps
    if product >= _LARGEST:
        return product * _BACK, steps + 1
    if product < _SMALLEST:
        return product * _STEP, steps - 1
    return product, steps


@kernel
def wide_ratio(a: float, a_steps: int, b: float, b_steps: int) -> float:
    """a / b as a float, for a at most b; 0 if b is not a positive number, which takes rows of absurd weight."""
    if not b > 0.0:
        return 0.0
    if a_steps == b_steps:
        return a / b
    if a_steps == b_steps - 1:
        return a * _BACK / b
    return 0.0
