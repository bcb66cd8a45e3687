"""The surface: what is public, what importing costs, what the command line shows."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import ocoboost
from ocoboost.cli import app
from ocoboost.cli.demo import sparkline


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
    heavy = "numba", "river", "sklearn", "pandas", "polars", "typer", "rich", "numpy"
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


def test_demo_compares_a_tree_with_its_boosted_self():
    result = CliRunner().invoke(app, ["demo", "--dataset", "balance", "--budget", "20", "--noise", "0.2"])
    assert result.exit_code == 0
    assert "Balance: 625 rows" in result.output
    assert "ocoboost, boosted" in result.output
    assert "20% of the labels flipped" in result.output


def test_demo_gives_the_same_numbers_twice():
    command = ["demo", "--dataset", "balance", "--budget", "10", "--seed", "3", "--json"]
    runs = [json.loads(CliRunner().invoke(app, command).stdout) for _ in range(2)]
    for run in itertools.chain(*runs):
        run.pop("rows_per_second")
    assert runs[0] == runs[1]
    assert [run["rows"] for run in runs[0]] == [625] * 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dataset", "iris"], "must be one of balance, segment"),
        (["--noise", "2"], "--noise"),
        (["--seed", "-1"], "--seed"),
    ],
)
def test_a_users_mistake_is_one_message_and_exit_code_2(arguments, message):
    result = CliRunner().invoke(app, ["demo", *arguments])
    assert result.exit_code == 2
    assert message in result.output


def test_sparklines_rise():
    assert sparkline([0.0, 0.5, 1.0]) == "▁▅█"
