"""Online multiclass boosting by online convex optimization.

The boosters of Raman & Tewari, *Online Agnostic Multiclass Boosting* (NeurIPS 2022), over any weak learner that can
learn from a stream. Public names are loaded on first use, so importing the package is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ocoboost import registry

if TYPE_CHECKING:  # the same names once more for type checkers, which do not run the registry
    from ocoboost.batch.agnostic import AgnosticBoostClassifier as AgnosticBoostClassifier
    from ocoboost.batch.boost import BoostClassifier as BoostClassifier
    from ocoboost.batch.histogram_tree import HistogramTreeClassifier as HistogramTreeClassifier
    from ocoboost.batch.pairwise import PairwiseBoostClassifier as PairwiseBoostClassifier
    from ocoboost.batch.realizable import RealizableBoostClassifier as RealizableBoostClassifier
    from ocoboost.keyed.models import ModelsByKey as ModelsByKey
    from ocoboost.learners.experts.classifier import StumpExperts as StumpExperts
    from ocoboost.learners.experts.finite import FiniteExperts as FiniteExperts
    from ocoboost.learners.experts.finite import LittlestoneExperts as LittlestoneExperts
    from ocoboost.learners.experts.finite import MatrixExperts as MatrixExperts
    from ocoboost.learners.hoeffding.classifier import HoeffdingTrees as HoeffdingTrees
    from ocoboost.learners.mondrian.classifier import MondrianTrees as MondrianTrees
    from ocoboost.online.adaboost_olm import AdaBoostOLMClassifier as AdaBoostOLMClassifier
    from ocoboost.online.agnostic import OnlineAgnosticBoostClassifier as OnlineAgnosticBoostClassifier
    from ocoboost.online.bandit import OnlineBanditBoostClassifier as OnlineBanditBoostClassifier
    from ocoboost.online.boost import OnlineBoostClassifier as OnlineBoostClassifier
    from ocoboost.online.few_labels import OnlineFewLabelsClassifier as OnlineFewLabelsClassifier
    from ocoboost.online.mbbm import OnlineMBBMClassifier as OnlineMBBMClassifier
    from ocoboost.online.pairwise import OnlinePairwiseBoostClassifier as OnlinePairwiseBoostClassifier
    from ocoboost.online.realizable import OnlineRealizableBoostClassifier as OnlineRealizableBoostClassifier
    from ocoboost.saving.model import load as load
    from ocoboost.saving.model import save as save

_HOMES = {model.name: model.home for model in registry.OURS} | dict.fromkeys(("load", "save"), "ocoboost.saving.model")
_HOMES["ModelsByKey"] = "ocoboost.keyed.models"
__all__ = sorted(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("ocoboost")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'ocoboost' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])
