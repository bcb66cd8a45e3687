"""Models in files: their parameters and their learned state.

Nothing in a file says which code to run. The class is looked up in the registry, its parameters are checked like any
caller's, and they alone decide what a fresh state consists of; the file then fills in the numbers.
"""

from __future__ import annotations

import inspect
import os
from typing import Any

from ocoboost import registry
from ocoboost.arrays import checked_count
from ocoboost.data.labels import Labels
from ocoboost.data.schema import NUMBER, TEXT, Schema
from ocoboost.errors import InvalidParameterError, ModelFileError
from ocoboost.saving import container
from ocoboost.stream.protocol import StreamClassifier
from ocoboost.stream.state import State


def save(model: StreamClassifier, path: str | os.PathLike[str]) -> None:
    """Write a model, with everything that it has learned, to a file.

    The file holds numbers and text only, and `load` executes nothing in it. It is written under a temporary name,
    forced to disk and then renamed, so that there is a complete file at any moment. A loaded model predicts and
    resumes learning bit-identically (an account of the regret is not kept). Boosters of River or scikit-learn
    learners hold Python objects and cannot be saved like this: use pickle.

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
    """Read a model from a file that `save` wrote.

    Raises `ocoboost.errors.ModelFileError` for a truncated or modified file, one from a newer version, and one whose
    content no model can have learned.

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
    with model.unchanging():
        _write(model, described, path, notes)


def _write(model: StreamClassifier, described: dict[str, Any], path: str | os.PathLike[str], notes: Any) -> None:
    state = model.state_
    if state is not None and state.broken:
        raise ModelFileError(f"{type(model).__name__}: {state.broken}; a partly trained model is not saved.")
    fresh = model.fresh_state(0 if state is None else state.seed).engine.settings()  # raises for Python objects
    if state is not None and state.engine.settings() != fresh:
        raise ModelFileError(
            f"{type(model).__name__}: its parameters were changed after it had begun to learn; restore them, or "
            "reset() the model, before saving."
        )
    learned = None if state is None else _learned(state)
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
                    f"{path}: its settings are not those that this version of ocoboost derives from its parameters; "
                    "load it with the version that saved it."
                )
            _restore(state, saved)
            model.state_ = state
    except InvalidParameterError as error:
        raise ModelFileError(f"{path}: has invalid parameters ({error}).") from error
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, MemoryError) as error:
        if isinstance(error, ModelFileError):
            raise ModelFileError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None
        raise ModelFileError(f"{path}: holds a state that no model can have learned ({error}).") from error
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
    is_known = model is not None and model.name == name and model.protocol != registry.BATCH
    if model is not None and is_known and (kind is None or model.load() is kind):
        return model
    known = ", ".join(model.name for model in registry.models(registry.BOOSTER, registry.LEARNER))
    if kind is None:
        raise ModelFileError(
            f"holds a model of the class {name!r}, which is not registered here; install or import the package that "
            f"defines it. The registered models are {known}."
        )
    raise ModelFileError(
        f"{name} cannot be put in a model file, which holds numbers and text but no Python objects; the registered "
        f"models are {known}. Use pickle, and unpickle only what you trust."
    )


def _make(described: dict[str, Any]) -> Any:
    """A fresh classifier; only registered ones can be made."""
    parameters = dict(described["parameters"])
    if isinstance(parameters.get("learner"), dict):
        learner = parameters["learner"]
        if _find(learner["class"]).protocol != registry.LEARNER:
            raise ValueError(f"{learner['class']} is not a weak learner")
        parameters["learner"] = _make(learner)
    return _find(described["class"]).load()(**parameters)


# -- learned state -----------------------------------------------------------------------------------------------------


def _learned(state: State) -> dict[str, Any]:
    return {
        "seed": state.seed,
        "n_rows": state.n_rows,
        "labels": state.labels.known,
        "kinds": state.schema.kinds,
        "categories": {name: list(codes) for name, codes in state.schema.categories.items()},
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
        raise ValueError("the labels do not match the parameter classes")
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
            raise ValueError(f"categories of column {name!r} must be text")
        schema.categories[name] = codes
