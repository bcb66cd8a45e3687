"""Online multiclass boosting by online convex optimization.

The boosters of Raman & Tewari, *Online Agnostic Multiclass Boosting* (NeurIPS 2022), over any weak learner that can
learn from a stream. Public names are loaded on first use, so importing the package is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ocoboost.batch.agnostic import AgnosticBoostClassifier
    from ocoboost.batch.histogram_tree import HistogramTreeClassifier
    from ocoboost.batch.realizable import RealizableBoostClassifier
    from ocoboost.online.adaboost_olm import AdaBoostOLMClassifier
    from ocoboost.online.agnostic import OnlineAgnosticBoostClassifier
    from ocoboost.online.experts import StumpExperts
    from ocoboost.online.finite_experts import FiniteExperts, LittlestoneExperts, MatrixExperts
    from ocoboost.online.hoeffding import HoeffdingTrees
    from ocoboost.online.mbbm import OnlineMBBMClassifier
    from ocoboost.online.mondrian import MondrianTrees
    from ocoboost.online.realizable import OnlineRealizableBoostClassifier
    from ocoboost.saving.model import load, save

__all__ = [
    "AdaBoostOLMClassifier",
    "AgnosticBoostClassifier",
    "FiniteExperts",
    "HistogramTreeClassifier",
    "HoeffdingTrees",
    "LittlestoneExperts",
    "MatrixExperts",
    "MondrianTrees",
    "OnlineAgnosticBoostClassifier",
    "OnlineMBBMClassifier",
    "OnlineRealizableBoostClassifier",
    "RealizableBoostClassifier",
    "StumpExperts",
    "load",
    "save",
]

_HOMES = {
    "AdaBoostOLMClassifier": "ocoboost.online.adaboost_olm",
    "AgnosticBoostClassifier": "ocoboost.batch.agnostic",
    "FiniteExperts": "ocoboost.online.finite_experts",
    "HistogramTreeClassifier": "ocoboost.batch.histogram_tree",
    "HoeffdingTrees": "ocoboost.online.hoeffding",
    "LittlestoneExperts": "ocoboost.online.finite_experts",
    "MatrixExperts": "ocoboost.online.finite_experts",
    "MondrianTrees": "ocoboost.online.mondrian",
    "OnlineAgnosticBoostClassifier": "ocoboost.online.agnostic",
    "OnlineMBBMClassifier": "ocoboost.online.mbbm",
    "OnlineRealizableBoostClassifier": "ocoboost.online.realizable",
    "RealizableBoostClassifier": "ocoboost.batch.realizable",
    "StumpExperts": "ocoboost.online.experts",
    "load": "ocoboost.saving.model",
    "save": "ocoboost.saving.model",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("ocoboost")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'ocoboost' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])
