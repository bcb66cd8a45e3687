"""The batch booster that is right without tuning: a portfolio of boosted random trees, mixed by held-out rows.

``portfolio.py`` plays the members' games, ``mixing.py`` weighs the members, ``forest.py`` grows and keeps the trees,
and ``columns.py`` reads text.
"""

from __future__ import annotations

import itertools
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _check_y, check_is_fitted

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.batch import columns, portfolio
from ocoboost.batch.binning import MOST_BINS, Binning, find_bins, rows_for_bins
from ocoboost.batch.booster import seed_from
from ocoboost.batch.forest import Forest, GrownTree
from ocoboost.batch.forest_leaves import add_rows
from ocoboost.batch.forest_splits import Table
from ocoboost.batch.input import check_enough
from ocoboost.batch.mixing import best_power, mixing_weights, selection_bound, sharpened
from ocoboost.batch.portfolio import KINDS, N_FOLDS, STRENGTHS, Chain, Training
from ocoboost.batch.progress import progress_bar
from ocoboost.data.parameters import AnyOf, Count, OneOf, Range, check_parameters


class Member(NamedTuple):
    """One line of `members_`."""

    kind: str
    gamma: float
    leaning: float  # rows of the parent's distribution that a leaf leans on
    accuracy: float  # on held-out rows, with their noise; NaN if nothing was held out
    weight: float


class BoostClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Boosting on a sample with nothing to tune: random trees, boosted or not, mixed by rows that they never saw.

    Members differ in how their trees are grown (random or greedy splits, few or all columns), in gamma (1, which is a
    forest, or 0.2) and in how much leaves lean on their parents, which is what flipped labels call for. Each is five
    games of Algorithm 5, and every row judges the one game that never saw it. The members' distributions are averaged
    with exponential weights on their held-out accuracy, so clean and noisy labels get different mixtures. See
    docs/batch.md for what is proved of the choice.

    Frames may hold text and categories, and missing values are taken everywhere; sparse matrices are not.

    Parameters
    ----------
    n_estimators
        Trees of each of the five kinds of member, in five games of a fifth of them.
    class_weight
        None, "balanced", or a dict from labels to weights, which multiply those of the rows.
    max_bins
        The largest number of bins per feature, not counting the one for missing values.
    random_state
        The seed of all draws.
    n_jobs
        Threads; the result does not depend on it.
    verbose
        Whether to show a progress bar and the chosen members (this needs Rich: `pip install ocoboost[cli]`).

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    members_
        All members with their held-out accuracy and their weight, the heaviest first.
    held_out_accuracy_
        Of the mixture, on rows that none of the voting games saw, with the noise of their labels; NaN below 50 rows.
    selection_bound_
        By how much any member's held-out accuracy may be off, except with a chance of 5 %; infinite below 50 rows.
    power_
        The exponent that calibrates `predict_proba`.
    feature_importances_
        Each column's share of the decrease of the Gini impurity, by the weight of the trees.

    Examples
    --------
    >>> from ocoboost import AgnosticBoostClassifier, BoostClassifier
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = load_wine(return_X_y=True)
    >>> bool(cross_val_score(BoostClassifier(random_state=1), X, y, cv=3).mean() > 0.95)
    True
    """

    ranges: ClassVar[dict[str, Range]] = {
        "n_estimators": Count(at_least=1),
        "max_bins": Count(at_least=2, below=MOST_BINS + 1),
        "verbose": AnyOf(Count(at_least=0), OneOf(True, False)),
    }

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        class_weight: Any = None,
        max_bins: int = MOST_BINS,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.class_weight = class_weight
        self.max_bins = max_bins
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Play all members' games and mix them, forgetting what was learned before."""
        check_parameters(self, self.ranges)
        seed = seed_from(self.random_state)
        raw = columns.read_columns(self, X)
        labels, classes, weights = self._read_labels(raw, y, sample_weight)
        learned, statistics = columns.learn_columns(raw, labels, weights, len(classes), seed)
        matrix, codes, places = columns.assemble(raw, learned, statistics)
        chosen = rows_for_bins(seed, 0, len(matrix), len(matrix))
        binning = find_bins(matrix[chosen], weights[chosen], self.max_bins)
        sizes = [len(column.codes) for column in learned if column.shares is None]
        missing = np.append(binning.n_bins, sizes).astype(np.int64)
        table = _table(binning.codes(matrix), codes, missing, _edges(binning, len(missing)))
        folds = portfolio.fold_of_rows(seed, len(labels))
        n_stages = -(-self.n_estimators // N_FOLDS)
        training = Training(table, labels, weights, folds, len(classes), n_stages, seed)
        with progress_bar(N_FOLDS * len(KINDS), bool(self.verbose)) as progress:
            chains = portfolio.play_all(training, effective_n_jobs(self.n_jobs), progress)
        self._mix(training, chains, places)
        self.classes_ = classes
        self.seed_ = seed
        self._binning, self._columns, self._missing = binning, learned, table.missing
        if self.verbose:
            print(self._told())
        return self

    def _read_labels(
        self, raw: columns.RawColumns, y: Any, sample_weight: Any
    ) -> tuple[IntArray, NDArray[Any], FloatArray]:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        y = _check_y(y, multi_output=False, y_numeric=False, estimator=self)
        check_consistent_length(raw.numbers, y)
        check_classification_targets(y)
        weights = _check_sample_weight(sample_weight, raw.numbers, dtype=np.float64, ensure_non_negative=True)
        if self.class_weight is not None:
            weights = weights * compute_sample_weight(self.class_weight, y)
        classes, labels = np.unique(y, return_inverse=True)
        has_weight = weights > 0.0
        check_enough(classes, len(y), np.bincount(labels[has_weight], minlength=len(classes)))
        return labels.astype(np.int64), classes, weights / weights[has_weight].mean()

    def _mix(self, training: Training, chains: list[list[Chain]], places: IntArray) -> None:
        """Weigh the members, and keep the leaves' mixtures."""
        units = portfolio.weight_units(training.weights)
        n_judging = int(np.count_nonzero(training.weights)) if (training.folds >= 0).any() else 0
        hits = np.array([sum(chain.hits for chain in of_kind) for of_kind in chains])
        if n_judging:
            shares = mixing_weights(hits, int(units.sum()), n_judging)
        else:
            shares = np.zeros(hits.shape)
            shares[:, STRENGTHS.index(portfolio.VOTING_STRENGTH)] = 1.0 / len(KINDS)
        trees: list[tuple[GrownTree, FloatArray]] = []
        decrease = np.zeros(len(places))
        held_out = [np.zeros((len(chain.judging), training.n_classes)) for chain in chains[0]]
        for of_kind, weights in zip(chains, shares, strict=True):
            for fold, chain in enumerate(of_kind):
                for tree in chain.trees if weights.any() else ():
                    nodes = _mixed(tree, training, weights)
                    ends = tree.find_leaves(training.table, chain.judging)
                    add_rows(nodes, ends, 1.0 / training.n_stages, held_out[fold])
                    trees.append((tree, nodes / (N_FOLDS * training.n_stages)))
                    decrease += weights.sum() * tree.decrease
        judged = [
            (mixture, training.labels[chain.judging], units[chain.judging])
            for mixture, chain in zip(held_out, chains[0], strict=True)
        ]
        right = sum(int(unit[mixture.argmax(axis=1) == label].sum()) for mixture, label, unit in judged)
        self.power_ = best_power(judged) if n_judging else 1.0
        self.held_out_accuracy_ = right / int(units.sum()) if n_judging else np.nan
        self.selection_bound_ = selection_bound(n_judging, hits.size, N_FOLDS) if n_judging else np.inf
        accuracies = hits / int(units.sum()) if n_judging else np.full(hits.shape, np.nan)
        members = [
            Member(kind.name, kind.gamma, strength, float(accuracies[i, j]), float(shares[i, j]))
            for i, kind in enumerate(KINDS)
            for j, strength in enumerate(STRENGTHS)
        ]
        self.members_ = sorted(members, key=lambda member: -member.weight)
        self.feature_importances_ = columns.original_shares(decrease, places, self.n_features_in_)
        self._forest = Forest.of(trees)

    def _told(self) -> str:
        lines = [f"Held-out accuracy {self.held_out_accuracy_:.1%}, from:"]
        for member in self.members_:
            if member.weight > 0.0:
                what = f"{member.kind}, gamma {member.gamma:g}, leaning {member.leaning:g}"
                lines.append(f"  {member.weight:5.1%}  {what} (by itself {member.accuracy:.1%})")
        return "\n".join(lines)

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest label of ``predict_proba``, ties to the first."""
        chances = self.predict_proba(X)
        return self.classes_[chances.argmax(axis=1)]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> FloatArray:
        """The mixture of the members' distributions, calibrated by one power that was chosen on held-out rows."""
        check_is_fitted(self, "_forest")
        places = tuple(column.place for column in self._columns)
        matrix, codes, _ = columns.assemble(columns.read_columns(self, X, places=places), self._columns)
        table = _table(self._binning.codes(matrix), codes, self._missing, np.empty((0, 0)))
        return sharpened(self._forest.predict(table, effective_n_jobs(self.n_jobs)), self.power_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _table(codes: Any, categories: list[IntArray], missing: IntArray, edges: FloatArray) -> Table:
    """Bins and codes of categories, one column after the other; a code that is too large is a missing value."""
    every = np.vstack([codes.T, *(np.asarray(column, dtype=np.uint8)[None, :] for column in categories)])
    n_numbers = codes.shape[1]
    return Table(np.ascontiguousarray(every), missing, np.arange(len(every)) >= n_numbers, edges)


def _edges(binning: Binning, n_columns: int) -> FloatArray:
    """The thresholds of every column in a row of its own; categories have none."""
    out = np.zeros((n_columns, MOST_BINS + 1))
    for column, (first, last) in enumerate(itertools.pairwise(binning.starts)):
        out[column, : last - first] = binning.thresholds[first:last]
    return out


def _mixed(tree: GrownTree, training: Training, weights: FloatArray) -> FloatArray:
    """The weighted sum of a tree's leanings."""
    counts = tree.counts(training.labels, training.n_classes)
    out = np.zeros_like(counts)
    for strength, weight in zip(STRENGTHS, weights, strict=True):
        if weight > 0.0:
            out += weight * tree.leaning(counts, strength)
    return out
