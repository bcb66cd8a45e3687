"""Saved models to damage and to forge."""

from __future__ import annotations

import pytest

from forging import saved_as


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return saved_as("mixture", tmp_path_factory)


@pytest.fixture(scope="module")
def hoeffding(tmp_path_factory):
    return saved_as("hoeffding", tmp_path_factory)


@pytest.fixture(scope="module")
def mondrian(tmp_path_factory):
    return saved_as("mondrian", tmp_path_factory)
