"""What a model was told: its labels and threads, and its name in front of what is wrong with its input."""

from __future__ import annotations

import os
from collections.abc import Mapping, Set
from types import TracebackType
from typing import Any

from ocoboost.data.labels import Labels
from ocoboost.data.parameters import invalid
from ocoboost.errors import InvalidInputError


def n_threads(n_jobs: int) -> int:
    """The number of threads that ``n_jobs`` stands for."""
    return int(n_jobs) if n_jobs > 0 else os.cpu_count() or 1


def labels_known(model: Any) -> Labels:
    """The labels that a model's ``classes`` names, if it names any."""
    classes, must = model.classes, "be None or a sequence of distinct labels"
    if classes is None:
        return Labels()
    if isinstance(classes, str | Set | Mapping):  # a set's order is not repeatable
        raise invalid(model, "classes", must, classes)
    try:
        labels = Labels(classes)
    except TypeError as error:  # not iterable, or a label that cannot be one
        raise invalid(model, "classes", must, classes, str(error)) from None
    if len(labels) == 0 or len(set(labels.known)) < len(labels):
        raise invalid(model, "classes", must, classes)
    return labels


class Naming:
    """Puts a model's class in front of what is wrong with its input."""

    __slots__ = ("_model",)

    def __init__(self, model: object) -> None:
        self._model = model

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, InvalidInputError):
            raise InvalidInputError(f"{type(self._model).__name__}: {error}") from None
