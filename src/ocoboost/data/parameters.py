"""Declared ranges of constructor arguments, and the one sentence that says a value is outside its range."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ocoboost.errors import InvalidParameterError


class Range(Protocol):
    """A set of allowed values that can describe itself."""

    @property
    def hint(self) -> str: ...

    def __contains__(self, value: object) -> bool: ...

    def __str__(self) -> str: ...


@dataclass(frozen=True)
class Between:
    """Real numbers in an interval; ``closed`` is "both", "left", "right" or "neither"."""

    low: float
    high: float
    closed: str = "both"
    hint: str = ""

    def __contains__(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            return False
        try:
            value = float(value)
        except OverflowError:
            return False
        above = value >= self.low if self.closed in ("both", "left") else value > self.low
        below = value <= self.high if self.closed in ("both", "right") else value < self.high
        return above and below

    def __str__(self) -> str:
        left = "[" if self.closed in ("both", "left") else "("
        right = "]" if self.closed in ("both", "right") else ")"
        return f"lie in {left}{self.low:g}, {self.high:g}{right}"


@dataclass(frozen=True)
class Count:
    """Whole numbers from ``at_least`` up to, if given, ``below`` (exclusive)."""

    at_least: int
    below: int | None = None
    hint: str = ""

    def __contains__(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            return False
        return int(value) >= self.at_least and (self.below is None or int(value) < self.below)

    def __str__(self) -> str:
        upper = "" if self.below is None else f" and below {self.below}"
        return f"be a whole number of at least {self.at_least}{upper}"


class OneOf:
    """One of a few words or whole numbers; ``None`` may be among them."""

    def __init__(self, *choices: str | int | None, hint: str = "") -> None:
        self.choices = choices
        self.hint = hint

    def __contains__(self, value: object) -> bool:
        value = bool(value) if isinstance(value, np.bool_) else value
        same_kind = (isinstance(value, bool) == isinstance(choice, bool) for choice in self.choices if choice == value)
        return (value is None or isinstance(value, str | numbers.Integral)) and any(same_kind)  # True is not 1

    def __str__(self) -> str:
        words = ", ".join(repr(choice) for choice in self.choices)
        return f"be {words}" if len(self.choices) == 1 else f"be one of {words}"


class AnyOf:
    """A union of ranges."""

    def __init__(self, *ranges: Range, hint: str = "") -> None:
        self.ranges = ranges
        self.hint = hint

    def __contains__(self, value: object) -> bool:
        return any(value in allowed for allowed in self.ranges)

    def __str__(self) -> str:
        return ", or ".join(str(allowed) for allowed in self.ranges)


def shown(value: object) -> str:
    """A value as messages show it: on one line, and by its type if that is long."""
    text = " ".join(repr(value).split())  # River's representations have many lines
    return text if len(text) <= 100 else f"a {type(value).__name__}"


def invalid(owner: object, name: str, must: object, value: object, hint: str = "") -> InvalidParameterError:
    """The one sentence: class, name, range, value and, in brackets, a hint."""
    ending = f" ({hint})" if hint else ""
    return InvalidParameterError(f"{type(owner).__name__}: {name} must {must}, got {shown(value)}{ending}.")


def check_parameters(owner: object, ranges: Mapping[str, Range]) -> None:
    """Raise for the first argument of ``owner`` that is outside its declared range.

    >>> class Booster:
    ...     gamma = 1.5
    >>> check_parameters(Booster(), {"gamma": Between(0, 1, closed="right", hint="smaller means weaker learners")})
    Traceback (most recent call last):
    ...
    ocoboost.errors.InvalidParameterError: Booster: gamma must lie in (0, 1], got 1.5 (smaller means weaker learners).
    """
    for name, allowed in ranges.items():
        value: Any = getattr(owner, name)
        if value not in allowed:
            raise invalid(owner, name, allowed, value, allowed.hint)
