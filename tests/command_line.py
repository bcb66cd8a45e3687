"""``ocoboost`` in process, and files for it to read."""

from __future__ import annotations

import numpy as np
from typer.testing import CliRunner

from ocoboost.cli import app

GOOD = "a,b,y\n" + "1,2,u\n3,4,v\n" * 20  # 41 lines


def ocoboost(*arguments, stdin=None):
    """The result of a command."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


def said(errors):
    """The lines on standard error, but for the one that a slow first compilation puts there."""
    return [line for line in errors.splitlines() if not line.startswith("ocoboost: compiling")]


def write_rows(path, n_rows=3000, *, with_text=False, seed=0):
    """A file of three columns, and of labels that depend on them."""
    rng = np.random.default_rng(seed)
    with path.open("w") as file:
        file.write("a,b,c,label\n")
        for a, b, c in rng.normal(size=(n_rows, 3)).round(4).tolist():
            label = "up" if a + b > 0 else "down" if c > 0 else "level"
            cell = ("red" if c > 0 else "blue") if with_text else c
            file.write(f"{a},{b},{cell},{label}\n")
    return path
