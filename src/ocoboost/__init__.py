"""Online multiclass boosting by online convex optimization.

The boosters of Raman & Tewari, *Online Agnostic Multiclass Boosting* (NeurIPS 2022), over any weak learner that can
learn from a stream. Public names are loaded on first use, so importing the package is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ocoboost import registry

if TYPE_CHECKING:
    from ocoboost.batch.agnostic import AgnosticBoostClassifier
    from ocoboost.batch.histogram_tree import HistogramTreeClassifier
    from ocoboost.batch.realizable import RealizableBoostClassifier
    from ocoboost.learners.experts.classifier import StumpExperts
    from ocoboost.learners.experts.finite import FiniteExperts, LittlestoneExperts, MatrixExperts
    from ocoboost.learners.hoeffding.classifier import HoeffdingTrees
    from ocoboost.learners.mondrian.classifier import MondrianTrees
    from ocoboost.online.adaboost_olm import AdaBoostOLMClassifier
    from ocoboost.online.agnostic import OnlineAgnosticBoostClassifier
    from ocoboost.online.boost import OnlineBoostClassifier
    from ocoboost.online.mbbm import OnlineMBBMClassifier
    from ocoboost.online.realizable import OnlineRealizableBoostClassifier
    from ocoboost.saving.model import load, save

__all__ = [  # the registry's models, written out for type checkers
    "AdaBoostOLMClassifier",
    "AgnosticBoostClassifier",
    "FiniteExperts",
    "HistogramTreeClassifier",
    "HoeffdingTrees",
    "LittlestoneExperts",
    "MatrixExperts",
    "MondrianTrees",
    "OnlineAgnosticBoostClassifier",
    "OnlineBoostClassifier",
    "OnlineMBBMClassifier",
    "OnlineRealizableBoostClassifier",
    "RealizableBoostClassifier",
    "StumpExperts",
    "load",
    "save",
]

_HOMES = {model.name: model.home for model in registry.OURS} | dict.fromkeys(("load", "save"), "ocoboost.saving.model")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("ocoboost")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'ocoboost' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])
