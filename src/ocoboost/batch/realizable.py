"""Statistical realizable boosting (Algorithm 5)."""

from __future__ import annotations

from typing import ClassVar

from ocoboost.batch.booster import BatchBooster
from ocoboost.regimes import REALIZABLE, Regime


class RealizableBoostClassifier(BatchBooster):
    """Boosting of a sample that some hypothesis labels without error (Raman & Tewari, 2022, Algorithm 5)."""

    regime: ClassVar[Regime] = Regime(REALIZABLE)
