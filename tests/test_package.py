"""The surface: what is public, what importing costs, and what is said when a first call takes long."""

from __future__ import annotations

import subprocess
import sys

import pytest

import ocoboost
from ocoboost import compiling


def run_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_all_is_sorted_public_and_listed():
    assert ocoboost.__all__ == sorted(ocoboost.__all__)
    assert set(ocoboost.__all__) <= set(dir(ocoboost))
    for name in ocoboost.__all__:
        assert ">>>" in getattr(ocoboost, name).__doc__
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        ocoboost.nothing  # noqa: B018


def test_importing_the_package_loads_and_compiles_nothing_heavy():
    heavy = "numba", "river", "sklearn", "pandas", "polars", "typer", "rich", "numpy", "matplotlib", "jinja2"
    loaded = run_python(f"import ocoboost, sys; print([name for name in {heavy} if name in sys.modules])")
    assert loaded == "[]"


def test_importing_a_booster_compiles_nothing():
    code = (
        "from numba.core.dispatcher import Dispatcher\n"
        "compiled = []\n"
        "original = Dispatcher.compile\n"
        "Dispatcher.compile = lambda self, sig: (compiled.append(self), original(self, sig))[1]\n"
        "from ocoboost import OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier\n"
        "import sys\n"
        "print(len(compiled), 'sklearn' in sys.modules, 'pandas' in sys.modules)\n"
    )
    assert run_python(code) == "0 False False"


def test_the_version_comes_from_the_metadata():
    assert ocoboost.__version__[0].isdigit()


class FakeTimer:
    """A timer whose time is always up."""

    daemon = False

    def __init__(self, say):
        self.start = say

    def cancel(self):
        """Too late."""


def test_a_slow_first_compilation_is_announced_once(capsys, monkeypatch):
    waits = []
    monkeypatch.setattr(compiling.threading, "Timer", lambda seconds, say: waits.append(seconds) or FakeTimer(say))
    done = [False]
    for _ in range(2):
        with compiling.announcing_compilation(done):
            pass
    assert waits == [2.0]
    assert capsys.readouterr().err.count("compiling") == 1
