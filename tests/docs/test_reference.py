"""The reference: every public name is in it, and every public class has an example."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import ocoboost

ROOT = Path(__file__).parents[2]
# Modules that need packages of their own are read, not imported.
OPTIONAL = {
    (module, node.name): ast.get_docstring(node) or ""
    for module in ("sklearn", "dask", "capymoa")
    for node in ast.parse((ROOT / "src" / "ocoboost" / f"{module}.py").read_text()).body
    if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
}


@pytest.mark.parametrize("name", ocoboost.__all__)
def test_every_public_name_is_in_the_reference_with_an_example(name):
    reference = "".join(path.read_text() for path in (ROOT / "docs" / "reference").glob("*.md"))
    assert re.search(rf":: {name}\n", reference)
    assert ">>> " in getattr(ocoboost, name).__doc__


@pytest.mark.parametrize(("module", "name"), OPTIONAL)
def test_every_class_of_an_extra_is_in_the_reference_with_an_example(module, name):
    reference = "".join(path.read_text() for path in (ROOT / "docs" / "reference").glob("*.md"))
    assert f"ocoboost.{module}.{name}" in reference
    assert ">>> " in OPTIONAL[module, name]
