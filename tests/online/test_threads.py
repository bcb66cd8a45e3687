"""Threads: one may learn, several may predict while nobody learns; the rest is an error that changes nothing."""

from __future__ import annotations

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import ocoboost
from laws import learned
from ocoboost import HoeffdingTrees, MondrianTrees, OnlineAgnosticBoostClassifier
from ocoboost.errors import ConcurrentUseError, WeakLearnerError
from toy_learners import Bins

GOOD = {"a": 1.0}
EVENTS = {"entered": threading.Event(), "leave": threading.Event()}


class Slow(Bins):
    """Waits in the middle of the row whose feature ``wait`` is set: 1 for learning it, 2 for voting on it.

    Parameters
    ----------
    seed
        Places the bins.
    """

    def learn_one(self, x, y, *, w=1.0):
        self._wait(x, 1)
        super().learn_one(x, y, w=w)

    def predict_proba_one(self, x, **kwargs):
        self._wait(x, 2)
        return super().predict_proba_one(x)

    def _wait(self, x, where):
        if x.get("wait") == where and threading.current_thread() is not threading.main_thread():
            EVENTS["entered"].set()
            assert EVENTS["leave"].wait(60)


@pytest.fixture
def model():
    for event in EVENTS.values():
        event.clear()
    model = OnlineAgnosticBoostClassifier(Slow(), n_learners=2, seed=1)
    model.learn_many([GOOD, GOOD], ["x", "y"])
    return model


class Meanwhile:
    """A call in another thread, held up in its middle for as long as the context lasts."""

    def __init__(self, call, *arguments):
        self.call, self.arguments = call, arguments

    def __enter__(self):
        self.pool = ThreadPoolExecutor(1)
        self.future = self.pool.submit(self.call, *self.arguments)
        assert EVENTS["entered"].wait(60)

    def __exit__(self, *error):
        EVENTS["leave"].set()
        self.future.result(60)
        self.pool.shutdown()


LEARNING = {
    "learn_one": lambda model: model.learn_one(GOOD, "x"),
    "learn_many": lambda model: model.learn_many([GOOD], ["x"]),
    "predict_learn_many": lambda model: model.predict_learn_many([GOOD], ["x"]),
    "prequential": lambda model: list(model.prequential([GOOD], ["x"])),
}
ASKING = {
    "predict_one": lambda model: model.predict_one(GOOD),
    "predict_proba_one": lambda model: model.predict_proba_one(GOOD),
    "predict_many": lambda model: model.predict_many([GOOD]),
    "answer_many": lambda model: model.answer_many([GOOD]),
    "answer_one": lambda model: model.answer_one(GOOD),
    "sample_one": lambda model: model.sample_one(GOOD),
}
MESSAGE = "OnlineAgnosticBoostClassifier: another call is {} at the moment, so this one did nothing; threads that share"


@pytest.mark.parametrize("call", [*LEARNING, *ASKING])
def test_while_one_learns_others_are_refused_and_nothing_else_happens(model, call):
    twin = copy.deepcopy(model)
    with Meanwhile(model.learn_many, [GOOD, {"wait": 1}], ["x", "y"]):
        for _ in range(2):
            with pytest.raises(ConcurrentUseError, match=MESSAGE.format("learning")):
                (LEARNING | ASKING)[call](model)
    twin.learn_many([GOOD, {"wait": 1}], ["x", "y"])
    assert learned(model) == learned(twin)
    (LEARNING | ASKING)[call](model)  # and now it is free
    assert not model.state_.broken


def test_while_one_learns_the_model_is_neither_copied_nor_saved(model, tmp_path):
    with Meanwhile(model.learn_one, {"wait": 1}, "x"):
        for use in (copy.deepcopy, pickle.dumps):
            with pytest.raises(ConcurrentUseError, match="cannot be copied or pickled while it is learning"):
                use(model)
        assert model.classes_ == ["x", "y"]  # what is one look is allowed
    assert pickle.loads(pickle.dumps(model)).n_rows_ == 3
    trees = HoeffdingTrees()
    with trees._turns.learning(trees), pytest.raises(ConcurrentUseError, match="another call is learning"):
        ocoboost.save(trees, tmp_path / "model.oco")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("call", LEARNING)
