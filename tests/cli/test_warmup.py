"""``ocoboost warmup``."""

from __future__ import annotations

import subprocess
import sys

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


WORK = """
import sys
from pathlib import Path

from numba.core.dispatcher import Dispatcher

from ocoboost import OnlineBoostClassifier
from ocoboost.cli.warmup import use
from ocoboost.saving.model import read_model, write_model


def compiled():
    modules = [module for name, module in sys.modules.items() if name.startswith("ocoboost")]
    kernels = [one for module in modules for one in vars(module).values() if isinstance(one, Dispatcher)]
    return {(one.__module__, one.__name__, str(types)) for one in kernels for types in one.signatures}


def learn(model, first, last):
    rows = [{"a": number % 7 / 7, "b": number % 5 / 5, "town": str(number % 9)} for number in range(first, last)]
    labels = [f"label {number * number % min(9, 2 + number // 50)}" for number in range(first, last)]
    _, issued = model.answer_issued(rows)
    model.answer_issued_one(rows[0])
    model.learn_issued(rows, labels, issued)


use(OnlineBoostClassifier(seed=1))
before = compiled()
assert before
model = OnlineBoostClassifier(seed=1, max_size=8)  # little: trees are cut back when labels are added
for first in range(0, 600, 50):
    learn(model, first, first + 50)
path = Path(sys.argv[1])
write_model(model, path)
model, _ = read_model(path)
learn(model, 600, 650)
print(sorted(compiled() - before))
"""


def test_nothing_is_left_to_compile(tmp_path):
    """Otherwise a service would stop for seconds in the midst of its work, and grow by a compiler."""
    command = [sys.executable, "-c", WORK, str(tmp_path / "model.oco")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stdout + done.stderr
