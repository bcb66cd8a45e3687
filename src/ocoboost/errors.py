"""What can go wrong, by whose fault.

    InvalidParameterError    a constructor argument is out of its range
    InvalidInputError        a row, label or weight cannot be used; the model is as it was
    WeakLearnerError         a foreign learner raised in the middle of a row
    BrokenModelError         learning was refused because earlier rows are only partly learned
    ModelFileError           a model cannot be saved, or a file holds none that can be loaded
    DataFileError            a file of rows cannot be read, or a row of it cannot be used
    OutputFileError          a file cannot be written, or would overwrite an input

The first two are both ``ValueError`` and ``TypeError``, as scikit-learn's own parameter error is: the line between
a wrong value and a wrong type is not one that a caller should have to know.
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


class ModelFileError(ValueError):
    """A model cannot be saved, or a file holds none that can be loaded."""


class DataFileError(ValueError):
    """A file of rows cannot be read, or a row of it cannot be used."""


class OutputFileError(ValueError):
    """A file cannot be written, or would overwrite an input."""
