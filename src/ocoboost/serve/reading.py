"""JSON of a request into rows and labels; whatever is wrong with it is said before anything happens.

Numbers in JSON become Python's, and come back from the log as they were: doubles are written with as many digits as it
takes. NaN and infinity are not JSON. A missing value is null, or is left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from ocoboost.data.labels import Label
from ocoboost.data.schema import NUMBER, TEXT
from ocoboost.serve.limits import Limits
from ocoboost.spelling import quoted

Features: TypeAlias = dict[str, Any]
LARGEST = 2**53  # whole numbers up to here are the same in every language


class RequestError(Exception):
    """A request that cannot be done; ``status`` is that of HTTP."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Asked(NamedTuple):
    """A row to predict."""

    id: str | None
    features: Features


class Question(NamedTuple):
    """A request to predict."""

    rows: list[Asked]
    keep: bool  # the rows, for their labels
    coverage: float | None  # of a set of labels, if one is wanted
    is_batch: bool


class Told(NamedTuple):
    """A label, for a row that was predicted or comes with it."""

    id: str | None
    label: Label
    features: Features | None


class Judged(NamedTuple):
    """Whether what was said to a row was right."""

    id: str
    is_right: bool


class Known(NamedTuple):
    """What the model that answers knows of columns and labels."""

    kinds: Mapping[Any, str | None] = {}
    classes: frozenset[Label] | None = None  # None: any label may come


