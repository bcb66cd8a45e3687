"""Tables in, predictions out: dicts, NumPy arrays and data frames for the same model.

Frames are read and made through narwhals, on which River already depends, so pandas, polars and PyArrow tables work and
none of them is required. Predictions come back in kind: for a frame, a series or a frame of its library (pandas keeps
its index); for anything else, a list or an array.
"""

from __future__ import annotations

import numbers
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.data.labels import PLAIN, Label, as_label
from ocoboost.data.rows import CheckedRows, NumberRows, Row, as_row
from ocoboost.errors import InvalidInputError


def read_row(x: object) -> Row:
    """One dict of features."""
    if not isinstance(x, Mapping):
        raise InvalidInputError(
            f"x must be a dict from feature names to values, got {type(x).__name__}; "
            "for arrays and frames use learn_many and predict_many."
        )
    return as_row(x, 0)


def read_rows(X: Any) -> Sequence[Row]:
    """Rows of an array, a frame or a sequence of dicts. Columns of a bare array are named 0, 1, 2, ..."""
    if isinstance(X, NumberRows | CheckedRows):
        return X
    if isinstance(X, Mapping):
        raise InvalidInputError(
            "X must be a table of rows, got one dict; use learn_one or predict_one for a single row."
        )
    if hasattr(X, "to_pylist") and _as_frame(X) is None:  # a PyArrow record batch
        X = X.to_pylist()
    numbers = _as_numbers(X)
    if numbers is not None:
        return numbers
    columns = _columns(X)
    if columns is not None:
        names, values = columns
        return [as_row(dict(zip(names, cells, strict=True)), row) for row, cells in enumerate(values)]
    if not _are_dicts(X):
        return [as_row(dict(enumerate(values)), row) for row, values in enumerate(_as_array(X).tolist())]
    for row, x in enumerate(X):
        if not isinstance(x, Mapping):
            raise InvalidInputError(f"X: row {row} is {x!r}, but the rows before it are dicts; make it a dict.")
    return [as_row(x, row) for row, x in enumerate(X)]


def _are_dicts(X: Any) -> bool:
    """Whether ``X`` is a sequence of dicts; an empty sequence is one."""
    return isinstance(X, Sequence) and not isinstance(X, str | bytes) and (len(X) == 0 or isinstance(X[0], Mapping))


def _as_numbers(X: Any) -> NumberRows | None:
    """Rows of an array or frame that holds only numbers; such a table stays a matrix."""
    if isinstance(X, np.ndarray) and not isinstance(X, np.ma.MaskedArray):
        is_plain = X.ndim == 2 and X.dtype.kind in "fiub"
        return NumberRows.read(range(X.shape[1]), X) if is_plain else None
    if _is_pandas(X):
        is_plain = all(getattr(dtype, "kind", "O") in "fiub" and isinstance(dtype, np.dtype) for dtype in X.dtypes)
        is_plain &= X.columns.is_unique and len(X.columns) > 0
        return NumberRows.read(list(X.columns), X.to_numpy()) if is_plain else None
    return None


def _columns(X: Any) -> tuple[list[Hashable], Iterable[tuple[Any, ...]]] | None:
    """A frame's column names and its rows, or None for anything that is not a frame."""
    if _is_pandas(X):  # by position: names need not be strings, and duplicates get our own error
        names: list[Hashable] = list(X.columns)
        if len(set(names)) < len(names):
            raise InvalidInputError(f"X: duplicate column names in {names!r}; rename them.")
        columns = [X.iloc[:, position].tolist() for position in range(len(names))]
        return names, zip(*columns, strict=True) if names else [()] * len(X)
    frame = _as_frame(X)
    return None if frame is None else (list(frame.columns), frame.iter_rows())


def _as_frame(X: Any) -> nw.DataFrame[Any] | None:
    try:
        frame = nw.from_native(X, pass_through=True, eager_only=True)
    except nw.exceptions.DuplicateError:
        raise InvalidInputError("X: duplicate column names; rename them.") from None
    return frame if isinstance(frame, nw.DataFrame) else None


def _is_pandas(X: Any) -> bool:
    return nw.dependencies.is_pandas_like_dataframe(X)


def _as_array(X: Any) -> np.ndarray[Any, Any]:
    must = "X must be a two-dimensional array (one row per example), a data frame or a list of dicts"
    fixes = "collect a lazy frame, call toarray() on a sparse matrix, list() a generator, convert dates to numbers"
    try:
        # Lists may mix numbers and text, which NumPy would turn into text; masked arrays keep their mask.
        array = np.asanyarray(X, dtype=object if isinstance(X, Sequence) else None)
    except ValueError:
        raise InvalidInputError(f"{must}, got {type(X).__name__} with rows of different lengths.") from None
    if array.ndim != 2 or array.dtype.names is not None or array.dtype.kind in "mM":
        got = f"got {type(X).__name__} with shape {array.shape} and type {array.dtype}"
        if array.ndim == 1 and array.dtype.names is None and not any(isinstance(row, Sequence) for row in array[:1]):
            fixes = "reshape(-1, 1) makes it one column, reshape(1, -1) one row"
        raise InvalidInputError(f"{must}, {got}; {fixes}.")
    return array


