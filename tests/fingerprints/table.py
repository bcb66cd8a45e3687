"""The table of cases."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from fingerprints.gists import Fingerprint

KEPT = Path(__file__).parent / "kept.json"
CASES: dict[str, Callable[[], Fingerprint]] = {}


def add(title: str, take_case: Callable[..., Fingerprint], *args: Any, **parameters: Any) -> None:
    """Put a case into the table, under a name that says what it sets."""
    name = " ".join([title, *map(str, args), *(f"{key}={value}" for key, value in parameters.items())])
    assert name not in CASES, name
    CASES[name] = partial(take_case, *args, **parameters)


# The paper's boosters. All that matters is given, because defaults are about to change.


def every_case() -> dict[str, Callable[[], Fingerprint]]:
    """All cases by name."""
    if not CASES:
        for module in ("online_cases", "learner_cases", "theory_cases", "batch_cases"):
            import_module(f"fingerprints.{module}").add_all()
    return CASES


def read() -> dict[str, Fingerprint]:
    """The fingerprints that are kept."""
    kept: dict[str, Fingerprint] = json.loads(KEPT.read_text())
    return kept


def write() -> None:
    """Take all fingerprints."""
    cases = every_case()
    lines = [f"{json.dumps(name)}: {json.dumps(cases[name](), separators=(',', ':'))}" for name in sorted(cases)]
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n")
