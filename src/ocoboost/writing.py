"""Files that are replaced whole: at any moment there is either the old file or the new one, complete.

The bytes go to a temporary file beside the target, under a random name that must not exist yet (so no link can be
followed there), which is forced to disk and then renamed. The new file has the mode of the old one.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write; it takes the place of ``path`` when the block ends without an error."""
    target = Path(path).resolve()  # replace what a link points to, not the link
    beside = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}.tmp")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            with suppress(FileNotFoundError):
                os.fchmod(descriptor, stat.S_IMODE(target.stat().st_mode))
            yield file
            file.flush()
            os.fsync(descriptor)
        beside.replace(target)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
