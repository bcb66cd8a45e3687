"""The default gamma; ``benchmarks/batch.py gamma`` shows what the rule is based on."""

from __future__ import annotations

import math

from ocoboost.cascade.regimes import REALIZABLE, Regime

# Tried by gamma="auto".
GRID = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)


def default_gamma(regime: Regime, n_classes: int, depth: int) -> float:
    """Realizable: 0.2 / k. Others: 0.2, times sqrt(leaves / (k + 1)) if a tree has no more leaves than classes.

    >>> from ocoboost.cascade.regimes import AGNOSTIC
    >>> round(default_gamma(Regime(AGNOSTIC), n_classes=26, depth=5), 3)
    0.2
    >>> round(default_gamma(Regime(AGNOSTIC), n_classes=26, depth=1), 3)
    0.054
    """
    if regime.code == REALIZABLE:
        return 0.2 / n_classes
    leaves = 2.0 ** min(depth, 1000)  # a larger power would overflow
    return 0.2 * math.sqrt(min(1.0, leaves / (n_classes + 1)))
