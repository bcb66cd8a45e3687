"""Learners that are Python objects, which no model file can hold."""

from __future__ import annotations

from typing import Any

from ocoboost.data.schema import Schema
from ocoboost.errors import ModelFileError


class Unsaved:
    """The part of ``contract.WeakEnsemble`` that model files use: everything raises ``ModelFileError``."""

    name: str

    def settings(self) -> dict[str, Any]:
        raise self._needs_pickle()

    def state(self) -> dict[str, Any]:
        raise self._needs_pickle()

    def restore(self, saved: dict[str, Any], schema: Schema, n_classes: int) -> None:
        raise self._needs_pickle()

    def _needs_pickle(self) -> ModelFileError:
        return ModelFileError(
            f"{self.name} cannot be put in a model file, which holds numbers and text but no Python objects. Use "
            "pickle, and unpickle only what you trust."
        )
