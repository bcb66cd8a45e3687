"""The errors and warnings of this package.

    InvalidParameterError    a constructor argument is out of its range
    InvalidInputError        a row, label or weight cannot be used; the model is unchanged
    WeakLearnerError         a foreign learner raised in the middle of a row
    BrokenModelError         learning was refused because earlier rows are only partly learned
    ConcurrentUseError       another thread uses the model; nothing was learned
    ModelFileError           a model cannot be saved, or a file holds none that can be loaded
    DataFileError            a data file cannot be read, or a row of it cannot be used
    OutputFileError          a file cannot be written, or would overwrite an input
    HazardWarning            what was asked for is done, and it is probably not what was meant

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


class ConcurrentUseError(RuntimeError):
    """A thread wants to learn while another uses the model, or to predict while another learns; nothing was done."""


class ModelFileError(ValueError):
    """A model cannot be saved, or a file holds none that can be loaded."""


class DataFileError(ValueError):
    """A data file cannot be read, or a row of it cannot be used."""


class HazardWarning(UserWarning):
    """What was asked for is done, and it is probably not what was meant; said once per model, with the fix."""


class OutputFileError(ValueError):
    """A file cannot be written, or would overwrite an input."""
