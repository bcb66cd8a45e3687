"""What the batch boosters share: scikit-learn's protocol around the game."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.batch.binning import Binning
from ocoboost.batch.boosting import Booster, check_split, held_out_accuracy
from ocoboost.batch.gamma import GRID, default_gamma
from ocoboost.batch.histogram_tree import HistogramTreeClassifier, default_depth
from ocoboost.batch.input import bin_features, read_sample, unless_refused
from ocoboost.batch.learners import ForeignLearner, WeakLearner
from ocoboost.batch.progress import progress_bar
from ocoboost.batch.rows import Hypothesis, hold_out
from ocoboost.batch.sample import LocalSample, Sample
from ocoboost.batch.tree import Tree
from ocoboost.cascade.regimes import SMALLEST_GAMMA, Regime
from ocoboost.data.parameters import AnyOf, Between, Count, OneOf, Range, check_parameters, invalid
from ocoboost.oco.players import PLAYERS
from ocoboost.oco.projections import project_onto_simplex
from ocoboost.randomness import PREDICT, draw_label, draw_rows


class BatchBooster(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of all batch boosters."""

    regime: ClassVar[Regime]
    default_start: ClassVar[str]  # the one that did better in benchmarks
    ranges: ClassVar[dict[str, Range]] = {
        "n_estimators": Count(at_least=1),
        "gamma": AnyOf(Between(0.0, 1.0, closed="right"), OneOf(None, "auto"), hint="smaller means weaker learners"),
        "start": OneOf("uniform", "label", None),
        "n_drawn": AnyOf(Count(at_least=1), OneOf(None)),
        "player": OneOf(*sorted(PLAYERS)),
        "n_iter_no_change": AnyOf(Count(at_least=1), OneOf(None)),
        "validation_fraction": Between(0.0, 1.0, closed="neither"),
        "tol": Between(0.0, np.inf, closed="left"),
        "verbose": AnyOf(Count(at_least=0), OneOf(True, False)),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 100,
        gamma: float | str | None = None,
        start: str | None = None,
        n_drawn: int | None = None,
        player: str = "gradient",
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-4,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.gamma = gamma
        self.start = start
        self.n_drawn = n_drawn
        self.player = player
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Play the game on a sample, forgetting what was learned before."""
        with unless_refused(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        estimator = self._checked_estimator()
        sample = read_sample(self, X, y, sample_weight, allow_nan=self._allows_nan())
        seed = seed_from(self.random_state)
        binning: Binning | None = None
        features: Any = sample.X
        learner: WeakLearner
        if isinstance(estimator, HistogramTreeClassifier):
            binning, features = bin_features(sample.X, sample.weights, estimator.max_bins, seed)
            learner = estimator.learner(binning, len(sample.classes))
        else:
            learner = foreign_learner(estimator, sample.classes, seed)
        with LocalSample.cut(features, sample.labels, sample.weights, effective_n_jobs(self.n_jobs)) as rows:
            self._fit_rows(rows, learner, sample.classes, binning, seed)

    def _fit_rows(
        self, sample: Sample, learner: WeakLearner, classes: NDArray[Any], binning: Binning | None, seed: int
    ) -> None:
        """Choose gamma and boost; fitted attributes are set at the end, when nothing can fail any more."""
        n_classes = len(classes)
        booster = Booster(
            regime=self.regime,
            n_classes=n_classes,
            n_stages=self.n_estimators,
            start=self.start or self.default_start,
            n_drawn=self.n_drawn,
            player=self.player,
            seed=seed,
            patience=self.n_iter_no_change,
            tolerance=self.tol,
        )
        gammas = GRID if self.gamma == "auto" else ()
        with progress_bar(self.n_estimators * (len(gammas) + 1), bool(self.verbose)) as progress:
            kept_apart = sample
            if gammas or self.n_iter_no_change is not None:
                kept_apart = sample.with_rows(hold_out, self.validation_fraction, seed)
                check_split(kept_apart, self.validation_fraction)
            scores = {}
            for gamma in gammas:
                booster.boost(kept_apart, learner, gamma, progress)
                scores[gamma] = held_out_accuracy(kept_apart)
            gamma = max(scores, key=scores.__getitem__) if scores else self._gamma(n_classes)
            sample = sample if self.n_iter_no_change is None else kept_apart
            hypotheses = booster.boost(sample, learner, gamma, progress)
        self.classes_ = classes
        self.binning_ = binning
        self.gamma_ = gamma
        self.gamma_scores_ = scores
        self.seed_ = seed
        self._hypotheses = hypotheses
        self.n_estimators_ = len(hypotheses)

    @property
    def estimators_(self) -> list[Any]:
        """The hypotheses, as fitted classifiers."""
        check_is_fitted(self)
        return [self._as_estimator(hypothesis) for hypothesis in self._hypotheses]

    def predict(self, X: Any) -> NDArray[Any]:
        """The mode of the projected votes: the label with most votes, ties to the first."""
        return self._labels(self._votes(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """The paper's label distribution: votes / gamma, projected onto the simplex. It has exact zeros."""
        return self._projected(self._votes(X))

    def decision_function(self, X: Any) -> FloatArray:
        """Vote shares divided by gamma, before projection; for two classes, the second's minus the first's."""
        scaled = self._votes(X) / self.gamma_
        return scaled[:, 1] - scaled[:, 0] if scaled.shape[1] == 2 else scaled

    def sample(self, X: Any, random_state: Any = None) -> NDArray[Any]:
        """The paper's randomized prediction: a label drawn from ``predict_proba``; None uses the seed of ``fit``."""
        return self._sample(X, self._sampling_seed(random_state), 0)

    def _sampling_seed(self, random_state: Any) -> int:
        check_is_fitted(self, "_hypotheses")
        return self.seed_ if random_state is None else seed_from(random_state)

    def _sample(self, X: Any, seed: int, first_row: int) -> NDArray[Any]:
        distributions = self.predict_proba(X)
        draws = np.empty(len(distributions))
        draw_rows(seed, PREDICT, first_row, 0, draws)
        drawn = [draw_label(row, draw) for row, draw in zip(distributions, draws, strict=True)]
        return self.classes_[np.array(drawn, dtype=np.int64)]

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """``predict`` after each stage."""
        for votes in self._staged_votes(X):
            yield self._labels(votes)

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """``predict_proba`` after each stage."""
        for votes in self._staged_votes(X):
            yield self._projected(votes)

    def correlation(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The mean of 2 * D[y] - 1, the expected correlation of drawn labels with ``y``, which the theorems bound."""
        return float(np.average(self._gains(X, y), weights=sample_weight))

    def _gains(self, X: Any, y: Any) -> FloatArray:
        distributions = self.predict_proba(X)
        y = np.asarray(y)
        if y.shape != (len(distributions),):
            raise ValueError(f"y should be a 1d array of length {len(distributions)}, got an array of shape {y.shape}")
        places = np.searchsorted(self.classes_, y).clip(0, len(self.classes_) - 1)
        known = self.classes_[places] == y
        return 2.0 * np.where(known, distributions[np.arange(len(y)), places], 0.0) - 1.0

    def _checked_estimator(self) -> Any:
        check_parameters(self, self.ranges)
        estimator = HistogramTreeClassifier() if self.estimator is None else self.estimator
        if not hasattr(estimator, "fit") or not hasattr(estimator, "predict"):
            raise invalid(self, "estimator", "be a scikit-learn classifier, or None for a native tree", estimator)
        if isinstance(estimator, HistogramTreeClassifier):
            check_parameters(estimator, estimator.ranges)
        elif self.n_drawn is None and not has_fit_parameter(estimator, "sample_weight"):
            hint = "give n_drawn to teach it drawn rows instead"
            raise invalid(self, "estimator", "take sample_weight in fit", estimator, hint)
        return estimator

    def _allows_nan(self) -> bool:
        return self.estimator is None or bool(get_tags(self.estimator).input_tags.allow_nan)

    def _gamma(self, n_classes: int) -> float:
        if self.gamma is not None:
            return max(float(self.gamma), SMALLEST_GAMMA)
        depth = getattr(self.estimator, "max_depth", None) or default_depth(n_classes)
        return default_gamma(self.regime, n_classes, depth)

    def _as_estimator(self, hypothesis: Any) -> Any:
        if isinstance(hypothesis, Tree) and self.binning_ is not None:
            template = HistogramTreeClassifier() if self.estimator is None else self.estimator
            return HistogramTreeClassifier(**template.get_params()).adopt(self.classes_, self.binning_, hypothesis)
        return hypothesis.estimator

    def _read_features(self, X: Any) -> Any:
        """Rows to predict, in the form that hypotheses take."""
        check_is_fitted(self, "_hypotheses")
        finite: Any = "allow-nan" if self._allows_nan() else True
        X = validate_data(self, X, reset=False, dtype=np.float64, order="C", ensure_all_finite=finite)
        return X if self.binning_ is None else self.binning_.codes(X)

    def _votes(self, X: Any) -> FloatArray:
        """Each label's share of the votes."""
        *_, votes = self._staged_votes(X, last_only=True)
        return votes

    def _staged_votes(self, X: Any, *, last_only: bool = False) -> Iterator[FloatArray]:
        features = self._read_features(X)
        counts = np.zeros((len(features), len(self.classes_)))
        for stage, hypothesis in enumerate(self._hypotheses):
            count_votes(hypothesis, features, counts)
            if not last_only or stage == len(self._hypotheses) - 1:
                yield counts / (stage + 1)

    def _labels(self, votes: FloatArray) -> NDArray[Any]:
        return self.classes_[votes.argmax(axis=1)]  # type: ignore[no-any-return]

    def _projected(self, votes: FloatArray) -> FloatArray:
        out = votes / self.gamma_
        project_onto_simplex(out, out)  # Alg. 2.8, Alg. 5.8: the projection of all votes
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allows_nan()
        return tags


def count_votes(hypothesis: Hypothesis, features: Any, counts: FloatArray) -> None:
    """Add a hypothesis' votes."""
    votes: IntArray = hypothesis.vote(features)
    counts[np.arange(len(votes)), votes] += 1.0


def foreign_learner(estimator: Any, classes: NDArray[Any], seed: int) -> ForeignLearner:
    return ForeignLearner(estimator, classes, has_fit_parameter(estimator, "sample_weight"), seed)


def seed_from(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
