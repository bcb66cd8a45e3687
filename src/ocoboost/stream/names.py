"""Names that other libraries have for what is here: whoever uses one is told ours."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

_WRAPPER = "ocoboost.sklearn.OnlineBoostClassifier(model) has scikit-learn's methods"
METHODS = {
    "fit": "learn_many(X, y)",
    "partial_fit": "learn_many(X, y)",
    "predict": "predict_many(X)",
    "predict_proba": "predict_proba_many(X)",
    "score": "river.evaluate.progressive_val_score(rows, model, metric)",
    "get_params": "clone()",
    "set_params": "clone({name: value})",
}
PARAMETERS = {
    "random_state": ("seed",),
    "n_estimators": ("budget", "n_learners"),
    "n_models": ("budget", "n_learners"),
    "n_trees": ("budget", "n_learners"),
    "estimator": ("learner",),
    "base_estimator": ("learner",),
    "model": ("learner",),
}


def method_hint(kind: type, name: str) -> str | None:
    """What to say to who looks for a method of scikit-learn's."""
    if name not in METHODS:
        return None
    return f"{kind.__name__!r} object has no attribute {name!r}: here that is {METHODS[name]}; {_WRAPPER}."


def check_parameter_names(kind: type, given: Iterable[str]) -> None:
    """Raise ``TypeError`` for a parameter that has another name here."""
    for name in PARAMETERS.keys() & given:
        known = inspect.signature(kind).parameters
        ours = next((ours for ours in PARAMETERS[name] if ours in known), None)
        if name not in known and ours is not None:
            raise TypeError(f"{kind.__name__}() has no parameter {name!r}: here it is called {ours!r}.")
