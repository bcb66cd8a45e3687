"""Online pairwise boosting: not in the paper, and with a theorem below gamma 1 for any number of labels.

Each row's player moves on the simplex of labels, as in Algorithm 1, but weighs the rivals of the true label: how much
should learner i be taught that the label beats rival j? Its weight on the label itself means "skip". The more votes a
rival has, compared with the label, the more of the play lies on it. Prediction is that of Algorithm 1.

What the theorem asks of learners is Definition 1 with the rival fixed before the vote, which learners can keep at every
gamma; the paper's proof needs a rival that is chosen after it. The price is a factor: docs/theory.md.
"""

from __future__ import annotations

from ocoboost.cascade.regimes import PAIRWISE, Regime
from ocoboost.online.playing import PlayingBooster


class OnlinePairwiseBoostClassifier(PlayingBooster):
    """Boosting on a stream, one rival label at a time.

    Mistakes of `sample_one` are expected to number at most (1 - 1/k) (2 M + R / gamma + T P / (2 N)), where M is what
    the best hypothesis makes, R the learners' regret under Definition 1 with the rival fixed before the vote, and P the
    players', in gains (`theory.bounds.pairwise_mistake_bound`). For two labels the booster is Algorithm 4 and the bound
    the paper's for Algorithm 1; for more it is a competitive ratio of up to 2, not a regret bound.

    Parameters
    ----------
    learner
        The weak learner: `HoeffdingTrees` (None stands for its defaults), `MondrianTrees`, any River classifier, or a
        scikit-learn classifier with `partial_fit` (which needs `classes`). The latter two are cloned.
    n_learners
        The number of weak learners, N.
    gamma
        The advantage of the weak learners, in (0, 1].
    relabel
        "fractional" teaches every label with a weight: most to the true one, nothing to a rival that all is against.
        "random" teaches one label, or none, drawn by these weights. Learners that take no weights are always taught at
        random (see `relabel_`).
    votes
        What the players see of a learner: its "label" or its "distribution".
    pool
        What is summed for the prediction: labels or distributions.
    start
        Where each row's game starts: "uniform" over all rivals and "skip", or "label", which skips nothing.
    player
        "gradient", "lazy", "exponentiated", "scale-free" or "coin".
    step_size
        None for gamma / sqrt(N) ("exponentiated": the bound-optimal one), "optimal" for the one that minimises the
        regret bound, or a positive number.
    classes
        All labels, if known. If None the label set grows: a row's game is over the labels seen up to and including it.
    n_jobs
        Threads for native trees; -1 for all cores. The results do not depend on it.
    seed
        The random seed; with the same seed, results are bit-identical.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from ocoboost import HoeffdingTrees, OnlinePairwiseBoostClassifier

    >>> stump = HoeffdingTrees(max_depth=1, split_criterion="gini")
    >>> model = OnlinePairwiseBoostClassifier(stump, gamma=0.5, n_learners=20, seed=1)
    >>> accuracy = evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.Accuracy())
    >>> accuracy.get() > 0.8
    True

    """

    regime = Regime(PAIRWISE)
