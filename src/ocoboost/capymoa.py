"""The online boosters for CapyMOA users: its classifier protocol around any of them.

pip install capymoa    # which also needs PyTorch and Java
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from capymoa.base import Classifier

from ocoboost.arrays import FloatArray
from ocoboost.data.rows import Row
from ocoboost.errors import InvalidInputError
from ocoboost.online.boost import OnlineBoostClassifier as Mixture
from ocoboost.stream.protocol import StreamClassifier


class OnlineBoostClassifier(Classifier):  # type: ignore[misc]
    """An online booster as a classifier of CapyMOA.

    Parameters
    ----------
    schema
        The stream's schema. Nominal features become text, missing ones are missing, and labels go by their names;
        the booster knows a label from the row on that brings it, as it does elsewhere.
    booster
        Any booster or forest of this package for streams; it is cloned, never changed. None stands for
        ``ocoboost.OnlineBoostClassifier()``, the mixture.
    random_seed
        The seed of the clone.

    Examples
    --------
    >>> from capymoa.evaluation import prequential_evaluation
    >>> from capymoa.stream.generator import SEA
    >>> stream = SEA()
    >>> model = OnlineBoostClassifier(stream.get_schema())
    >>> prequential_evaluation(stream, model, max_instances=300).cumulative.accuracy() > 75
    True

    """

    def __init__(self, schema: Any, booster: StreamClassifier | None = None, random_seed: int = 1) -> None:
        super().__init__(schema=schema, random_seed=random_seed)
        template = Mixture() if booster is None else booster
        if not isinstance(template, StreamClassifier):
            raise TypeError(
                f"OnlineBoostClassifier: booster must be one of ocoboost's online classifiers or None, got {booster!r}."
            )
        self.booster = template.clone({"seed": random_seed})
        self._labels: list[str] = list(schema.get_label_values())
        self._places = {label: place for place, label in enumerate(self._labels)}
        self._features = _features(schema)

    def __str__(self) -> str:
        """The booster's name, which CapyMOA's tables and plots show."""
        return type(self.booster).__name__

    def train(self, instance: Any) -> None:
        """Learn a labelled instance."""
        if instance.y_index < 0:
            raise InvalidInputError("train: the instance has no label; only those with one can be learned.")
        self.booster.learn_one(self._row(instance), self._labels[instance.y_index])

    def predict(self, instance: Any) -> int | None:
        """The index of the most probable label; None before the first label."""
        label = self.booster.predict_one(self._row(instance))
        return None if label is None else self._places[label]

    def predict_proba(self, instance: Any) -> FloatArray | None:
        """The probability of every label of the schema, 0 for those that have not come yet; None before the first."""
        known = self.booster.predict_proba_one(self._row(instance))
        return np.array([known.get(label, 0.0) for label in self._labels]) if known else None

    def _row(self, instance: Any) -> Row:
        cells = zip(self._features, np.asarray(instance.x, dtype=np.float64).tolist(), strict=True)
        return {name: _value(number, values) for (name, values), number in cells}


def _value(number: float, values: list[str] | None) -> float | str | None:
    """A feature, which CapyMOA holds as a number: NaN is missing, that of a nominal one is the place of its text."""
    if math.isnan(number):
        return None
    return number if values is None else values[int(number)]


def _features(schema: Any) -> list[tuple[str, list[str] | None]]:
    """Names in the order of an instance's numbers, and what nominal ones may be."""
    header, nominal = schema.get_moa_header(), schema.get_nominal_attributes()
    places = (place for place in range(header.numAttributes()) if place != header.classIndex())
    names = [str(header.attribute(place).name()) for place in places]
    nominal = {str(name): values for name, values in nominal.items()}
    return [(name, nominal.get(name)) for name in names]
