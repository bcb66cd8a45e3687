"""A few kills under load; ``benchmarks/serve_kills.py`` does a thousand."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def kills(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module("serve_kills")
    for name in ("serve_kills", "serving", "studies"):
        sys.modules.pop(name, None)


@pytest.mark.slow  # a minute
def test_twenty_five_kills_lose_nothing(kills, monkeypatch):
    from ocoboost.cli.warmup import use

    monkeypatch.setattr(kills, "LONGEST_LIFE", 0.7)  # seconds
    for make in kills.MODELS.values():
        use(make())
    found = kills.kill_some({"seed": 7, "kills": 25})
    assert found["labels lost"] == found["labels learned twice"] == 0
    assert found["labels accepted"] > 100
    assert found["ends with the whole log learned"] == 3
