"""Labels and names as people read them: data, never markup, terminal escapes or formulas."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

# What spreadsheets take for the beginning of a formula, also in full width.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def escaped(value: object) -> str:
    """As text, with control characters and whatever else cannot be printed escaped as Python does.

    >>> print(escaped("a\\x1b[31mb"), escaped("Zürich"), escaped(1.5))
    a\\x1b[31mb Zürich 1.5
    """
    text = str(value)
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def shortened(value: object, longest: int = 60) -> str:
    """Escaped, and without the end if it is long."""
    text = escaped(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def abbreviated(labels: Sequence[str], longest: int) -> list[str]:
    """Labels cut to a length, and different ones different if that can be: without what all begin with, or by ends.

    >>> abbreviated(["short", "number one of many", "number two of them"], 12)
    ['short', 'number one …', 'number two …']
    >>> abbreviated(["a long label, number 1 of 2", "a long label, number 2 of 2"], 10)
    ['…1 of 2', '…2 of 2']
    """
    whole = [escaped(label) for label in labels]
    long = [text for text in whole if len(text) > longest]
    common = next((n for n, letters in enumerate(zip(*long, strict=False)) if len(set(letters)) > 1), 0)
    n_end = (longest - 1) // 2
    ways: list[Callable[[str], str]] = [
        lambda text: shortened(text, longest),
        lambda text: shortened(f"…{text[common:]}", longest),
        lambda text: f"{text[: longest - 1 - n_end]}…{text[-n_end:]}",
    ]
    for way in ways:
        short = [text if len(text) <= longest else way(text) for text in whole]
        if len(set(short)) == len(set(whole)):
            return short
    return [shortened(text, longest) for text in whole]


def as_call(model: Any) -> str:
    """A model as the call that makes it, with what differs from its defaults.

    >>> from ocoboost import HoeffdingTrees, OnlineBoostClassifier
    >>> as_call(OnlineBoostClassifier(HoeffdingTrees(max_depth=2), seed=1))
    'OnlineBoostClassifier(learner=HoeffdingTrees(max_depth=2), seed=1)'
    """
    changed = []
    for name, parameter in inspect.signature(type(model)).parameters.items():
        value = getattr(model, name, parameter.default)
        if value is not parameter.default and value != parameter.default:
            is_model = hasattr(value, "learn_one") or hasattr(value, "fit")
            changed.append(f"{name}={as_call(value) if is_model else ' '.join(repr(value).split())}")
    return f"{type(model).__name__}({', '.join(changed)})"


def quoted(value: object) -> str:
    """In quotes, for a message: nobody reads a cell of a thousand characters."""
    return shortened(repr(value))


def spelled(labels: Sequence[object]) -> list[str]:
    """A distinct name for every label: the label as text, or all as Python writes them if two would look the same.

    >>> spelled(["red", 1]), spelled(["1", 1])
    (['red', '1'], ["'1'", '1'])
    """
    names = [escaped(label) for label in labels]
    return names if len(set(names)) == len(names) else [escaped(repr(label)) for label in labels]


def as_json(label: object, name: str) -> Any:
    """The label itself where JSON has it, else its name.

    >>> as_json(1, "1"), as_json(b"x", "b'x'"), as_json(math.inf, "inf")
    (1, "b'x'", 'inf')
    """
    if isinstance(label, str | int) or (isinstance(label, float) and math.isfinite(label)):
        return label
    return name


def as_cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula: a quote in front of what begins like one. Numbers stay as they are.

    >>> as_cell("=1+1"), as_cell("'=1+1"), as_cell("-1"), as_cell("plain")
    ("'=1+1", "''=1+1", '-1', 'plain')
    """
    if not text.lstrip("'").startswith(_FORMULA):  # after quotes too: otherwise two labels could become one
        return text
    try:
        float(text)
    except ValueError:
        return "'" + text
    return text
