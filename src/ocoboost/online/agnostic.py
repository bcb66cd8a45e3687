"""Online agnostic boosting (Algorithm 1).

Each row's player moves on the simplex of labels: it starts at the uniform distribution (or at the true label), sees the
learners' votes one by one, and learner i is taught the distribution it then plays. The more learners are wrong, the
more of it lies on the true label. Prediction projects the scaled votes onto the simplex.

Cost per row: a vote and a lesson of every learner, and on average O(n_learners * n_classes) for the players.
"""

from __future__ import annotations

from ocoboost.cascade.regimes import AGNOSTIC, Regime
from ocoboost.online.accounting import Accountable
from ocoboost.online.playing import PlayingBooster


class OnlineAgnosticBoostClassifier(PlayingBooster, Accountable):
    """Boosting on a stream whose labels may be noisy (Raman & Tewari, 2022, Algorithm 1).

    The defaults are the paper's, except for the depth of the trees: its experiments boost
    `HoeffdingTrees(max_depth=1, split_criterion="gini")`, and predict by `sample_one`. `OnlineBoostClassifier` needs no
    tuning: it runs several such boosters side by side and mixes them.

    Parameters
    ----------
    learner
        The weak learner: `HoeffdingTrees` (None stands for its defaults), `MondrianTrees`, any River classifier, or a
        scikit-learn classifier with `partial_fit` (which needs `classes`). The latter two are cloned.
    n_learners
        The number of weak learners, N.
    gamma
        The advantage of the weak learners, in (0, 1]: how much better than guessing one of them is expected to be.
        Small values teach later learners what earlier ones missed. At 1 a player moves only when a learner is wrong:
        with `start="label"` learners are then taught plain labels, with the uniform start nearly uniform ones at first.
    relabel
        "fractional" teaches a learner all labels of a row, weighted; "random" teaches one drawn label, as the theorems
        assume. Learners that take no weights are always relabelled at random (see `relabel_`).
    votes
        What the players see of a learner: its "label" or its "distribution".
    pool
        What is summed for the prediction: labels (the paper's) or distributions.
    start
        Where each row's game starts: "uniform" (the paper's) or "label", which spares the first learners noisy lessons.
    player
        "gradient" (the paper's), "lazy", "exponentiated", "scale-free" or "coin".
    step_size
        None for the paper's gamma / sqrt(N) ("exponentiated": the bound-optimal one), "optimal" for the one that
        minimises the regret bound, or a positive number.
    classes
        All labels, if known. Then this is Algorithm 1 exactly. If None the label set grows: a row's game is over the
        labels seen up to and including that row.
    n_jobs
        Threads for native trees; -1 for all cores. River and scikit-learn learners hold the GIL and run on one
        thread. The results do not depend on it.
    seed
        The random seed; with the same seed, results are bit-identical.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier

    >>> stump = HoeffdingTrees(max_depth=1, split_criterion="gini")
    >>> model = OnlineAgnosticBoostClassifier(stump, gamma=0.5, n_learners=20, seed=1)
    >>> accuracy = evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.Accuracy())
    >>> accuracy.get() > 0.8
    True

    """

    regime = Regime(AGNOSTIC)
