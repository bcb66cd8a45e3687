"""``ocoboost warmup``: compile ahead, so that no user waits for it."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from ocoboost.cli.mistakes import one_line, say
from ocoboost.cli.models import DEFAULT, make_model, names


def warmup(
    models: Annotated[str, typer.Option(help='Models by key, separated by commas, or "all".')] = DEFAULT,
) -> None:
    """Compile the kernels of models ahead and keep them in Numba's cache: for images and continuous integration."""
    with one_line(has_drop=False):
        for key in names() if models == "all" else models.split(","):
            began = time.process_time()
            use(make_model(key, None, None, 1, 1))
            say(f"{key}: ready, {time.process_time() - began:.1f} s of processor time")


def use(model: Any) -> None:
    """Take a few rows through everything that a model compiles: in a block and singly, with text and missing values.

    With labels that come late, too, and through a file: a service would otherwise compile in the midst of its work.
    """
    from ocoboost.online.issuing import Issuing
    from ocoboost.saving.model import read_model, write_model

    rows = [
        {"size": float(number % 7), "shape": "ab"[number % 2], "age": None if number % 5 else 1.0}
        for number in range(70)
    ]
    labels = ["xyz"[number % 3] for number in range(len(rows))]
    model.predict_learn_many(rows, labels)
    model.predict_many(rows[:2])
    if isinstance(model, Issuing):
        _, issued = model.answer_issued(rows)
        model.learn_issued(rows, labels, issued)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.oco"
        write_model(model, path)
        read_model(path)
    plain = [{"size": row["size"]} for row in rows]
    model.reset()
    for row, label in zip(plain, labels, strict=True):
        model.predict_one(row)
        model.learn_one(row, label)
