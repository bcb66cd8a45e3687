"""Statistical agnostic boosting (Algorithm 2)."""

from __future__ import annotations

from typing import ClassVar

from ocoboost.batch.booster import BatchBooster
from ocoboost.regimes import AGNOSTIC, Regime


class AgnosticBoostClassifier(BatchBooster):
    """Boosting of a sample whose labels nobody promises to be clean (Raman & Tewari, 2022, Algorithm 2)."""

    regime: ClassVar[Regime] = Regime(AGNOSTIC)
