"""Classifiers in files: what they were told (parameters) and what they have learned.

Nothing in a file says which code to run. The class is looked up among the public ones, its parameters are checked as
anyone's are, and they alone decide what a fresh state is made of; the file then fills its numbers in.
"""

from __future__ import annotations

import inspect
import os
from typing import Any

import numpy as np

from ocoboost import registry
from ocoboost.arrays import checked_count, checked_like
from ocoboost.data.labels import Labels
from ocoboost.data.schema import NUMBER, TEXT, Schema
from ocoboost.data.text import MOST_CATEGORIES, TextCounts, share_column
from ocoboost.errors import InvalidInputError, InvalidParameterError, ModelFileError
from ocoboost.saving import container
from ocoboost.stream.protocol import StreamClassifier
from ocoboost.stream.state import State


def save(model: StreamClassifier, path: str | os.PathLike[str]) -> None:
    """Write a model, with all that it has learned, to a file.

    The file holds numbers and text only, and `load` executes nothing that is in it. It is written under another name,
    forced to disk and then renamed, so that there is a whole file at any moment. Loaded again, the model answers and
    goes on learning to the same bits (an account of the regret is not kept). Boosters of River or scikit-learn
    learners cannot be saved like this: they hold Python objects, for which there is only pickle.

    >>> import os, tempfile
    >>> import ocoboost
    >>> model = ocoboost.HoeffdingTrees(seed=1)
    >>> model.learn_many([{"size": 1.0}, {"size": 9.0}], ["small", "large"])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.oco")
    >>> ocoboost.save(model, path)
    >>> ocoboost.load(path).predict_one({"size": 2.0}) == model.predict_one({"size": 2.0})
    True
    """
    write_model(model, path)


def load(path: str | os.PathLike[str]) -> StreamClassifier:
    """Read a model from a file that `save` wrote; raises `ocoboost.errors.ModelFileError` if that is not possible.

    A truncated or changed file, one from a newer version, and one that holds anything but what a model can have
    learned get an error that says so.

    >>> import ocoboost
    >>> ocoboost.load("no such file")
    Traceback (most recent call last):
    ...
    ocoboost.errors.ModelFileError: no such file: cannot be read (No such file or directory).
    """
    return read_model(path)[0]


def write_model(model: StreamClassifier, path: str | os.PathLike[str], notes: Any = None) -> None:
    """``save``, with notes (numbers, text and arrays) that belong to the model."""
    described = _describe(model)
    state = model.state_
    if state is not None and state.broken:
        raise ModelFileError(f"{type(model).__name__}: {state.broken}; a partly taught model is not saved.")
    learned = None if state is None else _learned(state)
    if state is not None and state.engine.settings() != model.fresh_state(state.seed).engine.settings():
        raise ModelFileError(
            f"{type(model).__name__}: its parameters were changed after it had begun to learn; set them back, or "
            "reset() it, before saving."
        )
    container.write(path, {"classifier": described, "state": learned, "notes": notes})


def read_model(path: str | os.PathLike[str], n_jobs: int | None = None) -> tuple[StreamClassifier, Any]:
    """The model in a file, to run on ``n_jobs`` threads if that is given, and its notes."""
    content = container.read(path)
    try:
        model = _make(content["classifier"])
        if n_jobs is not None:
            model.n_jobs = n_jobs
        saved = content["state"]
        if saved is not None:
            state = model.fresh_state(saved["seed"])
            if state.engine.settings() != saved["settings"]:
                raise ModelFileError(
                    f"{path}: was saved by a version of ocoboost that made other members of these parameters; "
                    "load it with that version."
                )
            _restore(state, saved)
            model.state_ = state
    except InvalidParameterError as error:
        raise ModelFileError(f"{path}: its parameters cannot be used ({error}).") from error
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, MemoryError) as error:
        if isinstance(error, ModelFileError):
            raise ModelFileError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None
        raise ModelFileError(f"{path}: does not hold what a model can have learned ({error}).") from error
    return model, content["notes"]


# -- parameters --------------------------------------------------------------------------------------------------------


def _describe(classifier: Any) -> dict[str, Any]:
    """The name of a class and its parameters."""
    name = type(classifier).__name__
    _find(name, type(classifier))
    parameters = {key: getattr(classifier, key) for key in inspect.signature(type(classifier)).parameters}
    learner = parameters.get("learner")
    if learner is not None and not isinstance(learner, str):
        parameters["learner"] = _describe(learner)
    for key in ("classes", "nominal_attributes", "gammas"):
        if parameters.get(key) is not None:
            parameters[key] = list(parameters[key])  # arrays and series too
    return {"class": name, "parameters": parameters}


