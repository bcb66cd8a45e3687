"""Take all fingerprints anew."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from fingerprints.table import KEPT, every_case, write

write()
print(f"{len(every_case())} fingerprints in {KEPT.stat().st_size:,} bytes")
