"""Continuing a saved run, or a model that was saved from Python."""

from __future__ import annotations

from ocoboost.errors import ModelFileError
from ocoboost.run.checkpoint import Checkpoint, Settings
from ocoboost.run.runner import Run
from ocoboost.stream.protocol import StreamClassifier


def resume(saved: str, path: str, n_jobs: int | None = None, settings: Settings | None = None) -> Run:
    """Continue a saved run: in the same file where it stopped, in any other file from its first row.

    A model that was saved from Python has no run to continue: it goes on with the file, read as ``settings`` say.
    """
    model, checkpoint = Checkpoint.read(saved, n_jobs)
    if checkpoint is None:
        if settings is None:
            raise ModelFileError(f"{saved}: saved from Python, so it does not know its labels' column; give --target.")
        _check_names(saved, model)
        run = Run(model, path, settings)
        run.columns.kinds.update({str(column): kind for column, kind in model.columns_.items()})
        return run
    run = Run(model, path, checkpoint.settings)
    run.columns.kinds.update(checkpoint.kinds)
    if checkpoint.source.matches(path):
        run.go_on(checkpoint)
    return run


def _check_names(saved: str, model: StreamClassifier) -> None:
    """Raise if a file cannot have the columns of a model that was trained in Python."""
    odd = [column for column in model.columns_ if not isinstance(column, str)]
    if odd:
        raise ModelFileError(
            f"{saved}: has a column named {odd[0]!r}, and the columns of files are named by text; train the model on "
            "named columns to go on with a file."
        )
