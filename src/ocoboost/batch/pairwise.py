"""Statistical pairwise boosting: not in the paper (docs/theory.md).

Every row's player weighs the rivals of its label: how much should the next hypothesis be taught that the label beats
each of them? The more votes a rival has on a row, compared with the label, the more weight it gets there.
"""

from __future__ import annotations

from typing import ClassVar

from ocoboost.batch.booster import BatchBooster
from ocoboost.cascade.regimes import PAIRWISE, Regime


class PairwiseBoostClassifier(BatchBooster):
    """Boosting on a sample, one rival label at a time; for two labels nearly `RealizableBoostClassifier`.

    Parameters, attributes and methods are those of `AgnosticBoostClassifier`; `start="uniform"` starts at all rivals
    and "skip" alike, `start="label"` at all rivals alike. With `n_drawn` rows are drawn in proportion to what is not
    skipped. The default gamma is that of the agnostic booster, not tuned for this one.

    Examples
    --------
    >>> from ocoboost import HistogramTreeClassifier, PairwiseBoostClassifier
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = load_iris(return_X_y=True)
    >>> stump = HistogramTreeClassifier(max_depth=1)
    >>> lone = cross_val_score(stump, X, y).mean()
    >>> boosted = cross_val_score(PairwiseBoostClassifier(stump), X, y).mean()
    >>> bool(boosted > lone + 0.2)
    True
    """

    regime: ClassVar[Regime] = Regime(PAIRWISE)
    default_start: ClassVar[str] = "label"
