"""What a run asks of a model that is not in this process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from ocoboost.stream.protocol import StreamClassifier
from ocoboost.stream.state import Answered


class FarModel(Protocol):
    """A model whose learners are elsewhere, as on a cluster."""

    @property
    def model(self) -> StreamClassifier:
        """What is here of it: labels, columns, and what a mixture knows of its members."""

    def prequential(self, X: Any, y: Any) -> Iterator[Answered]: ...

    def answer_many(self, X: Any) -> Answered: ...

    def learn_many(self, X: Any, y: Any) -> None: ...

    def to_local(self) -> StreamClassifier:
        """All of it."""
