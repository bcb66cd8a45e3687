"""N Hoeffding trees as a learner for the boosters, and as a classifier on its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ocoboost.data.parameters import AnyOf, Between, Count, OneOf, Range, check_parameters
from ocoboost.learners.hoeffding import layout
from ocoboost.learners.hoeffding.ensemble import HoeffdingEnsemble
from ocoboost.learners.hoeffding.limits import UNLIMITED
from ocoboost.learners.trees import DEFAULT_SIZE, MAX_SIZE, NativeTrees

CRITERIA = {"gini": layout.GINI, "info_gain": layout.INFO_GAIN, "hellinger": layout.HELLINGER}
LEAVES = {"mc": layout.MAJORITY, "nb": layout.NAIVE_BAYES, "nba": layout.ADAPTIVE}


class HoeffdingTrees(NativeTrees):
    """Compiled Hoeffding trees, with the parameters and the answers of River's `HoeffdingTreeClassifier`.

    Give it to a booster as `learner`, or use it on its own. `docs/hoeffding.md` lists the deliberate differences.

    Parameters
    ----------
    n_learners
        The number of trees when used on its own; a booster has its own `n_learners`.
    grace_period
        Weight a leaf sees between attempts to split.
    max_depth
        The depth at which leaves no longer learn; None for no limit. The paper's experiments use 1.
    split_criterion
        "info_gain", "gini", or "hellinger" (two classes only).
    delta
        Significance of the Hoeffding bound.
    tau
        Below this bound the best split is taken even if it is not the best with confidence.
    leaf_prediction
        "mc" (majority class), "nb" (naive Bayes) or "nba" (whichever of the two was right more often).
    nb_threshold
        Weight a leaf must have seen before "nb" is used.
    nominal_attributes
        Columns of numbers that are to be read as categories; text always is.
    n_splits
        Candidate thresholds per column of numbers.
    binary_split
        Whether text is split into one category against the rest only.
    min_branch_fraction
        A split needs two branches that each hold more than this share of the weight.
    max_share_to_split
        A leaf is not split if one class holds more than this share.
    merit_preprune
        Whether not to split is among the candidates.
    feature_share
        The probability with which a tree sees a column; below 1 the trees differ.
    max_size
        Memory for all that the model holds, in MiB; None for no limit. A tree that has reached its share splits no
        more and goes on learning. If a new column or label lowers what a tree can afford, it is cut back, its latest
        nodes first. `memory_usage_` is the memory in use.
    n_jobs
        Threads when used on its own; -1 for all cores. The results do not depend on it.
    seed
        Chooses the columns that a tree sees, if `feature_share` is below 1, and fixes `sample_one`.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from ocoboost import HoeffdingTrees

    >>> model = HoeffdingTrees(grace_period=50)
    >>> accuracy = evaluate.progressive_val_score(datasets.ImageSegments().take(500), model, metrics.Accuracy())
    >>> accuracy.get() > 0.6
    True

    """

    ranges: ClassVar[Mapping[str, Range]] = {
        **NativeTrees.shared_ranges,
        "grace_period": Between(0.0, 1e300, closed="right"),
        "max_depth": AnyOf(OneOf(None), Count(0)),
        "split_criterion": OneOf(*CRITERIA),
        "delta": Between(0.0, 1.0, closed="neither"),
        "tau": Between(0.0, 1e300),
        "leaf_prediction": OneOf(*LEAVES),
        "nb_threshold": Between(0.0, 1e300),
        "n_splits": Count(1),
        "binary_split": OneOf(False, True),
        "min_branch_fraction": Between(0.0, 1.0),
        "max_share_to_split": Between(0.0, 1.0),
        "merit_preprune": OneOf(False, True),
        "feature_share": Between(0.0, 1.0, closed="right"),
        "max_size": MAX_SIZE,
    }
    appetite = 0.2

    def __init__(
        self,
        *,
        n_learners: int = 1,
        grace_period: float = 200,
        max_depth: int | None = None,
        split_criterion: str = "info_gain",
        delta: float = 1e-7,
        tau: float = 0.05,
        leaf_prediction: str = "nba",
        nb_threshold: float = 0,
        nominal_attributes: Sequence[Any] | None = None,
        n_splits: int = 10,
        binary_split: bool = False,
        min_branch_fraction: float = 0.01,
        max_share_to_split: float = 0.99,
        merit_preprune: bool = True,
        feature_share: float = 1.0,
        max_size: float | None = DEFAULT_SIZE,
        n_jobs: int = 1,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        self.n_learners = n_learners
        self.grace_period = grace_period
        self.max_depth = max_depth
        self.split_criterion = split_criterion
        self.delta = delta
        self.tau = tau
        self.leaf_prediction = leaf_prediction
        self.nb_threshold = nb_threshold
        self.nominal_attributes = nominal_attributes
        self.n_splits = n_splits
        self.binary_split = binary_split
        self.min_branch_fraction = min_branch_fraction
        self.max_share_to_split = max_share_to_split
        self.merit_preprune = merit_preprune
        self.feature_share = feature_share
        self.max_size = max_size
        self.n_jobs = n_jobs
        self.seed = seed

    def make_ensemble(self, n_learners: int, seed: int) -> HoeffdingEnsemble:
        """Fresh trees for a booster."""
        check_parameters(self, self.ranges)
        self._check_number(n_learners)
        rules = layout.Rules(
            grace_period=float(self.grace_period),
            max_depth=UNLIMITED if self.max_depth is None else int(self.max_depth),
            delta=float(self.delta),
            tau=float(self.tau),
            criterion=CRITERIA[self.split_criterion],
            leaf=LEAVES[self.leaf_prediction],
            nb_threshold=float(self.nb_threshold),
            binary_split=bool(self.binary_split),
            min_branch_fraction=float(self.min_branch_fraction),
            max_share_to_split=float(self.max_share_to_split),
            merit_preprune=bool(self.merit_preprune),
            n_splits=int(self.n_splits),
            max_nodes=UNLIMITED,
            max_slots=UNLIMITED,
            slot_capacity=UNLIMITED,
            has_subsets=self.feature_share < 1.0,
        )
        return HoeffdingEnsemble(
            rules,
            n_learners,
            seed=seed,
            nominal=frozenset(self.nominal_attributes or ()),
            feature_share=float(self.feature_share),
            max_bytes=self._max_bytes,
        )

    @property
    def _multiclass(self) -> bool:
        return self.split_criterion != "hellinger"
