"""Other libraries' online classifiers under one name each, with the defaults that their authors chose.

River's are always there. CapyMOA's need ``pip install capymoa``, PyTorch and Java. An ensemble may be asked for in
another size than its default.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from river import base, ensemble, forest, neighbors, tree

from ocoboost.bench.prequential import Trace

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
# Made for streams that change, so they are compared on such streams only.
RIVER_ADAPTIVE: dict[str, Callable[[int], base.Classifier]] = {
    "River adaptive tree": lambda seed: tree.HoeffdingAdaptiveTreeClassifier(seed=seed),
    "River kNN": lambda seed: neighbors.KNNClassifier(),
}
RIVER_SIZES = {  # the parameter with the number of models
    "River AMF": "n_estimators",
    "River ARF": "n_models",
    "River SRP": "n_models",
    "River leveraging bagging": "n_models",
}
NUMBERS_ONLY = ("River AMF", "River kNN")  # text is turned into numbers for these


def river(title: str, seed: int, size: int | None = None) -> base.Classifier:
    """A model of River, with ``size`` models in it if that is given."""
    model = {**RIVER, **RIVER_ADAPTIVE}[title](seed)
    return model if size is None else model.clone({RIVER_SIZES[title]: size})


class Capymoa(NamedTuple):
    """A classifier of CapyMOA, and its parameter with the number of models, if it is an ensemble."""

    class_name: str
    size: str | None = None


CAPYMOA = {
    "CapyMOA OzaBoost": Capymoa("OzaBoost", "boosting_iterations"),
    "CapyMOA smooth boosting": Capymoa("OnlineSmoothBoost", "boosting_iterations"),
    "CapyMOA ARF": Capymoa("AdaptiveRandomForestClassifier", "ensemble_size"),
    "CapyMOA SRP": Capymoa("StreamingRandomPatches", "ensemble_size"),
    "CapyMOA SGBT": Capymoa("StreamingGradientBoostedTrees", "boosting_iterations"),
    "CapyMOA leveraging bagging": Capymoa("LeveragingBagging", "ensemble_size"),
    "CapyMOA SAM-kNN": Capymoa("SAMkNN"),
    "CapyMOA kNN": Capymoa("KNN"),
    "CapyMOA adaptive tree": Capymoa("HoeffdingAdaptiveTree"),
}


def has_capymoa() -> bool:
    """Whether CapyMOA and the Java that it needs seem to be there; nothing is started."""
    return importlib.util.find_spec("capymoa") is not None and shutil.which("java") is not None


def stream_capymoa(title: str, X: Sequence[Any], labels: Sequence[Any], seed: int, size: int | None = None) -> Trace:
    """Predict each row, then learn it; ``X`` holds numbers only, always in the same columns."""
    import numpy as np
    from capymoa import classifier
    from capymoa.stream import NumpyStream

    known = sorted(set(labels), key=str)
    places = {label: place for place, label in enumerate(known)}
    stream = NumpyStream(
        np.array([list(x.values()) for x in X], dtype=float),
        np.array([places[label] for label in labels]),
    )
    peer, trace, heap = CAPYMOA[title], Trace(), _java_heap()
    options = {} if size is None or peer.size is None else {peer.size: size}
    model = getattr(classifier, peer.class_name)(stream.schema, random_seed=seed, **options)
    with trace.clock():
        while stream.has_more_instances():
            instance = stream.next_instance()
            index = model.predict(instance)
            trace.predictions.append(None if index is None else known[index])
            model.train(instance)
    trace.n_bytes = max(_java_heap() - heap, 0)
    return trace


def _java_heap() -> int:
    """Bytes in use after a collection: MOA's own measure needs an agent that CapyMOA does not start."""
    import jpype

    jpype.JClass("java.lang.System").gc()
    runtime = jpype.JClass("java.lang.Runtime").getRuntime()
    return int(runtime.totalMemory() - runtime.freeMemory())
