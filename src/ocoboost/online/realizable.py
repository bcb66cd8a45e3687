"""Online realizable boosting (Algorithm 4).

Each row's player moves in [0, 1]: how strongly should learner i study the true label? It starts at one half, and grows
while the learners before i are wrong. Labels are never changed, only weighted. Prediction is that of Algorithm 1.
"""

from __future__ import annotations

from ocoboost.cascade.regimes import REALIZABLE, Regime
from ocoboost.online.accounting import Accountable
from ocoboost.online.playing import PlayingBooster


class OnlineRealizableBoostClassifier(PlayingBooster, Accountable):
    """Boosting on a stream that some hypothesis labels without error (Raman & Tewari, 2022, Algorithm 4).

    Parameters
    ----------
    learner
        The weak learner: `HoeffdingTrees` (None stands for its defaults), any River classifier, or a scikit-learn
        classifier with `partial_fit` (which needs `classes`). The latter two are cloned `n_learners` times.
    n_learners
        The number of weak learners, N.
    gamma
        The advantage of the weak learners, in (0, 1].
    relabel
        "fractional" teaches the true label with weight p; "random" teaches it with probability p, as the theorem
        assumes. Learners that take no weights are always taught at random (see `relabel_`).
    votes
        What the players see of a learner: its "label" or its "distribution".
    pool
        What is summed for the prediction: labels or distributions.
    start
        Where each row's game starts: "uniform" is one half (the paper's), "label" is one.
    player
        "gradient" (the paper's), "lazy", "exponentiated", "scale-free" or "coin".
    step_size
        None for the paper's gamma / sqrt(N) ("exponentiated": the bound-optimal one), "optimal" for the one that
        minimises the regret bound, or a positive number.
    classes
        All labels, if known. If None the label set grows: votes are over the labels seen up to and including a row.
    n_jobs
        Threads for native trees; -1 for all cores. River and scikit-learn learners hold the GIL and run on one
        thread. The results do not depend on it.
    seed
        The random seed; with the same seed, results are bit-identical.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, tree
    >>> from ocoboost import OnlineRealizableBoostClassifier

    >>> stump = tree.HoeffdingTreeClassifier(max_depth=1, split_criterion="gini")
    >>> model = OnlineRealizableBoostClassifier(stump, n_learners=5, gamma=0.3, seed=1)
    >>> accuracy = evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.Accuracy())
    >>> accuracy.get() > 0.8
    True

    """

    regime = Regime(REALIZABLE)