def read_labels(y: Any, n_rows: int) -> list[Label]:
    """One label per row."""
    if isinstance(y, str | bytes | bytearray | Mapping | Set) or not hasattr(y, "__iter__"):
        raise InvalidInputError(f"y must hold one label per row, got {type(y).__name__} {y!r}; put it in a list.")
    if getattr(y, "ndim", 1) != 1:
        raise InvalidInputError(f"y must be one-dimensional, got shape {y.shape}; select one column.")
    labels = _as_list(y)
    _check_length("y", labels, n_rows)
    if set(map(type, labels)) <= PLAIN:  # checking them one by one would take as long as a single tree learns
        return labels
    return [read_label(label, row) for row, label in enumerate(labels)]


def read_label(label: object, row: int = 0) -> Label:
    """One label."""
    return as_label(label, f"y: the label at row {row}")


def read_weights(w: Any, n_rows: int) -> FloatArray:
    """One finite, non-negative weight per row; None means 1."""
    if w is None:
        return np.ones(n_rows)
    n_dimensions = getattr(w, "ndim", 0 if isinstance(w, numbers.Real) else 1)
    if n_dimensions == 0:
        return np.full(n_rows, _as_weight(w.item() if hasattr(w, "item") else w, 0))
    if isinstance(w, str | bytes | bytearray | Mapping | Set) or not hasattr(w, "__iter__") or n_dimensions != 1:
        raise InvalidInputError(f"w must be a number, or one number per row, got {type(w).__name__} {w!r}.")
    weights = [_as_weight(weight, row) for row, weight in enumerate(_as_list(w))]
    _check_length("w", weights, n_rows)
    return np.array(weights, dtype=np.float64)


def read_keys(keys: Any, n_rows: int) -> list[Any]:
    """One key per row; None for a row that has none."""
    if isinstance(keys, str | bytes | bytearray | Mapping | Set) or not hasattr(keys, "__iter__"):
        raise InvalidInputError(f"keys must hold one per row, got {type(keys).__name__} {keys!r}; put it in a list.")
    if getattr(keys, "ndim", 1) != 1:
        raise InvalidInputError(f"keys must be one-dimensional, got shape {keys.shape}; select one column.")
    read = _as_list(keys)
    _check_length("keys", read, n_rows)
    return read


def _as_list(values: Any) -> list[Any]:
    """Python scalars of a list, an array or a series of any library."""
    if getattr(getattr(values, "dtype", None), "kind", "") in ("m", "M"):
        return list(values)  # tolist() turns some dates into integers
    for method in ("to_pylist", "to_list", "tolist"):  # PyArrow; pandas and polars; NumPy
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def _check_length(name: str, values: list[Any], n_rows: int) -> None:
    if len(values) != n_rows:
        raise InvalidInputError(
            f"{name}: X has {n_rows} rows and {name} has {len(values)} entries; give {name} one entry per row."
        )


def _as_weight(weight: Any, row: int) -> float:
    if not isinstance(weight, numbers.Real) or not 0.0 <= weight <= sys.float_info.max:  # type: ignore[operator]
        raise InvalidInputError(f"w: the weight at row {row} is {weight!r}; it must be a finite number of at least 0.")
    return float(weight)


def make_labels(X: Any, labels: list[Label | None]) -> Any:
    """Predicted labels: a series of the library that ``X`` is a frame of, else a list."""
    frame = _as_frame(X)
    if frame is None:
        return labels
    if _is_pandas(X):
        return nw.get_native_namespace(X).Series(labels, index=X.index, dtype=_pandas_type(labels))
    try:
        return nw.new_series("prediction", labels, backend=frame.implementation).to_native()
    except Exception as error:  # labels of mixed types, or of a type that the library has no column for
        raise _unfit("series cannot hold the predicted labels", frame, error) from error


def make_matrix(X: Any, labels: Sequence[Label], matrix: FloatArray) -> Any:
    """Numbers per row and label: a frame of ``X``'s library with a column per label, dicts for dicts, or an array."""
    frame = _as_frame(X)
    if frame is None:
        return [dict(zip(labels, row, strict=True)) for row in matrix.tolist()] if _are_dicts(X) else matrix
    if _is_pandas(X):
        namespace = nw.get_native_namespace(X)
        columns = namespace.Index(list(labels), dtype=_pandas_type(labels), tupleize_cols=False)
        return namespace.DataFrame(matrix, index=X.index, columns=columns)
    data = {str(label): matrix[:, column] for column, label in enumerate(labels)}  # whose column names are strings
    if len(data) < len(labels):
        raise InvalidInputError(
            f"X: labels {list(labels)!r} do not have distinct column names in {frame.implementation.name.lower()}; "
            "pass a pandas frame or a list of dicts."
        )
    try:
        return nw.from_dict(data, backend=frame.implementation).to_native()
    except Exception as error:  # text that is not valid Unicode
        raise _unfit("frame cannot have columns with the names of the labels", frame, error) from error


def _pandas_type(labels: Sequence[Label | None]) -> type[object] | None:
    """The type of a pandas series of labels: its own choice, except where that is not ours or does not work."""
    is_unicode = all(label.isascii() or _is_unicode(label) for label in set(labels) if isinstance(label, str))
    return None if labels and is_unicode else object


def _is_unicode(text: str) -> bool:
    """Whether a text can be encoded; lone surrogates, as of a file read with ``surrogateescape``, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unfit(what: str, frame: nw.DataFrame[Any], error: Exception) -> InvalidInputError:
    library = frame.implementation.name.lower()
    return InvalidInputError(f"X: a {library} {what} ({error}); pass a pandas frame or a list of dicts.")
