"""Every public model, once: what it is called, where it lives, and which protocol it speaks.

`ocoboost`, model files, the command line and the benchmarks all read this table, so a new model is one file and one
line here. Other packages add boosters with an entry point of the group ``ocoboost.models``, whose name is the key:

    [project.entry-points."ocoboost.models"]
    majority = "my_package.majority:MajorityBoostClassifier"

or, for the present process only, with ``register``.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NamedTuple

GROUP = "ocoboost.models"
# Protocols.
BOOSTER = "online booster"  # River's
LEARNER = "learner"  # River's, and a booster takes it as its learner
BATCH = "batch"  # scikit-learn's
AROUND = "around a booster"  # River's, around an online booster whose labels are not simply given


class Model(NamedTuple):
    """One line of the table."""

    key: str  # what the command line calls it
    name: str  # of the class
    home: str  # the module that it is in
    protocol: str

    def load(self) -> Any:
        """The class."""
        return getattr(import_module(self.home), self.name)


OURS = (
    Model("boost", "OnlineBoostClassifier", "ocoboost.online.boost", BOOSTER),
    Model("agnostic", "OnlineAgnosticBoostClassifier", "ocoboost.online.agnostic", BOOSTER),
    Model("realizable", "OnlineRealizableBoostClassifier", "ocoboost.online.realizable", BOOSTER),
    Model("pairwise", "OnlinePairwiseBoostClassifier", "ocoboost.online.pairwise", BOOSTER),
    Model("mbbm", "OnlineMBBMClassifier", "ocoboost.online.mbbm", BOOSTER),
    Model("adaboost-olm", "AdaBoostOLMClassifier", "ocoboost.online.adaboost_olm", BOOSTER),
    Model("bandit", "OnlineBanditBoostClassifier", "ocoboost.online.bandit", AROUND),
    Model("few-labels", "OnlineFewLabelsClassifier", "ocoboost.online.few_labels", AROUND),
    Model("hoeffding", "HoeffdingTrees", "ocoboost.learners.hoeffding.classifier", LEARNER),
    Model("mondrian", "MondrianTrees", "ocoboost.learners.mondrian.classifier", LEARNER),
    Model("stump-experts", "StumpExperts", "ocoboost.learners.experts.classifier", LEARNER),
    Model("finite-experts", "FiniteExperts", "ocoboost.learners.experts.finite", LEARNER),
    Model("matrix-experts", "MatrixExperts", "ocoboost.learners.experts.finite", LEARNER),
    Model("littlestone-experts", "LittlestoneExperts", "ocoboost.learners.experts.finite", LEARNER),
    Model("batch-boost", "BoostClassifier", "ocoboost.batch.boost", BATCH),
    Model("batch-agnostic", "AgnosticBoostClassifier", "ocoboost.batch.agnostic", BATCH),
    Model("batch-realizable", "RealizableBoostClassifier", "ocoboost.batch.realizable", BATCH),
    Model("batch-pairwise", "PairwiseBoostClassifier", "ocoboost.batch.pairwise", BATCH),
    Model("histogram-tree", "HistogramTreeClassifier", "ocoboost.batch.histogram_tree", BATCH),
)
_registered: list[Model] = []


def register(model: type, key: str, protocol: str = BOOSTER) -> None:
    """Add a class of another package, for this process only."""
    added = Model(key, model.__name__, model.__module__, protocol)
    for known in models():
        if known != added and (known.key == key or known.name == added.name):
            raise ValueError(f"{known.name} is already registered as {known.key!r}; choose another key or class name.")
    if added not in _registered:
        _registered.append(added)


def models(*protocols: str) -> list[Model]:
    """All models, ours first; if protocols are named, only those that speak one of them."""
    from_outside = [_from_entry_point(point) for point in entry_points(group=GROUP)]
    every = [*OURS, *_registered, *(model for model in from_outside if model not in _registered)]
    return [model for model in every if not protocols or model.protocol in protocols]


def find(name: str) -> Model | None:
    """The model with this key or class name. Ours come first, so that nobody looks through every package for them."""
    known = next((model for model in (*OURS, *_registered) if name in (model.key, model.name)), None)
    return known or next((model for model in models() if name in (model.key, model.name)), None)


def _from_entry_point(point: EntryPoint) -> Model:
    """The online booster that an entry point ``key = "module:Class"`` registers; the module is not imported yet.

    Entry points are for boosters only: learners and batch models of other packages call ``register``.
    """
    return Model(point.name, point.attr or "", point.module, BOOSTER)
