"""Statistical agnostic boosting (Algorithm 2).

Every row's player moves on the simplex of labels. In every stage a weak hypothesis is fitted to rows that carry the
players' distributions as soft labels (or to drawn rows, relabelled at random); then each player sees the vote on its
row. The more votes are wrong, the more of a row's distribution lies on its true label.
"""

from __future__ import annotations

from typing import ClassVar

from ocoboost.batch.booster import BatchBooster
from ocoboost.cascade.regimes import AGNOSTIC, Regime


class AgnosticBoostClassifier(BatchBooster):
    """Boosting on a sample whose labels may be noisy (Raman & Tewari, 2022, Algorithm 2).

    The paper's own booster is `AgnosticBoostClassifier(estimator, gamma=..., start="uniform", n_drawn=m0)`, with
    `sample` for its predictions. Their expected correlation with the sample's labels is at least that of the best
    hypothesis, minus the player's average regret and the weak learner's slack.

    Parameters
    ----------
    estimator
        The weak learner. None is `HistogramTreeClassifier()`, a native tree that is taught soft labels directly. Any
        scikit-learn classifier with `sample_weight` works too; it is taught each row once for every label that has
        weight. With `n_drawn`, so do classifiers without `sample_weight`.
    n_estimators
        The number of stages, and of hypotheses.
    gamma
        The advantage of the weak learner, in (0, 1]. None sets it by the number of classes and the depth of the trees
        (see `gamma_`); "auto" tries several values on held-out rows (`gamma_scores_`), then fits all rows.
    start
        Where each row's game starts: at the true "label", or "uniform" as in the paper. None is "label" for this
        booster and "uniform" for the realizable one, which did better in benchmarks.
    n_drawn
        Rows drawn, with replacement, to be taught in a stage: the paper's m0. None teaches every row.
    player
        "gradient" (the paper's), "lazy", "exponentiated", "scale-free" or "coin".
    n_iter_no_change
        Stop when the accuracy on held-out rows has not improved for so many stages; None never stops early.
    validation_fraction
        The fraction of rows to hold out, for early stopping and `gamma="auto"`.
    tol
        The least increase of the held-out accuracy that counts as an improvement.
    random_state
        The seed of all draws. With a native tree, `fit` draws nothing if every row is taught and none is held out
        (up to 50,000 rows; beyond that, bins are found from a random subset).
    n_jobs
        Threads; the result does not depend on it.
    verbose
        Whether to show a progress bar (this needs Rich: `pip install ocoboost[cli]`).

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    estimators_
        The fitted hypotheses.
    n_estimators_
        Their number.
    gamma_
        The gamma that is used.
    gamma_scores_
        Held-out accuracy of every gamma tried; empty unless "auto".

    Examples
    --------
    >>> from ocoboost import AgnosticBoostClassifier, HistogramTreeClassifier
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = load_iris(return_X_y=True)
    >>> stump = HistogramTreeClassifier(max_depth=1)
    >>> lone = cross_val_score(stump, X, y).mean()
    >>> boosted = cross_val_score(AgnosticBoostClassifier(stump), X, y).mean()
    >>> bool(boosted > lone + 0.2)
    True
    """

    regime: ClassVar[Regime] = Regime(AGNOSTIC)
    default_start: ClassVar[str] = "label"
