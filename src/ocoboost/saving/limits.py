"""What the parameters in a model file may ask for, before anything is made of them.

A few bytes can name ten million learners. But a model that has learned holds something for each of them: so a parameter
that says how many there are of something, or how often something is done, is held against the size of what the file
declares. A model with a limit on its memory cannot have learned more than that.
"""

from __future__ import annotations

from typing import Any

from ocoboost.errors import ModelFileError
from ocoboost.saving.container import ALLOWANCE

# How many there are, or how often: what is made of a parameter grows with it.
SIZES = ("budget", "n_cells", "n_learners", "n_pieces", "n_splits")
FEWEST_BYTES = 8  # of a learned state, for each
SMALL = 1 << 17  # whatever the size of the file
LARGEST = 2**63 - 1  # that a kernel can take


def check_described(described: Any) -> None:
    """Raise unless this names a class and its parameters, of kinds that a constructor takes."""
    if not isinstance(described, dict) or set(described) != {"class", "parameters"}:
        raise ModelFileError("does not say which model it holds.")
    parameters = described["parameters"]
    if not isinstance(described["class"], str) or not isinstance(parameters, dict):
        raise ModelFileError("does not say which model it holds.")
    for name, value in parameters.items():
        if not isinstance(name, str):
            raise ModelFileError(f"has a parameter called {name!r}.")
        if isinstance(value, int) and name != "seed" and abs(value) > LARGEST:
            raise ModelFileError(f"has invalid parameters ({name} is {value!r}).")


def check_sizes(described: dict[str, Any], n_members: int, n_bytes: int) -> None:
    """Raise if the parameters ask for more than a learned state of so many members and bytes can have."""
    parameters = described["parameters"]
    for name in SIZES:
        value = parameters.get(name)
        if isinstance(value, int) and value > SMALL and FEWEST_BYTES * value > n_bytes:
            raise ModelFileError(f"has {n_bytes:,} bytes of arrays, too few for {name}={value}.")
    gammas = parameters.get("gammas")
    if isinstance(gammas, list | tuple) and len(gammas) > n_members:
        raise ModelFileError(f"has {len(gammas)} gammas for {n_members} boosters.")
    max_size = parameters.get("max_size")
    if isinstance(max_size, int | float) and n_bytes > 2 * max_size * 2**20 + ALLOWANCE:
        raise ModelFileError(f"would take {n_bytes:,} bytes in memory, more than its max_size={max_size:g} allows.")
    for inner in ("learner", "booster"):
        if isinstance(parameters.get(inner), dict):
            check_sizes(parameters[inner], n_members, n_bytes)
