"""Models in files: their parameters and their learned state.

Nothing in a file says which code to run. The class is looked up in the registry, its parameters are checked like any
caller's, and they alone decide what a fresh state consists of; the file then fills in the numbers.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from typing import Any

from ocoboost import registry
from ocoboost.arrays import checked_count
from ocoboost.data.labels import Labels, as_label
from ocoboost.errors import ModelFileError
from ocoboost.saving import container
from ocoboost.saving.limits import check_described, check_sizes
from ocoboost.stream.protocol import StreamClassifier
from ocoboost.stream.state import State


def save(model: StreamClassifier, path: str | os.PathLike[str]) -> None:
    """Write a model, with everything that it has learned, to a file.

    The file holds numbers and text only, and `load` executes nothing in it. It is written beside its place, forced to
    disk and then renamed, so that there is a complete file at any moment, whoever else saves there. A loaded model
    predicts and resumes learning bit-identically (an account of the regret is not kept). Boosters of River or
    scikit-learn learners hold Python objects and cannot be saved like this: use pickle.

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
    described = describe(model)
    with model.unchanging():
        container.write(path, _content(model, described, notes))


def model_bytes(model: StreamClassifier) -> bytes:
    """What ``save`` would write."""
    described = describe(model)
    with model.unchanging():
        return b"".join(container.encoded(_content(model, described, None)))


def _content(model: StreamClassifier, described: dict[str, Any], notes: Any) -> dict[str, Any]:
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
    return {"classifier": described, "state": learned, "notes": notes}


def read_model(
    path: str | os.PathLike[str], n_jobs: int | None = None, data: bytes | None = None
) -> tuple[StreamClassifier, Any]:
    """The model in a file, to run on ``n_jobs`` threads if that is given, and its notes.

    With ``data``, what ``model_bytes`` gave; ``path`` is then only what messages call it.

    What the file declares is checked, and a fresh model made of it, before any of its arrays is unpacked.
    """
    with container.opened(path, data) as file:
        model, state = _prepare(file.declared, file.n_bytes)
        if n_jobs is not None:
            model.n_jobs = n_jobs
        content = file.unpacked()
        if state is not None:
            _restore(state, content["state"])
            model.state_ = state
        return model, content["notes"]


def _prepare(declared: Any, n_bytes: int) -> tuple[Any, State | None]:
    """The model without what it has learned, and a fresh state to put that in, if it has learned anything."""
    if not isinstance(declared, dict) or set(declared) != {"classifier", "state", "notes"}:
        raise ModelFileError("does not hold a model, its state and notes.")
    described, saved, notes = declared["classifier"], declared["state"], declared["notes"]
    if notes is not None and not (isinstance(notes, dict) and all(isinstance(name, str) for name in notes)):
        raise ModelFileError(f"has notes that are a {type(notes).__name__}, not named values.")
    if saved is None:
        model = _make(described)
        model.check_parameters()
        return model, None
    if not isinstance(saved, dict) or set(saved) != set(_LEARNED) or not isinstance(saved["settings"], list):
        raise ModelFileError("has an incomplete state.")
    _check(described)
    check_sizes(described, len(saved["settings"]), n_bytes)
    model = _make(described)
    model.check_parameters()
    if type(saved["seed"]) is not int or not 0 <= saved["seed"] < 2**64:
        raise ModelFileError(f"has an invalid seed: {saved['seed']!r}.")
    state = model.fresh_state(saved["seed"])
    if state.engine.settings() != saved["settings"]:
        raise ModelFileError(
            "its settings are not those that this version of ocoboost derives from its parameters; load it with the "
            "version that saved it."
        )
    return model, state


# Parameters that are models themselves, and their protocol; the first cannot hold another.
NESTED = {"learner": registry.LEARNER, "booster": registry.BOOSTER}

# -- parameters --------------------------------------------------------------------------------------------------------


def describe(classifier: Any) -> dict[str, Any]:
    """The name of a class and its parameters."""
    name = type(classifier).__name__
    _find(name, type(classifier))
    parameters = {key: getattr(classifier, key) for key in inspect.signature(type(classifier)).parameters}
    for key in NESTED:
        if parameters.get(key) is not None and not isinstance(parameters[key], str):
            parameters[key] = describe(parameters[key])
    for key in ("classes", "nominal_attributes", "gammas"):
        if parameters.get(key) is not None:
            parameters[key] = list(parameters[key])  # arrays and series too
    if "coverages" in parameters:
        parameters["coverages"] = tuple(parameters["coverages"])
    if parameters.get("costs") is not None and not isinstance(parameters["costs"], Mapping):
        parameters["costs"] = [list(row) for row in parameters["costs"]]
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


def _check(described: Any) -> None:
    """Raise for a description that no saved model has."""
    check_described(described)
    for key in NESTED:
        inner = described["parameters"].get(key)
        if isinstance(inner, dict):
            check_described(inner)
            too_deep = NESTED if key == "learner" else ("booster",)
            if any(isinstance(inner["parameters"].get(other), dict) for other in too_deep):
                raise ModelFileError("holds a booster of boosters.")
            _check(inner)


def _make(described: Any) -> Any:
    """A fresh classifier; only registered ones can be made."""
    _check(described)
    parameters = dict(described["parameters"])
    for key, protocol in NESTED.items():
        inner = parameters.get(key)
        if isinstance(inner, dict):
            if _find(inner["class"]).protocol != protocol:
                raise ValueError(f"{inner['class']} is not a {protocol}")
            parameters[key] = _make(inner)
    model = _find(described["class"]).load()
    if set(parameters) != set(inspect.signature(model).parameters):
        raise ModelFileError(f"has other parameters than a {described['class']} of this version of ocoboost.")
    return model(**parameters)


# -- learned state -----------------------------------------------------------------------------------------------------

_LEARNED = ("seed", "n_rows", "labels", "schema", "settings", "learned")


def _learned(state: State) -> dict[str, Any]:
    return {
        "seed": state.seed,
        "n_rows": state.n_rows,
        "labels": state.labels.known,
        "schema": state.schema.state(),
        "settings": state.engine.settings(),
        "learned": state.engine.state(),
    }


def _restore(state: State, saved: dict[str, Any]) -> None:
    state.n_rows = checked_count(saved["n_rows"], "number of rows")
    _restore_labels(state.labels, saved["labels"])
    state.schema.restore(saved["schema"])
    state.engine.restore(saved["learned"], state.schema, len(state.labels))


def _restore_labels(labels: Labels, known: list[Any]) -> None:
    if not isinstance(known, list):
        raise ValueError("the labels are not a list")
    if known[: len(labels)] != labels.known or (labels.closed and len(known) > len(labels)):
        raise ValueError("the labels do not match the parameter classes")
    for number, label in enumerate(known[len(labels) :], start=len(labels)):
        labels.add(as_label(label, f"label {number}"))
    if len(set(labels.known)) < len(labels):
        raise ValueError("duplicate label")
