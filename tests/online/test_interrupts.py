"""Ctrl-C at any line: the model is as before, or as after, or it says that it is broken."""

from __future__ import annotations

import copy
import linecache
import pickle
import sys
from pathlib import Path

import pytest

import ocoboost
from laws import learned
from ocoboost import OnlineAgnosticBoostClassifier
from ocoboost.errors import BrokenModelError
from toy_learners import Bins

SOURCES = str(Path(ocoboost.__file__).parent)
ROWS = [{"a": 1.0, "c": "red"}, {"a": 2.0, "c": "blue"}, {"a": 1.0, "c": "red"}, {"b": 3.0}]
LABELS = ["x", "x", "new", "y"]
PLANNING = {"tables.py", "rows.py", "hazards.py", "looks.py", "parameters.py"}  # and all else that comes before


class CtrlC:
    """Raises KeyboardInterrupt when the package is about to run its n-th line."""

    def __init__(self, n_lines):
        self.n_left = n_lines
        self.where = None
        self.visited = set()

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self.trace)
        return self

    def __exit__(self, *error):
        sys.settrace(self.before)

    def trace(self, frame, event, argument):
        if not frame.f_code.co_filename.startswith(SOURCES):
            return None
        if event == "line" and self.where is None and not self._is_releasing(frame):
            self.n_left -= 1
            if self.n_left < 0:
                self.where = Path(frame.f_code.co_filename).name
                raise KeyboardInterrupt
        return self.trace

    def _is_releasing(self, frame):
        """Whether a ``with`` is about to release its lock: no signal is handled there, but the line is traced again."""
        if not linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip().startswith("with self._turns.learn"):
            return False
        is_second = (frame, frame.f_lineno) in self.visited
        self.visited.add((frame, frame.f_lineno))
        return is_second


CALLS = {
    "learn_many": lambda model: model.learn_many(ROWS, LABELS),
    "predict_learn_many": lambda model: model.predict_learn_many(ROWS, LABELS),
    "learn_one": lambda model: model.learn_one({"b": 2.0, "c": "green"}, "z"),
    "predict_one": lambda model: model.predict_one(ROWS[0]),
}


@pytest.mark.parametrize("call", CALLS)
def test_an_interrupted_model_is_as_before_or_as_after_or_broken(call):
    fresh = OnlineAgnosticBoostClassifier(Bins(), n_learners=2, seed=1)
    fresh.learn_many(ROWS[:2], LABELS[:2])
    CALLS[call](copy.deepcopy(fresh))  # compiled by now
    after = copy.deepcopy(fresh)
    CALLS[call](after)
    pickled, before, after = pickle.dumps(fresh), learned(fresh), learned(after)
    fates = {"before": 0, "after": 0, "broken": 0}
    for n_lines in range(100_000):
        model = pickle.loads(pickled)
        interrupt = CtrlC(n_lines)
        try:
            with interrupt:
                CALLS[call](model)
        except KeyboardInterrupt:
            pass
        if interrupt.where is None:
            break
        is_broken = bool(model.state_.broken)
        assert not (is_broken and interrupt.where in PLANNING - {"rows.py"})
        if is_broken:
            fates["broken"] += 1
            with pytest.raises(BrokenModelError, match="learning was interrupted at row"):
                model.learn_one(ROWS[0], "x")
        else:
            fates["before" if learned(model) == before else "after"] += 1
            assert learned(model) in (before, after)
            model.learn_one(ROWS[0], "x")  # nobody holds it
    assert interrupt.where is None
    if call != "predict_one":
        assert min(fates["before"], fates["broken"]) > 20, fates
    else:
        assert fates["broken"] == fates["after"] == 0


def test_a_run_that_is_dropped_between_blocks_is_not_broken():
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2, seed=1)
    run = model.prequential(ROWS, LABELS)
    next(run)
    run.close()
    model.learn_one(ROWS[0], "x")


def test_an_interrupt_of_the_caller_between_blocks_breaks_nothing():
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2, seed=1)
    run = iter(model.prequential(ROWS, LABELS))
    next(run)
    with pytest.raises(KeyboardInterrupt):
        run.throw(KeyboardInterrupt)
    assert model.n_rows_ == 1
    model.learn_one(ROWS[0], "x")
