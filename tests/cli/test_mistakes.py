"""Warnings on the command line: one line each, with options that the command has."""

from __future__ import annotations

import warnings

import pytest

from ocoboost.cli.mistakes import one_line
from ocoboost.errors import HazardWarning

MESSAGE = "OnlineBoostClassifier: X: column 'no' holds identifiers; leave the column out."


@pytest.mark.parametrize(
    ("has_drop", "said"),
    [(True, "column 'no' holds identifiers; leave the column out (--drop no)."), (False, MESSAGE.partition("X: ")[2])],
)
def test_a_warning_names_an_option_only_where_there_is_one(capsys, has_drop, said):
    with one_line(has_drop=has_drop):
        warnings.warn(MESSAGE, HazardWarning, stacklevel=1)
    assert capsys.readouterr().err.replace("\n", " ").strip() == f"ocoboost: warning: {said}"
