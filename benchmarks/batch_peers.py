"""LightGBM behind scikit-learn's protocol: its own wrapper does not work with every version of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class LightGBM(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The defaults of `LGBMClassifier`, on one thread."""

    def __init__(
        self,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        num_leaves: int = 31,
        min_child_samples: int = 20,
        reg_lambda: float = 0.0,
        colsample_bytree: float = 1.0,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.min_child_samples = min_child_samples
        self.reg_lambda = reg_lambda
        self.colsample_bytree = colsample_bytree

    def fit(self, X: Any, y: Any) -> LightGBM:
        import lightgbm

        self.classes_, labels = np.unique(y, return_inverse=True)
        parameters = {name: value for name, value in self.get_params().items() if name != "n_estimators"}
        parameters |= {"num_threads": 1, "verbosity": -1, "seed": 0, "objective": "binary"}
        if len(self.classes_) > 2:
            parameters |= {"objective": "multiclass", "num_class": len(self.classes_)}
        self._trees = lightgbm.train(parameters, lightgbm.Dataset(X, labels), self.n_estimators)
        return self

    def predict_proba(self, X: Any) -> Any:
        chances = np.asarray(self._trees.predict(X, num_threads=1))
        return np.column_stack([1.0 - chances, chances]) if chances.ndim == 1 else chances

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
