"""Adaboost.OLM (Jung, Goetz & Tewari, 2017): the adaptive online booster, which need not know the advantage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ocoboost.arrays import FloatArray
from ocoboost.cascade.olm import OLM
from ocoboost.online.weighting import WeightingBooster

PAPER = frozenset({"constants", "ties"})


class AdaBoostOLMClassifier(WeightingBooster):
    """The online multiclass booster with the logistic loss: adapts to the learners, nothing to tune.

    A learner is taught the true label with a weight, the slope of the logistic loss at earlier learners' scores. Its
    vote adds alpha to the score of a label, and alpha is updated by projected gradient descent in [-2, 2]. The first i
    learners are the i-th expert. `predict_proba_one` is each label's share of the experts' weight, where an expert has
    weight exp(-mistakes); `predict_one` is its mode, and `sample_one` the paper's randomized prediction, the label of
    an expert drawn by weight.

    Weights are scaled to 1 before any vote. A row's own weight multiplies its loss: what is taught, the step of alpha
    and the mistakes. A learner that takes no weights is taught a row with half its weight as the probability.

    Parameters
    ----------
    learner
        The weak learner: `HoeffdingTrees` (None stands for its defaults), `MondrianTrees`, any River classifier, or a
        scikit-learn classifier with `partial_fit` (which needs `classes`). The latter two are cloned.
    n_learners
        The number of weak learners.
    mode
        None for the algorithm as defined; "paper" for the code published with Raman & Tewari (2022), "original" for
        that of Jung et al. (2017), or a sequence of single deviations: "constants" (random weights of learners),
        "ties" (broken at random), "min-cost" (learners vote for the label of least expected cost).
    classes
        All labels, if known. If None the label set grows: a row is learned with the labels seen up to and including it.
    n_jobs
        Threads for native trees; -1 for all cores. The results do not depend on it.
    seed
        The random seed; with the same seed, results are bit-identical.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from ocoboost import AdaBoostOLMClassifier, HoeffdingTrees

    >>> stump = HoeffdingTrees(max_depth=1, split_criterion="gini")
    >>> model = AdaBoostOLMClassifier(stump, n_learners=20, seed=1)
    >>> accuracy = evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.Accuracy())
    >>> accuracy.get() > 0.8
    True

    """

    modes: ClassVar[Mapping[str, frozenset[str]]] = {"paper": PAPER, "original": PAPER | {"min-cost"}}

    def __init__(
        self,
        learner: Any = None,
        *,
        n_learners: int = 100,
        mode: str | Sequence[str] | None = None,
        classes: Sequence[Any] | None = None,
        n_jobs: int = 1,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        self.learner = learner
        self.n_learners = n_learners
        self.mode = mode
        self.classes = classes
        self.n_jobs = n_jobs
        self.seed = seed

    @property
    def alphas_(self) -> FloatArray:
        """How much each learner's vote counts at present, in [-2, 2]."""
        return self._learned().alphas.copy()

    @property
    def log_expert_weights_(self) -> FloatArray:
        """The logarithms of the experts' weights at present: minus their mistakes, weighted by the rows' weights."""
        return -self._learned().mistakes

    def _learned(self) -> OLM:
        cells = self._ready().engine.cascades[0].cells
        assert isinstance(cells, OLM)
        return cells

    def make_cells(self, *, n_learners: int, seed: int, takes_weights: bool) -> OLM:
        return OLM(**self._shared(n_learners, seed, takes_weights))
