"""``ocoboost warmup``."""

from __future__ import annotations

from typer.testing import CliRunner

from ocoboost.cli import app


def test_models_are_made_ready():
    result = CliRunner().invoke(app, ["warmup", "--models", "hoeffding,mondrian"])
    assert result.exit_code == 0, result.output
    assert [line.split(":")[0] for line in result.stderr.splitlines() if "ready" in line] == ["hoeffding", "mondrian"]


def test_an_unknown_model_is_one_line():
    result = CliRunner().invoke(app, ["warmup", "--models", "forest"])
    assert result.exit_code == 2
    assert "'forest' is not one of boost" in result.stderr