def test_while_one_predicts_others_may_predict_and_nobody_may_learn(model, call):
    twin = copy.deepcopy(model)
    with Meanwhile(model.predict_one, {"wait": 2}):
        for ask in ASKING.values():
            ask(model)
        with pytest.raises(ConcurrentUseError, match=MESSAGE.format("predicting")):
            LEARNING[call](model)
        pickle.dumps(model)
    assert learned(model) == learned(twin)
    LEARNING[call](model)
    assert model.n_rows_ == 3


def test_a_run_that_waits_for_its_next_block_keeps_nobody_out(model):
    run = model.prequential([GOOD] * 3, ["x", "y", "new"])
    assert len(next(run)) == 2
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(model.predict_one, GOOD).result(60) in ("x", "y")
    assert len(next(run)) == 1


def test_a_model_that_is_called_by_its_own_learner_says_so():
    class Recursive(Bins):
        """Asks the booster that is teaching it."""

        def learn_one(self, x, y, *, w=1.0):
            model.learn_one(x, y)

    model = OnlineAgnosticBoostClassifier(Recursive(), n_learners=2, seed=1)
    with pytest.raises(WeakLearnerError, match=r"ConcurrentUseError: .*another call is learning"):
        model.learn_one(GOOD, "x")


@pytest.mark.parametrize("learner", [HoeffdingTrees(grace_period=20), MondrianTrees()], ids=type)
def test_whatever_threads_do_every_answer_is_one_from_between_two_calls(learner):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(4000, 3)), rng.integers(3, size=4000).tolist()
    parts = [slice(first, first + 100) for first in range(0, 4000, 100)]
    twin = OnlineAgnosticBoostClassifier(learner, n_learners=5, classes=[0, 1, 2], seed=1)
    model = copy.deepcopy(twin)
    possible = {twin.predict_proba_many(X[:5]).tobytes()}
    for part in parts:
        twin.learn_many(X[part], y[part])
        possible.add(twin.predict_proba_many(X[:5]).tobytes())
    is_over, answers, n_refused, others = threading.Event(), [], [0], []

    def ask():
        while not is_over.wait(0.001):  # who asks without a pause keeps the learner out
            try:
                answers.append(model.predict_proba_many(X[:5]).tobytes())
            except ConcurrentUseError:
                n_refused[0] += 1
            except Exception as error:
                others.append(error)
                raise

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for part in parts:
            while True:  # a learner may be refused as well
                try:
                    model.learn_many(X[part], y[part])
                    break
                except ConcurrentUseError:
                    is_over.wait(0.0001)
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    assert others == []
    assert set(answers) <= possible
    assert learned(model, []) == learned(twin, [])


def test_of_several_learners_each_learns_all_or_nothing():
    model = OnlineAgnosticBoostClassifier(HoeffdingTrees(), n_learners=5, classes=["x", "y"], seed=1)
    rows, labels = [{"a": 1.0, "b": 2.0}] * 50, ["x", "y"] * 25
    barrier, done = threading.Barrier(3), []

    def learn():
        barrier.wait(60)
        for _ in range(30):
            try:
                model.learn_many(rows, labels)
                done.append(1)
            except ConcurrentUseError:
                pass

    threads = [threading.Thread(target=learn) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    twin = OnlineAgnosticBoostClassifier(HoeffdingTrees(), n_learners=5, classes=["x", "y"], seed=1)
    for _ in done:
        twin.learn_many(rows, labels)
    assert learned(model, rows[:1]) == learned(twin, rows[:1])
    assert not model.state_.broken
