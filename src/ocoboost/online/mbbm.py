"""OnlineMBBM (Jung, Goetz & Tewari, 2017): the optimal online booster for learners of known advantage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ocoboost.cascade.mbbm import MBBM
from ocoboost.cascade.potential_tables import MOST_LEARNERS
from ocoboost.data.parameters import Between, Count, OneOf, Range
from ocoboost.online.weighting import WeightingBooster

PAPER = frozenset({"constants", "horizon", "monte-carlo", "ties"})


class OnlineMBBMClassifier(WeightingBooster):
    """The online multiclass booster by majority: optimal if the learners' advantage is known.

    A learner is taught the true label with a weight: how much more likely the final vote is to be wrong if this learner
    errs, given the votes of earlier learners and an advantage of `gamma` for later ones. All learners have equal votes,
    and the prediction is the plurality; `predict_proba_one` returns the vote shares.

    Weights are scaled to mean 1 over the learners before any vote, and multiplied by the row's own weight. A learner
    that takes no weights is taught a row with half its weight as the probability, at most 1.

    Parameters
    ----------
    learner
        The weak learner: `HoeffdingTrees` (None stands for its defaults), `MondrianTrees`, any River classifier, or a
        scikit-learn classifier with `partial_fit` (which needs `classes`). The latter two are cloned.
    n_learners
        The number of weak learners, at most 1000.
    gamma
        The advantage of the weak learners over guessing, in (0, 1). Small values do better: the papers try 0.001 to
        0.3.
    potential
        "exact", or "fast" for a normal approximation (weights are off by about a tenth).
    mode
        None for the algorithm as defined; "paper" for the code published with Raman & Tewari (2022), "original" for
        that of Jung et al. (2017), or a sequence of single deviations: "constants" (random weights of learners),
        "horizon" (one vote too many is expected), "monte-carlo" (potentials from 100 draws), "ties" (broken at
        random), "min-cost" (learners vote for the label of least expected cost; slow).
    classes
        All labels, if known. If None the label set grows: a row is learned with the labels seen up to and including it.
    n_jobs
        Threads for native trees; -1 for all cores. The results do not depend on it.
    seed
        The random seed; with the same seed, results are bit-identical.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from ocoboost import HoeffdingTrees, OnlineMBBMClassifier

    >>> stump = HoeffdingTrees(max_depth=1, split_criterion="gini")
    >>> model = OnlineMBBMClassifier(stump, n_learners=20, gamma=0.1, seed=1)
    >>> accuracy = evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.Accuracy())
    >>> accuracy.get() > 0.8
    True

    """

    ranges: ClassVar[Mapping[str, Range]] = {
        **WeightingBooster.ranges,
        "n_learners": Count(1, below=MOST_LEARNERS + 1),
        "gamma": Between(0.0, 1.0, closed="neither", hint="smaller means weaker learners"),
        "potential": OneOf("exact", "fast"),
    }
    modes: ClassVar[Mapping[str, frozenset[str]]] = {"paper": PAPER, "original": PAPER | {"min-cost"}}

    def __init__(
        self,
        learner: Any = None,
        *,
        n_learners: int = 100,
        gamma: float = 0.1,
        potential: str = "exact",
        mode: str | Sequence[str] | None = None,
        classes: Sequence[Any] | None = None,
        n_jobs: int = 1,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        self.learner = learner
        self.n_learners = n_learners
        self.gamma = gamma
        self.potential = potential
        self.mode = mode
        self.classes = classes
        self.n_jobs = n_jobs
        self.seed = seed

    def make_cells(self, *, n_learners: int, seed: int, takes_weights: bool) -> MBBM:
        shared = self._shared(n_learners, seed, takes_weights)
        return MBBM(**shared, gamma=float(self.gamma), potential=self.potential)
