"""The online boosters for scikit-learn users: ``fit`` and ``partial_fit`` around any of them."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from ocoboost.data import hazards
from ocoboost.online.boost import OnlineBoostClassifier as Mixture
from ocoboost.online.mixture.judging import Suspect
from ocoboost.stream.protocol import StreamClassifier

_PREFIX = "booster__"


class OnlineBoostClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An online booster as a scikit-learn classifier.

    Rows are learned once: by `fit` in random order, by `partial_fit` in the order in which they are given. There may be
    missing values (NaN) in them, and columns of text in frames.

    Parameters
    ----------
    booster
        Any booster or forest of this package for streams; it is cloned, never changed. None stands for
        ``ocoboost.OnlineBoostClassifier()``, the mixture. Its parameters can be searched as ``booster__budget`` and so
        on.
    shuffle
        Whether `fit` learns the rows in random order. A table that is sorted by its labels would be a stream that
        repeats the last label for long and then changes, and would be learned as that.
    random_state
        The seed of a booster that has none; it also decides the order.

    Attributes
    ----------
    classes_
        The labels, sorted. If ``partial_fit`` was not told them, those seen so far: then ``predict_proba`` gets columns
        as labels appear.
    booster_
        The booster that has learned.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from ocoboost.sklearn import OnlineBoostClassifier

    >>> X, y = load_iris(return_X_y=True)
    >>> model = OnlineBoostClassifier(random_state=1)
    >>> bool(cross_val_score(model, X, y).mean() > 0.9)
    True

    >>> for rows in range(0, 150, 50):
    ...     model = model.partial_fit(X[rows : rows + 50], y[rows : rows + 50], classes=[0, 1, 2])
    >>> model.predict_proba(X).shape
    (150, 3)

    """

    booster_: StreamClassifier
    classes_: Any
    _order: Any  # of the rows that `fit` shuffled

    def __init__(
        self, booster: StreamClassifier | None = None, *, shuffle: bool = True, random_state: Any = None
    ) -> None:
        self.booster = booster
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OnlineBoostClassifier:
        """Forget everything, then learn these rows, in random order unless ``shuffle`` is false."""
        return self._learn(X, y, None, sample_weight, is_first=True, is_all=True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> OnlineBoostClassifier:
        """Learn more rows. ``classes``, all labels there will ever be, may be given with the first ones."""
        return self._learn(X, y, classes, sample_weight, is_first=not self.__sklearn_is_fitted__(), is_all=False)

    def predict_proba(self, X: Any) -> Any:
        """The probability of every label, a column for each of ``classes_``."""
        check_is_fitted(self)
        probabilities = np.asarray(self.booster_.predict_proba_many(self._table(X)))
        return probabilities[:, [self._places[label] for label in self.classes_.tolist()]]

    def predict(self, X: Any) -> Any:
        """The most probable label, or the cheapest if the booster was told what mistakes cost."""
        check_is_fitted(self)
        if getattr(self.booster_, "costs", None) is not None:
            places = {label: place for place, label in enumerate(self.classes_.tolist())}
            said = self.booster_.answer_many(self._table(X)).labels
            return self.classes_[[places[label] for label in said]]
        probabilities = self.predict_proba(X)
        return self.classes_[np.argmax(probabilities, axis=1)]

    def predict_set(self, X: Any, coverage: float = 0.9, *, allow_empty: bool = False) -> Any:
        """Whether each of ``classes_`` is in the prediction set of a row, if the booster is the mixture.

        Among the rows of a stream, about a share ``coverage`` has its label in the set; it must be one of the booster's
        ``coverages``. Unless ``allow_empty``, an empty set is filled with the most probable label.
        """
        check_is_fitted(self)
        labels = self.classes_.tolist()
        sets = self._mixture("predict_set").predict_set_many(self._table(X), coverage, allow_empty=allow_empty)
        return np.array([[label in inside for label in labels] for inside in sets], dtype=bool).reshape(-1, len(labels))

    @property
    def feature_importances_(self) -> Any:
        """Each column's share in what the votes of the mixture's trees rest on; only a mixture has it."""
        check_is_fitted(self)
        shares = self._mixture("feature_importances_").feature_importances_
        names = self.feature_names_in_ if self._is_frame else range(self.n_features_in_)
        return np.array([shares.get(name, 0.0) for name in names])

    @property
    def suspects_(self) -> list[Suspect]:
        """The rows whose given label looks wrong, worst first; rows are numbered as they were given."""
        check_is_fitted(self)
        found = self._mixture("suspects_").suspects_
        n_shuffled = len(self._order)
        return [
            suspect._replace(row=int(self._order[suspect.row])) if suspect.row < n_shuffled else suspect
            for suspect in found
        ]

    def _mixture(self, name: str) -> Mixture:
        if not isinstance(self.booster_, Mixture):
            raise AttributeError(f"{type(self.booster_).__name__} has no {name}; the mixture, booster=None, has.")
        return self.booster_

    # -- parameters of the booster -------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, those of the booster as ``booster__name``."""
        parameters: dict[str, Any] = super().get_params(deep=deep)
        if deep and isinstance(self.booster, StreamClassifier | None):
            parameters |= {_PREFIX + name: value for name, value in self._template()._get_params().items()}
        return parameters

    def set_params(self, **parameters: Any) -> OnlineBoostClassifier:
        """Set parameters; those of the booster take effect with the next ``fit``."""
        inner = {name: value for name, value in parameters.items() if name.startswith(_PREFIX)}
        super().set_params(**{name: value for name, value in parameters.items() if name not in inner})
        if inner:
            known = self._template()._get_params()
            changes = {name.removeprefix(_PREFIX): value for name, value in inner.items()}
            for name in changes.keys() - known.keys():
                raise ValueError(
                    f"Invalid parameter {name!r} for booster {self._template()}. Valid parameters are: {sorted(known)}."
                )
            self.booster = self._template().clone(changes)
        return self

    # -- inside --------------------------------------------------------------------------------------------------

    def _template(self) -> StreamClassifier:
        booster = Mixture() if self.booster is None else self.booster
        if not isinstance(booster, StreamClassifier):
            raise TypeError(
                f"OnlineBoostClassifier: booster must be one of ocoboost's online classifiers or None, got {booster!r}."
            )
        return booster

    def _learn(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, *, is_first: bool, is_all: bool
    ) -> OnlineBoostClassifier:
        template = self._template()
        X, y = self._rows(X, y, is_first)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        if classes is not None:
            classes = unique_labels(classes)
            if not is_first and not np.array_equal(self.classes_, classes):
                raise ValueError(f"`classes={classes!r}` is not the same as on last call, was: {self.classes_!r}")
        labels = y.tolist()
        if is_first:
            known = unique_labels(y) if is_all else classes
            changes = {} if known is None else {"classes": known.tolist()}
            if template.seed is None:
                changes["seed"] = int(check_random_state(self.random_state).randint(2**31 - 1))
            parameters = template._get_params()
            booster = template.clone({name: value for name, value in changes.items() if name in parameters})
            self._told = parameters
        else:
            booster = self.booster_
            if not hazards.same(self._told, template._get_params()):
                hazards.warn(self, "the booster's parameters were changed, which takes effect with the next fit.")
                self._told = template._get_params()
        self._is_frame = hasattr(X, "columns")
        self._order = np.empty(0, dtype=np.int64) if is_first else self._order
        if is_all and self.shuffle:
            self._order = order = np.random.default_rng(booster.seed).permutation(len(labels))
            X, labels = _safe_indexing(X, order), [labels[row] for row in order]
            weights = None if weights is None else weights[order]
        booster.learn_many(X, labels, w=weights)
        self.booster_ = booster
        known = booster.classes_
        self._places = {label: place for place, label in enumerate(known)}
        if is_first or len(known) != len(self.classes_):
            self.classes_ = np.unique(np.array(known, dtype=y.dtype if y.dtype.kind not in "US" else None))
        return self

    def _rows(self, X: Any, y: Any, is_first: bool) -> tuple[Any, Any]:
        """The rows and labels, checked as scikit-learn does; a frame with text stays a frame."""
        if not _has_text(X):
            X, y = validate_data(self, X, y, reset=is_first, ensure_all_finite="allow-nan")
        else:
            validate_data(self, X, reset=is_first, skip_check_array=True)
            y = column_or_1d(y, warn=True)
            check_consistent_length(X, y)
        check_classification_targets(y)
        if not is_first:
            self._check_kind(X)
        return X, y

    def _table(self, X: Any) -> Any:
        if _has_text(X):
            validate_data(self, X, reset=False, skip_check_array=True)
        else:
            X = validate_data(self, X, reset=False, ensure_all_finite="allow-nan")
        self._check_kind(X)
        return X

    def _check_kind(self, X: Any) -> None:
        if hasattr(X, "columns") != self._is_frame:
            had, has = ("text", "numbers only") if self._is_frame else ("numbers only", "text")
            raise ValueError(f"X has {has}, but OnlineBoostClassifier was fitted on columns with {had}.")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "booster_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _has_text(X: Any) -> bool:
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return False
    return not all(dtype.is_numeric() or dtype == nw.Boolean for dtype in frame.schema.values())
