"""Settings for every pytest run in this repository."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from pathlib import Path

# Numba's on-disk cache does not notice an edited callee in another module: key it by the sources, before any import.
_ROOT = Path(__file__).parent
_SOURCES = sorted((_ROOT / "src").rglob("*.py"))
_DIGEST = hashlib.sha256(b"".join(path.read_bytes() for path in _SOURCES)).hexdigest()[:16]
os.environ.setdefault("NUMBA_CACHE_DIR", str(_ROOT / ".cache" / f"numba-{_DIGEST}"))

# Compilation makes first examples slow, so no deadline; on CI the same examples every time.
from hypothesis import settings  # noqa: E402

settings.register_profile("ocoboost", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("ocoboost")

# The search for doctests would import it under another name, and it registers a model.
collect_ignore = ["tests/majority_booster.py"]
if importlib.util.find_spec("capymoa") is None:
    collect_ignore.append("src/ocoboost/capymoa.py")
