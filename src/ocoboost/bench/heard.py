"""What a contestant says to rows: how well its probabilities rank the rows of each label, and what its labels cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from river import base

from ocoboost.arrays import FloatArray
from ocoboost.bench.jobs import Result
from ocoboost.data.costs import Costs
from ocoboost.data.labels import Label
from ocoboost.stream.ranks import ALERT_RATE, MOST_LABELS, Ranks
from ocoboost.stream.state import Answered

BLOCK = 1024  # rows that are counted together
OF_LABELS = ("label_rows", "average_precision", "recall_at_alert_rate")  # lists with an entry for each label


class Heard:
    """Counts what is said to rows. With ``costs`` every model predicts what is cheapest under its own probabilities."""

    def __init__(self, costs: Costs | None = None) -> None:
        self._costs = costs
        self._places: dict[Label, int] = {}
        self._ranks = Ranks()
        self._waiting: list[tuple[Label, Mapping[Any, float]]] = []
        self._paid = 0.0
        self._n_predicted = 0

    def block(self, labels: Sequence[Label], answered: Answered) -> list[Label | None]:
        """Hear what one of our models said to rows with these labels; returns its predictions."""
        self._count(labels, answered.classes, answered.probabilities)
        predictions = answered.labels
        if self._costs is not None and answered.classes:
            cheapest = self._costs.cheapest(answered.probabilities, answered.classes)
            said = zip(predictions, cheapest, strict=True)
            predictions = [None if label is None else answered.classes[place] for label, place in said]
        self._pay(labels, predictions)
        return predictions

    def row(self, label: Label, said: Mapping[Any, float], prediction: Label | None) -> Label | None:
        """Hear what a model of River said to a row with this label; returns its prediction."""
        self._waiting.append((label, said))
        if len(self._waiting) == BLOCK:
            self._count_waiting()
        if self._costs is not None and any(said.values()):
            prediction = _cheapest(self._costs, said)
        self._pay([label], [prediction])
        return prediction

    def summary(self, known: Sequence[Label]) -> Result:
        """The mean area in percent, the mean cost, and for each of these labels, which have all occurred: its number of
        rows, area and recall. Labels beyond the first hundred are not ranked.
        """
        self._count_waiting()
        ranked = [self._places[label] for label in known if self._places[label] < MOST_LABELS]
        areas = [self._ranks.average_precision(place) for place in ranked]
        recalls = [self._ranks.recall(place) for place in ranked]
        return {
            "area": round(100.0 * float(np.mean(areas)), 4),
            "label_rows": [int(self._ranks.own[place].sum()) for place in ranked],
            "average_precision": [round(area, 5) for area in areas],
            "recall_at_alert_rate": [round(recall, 5) for recall in recalls],
            "alert_rate": ALERT_RATE,
            "cost": None if self._costs is None else round(self._paid / max(1, self._n_predicted), 6),
        }

    def _count(self, labels: Sequence[Label], classes: Sequence[Label], probabilities: FloatArray) -> None:
        for label in (*classes, *labels):
            self._places.setdefault(label, len(self._places))
        said: FloatArray = np.zeros((len(labels), len(self._places)))
        said[:, [self._places[label] for label in classes]] = probabilities
        self._ranks.add(np.array([self._places[label] for label in labels]), said, len(self._places))

    def _count_waiting(self) -> None:
        if self._waiting:
            classes: list[Label] = list(dict.fromkeys(label for _, said in self._waiting for label in said))
            matrix = [[said.get(label, 0.0) for label in classes] for _, said in self._waiting]
            labels = [label for label, _ in self._waiting]
            self._count(labels, classes, np.array(matrix).reshape(len(labels), len(classes)))
            self._waiting = []

    def _pay(self, labels: Iterable[Label], predictions: Iterable[Label | None]) -> None:
        if self._costs is None:
            return
        for label, prediction in zip(labels, predictions, strict=True):
            if prediction is not None:
                self._paid += _cost(self._costs, label, prediction)
                self._n_predicted += 1


def ask(model: base.Classifier, x: Any) -> tuple[Mapping[Any, float], Label | None]:
    """A River classifier's probabilities and its prediction; it is asked once if that is their mode, as in most."""
    said = model.predict_proba_one(x)
    if type(model).predict_one is not base.Classifier.predict_one:
        return said, model.predict_one(x)
    return said, max(said, key=said.__getitem__) if said else None


def _cost(costs: Costs, label: Any, prediction: Any) -> float:
    return costs.told.get((label, prediction), float(label != prediction))


def _cheapest(costs: Costs, said: Mapping[Any, float]) -> Any:
    """The label with the least expected cost, among those that are possible; ties go to the more probable.

    >>> _cheapest(Costs({("fraud", "fine"): 50.0}), {"fine": 0.96, "fraud": 0.04})
    'fraud'
    """
    possible = [label for label, probability in said.items() if probability > 0.0]
    expected = {other: sum(said[label] * _cost(costs, label, other) for label in possible) for other in possible}
    return min(possible, key=lambda label: (expected[label], -said[label]))
