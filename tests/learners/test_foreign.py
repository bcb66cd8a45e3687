from __future__ import annotations

import numpy as np
import pytest
from river import ensemble, linear_model, naive_bayes, neighbors, preprocessing, tree
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier

from ocoboost import OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier
from ocoboost.bench import datasets

ROWS = datasets.shuffled(datasets.balance(), 4)[:120]
X = [x for x, _ in ROWS]
Y = [y for _, y in ROWS]
BINARY = ["L" if y == "L" else "other" for y in Y]

RIVER = [
    tree.HoeffdingTreeClassifier(),
    tree.ExtremelyFastDecisionTreeClassifier(),
    naive_bayes.GaussianNB(),
    neighbors.KNNClassifier(n_neighbors=3),
    linear_model.SoftmaxRegression(),
    ensemble.AdaBoostClassifier(tree.HoeffdingTreeClassifier(), n_models=2, seed=1),
    preprocessing.StandardScaler() | linear_model.SoftmaxRegression(),
]
SKLEARN = [
    GaussianNB(),
    BernoulliNB(),
    MultinomialNB(),
    SGDClassifier(loss="log_loss"),
    SGDClassifier(),
    Perceptron(),
    MLPClassifier(hidden_layer_sizes=(3,)),
]


@pytest.mark.parametrize("booster", [OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier])
@pytest.mark.parametrize("learner", RIVER, ids=str)
def test_river_classifiers_can_be_boosted(learner, booster):
    model = booster(learner, n_learners=3, gamma=0.5, start="label", seed=1)
    model.learn_many(X, Y)
    other = model.clone()
    for x, y in ROWS:
        other.learn_one(x, y)
    for x in X[:20]:
        assert model.predict_proba_one(x) == other.predict_proba_one(x)
        assert sum(model.predict_proba_one(x).values()) == pytest.approx(1.0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "booster", [OnlineAgnosticBoostClassifier, pytest.param(OnlineRealizableBoostClassifier, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("learner", SKLEARN, ids=lambda learner: type(learner).__name__)
def test_scikit_learn_classifiers_can_be_boosted(learner, booster):
    array = np.array([list(x.values()) for x in X])
    model = booster(learner, n_learners=3, gamma=0.5, relabel="random", classes=["L", "B", "R"], seed=1)
    model.learn_many(array, Y)
    other = model.clone()
    for x, y in ROWS:
        other.learn_one(dict(enumerate(x.values())), y)
    assert model.predict_proba_many(array).tolist() == other.predict_proba_many(array).tolist()
    assert model.predict_many(array)[0] in model.classes_


def test_binary_learners_see_booleans_and_votes_map_back():
    model = OnlineAgnosticBoostClassifier(
        preprocessing.StandardScaler() | linear_model.LogisticRegression(),
        n_learners=5,
        gamma=0.7,
        start="label",
        seed=1,
    )
    predictions = model.predict_learn_many(X, BINARY)
    hits = [p == y for p, y in zip(predictions[20:], BINARY[20:], strict=True)]
    assert sum(hits) / len(hits) > 0.8


def test_weights_reach_estimators_that_declare_sample_weight():
    array = np.array([list(x.values()) for x in X], dtype=float)
    model = OnlineAgnosticBoostClassifier(GaussianNB(), n_learners=2, gamma=0.5, classes=["L", "B", "R"])
    model.learn_many(array, Y, w=np.linspace(0.5, 1.5, len(Y)))
    assert model.relabel_ == "fractional"
    taught = model.state_.engine.cascades[0].ensemble.learners[0].class_count_.sum()
    assert taught == pytest.approx(np.linspace(0.5, 1.5, len(Y)).sum())


def test_missing_values_are_zeros_for_scikit_learn():
    model = OnlineAgnosticBoostClassifier(GaussianNB(), n_learners=2, classes=["L", "B", "R"], seed=1)
    model.learn_many(X, Y)
    assert model.predict_proba_one({"left_weight": 0, **dict.fromkeys(X[0], 0)}) == model.predict_proba_one({})


class Duck:
    """Has River's methods and none of its bases; knows one row."""

    def __init__(self) -> None:
        self.last = None

    def learn_one(self, x, y):
        self.last = y

    def predict_one(self, x):
        return self.last


def test_learners_need_the_methods_not_the_base_class():
    model = OnlineAgnosticBoostClassifier(Duck(), n_learners=3, gamma=1.0, start="label")
    model.learn_many(X, Y)
    assert model.predict_one({}) == Y[-1]
    assert model.relabel_ == "random"


class Silent(Duck):
    """Votes with nothing but NaN."""

    def predict_proba_one(self, x):
        return {0: float("nan"), 1: float("nan")}


def test_a_vote_that_says_nothing_is_uniform_and_goes_to_the_first_label():
    model = OnlineAgnosticBoostClassifier(Silent(), n_learners=3, pool="distribution", classes=["a", "b"])
    model.learn_one({}, "b")
    assert model.vote_shares_one({}) == {"a": 0.5, "b": 0.5}
    assert model.predict_one({}) == "a"
