"""The batch booster that is right without tuning: a portfolio of boosted random trees, mixed by held-out rows.

``encoding.py`` reads the sample, ``portfolio.py`` plays the members' games, ``blend.py`` makes one forest of them by
the weights of ``mixing.py``, and ``forest.py`` grows and keeps the trees.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import _check_sample_weight, _check_y, check_is_fitted

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.batch import columns, encoding, portfolio
from ocoboost.batch.binning import MOST_BINS, find_bins, rows_for_bins
from ocoboost.batch.blend import Blend, HeldOut, blend
from ocoboost.batch.booster import seed_from
from ocoboost.batch.crew import Crew, LocalCrew
from ocoboost.batch.encoding import Features, Layout
from ocoboost.batch.forest_keys import Table
from ocoboost.batch.input import read_classes, unless_refused
from ocoboost.batch.mixing import selection_bound, sharpened
from ocoboost.batch.portfolio import KINDS, N_FOLDS, STRENGTHS, Chain, Lengths, make_training
from ocoboost.batch.progress import progress_bar
from ocoboost.data.parameters import AnyOf, Between, Count, OneOf, Range, check_parameters, invalid


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
        Trees of each of the five kinds of member, in five games of a fifth of them; with `n_iter_no_change` the most.
    n_iter_no_change
        After how many stages without a better held-out accuracy a game stops; None plays all stages. Below 50 rows
        there is nothing to stop by.
    tol
        By how much an accuracy must be better to count.
    warm_start
        Whether `fit` plays on where the last one ended, on the same sample, up to a larger `n_estimators`. Two such
        fits equal one to the bit. Their games are kept with the model.
    keep_held_out
        Whether to keep what the games say to the rows that they never saw, as `held_out_proba_`.
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
        It is slightly too high on a few hundred rows, which also choose the members' weights and, with
        `n_iter_no_change`, when games stop.
    held_out_proba_
        With `keep_held_out`: for every row of the sample what `predict_proba` would say if only the games voted that
        never saw it, as `cross_val_predict` would give at five times the cost; NaN below 50 rows.
    selection_bound_
        By how much any member's held-out accuracy may be off, except with a chance of 5 %; infinite below 50 rows.
    n_stages_
        How many stages each game was played: an array of kinds by folds.
    power_
        The exponent that calibrates `predict_proba`.
    feature_importances_
        Each column's share of the decrease of the Gini impurity, by the weight of the trees.

    Examples
    --------
    >>> from ocoboost import BoostClassifier
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> models = BoostClassifier(random_state=1), DecisionTreeClassifier(random_state=1)
    >>> boosted, one_tree = (cross_val_score(model, X, y, cv=3).mean() for model in models)
    >>> bool(boosted > one_tree + 0.05 and boosted > 0.94)
    True
    """

    ranges: ClassVar[dict[str, Range]] = {
        "n_estimators": Count(at_least=1),
        "n_iter_no_change": AnyOf(Count(at_least=1), OneOf(None)),
        "tol": Between(0.0, np.inf, closed="left"),
        "warm_start": OneOf(True, False),
        "keep_held_out": OneOf(True, False),
        "max_bins": Count(at_least=2, below=MOST_BINS + 1),
        "verbose": AnyOf(Count(at_least=0), OneOf(True, False)),
    }

    held_out_proba_: FloatArray
    _chains: list[Chain]  # to play on; empty without warm_start
    _digest: str | None  # of their sample

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        warm_start: bool = False,
        keep_held_out: bool = False,
        class_weight: Any = None,
        max_bins: int = MOST_BINS,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.keep_held_out = keep_held_out
        self.class_weight = class_weight
        self.max_bins = max_bins
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Play all members' games and mix them; what was learned before is forgotten, or built on with `warm_start`."""
        with unless_refused(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        seed = self._begin()
        raw = columns.read_columns(self, X, is_sample=not self._plays_on())
        labels, classes, weights = self._read_labels(raw, y, sample_weight)
        texts = encoding.code_texts([encoding.known_texts(raw)])
        chosen = rows_for_bins(seed, 0, len(labels), len(labels))
        plain = encoding.plain_places(self.n_features_in_, texts)
        binning = find_bins(raw.numbers[chosen][:, plain], weights[chosen], self.max_bins)
        layout = Layout(self.n_features_in_, texts, binning)
        encoded = encoding.encode(raw, layout)
        features = encoding.put_together([encoded], layout, labels, weights, len(classes), self.max_bins, seed)
        training = make_training(features.table, labels, weights, len(classes), self._lengths(), seed)
        self._play(LocalCrew(effective_n_jobs(self.n_jobs)), training, len(labels), classes, features, seed)

    def _begin(self) -> int:
        """Check the parameters; returns the seed of all draws."""
        check_parameters(self, self.ranges)
        if not self._plays_on():
            return seed_from(self.random_state)
        if self._n_stages() < self.n_stages_.max():
            n_played = N_FOLDS * int(self.n_stages_.max())
            must = f"be at least the {n_played} of the fit before"
            raise invalid(self, "n_estimators", must, self.n_estimators, "or set warm_start=False to begin anew")
        return self.seed_

    def _plays_on(self) -> bool:
        return self.warm_start and bool(getattr(self, "_chains", None))

    def _n_stages(self) -> int:
        return -(-self.n_estimators // N_FOLDS)

    def _lengths(self) -> Lengths:
        return Lengths(self._n_stages(), self.n_iter_no_change, self.tol, is_kept=self.warm_start)

    def _read_labels(
        self, raw: columns.RawColumns, y: Any, sample_weight: Any
    ) -> tuple[IntArray, NDArray[Any], FloatArray]:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        y = _check_y(y, multi_output=False, y_numeric=False, estimator=self)
        check_consistent_length(raw.numbers, y)
        weights = _check_sample_weight(sample_weight, raw.numbers, dtype=np.float64, ensure_non_negative=True)
        classes, labels = read_classes(y)
        return labels, classes, encoding.relative_weights(labels, classes, weights, self.class_weight)

    def _play(
        self, crew: Crew, training: Any, n_rows: int, classes: NDArray[Any], features: Features, seed: int
    ) -> None:
        """Play and mix; attributes are set at the end, when nothing can fail any more.

        ``training`` is in the hands of the crew, and of the features' table only what new rows need is used.
        """
        before: list[Chain] = self._chains if self._plays_on() else []
        digest = None
        if self.warm_start:
            [digest] = crew.fetch(crew.map(portfolio.sample_digest, [training]))
            if before and digest != self._digest:
                raise ValueError(
                    "warm_start plays on with the sample of the fit before, and this is another one: rows, labels, "
                    "weights or max_bins have changed; give the same, or set warm_start=False to begin anew"
                )
        with progress_bar(N_FOLDS * len(KINDS), bool(self.verbose)) as progress:
            chains = portfolio.play_all(crew, training, n_rows, before, progress)
        mixed = blend(crew, training, chains, keep_chains=self.warm_start, keep_held_out=self.keep_held_out)
        self._chains = crew.fetch(chains)
        self._digest = digest
        self._forest = mixed.forest
        self._binning, self._texts, self._missing = features.binning, features.texts, features.table.missing
        self.classes_ = classes
        self.seed_ = seed
        self._tell(mixed)
        self._keep(mixed.held_out, n_rows)
        self.feature_importances_ = columns.original_shares(mixed.decrease, features.places, features.n_features)
        if self.verbose:
            print(self._told())

    def _tell(self, mixed: Blend) -> None:
        """What was chosen, for users."""
        n_judging, units = mixed.n_judging, mixed.units
        # Where a game stops is one more thing that its judges choose.
        n_choices = mixed.hits.size * (1 if self.n_iter_no_change is None else self._n_stages())
        self.power_ = mixed.power
        self.n_stages_ = mixed.n_stages
        self.held_out_accuracy_ = mixed.right / units if n_judging else np.nan
        self.selection_bound_ = selection_bound(n_judging, n_choices, N_FOLDS) if n_judging else np.inf
        accuracies = mixed.hits / units if n_judging else np.full(mixed.hits.shape, np.nan)
        members = [
            Member(kind.name, kind.gamma, strength, float(accuracies[i, j]), float(mixed.shares[i, j]))
            for i, kind in enumerate(KINDS)
            for j, strength in enumerate(STRENGTHS)
        ]
        self.members_ = sorted(members, key=lambda member: -member.weight)

    def _keep(self, held_out: list[HeldOut], n_rows: int) -> None:
        """What was said to rows by games that never saw them, in the order of the sample."""
        self.__dict__.pop("held_out_proba_", None)  # of a fit before
        if self.keep_held_out:
            self.held_out_proba_ = np.full((n_rows, len(self.classes_)), np.nan)
            for said in held_out:
                self.held_out_proba_[said.rows] = sharpened(said.mixture, self.power_)

    def _told(self) -> str:
        lines = [f"Held-out accuracy {self.held_out_accuracy_:.1%}, from:"]
        for member in self.members_:
            if member.weight > 0.0:
                what = f"{member.kind}, gamma {member.gamma:g}, leaning {member.leaning:g}"
                lines.append(f"  {member.weight:5.1%}  {what} (by itself {member.accuracy:.1%})")
        return "\n".join(lines)

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest label of ``predict_proba``, ties to the first."""
        return self._labels(self.predict_proba(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """The mixture of the members' distributions, calibrated by one power that was chosen on held-out rows."""
        table = self._read_rows(X)
        return sharpened(self._forest.predict(table, effective_n_jobs(self.n_jobs)), self.power_)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """``predict`` after each stage."""
        for chances in self.staged_predict_proba(X):
            yield self._labels(chances)

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """The mixture of the trees of the first 1, 2, ... stages, by the weights and the power of the whole.

        There are as many as the longest game that votes has.
        """
        table = self._read_rows(X)
        n_stages = len(self._forest.ends)
        for stage, sums in enumerate(self._forest.staged_predict(table, effective_n_jobs(self.n_jobs)), 1):
            mixture = sums if stage == n_stages else sums / sums.sum(axis=1, keepdims=True)
            yield sharpened(mixture, self.power_)

    def _labels(self, chances: FloatArray) -> NDArray[Any]:
        return self.classes_[chances.argmax(axis=1)]  # type: ignore[no-any-return]

    def _read_rows(self, X: Any) -> Table:
        """Rows to predict, as trees see them; a code that is too large is a missing value."""
        check_is_fitted(self, "_forest")
        places = tuple(column.place for column in self._texts)
        matrix, codes = columns.assemble(columns.read_columns(self, X, places=places), self._texts)
        parts = [self._binning.codes(matrix).T, *(column.astype(np.uint8)[None, :] for column in codes)]
        return encoding.table_of(parts, matrix.shape[1], self._missing, np.empty((0, 0)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
