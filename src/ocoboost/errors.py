"""The errors and warnings of this package.

    InvalidParameterError    a constructor argument is out of its range
    InvalidInputError        a row, label or weight cannot be used; the model is unchanged
    WeakLearnerError         a foreign learner raised in the middle of a row
    BrokenModelError         learning was refused because earlier rows are only partly learned
    LostStageError           a part of a model on a cluster was lost for good
    ConcurrentUseError       another thread uses the model; nothing was learned
    ModelFileError           a model cannot be saved, or a file holds none that can be loaded
    DataFileError            a data file cannot be read, or a row of it cannot be used
    OutputFileError          a file cannot be written, or would overwrite an input
    HazardWarning            what was asked for is done, and it is probably not what was meant
    SlowStageWarning         one part of a model on a cluster holds the others up

The first two are both ``ValueError`` and ``TypeError``, as scikit-learn's own parameter error is: a caller
should not have to know which of the two a bad argument is.
"""

from __future__ import annotations


class InvalidParameterError(ValueError, TypeError):
    """A constructor argument is out of its range."""


class InvalidInputError(ValueError, TypeError):
    """A row, label or weight cannot be used; nothing was learned."""


class WeakLearnerError(RuntimeError):
    """A foreign learner raised in the middle of a row."""

    def __init__(self, learner: int, name: str, row: int, doing: str, cause: str) -> None:
        super().__init__(learner, name, row, doing, cause)  # the arguments a pickle needs to rebuild it
        self.learner = learner
        self.name = name
        self.row = row
        self.doing = doing
        self.cause = cause

    def __str__(self) -> str:
        return f"learner {self.learner} ({self.name}) raised {self.cause} while {self.doing} row {self.row}"


class BrokenModelError(RuntimeError):
    """Earlier rows are only partly learned, so the model refuses to learn more."""


class LostStageError(RuntimeError):
    """A stage was lost with its worker and cannot be begun again; ``row`` counts the rows that are certain."""

    def __init__(self, stage: str, why: str, row: int | None = None) -> None:
        super().__init__(stage, why, row)
        self.stage = stage
        self.why = why
        self.row = row

    def __str__(self) -> str:
        certain = "" if self.row is None else f" All stages have learned the first {self.row} rows of the stream;"
        return (
            f"{self.stage} was lost and cannot be begun again: {self.why}.{certain} go on from the last model that was "
            "saved, with the rows after it."
        )


class ConcurrentUseError(RuntimeError):
    """A thread wants to learn while another uses the model, or to predict while another learns; nothing was done."""


class ModelFileError(ValueError):
    """A model cannot be saved, or a file holds none that can be loaded."""


class DataFileError(ValueError):
    """A data file cannot be read, or a row of it cannot be used."""


class HazardWarning(UserWarning):
    """What was asked for is done, and it is probably not what was meant; said once per model, with the fix."""


class SlowStageWarning(UserWarning):
    """One stage of a model on a cluster holds the others up."""


class OutputFileError(ValueError):
    """A file cannot be written, or would overwrite an input."""
