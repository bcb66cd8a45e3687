"""What mistakes cost, and the label that is cheapest to predict."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.data.labels import Label
from ocoboost.data.parameters import invalid


class Costs:
    """Costs by true and predicted label: 0 for a right label and 1 for a wrong one, unless told otherwise.

    >>> costs = Costs({("fraud", "fine"): 50.0})
    >>> costs.matrix(["fine", "fraud"]).tolist()
    [[0.0, 1.0], [50.0, 0.0]]
    """

    def __init__(self, told: Mapping[tuple[Label, Label], float]) -> None:
        self.told = dict(told)
        self._kept: tuple[int, FloatArray] | None = None  # the last matrix, by its number of labels

    def matrix(self, labels: Sequence[Label]) -> FloatArray:
        """True labels down, predicted labels across; labels only ever grow."""
        if self._kept is None or self._kept[0] != len(labels):
            made = 1.0 - np.eye(len(labels))
            places = {label: place for place, label in enumerate(labels)}
            for (true, predicted), cost in self.told.items():
                if true in places and predicted in places:
                    made[places[true], places[predicted]] = cost
            self._kept = len(labels), made
        return self._kept[1]

    def cheapest(self, probabilities: FloatArray, labels: Sequence[Label]) -> IntArray:
        """The label with the least expected cost; ties go to the more probable, then to the lowest index.

        A label of probability 0 was not known when the row was answered, so it is not predicted.
        """
        expected = np.zeros_like(probabilities)
        matrix = self.matrix(labels)
        for true in range(probabilities.shape[1]):  # in this order for any number of rows: a matrix product may not be
            expected += probabilities[:, true, None] * matrix[true]
        expected[probabilities == 0.0] = np.inf
        is_cheapest = expected == expected.min(axis=1, keepdims=True)
        chosen: IntArray = np.where(is_cheapest, probabilities, -1.0).argmax(axis=1)
        return chosen


def read_costs(model: Any) -> Costs | None:
    """A model's ``costs``: {true: {predicted: cost}}, or a matrix in the order of ``classes``."""
    told = model.costs
    if told is None:
        return None
    must = "be {true label: {predicted label: cost}}, or a matrix with a row and a column for each of classes"
    if isinstance(told, Mapping):
        if not all(isinstance(row, Mapping) for row in told.values()):
            raise invalid(model, "costs", must, told)
        pairs = {(true, predicted): cost for true, row in told.items() for predicted, cost in row.items()}
    else:
        if model.classes is None:
            raise invalid(model, "costs", must, told, "a matrix needs classes")
        try:
            rows = [list(row) for row in told]
        except TypeError:
            raise invalid(model, "costs", must, told) from None
        classes = [label.item() if isinstance(label, np.generic) else label for label in model.classes]
        if [len(row) for row in rows] != [len(classes)] * len(classes):
            raise invalid(model, "costs", must, told)
        pairs = {(true, said): rows[i][j] for i, true in enumerate(classes) for j, said in enumerate(classes)}
    for cost in pairs.values():
        if isinstance(cost, bool) or not isinstance(cost, numbers.Real) or not math.isfinite(cost):
            raise invalid(model, "costs", "be finite numbers", cost)
    _check_labels(model, "costs", (label for pair in pairs for label in pair))
    return Costs({pair: float(cost) for pair, cost in pairs.items()})


def _check_labels(model: Any, name: str, labels: Iterable[Any]) -> None:
    """Raise for a label that cannot occur."""
    if model.classes is None:
        return
    known = set(model.classes)
    for label in labels:
        if label not in known:
            raise invalid(model, name, "name labels that are in classes", label)


def read_class_weight(model: Any) -> Mapping[Label, float] | None:
    """A model's ``class_weight``: None, or a weight for each label, empty if they are to balance the labels."""
    told = model.class_weight
    if told is None or (isinstance(told, str) and told == "balanced"):
        return None if told is None else {}
    must = 'be None, "balanced", or {label: weight} with weights above 0'
    if not isinstance(told, Mapping) or not told:
        raise invalid(model, "class_weight", must, told)
    for weight in told.values():
        is_number = isinstance(weight, numbers.Real) and not isinstance(weight, bool)
        if not is_number or not math.isfinite(weight) or not weight > 0.0:
            raise invalid(model, "class_weight", must, told)
    _check_labels(model, "class_weight", told)
    return {label: float(weight) for label, weight in told.items()}