def parsed(body: bytes) -> Any:
    """The JSON in a body."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise RequestError(400, f"the body is not UTF-8 (byte {error.start}); send JSON in UTF-8.") from None
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise RequestError(400, "the body is nested too deeply; a row is an object of numbers and text.") from None
    except ValueError as error:
        raise RequestError(400, f"the body is not JSON: {_shortened(error)}.") from None


def question(body: Any, limits: Limits, known: Known) -> Question:
    """A request to predict one row or several."""
    content = _object(body, {"id", "features", "rows", "keep", "set"}, "the body")
    keep, coverage = content.get("keep", True), content.get("set")
    if not isinstance(keep, bool):
        raise _bad("keep", "must be true or false", keep)
    if coverage is not None and not (_is_number(coverage) and 0.0 < coverage < 1.0):
        raise _bad("set", "must be a probability between 0 and 1, such as 0.9", coverage)
    rows = _rows(content, {"keep", "set"}, limits, lambda row, where: _asked(row, where, limits, known))
    return Question(rows, keep, None if coverage is None else float(coverage), "rows" in content)


def told(body: Any, limits: Limits, known: Known) -> tuple[list[Told], bool]:
    """A request to learn, and whether it is a batch."""
    content = _object(body, {"id", "features", "label", "rows"}, "the body")
    return _rows(content, set(), limits, lambda row, where: _told(row, where, limits, known)), "rows" in content


def name_of(body: Any, key: str, limits: Limits) -> str:
    """The one text in a body."""
    content = _object(body, {key}, "the body")
    if key not in content:
        raise RequestError(422, f"{key} is missing.")
    return _text(content[key], key, limits.id_text)


def feedback(body: Any, limits: Limits) -> tuple[list[Judged], bool]:
    """A request to learn what was right, and whether it is a batch."""
    content = _object(body, {"id", "right", "rows"}, "the body")
    return _rows(content, set(), limits, lambda row, where: _judged(row, where, limits)), "rows" in content


# -- rows --------------------------------------------------------------------------------------------------------------


def _rows(content: dict[str, Any], shared: set[str], limits: Limits, read: Callable[[Any, str], Any]) -> list[Any]:
    """The row of a request, or its rows."""
    if "rows" not in content:
        return [read({name: value for name, value in content.items() if name not in shared}, "")]
    alone = sorted(content.keys() - shared - {"rows"})
    if alone:
        raise RequestError(422, f"{alone[0]} stands beside rows; put it into a row of them.")
    rows = content["rows"]
    if not isinstance(rows, list) or not rows:
        raise _bad("rows", "must be a list of at least one row", rows)
    if len(rows) > limits.rows:
        raise RequestError(
            413, f"rows has {len(rows)} rows, and at most {limits.rows} are taken at once; send them apart."
        )
    found = [read(row, f"rows[{number}].") for number, row in enumerate(rows)]
    ids = [row.id for row in found if row.id is not None]
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise RequestError(422, f"rows has the id {quoted(twice)} twice; every row needs an id of its own.")
    return found


def _asked(row: Any, where: str, limits: Limits, known: Known) -> Asked:
    content = _object(row, {"id", "features"}, where.rstrip(".") or "the body")
    return Asked(_id(content, where, limits), _features(content.get("features"), f"{where}features", limits, known))


def _told(row: Any, where: str, limits: Limits, known: Known) -> Told:
    content = _object(row, {"id", "features", "label"}, where.rstrip(".") or "the body")
    name, features = _id(content, where, limits), content.get("features")
    if name is None and features is None:
        raise RequestError(422, f"{where}id is missing; name the row that the label belongs to, or give its features.")
    if features is not None:
        features = _features(features, f"{where}features", limits, known)
    return Told(name, _label(content.get("label"), f"{where}label", limits, known), features)


def _judged(row: Any, where: str, limits: Limits) -> Judged:
    content = _object(row, {"id", "right"}, where.rstrip(".") or "the body")
    if not isinstance(content.get("right"), bool):
        raise _bad(f"{where}right", "must be true or false", content.get("right"))
    return Judged(_text(content.get("id"), f"{where}id", limits.id_text), content["right"])


def _id(content: dict[str, Any], where: str, limits: Limits) -> str | None:
    name = content.get("id")
    return None if name is None else _text(name, f"{where}id", limits.id_text)


def _features(found: Any, where: str, limits: Limits, known: Known) -> Features:
    if not isinstance(found, dict):
        raise _bad(where, "must be an object from column names to numbers and text", found)
    if len(found) > limits.features:
        raise RequestError(422, f"{where} has {len(found)} columns, and at most {limits.features} are taken.")
    for name, value in found.items():
        if not (type(value) is float and math.isfinite(value) and known.kinds.get(name) == NUMBER):  # as most are
            _check_value(name, value, where, limits, known)
    return {name: found[name] for name in sorted(found)}


def _check_value(name: str, value: Any, where: str, limits: Limits, known: Known) -> None:
    """Raise for a value that no row can have, or not in this column."""
    _text(name, f"a column of {where}", limits.text)
    column = f"{where}[{quoted(name)}]"
    if isinstance(value, str):
        _text(value, column, limits.text, empty=True)
        kind: str | None = TEXT
    elif value is None:
        kind = None
    elif _is_number(value) or isinstance(value, bool):
        kind = NUMBER
    else:
        raise _bad(column, "must be a number (a whole one up to 2**53), text or null", value)
    before = known.kinds.get(name)
    if kind is not None and before is not None and kind != before:
        raise RequestError(422, f"{column} must be {_spoken(before)}, as in earlier rows, got {quoted(value)}.")


def _label(label: Any, where: str, limits: Limits, known: Known) -> Label:
    if isinstance(label, str):
        _text(label, where, limits.text, empty=True)
    elif not isinstance(label, bool) and not (type(label) is int and abs(label) <= LARGEST):
        raise _bad(where, "must be text, true, false or a whole number up to 2**53", label)
    if known.classes is not None and label not in known.classes:
        raise RequestError(422, f"{where} must be one of the classes that the model was given, got {quoted(label)}.")
    return label  # type: ignore[no-any-return]


# -- values ------------------------------------------------------------------------------------------------------------


def _object(found: Any, names: set[str], where: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise _bad(where, "must be an object", found)
    unknown = sorted(found.keys() - names)
    if unknown:
        raise RequestError(422, f"{where} has {quoted(unknown[0])}, but takes only {', '.join(sorted(names))}.")
    return found


def _text(found: Any, where: str, longest: int, *, empty: bool = False) -> str:
    if not isinstance(found, str) or not (found or empty):
        raise _bad(where, "must be text", found)
    if len(found) > longest:
        raise RequestError(422, f"{where} has {len(found)} characters, and at most {longest} are taken.")
    if not found.isascii():
        try:
            found.encode()
        except UnicodeEncodeError:
            raise RequestError(422, f"{where} holds half of a surrogate pair, which is no text.") from None
    if "\0" in found:
        raise RequestError(422, f"{where} holds the character NUL; leave it out.")
    return found


def _is_number(value: Any) -> bool:
    """Whether it is a number that a double can hold; booleans are none."""
    if type(value) is float:
        return math.isfinite(value)
    return type(value) is int and abs(value) <= LARGEST


def _spoken(kind: str) -> str:
    return "a number" if kind == NUMBER else "text"


def _bad(where: str, must: str, found: Any) -> RequestError:
    return RequestError(422, f"{where} {must}, got {_kind(found)}.")


def _kind(found: Any) -> str:
    """A value in a message; what may be nested deeply is not spelled out."""
    return "a list" if isinstance(found, list) else "an object" if isinstance(found, dict) else quoted(found)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number; leave the value out, or write null")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _shortened(error: Exception) -> str:
    return str(error)[:200].rstrip(".")
