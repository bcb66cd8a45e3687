"""Numbers and hashes that stand for long results, and what a fingerprint is."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import numpy as np

PLAYERS = ("gradient", "lazy", "exponentiated", "scale-free", "coin")
Fingerprint = dict[str, dict[str, Any]]


def digest(values: Any) -> str:
    """A few digits that stand for whole numbers or text."""
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]


def shortened(values: Any, most: int = 12) -> Any:
    """The values themselves if they are few."""
    return values if len(values) <= most else digest(values)


def gist(values: Any) -> float:
    """One number that stands for many: a sum in which every place counts differently."""
    flat = np.asarray(values, dtype=np.float64).ravel()
    return math.fsum(flat * np.cos(np.arange(1, flat.size + 1)))


def fingerprint(exact: dict[str, Any], floats: dict[str, Any]) -> Fingerprint:
    """The parts as JSON can hold them, floats with more digits than are compared."""
    rounded = {
        name: [float(f"{value:.11g}") for value in np.asarray(values, dtype=np.float64).ravel().tolist()]
        for name, values in floats.items()
    }
    return {"exact": json.loads(json.dumps(exact)), "floats": rounded}
