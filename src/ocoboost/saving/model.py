"""Classifiers in files: what they were told (parameters) and what they have learned.

Nothing in a file says which code to run. The class is looked up among the public ones, its parameters are checked as
anyone's are, and they alone decide what a fresh state is made of; the file then fills its numbers in.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
from typing import Any

import numpy as np

from ocoboost.encoding import NUMBER, TEXT, Labels, Schema
from ocoboost.errors import InvalidInputError, InvalidParameterError, ModelFileError
from ocoboost.online.adaboost_olm import AdaBoostOLMClassifier
from ocoboost.online.agnostic import OnlineAgnosticBoostClassifier
from ocoboost.online.experts import StumpExperts
from ocoboost.online.hoeffding import HoeffdingTrees
from ocoboost.online.mbbm import OnlineMBBMClassifier
from ocoboost.online.mondrian import MondrianTrees
from ocoboost.online.protocol import StreamClassifier
from ocoboost.online.realizable import OnlineRealizableBoostClassifier
from ocoboost.online.state import Member, State
from ocoboost.rivals import LogisticCascade, Rival
from ocoboost.saving import container, experts
from ocoboost.saving.trees import learned_by, restore_trees
from ocoboost.weak.experts import StumpEnsemble
from ocoboost.weak.native import NativeEnsemble

CLASSIFIERS: dict[str, type[StreamClassifier]] = {
    kind.__name__: kind
    for kind in (
        AdaBoostOLMClassifier,
        HoeffdingTrees,
        MondrianTrees,
        OnlineAgnosticBoostClassifier,
        OnlineMBBMClassifier,
        OnlineRealizableBoostClassifier,
        StumpExperts,
    )
}
LEARNERS = (HoeffdingTrees, MondrianTrees, StumpExperts)


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
    state = model._state
    if state is not None and state.broken:
        raise ModelFileError(f"{type(model).__name__}: {state.broken}; a model that is partly taught is not saved.")
    learned = None if state is None else _learned(state)
    if state is not None and learned is not None and learned["members"] != _fresh_members(model, state.seed):
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
            state = _begin(model, saved["seed"])
            if [_describe_member(member) for member in state.members] != saved["members"]:
                raise ModelFileError(
                    f"{path}: was saved by a version of ocoboost that made other members of these parameters; "
                    "load it with that version."
                )
            _restore(state, saved)
            model._state = state
    except InvalidParameterError as error:
        raise ModelFileError(f"{path}: its parameters cannot be used ({error}).") from error
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, MemoryError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"{path}: does not hold what a model can have learned ({error}).") from error
    return model, content["notes"]


# -- parameters --------------------------------------------------------------------------------------------------------


def _describe(classifier: Any) -> dict[str, Any]:
    """The name of a class and its parameters."""
    name = type(classifier).__name__
    if type(classifier) is not CLASSIFIERS.get(name):
        raise ModelFileError(
            f"{name} cannot be put in a model file, which holds numbers and text and no Python objects; that is for "
            f"{', '.join(CLASSIFIERS)}. Use pickle, and unpickle only what you trust."
        )
    parameters = {key: getattr(classifier, key) for key in inspect.signature(type(classifier)).parameters}
    learner = parameters.get("learner")
    if learner is not None and not isinstance(learner, str):
        parameters["learner"] = _describe(learner)
    for key in ("classes", "nominal_attributes"):
        if parameters.get(key) is not None:
            parameters[key] = list(parameters[key])  # arrays and series too
    return {"class": name, "parameters": parameters}


def _make(described: dict[str, Any]) -> Any:
    """A fresh classifier; only those named above can be made."""
    kind = CLASSIFIERS[described["class"]]
    parameters = dict(described["parameters"])
    if isinstance(parameters.get("learner"), dict):
        parameters["learner"] = _make(parameters["learner"])
        if not isinstance(parameters["learner"], LEARNERS):
            raise ValueError("a booster cannot be a weak learner")
    return kind(**parameters)


def _begin(model: StreamClassifier, seed: Any) -> State:
    """A fresh state for a seed that the model may have drawn."""
    own = model.seed
    model.seed = seed
    try:
        return model._begin()
    finally:
        model.seed = own


def _fresh_members(model: StreamClassifier, seed: int) -> list[dict[str, Any]]:
    return [_describe_member(member) for member in _begin(model, seed).members]


def _describe_member(member: Member) -> dict[str, Any]:
    """What a member was told, as numbers and words."""
    ensemble: Any = member.ensemble
    cascade: Any = member.cascade
    told = {
        field.name: getattr(cascade, field.name)
        for field in dataclasses.fields(cascade)
        if field.init and field.name != "n_jobs"  # the results do not depend on it
    }
    if "regime" in told:
        told["regime"] = told["regime"].code
    if isinstance(ensemble, StumpEnsemble):
        rules = experts.told(ensemble)
        return {"cascade": type(cascade).__name__, "told": told, "ensemble": type(ensemble).__name__, "rules": rules}
    if not isinstance(ensemble, NativeEnsemble):
        raise ModelFileError(f"{ensemble.name} is a foreign learner, of which only pickle can make a file.")
    limits = ("max_slots", "max_nodes")  # these move with the memory that a leaf takes
    rules = {key: value for key, value in ensemble.rules._asdict().items() if key not in limits}
    rules = {key: value.item() if isinstance(value, np.generic) else value for key, value in rules.items()}
    return {"cascade": type(cascade).__name__, "told": told, "ensemble": type(ensemble).__name__, "rules": rules}


# -- what was learned --------------------------------------------------------------------------------------------------


def _learned(state: State) -> dict[str, Any]:
    mixture = state.mixture
    return {
        "seed": state.seed,
        "n_rows": state.n_rows,
        "labels": state.labels.known,
        "kinds": state.schema.kinds,
        "categories": {name: list(codes) for name, codes in state.schema.categories.items()},
        "version": state.schema.version,
        "mixture": None if mixture is None else {"weights": mixture.weights, "n_rows": mixture.n_rows},
        "members": [_describe_member(member) for member in state.members],
        "learned": [_member(member) for member in state.members],
    }


def _member(member: Member) -> dict[str, Any]:
    if isinstance(member.ensemble, StumpEnsemble):
        learned: dict[str, Any] = {"ensemble": experts.learned_by(member.ensemble)}
    else:
        assert isinstance(member.ensemble, NativeEnsemble)
        learned = {"ensemble": learned_by(member.ensemble)}
    if isinstance(member.cascade, Rival):
        learned["n_rows"] = member.cascade.n_rows
    if isinstance(member.cascade, LogisticCascade):
        learned |= {"alphas": member.cascade.alphas, "mistakes": member.cascade.mistakes}
    return learned


def _restore(state: State, saved: dict[str, Any]) -> None:
    state.n_rows = _count(saved["n_rows"])
    _restore_labels(state.labels, saved["labels"])
    _restore_schema(state.schema, saved)
    if state.mixture is not None:
        state.mixture.weights[:] = _like(saved["mixture"]["weights"], state.mixture.weights)
        state.mixture.n_rows = _count(saved["mixture"]["n_rows"])
    for member, learned in zip(state.members, saved["learned"], strict=True):
        most = member.ensemble.max_classes
        if most is not None and len(state.labels) > most:
            raise ValueError("there are more labels than the trees tell apart")
        if isinstance(member.ensemble, StumpEnsemble):
            experts.restore_stumps(member.ensemble, learned["ensemble"], state.schema, len(state.labels))
        else:
            assert isinstance(member.ensemble, NativeEnsemble)
            restore_trees(member.ensemble, learned["ensemble"], state.schema, len(state.labels))
        if isinstance(member.cascade, Rival):
            member.cascade.n_rows = _count(learned["n_rows"])
        if isinstance(member.cascade, LogisticCascade):
            member.cascade.alphas[:] = _like(learned["alphas"], member.cascade.alphas)
            member.cascade.mistakes[:] = _like(learned["mistakes"], member.cascade.mistakes)


def _restore_labels(labels: Labels, known: list[Any]) -> None:
    if known[: len(labels)] != labels.known or (labels.closed and len(known) > len(labels)):
        raise ValueError("the labels are not those of the parameter classes")
    for label in known[len(labels) :]:
        labels.add(label)
    if len(set(labels.known)) < len(labels):
        raise ValueError("a label is there twice")


def _restore_schema(schema: Schema, saved: dict[str, Any]) -> None:
    schema.version = _count(saved["version"])
    for name, kind in saved["kinds"].items():
        if kind not in (None, NUMBER, TEXT):
            raise ValueError(f"a column holds {kind!r}")
        schema.kinds[name] = kind
    for name, categories in saved["categories"].items():
        codes = {category: code for code, category in enumerate(categories)}
        if schema.kinds.get(name) != TEXT or len(codes) < len(categories):
            raise ValueError("categories are not those of a column of text")
        if not all(isinstance(category, str) for category in categories):
            raise InvalidInputError("a category is not text")
        schema.categories[name] = codes


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**62:
        raise ValueError("a count is not one")
    return value


def _like(array: Any, other: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if not isinstance(array, np.ndarray) or array.dtype != other.dtype or array.shape != other.shape:
        raise ValueError("an array has another shape")
    if not np.all(np.isfinite(array)):
        raise ValueError("an array holds values that are not finite")
    return array
