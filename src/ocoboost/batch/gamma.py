"""Which gamma, when nobody says."""

from __future__ import annotations

from ocoboost.regimes import AGNOSTIC, Regime

# Tried by gamma="auto".
GRID = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def default_gamma(regime: Regime, n_classes: int, depth: int) -> float:
    """A rule in the number of classes and the depth of the trees; see docs/batch.md for where it comes from."""
    if regime.code == AGNOSTIC:
        return min(1.0, 0.5 * depth / n_classes)
    return min(1.0, 0.5 * depth / n_classes)
