"""The ``ocoboost`` command without the packages of the ``cli`` extra."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ocoboost.__main__ import NEEDED


def python(code, *missing):
    """Run code in a process that cannot import some packages."""
    code = f"import sys; sys.modules |= dict.fromkeys({missing!r}); {code}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", NEEDED)
def test_a_missing_package_is_one_line_that_says_how_to_install_it(name):
    result = python("from ocoboost.__main__ import main; main()", name)
    assert result.returncode == 2
    assert result.stderr == f"ocoboost: missing packages ({name}); install them with: pip install 'ocoboost[cli]'\n"


def test_the_library_works_without_them():
    code = "import ocoboost; m = ocoboost.HoeffdingTrees(); m.learn_one({'a': 1}, 'x'); print(m.predict_one({'a': 1}))"
    result = python(code, *NEEDED)
    assert (result.stdout, result.returncode) == ("x\n", 0), result.stderr


def test_the_packages_are_those_of_the_extra():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    extra = project["optional-dependencies"]["cli"]
    assert [requirement.partition(">=")[0] for requirement in extra] == list(NEEDED)
