"""Python values as JSON that keeps their types: 1, 1.0, True and "1" come back as what they were.

What JSON cannot express becomes an object with one key, the type: tuples, sets, bytes, dicts (whose keys need not be
text), floats that are not finite, and arrays, which are kept apart and referred to by number.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ocoboost.errors import ModelFileError


def pack(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:  # noqa: PLR0911, a case for each type
    """The value as JSON; arrays in it are appended to ``arrays``.

    >>> pack(("a", 1, 2.0, True), [])
    {'tuple': ['a', 1, 2.0, True]}
    """
    if isinstance(value, np.generic):
        value = value.item()
    kind = type(value)  # exactly: an Enum's member is a str too, and would come back as one
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if kind is list:
        return [pack(item, arrays) for item in value]
    if kind is tuple:
        return {"tuple": [pack(item, arrays) for item in value]}
    if kind in (set, frozenset):
        return {"set": sorted((pack(item, arrays) for item in value), key=repr)}
    if kind is dict:
        return {"dict": [[pack(key, arrays), pack(item, arrays)] for key, item in value.items()]}
    if kind is bytes:
        return {"bytes": value.hex()}
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    raise ModelFileError(
        f"{value!r} is a {kind.__name__}, which a model file cannot hold; labels, column names and parameters that can "
        "be saved are text, numbers, booleans, bytes, None, and tuples of these."
    )


def unpack(packed: Any, arrays: list[Any]) -> Any:  # noqa: PLR0911
    """The value that was packed; raises ``ValueError`` or ``TypeError`` for anything that ``pack`` does not make.

    An array is in one place only: it is taken from ``arrays``, and None is left there.
    """
    if isinstance(packed, list):
        return [unpack(item, arrays) for item in packed]
    if not isinstance(packed, dict):
        if isinstance(packed, float) and not math.isfinite(packed):
            raise ValueError(f"{packed} is no number that JSON can hold")
        return packed
    if len(packed) != 1:
        raise ValueError("an object must have one key, its type")
    ((kind, content),) = packed.items()
    if kind == "dict":
        unpacked = {unpack(key, arrays): unpack(item, arrays) for key, item in content}
        if len(unpacked) < len(content):
            raise ValueError("duplicate key")
        return unpacked
    if kind == "tuple":
        return tuple(unpack(item, arrays) for item in content)
    if kind == "set":
        return frozenset(unpack(item, arrays) for item in content)
    if kind == "bytes":
        return bytes.fromhex(content)
    if kind == "float" and content in ("nan", "inf", "-inf"):
        return float(content)
    if kind == "array":
        if type(content) is not int or not 0 <= content < len(arrays) or arrays[content] is None:
            raise ValueError(f"there is no array {content!r} left")
        array, arrays[content] = arrays[content], None
        return array
    raise ValueError(f"unknown type tag: {kind!r}")
