"""The surface: what is public, what importing costs, and what is said when a first call takes long."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

import ocoboost
from ocoboost import announcing, compiling


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


def test_the_version_is_the_same_wherever_it_is_written():
    root = Path(__file__).parents[1]
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    assert f"\nversion: {version}\n" in (root / "CITATION.cff").read_text()
    first = re.search(
        r"^## \[(.+?)\] - (unreleased|\d{4}-\d\d-\d\d)$", (root / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    assert first is not None
    assert first[1] == version


def test_the_version_comes_from_the_metadata():
    assert ocoboost.__version__[0].isdigit()


def compiling_of(function):
    """What Numba says when it compiles a function."""
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})


ours, theirs = compiling_of(compiling.kernel), compiling_of(pytest.raises)


class Screen(io.StringIO):
    """Standard error, which may be a terminal."""

    def __init__(self, is_terminal):
        super().__init__()
        self.isatty = lambda: is_terminal


@pytest.mark.parametrize("is_terminal", [False, True])
def test_slow_compilation_is_announced(monkeypatch, is_terminal):
    monkeypatch.setattr(announcing, "PATIENCE", 0.05)
    monkeypatch.setattr(announcing, "PAUSE", 0.1)
    monkeypatch.setattr(announcing, "TICK", 0.01)
    screen = Screen(is_terminal)
    announcer = announcing.Announcer(screen)
    for _ in range(2):
        announcer.on_start(ours)
        announcer.on_start(ours)  # a kernel that another calls
        announcer.on_end(ours)
        time.sleep(0.3)
        announcer.on_end(ours)
        deadline = time.monotonic() + 20
        while announcer._thread is not None and time.monotonic() < deadline:
            time.sleep(0.01)
    said = screen.getvalue()
    if is_terminal:
        assert " s" in said
        assert said.endswith("\r")  # the line is gone in the end
        assert said.split("\r")[-2].strip() == ""
    else:
        assert said == f"{announcing.MESSAGE}\n"  # once


def test_quick_compilation_is_not_announced(monkeypatch):
    monkeypatch.setattr(announcing, "PAUSE", 0.05)
    monkeypatch.setattr(announcing, "TICK", 0.01)
    screen = Screen(True)
    announcer = announcing.Announcer(screen)
    announcer.on_start(theirs)
    assert announcer._thread is None
    announcer.on_start(ours)
    announcer.on_end(ours)
    while announcer._thread is not None:
        time.sleep(0.01)
    assert screen.getvalue() == ""
