"""How model files are written and read: whole at any moment, and nothing in them is executed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import ocoboost
from model_files import MODELS, long_stream, taught
from ocoboost.errors import ModelFileError


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.oco"
    model = taught(MODELS["hoeffding"](seed=1), list(long_stream(20)))
    ocoboost.save(model, path)
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelFileError, match=r"model\.oco: cannot be written .No space left"):
        ocoboost.save(taught(model, list(long_stream(20))), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_there_is_a_whole_file_at_any_moment(tmp_path):
    """A process saves in a loop and is killed; whatever is left loads."""
    path = tmp_path / "model.oco"
    code = (
        "import ocoboost, itertools\n"
        "model = ocoboost.MondrianTrees(n_learners=50, seed=1)\n"
        "for number in itertools.count():\n"
        "    model.learn_many([{'a': float(number), 'b': float(n)} for n in range(20)], list('ab' * 10))\n"
        f"    ocoboost.save(model, {str(path)!r})\n"
        "    print(number, flush=True)\n"
    )
    for n_lines in (1, 4, 9):
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
            for _ in range(n_lines):
                process.stdout.readline()
            process.kill()
        assert ocoboost.load(path).n_rows_ >= 20 * n_lines


def test_a_link_keeps_pointing_to_the_file(tmp_path):
    (tmp_path / "link.oco").symlink_to(tmp_path / "model.oco")
    ocoboost.save(MODELS["agnostic"](), tmp_path / "link.oco")
    assert (tmp_path / "link.oco").is_symlink()
    assert ocoboost.load(tmp_path / "model.oco").gamma == 0.3


def test_loading_executes_and_imports_nothing_from_the_file(tmp_path):
    code = (
        "import sys, ocoboost\n"
        f"model = ocoboost.load({str(tmp_path / 'model.oco')!r})\n"
        "print('pickle' in dir(sys.modules['ocoboost.saving.container']), type(model).__name__)\n"
    )
    ocoboost.save(MODELS["agnostic"](), tmp_path / "model.oco")
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False", "OnlineAgnosticBoostClassifier"]
