"""Settings for every pytest run in this repository."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

# The Makefile's cache of compiled kernels serves a bare pytest, too; set before any import.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parent / ".cache" / "numba"))

# Compilation makes first examples slow, so no deadline; on CI the same examples every time.
from hypothesis import settings

settings.register_profile("ocoboost", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("ocoboost")

# The search for doctests would import it under another name, and it registers a model.
collect_ignore = ["tests/majority_booster.py"]
if importlib.util.find_spec("capymoa") is None:
    collect_ignore.append("src/ocoboost/capymoa.py")