def _find(name: str, kind: type | None = None) -> registry.Model:
    """The registered model of this name (and class); raises ``ModelFileError`` if there is none."""
    model = registry.find(name)
    if model is not None and model.name == name and model.protocol != registry.BATCH:
        if kind is None or model.load() is kind:
            return model
    known = ", ".join(model.name for model in registry.models(registry.BOOSTER, registry.LEARNER))
    if kind is None:
        raise ModelFileError(
            f"holds a model of the class {name!r}, which is not registered here; install or import the package that "
            f"defines it. Registered are {known}."
        )
    raise ModelFileError(
        f"{name} cannot be put in a model file, which holds numbers and text and no Python objects; registered are "
        f"{known}. Use pickle, and unpickle only what you trust."
    )


def _make(described: dict[str, Any]) -> Any:
    """A fresh classifier; only registered ones can be made."""
    parameters = dict(described["parameters"])
    if isinstance(parameters.get("learner"), dict):
        learner = parameters["learner"]
        if _find(learner["class"]).protocol != registry.LEARNER:
            raise ValueError(f"{learner['class']} is no weak learner")
        parameters["learner"] = _make(learner)
    return _find(described["class"]).load()(**parameters)


# -- what was learned --------------------------------------------------------------------------------------------------


def _learned(state: State) -> dict[str, Any]:
    return {
        "seed": state.seed,
        "n_rows": state.n_rows,
        "labels": state.labels.known,
        "kinds": state.schema.kinds,
        "categories": {name: list(codes) for name, codes in state.schema.categories.items()},
        "statistics": {name: [c.counts, c.totals] for name, c in state.schema.statistics.items()},
        "version": state.schema.version,
        "settings": state.engine.settings(),
        "learned": state.engine.state(),
    }


def _restore(state: State, saved: dict[str, Any]) -> None:
    state.n_rows = checked_count(saved["n_rows"], "number of rows")
    _restore_labels(state.labels, saved["labels"])
    _restore_schema(state.schema, saved)
    state.engine.restore(saved["learned"], state.schema, len(state.labels))


def _restore_labels(labels: Labels, known: list[Any]) -> None:
    if known[: len(labels)] != labels.known or (labels.closed and len(known) > len(labels)):
        raise ValueError("the labels are not those of the parameter classes")
    for label in known[len(labels) :]:
        labels.add(label)
    if len(set(labels.known)) < len(labels):
        raise ValueError("duplicate label")


def _restore_schema(schema: Schema, saved: dict[str, Any]) -> None:
    schema.version = checked_count(saved["version"], "version of the schema")
    for name, kind in saved["kinds"].items():
        if kind not in (None, NUMBER, TEXT):
            raise ValueError(f"invalid kind of a column: {kind!r}")
        schema.kinds[name] = kind
    for name, categories in saved["categories"].items():
        codes = {category: code for code, category in enumerate(categories)}
        if schema.kinds.get(name) != TEXT or len(codes) < len(categories):
            raise ValueError(f"invalid categories of column {name!r}")
        if not all(isinstance(category, str) for category in categories):
            raise InvalidInputError("a category is not text")
        schema.categories[name] = codes
    for name, (counts, totals) in saved["statistics"].items():
        schema.statistics[name] = _restored_counts(schema, name, counts, totals)


def _restored_counts(schema: Schema, name: Any, counts: Any, totals: Any) -> TextCounts:
    """Statistics of a column's texts; there must be a column for every group of labels."""
    restored = TextCounts(0)
    if len(schema.categories.get(name, ())) <= MOST_CATEGORIES or not isinstance(totals, np.ndarray):
        raise ValueError(f"invalid statistics of column {name!r}")
    restored.grow(len(totals))
    restored.counts[:] = checked_like(counts, restored.counts, "statistics of texts")
    restored.totals[:] = checked_like(totals, restored.totals, "statistics of texts")
    columns = [share_column(name, group) for group in range(restored.n_groups)]
    if any(schema.kinds.get(column) != NUMBER for column in columns) or np.any(restored.counts < 0.0):
        raise ValueError(f"invalid statistics of column {name!r}")
    return restored
