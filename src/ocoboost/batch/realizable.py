"""Statistical realizable boosting (Algorithm 5).

Every row's player moves in [0, 1]: the weight of its row in the next lesson. Wrong votes on a row raise its weight.
When no weight is left on any row, the last hypothesis is repeated.
"""

from __future__ import annotations

from typing import ClassVar

from ocoboost.batch.booster import BatchBooster
from ocoboost.cascade.regimes import REALIZABLE, Regime


class RealizableBoostClassifier(BatchBooster):
    """Boosting on a sample that some hypothesis labels without error (Raman & Tewari, 2022, Algorithm 5).

    It assumes more than `AgnosticBoostClassifier`: whatever the weights of the rows, the weak learner must be right on
    (1 + gamma) / 2 of the weight. With several classes many learners are not right half the time, and then the theory
    promises nothing. Parameters, attributes and methods are those of `AgnosticBoostClassifier`; `start="uniform"` gives
    all rows the weight 1/m, as in the paper, and `start="label"` the weight 1.

    Examples
    --------
    >>> from ocoboost import HistogramTreeClassifier, RealizableBoostClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> stump = HistogramTreeClassifier(max_depth=1)
    >>> lone = cross_val_score(stump, X, y).mean()
    >>> boosted = cross_val_score(RealizableBoostClassifier(stump), X, y).mean()
    >>> bool(boosted > lone + 0.04)
    True
    """

    regime: ClassVar[Regime] = Regime(REALIZABLE)
    default_start: ClassVar[str] = "uniform"
