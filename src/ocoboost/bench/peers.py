"""Other libraries' online ensembles under one name each, with the defaults that their authors chose.

River's are always there. CapyMOA's need ``pip install capymoa``, PyTorch and Java.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from river import base, ensemble, forest, tree

RIVER: dict[str, Callable[[int], base.Classifier]] = {
    "River AMF": lambda seed: forest.AMFClassifier(seed=seed),
    "River ARF": lambda seed: forest.ARFClassifier(seed=seed),
    "River SRP": lambda seed: ensemble.SRPClassifier(seed=seed),
    "River AdaBoost": lambda seed: ensemble.AdaBoostClassifier(tree.HoeffdingTreeClassifier(), seed=seed),
    "River ADWIN boosting": lambda seed: ensemble.ADWINBoostingClassifier(tree.HoeffdingTreeClassifier(), seed=seed),
    "River leveraging bagging": lambda seed: ensemble.LeveragingBaggingClassifier(
        tree.HoeffdingTreeClassifier(), seed=seed
    ),
    "River BOLE": lambda seed: ensemble.BOLEClassifier(tree.HoeffdingTreeClassifier(), seed=seed),
    "River Hoeffding tree": lambda seed: tree.HoeffdingTreeClassifier(),
}
NUMBERS_ONLY = ("River AMF",)  # text is turned into ranks for these

CAPYMOA = {
    "CapyMOA OzaBoost": "OzaBoost",
    "CapyMOA smooth boosting": "OnlineSmoothBoost",
    "CapyMOA ARF": "AdaptiveRandomForestClassifier",
    "CapyMOA SRP": "StreamingRandomPatches",
    "CapyMOA SGBT": "StreamingGradientBoostedTrees",
}


def predict_learn_capymoa(name: str, X: list[Any], labels: list[Any], seed: int) -> list[Any]:
    """Predict each row, then learn it; ``X`` holds numbers only."""
    import numpy as np
    from capymoa import classifier
    from capymoa.stream import NumpyStream

    known = sorted(set(labels), key=str)
    stream = NumpyStream(np.array([list(x.values()) for x in X], dtype=float), np.array(list(map(known.index, labels))))
    model = getattr(classifier, CAPYMOA[name])(stream.schema, random_seed=seed)
    predictions = []
    while stream.has_more_instances():
        instance = stream.next_instance()
        index = model.predict(instance)
        predictions.append(None if index is None else known[index])
        model.train(instance)
    return predictions
