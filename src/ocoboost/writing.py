"""Files that are replaced whole or not at all.

What is written goes to a new file beside the target, is forced to disk, and then takes the target's name: at any moment
there is either the old file or the new one, complete. The new file has a name that nobody can guess, and is made by
this process or not at all (O_EXCL, no link is followed), so several processes may write the same target: the last one
to finish wins. A target that exists keeps its mode; a new one gets what the umask leaves of it. A link at the target
stays, and what it points to is replaced.

The writer holds a lock on its file. Whoever writes the same target next removes the files of writers that were killed:
nobody holds a lock on those.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows: files of killed writers stay
    fcntl = None  # type: ignore[assignment]

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_ENDING = ".tmp"
_MOST_OF_NAME = 40  # characters of the target's name that are kept: names are limited to 255 bytes


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to; it takes the place of ``path`` unless what happens inside raises. Raises ``OSError``.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "greeting"
    >>> with replacing(path) as file:
    ...     _ = file.write(b"hello")
    >>> path.read_bytes()
    b'hello'
    """
    target = Path(os.path.realpath(path))  # replace what a link points to, not the link
    mode = _mode_of(target)
    _remove_abandoned(target)
    descriptor, beside = _create(target, mode)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, mode)
            yield file
            file.flush()
            os.fsync(descriptor)
            if os.name != "nt":
                beside.replace(target)  # while the lock is held
        if os.name == "nt":  # open files cannot be renamed there
            beside.replace(target)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
    _sync_folder(target.parent)


def _mode_of(target: Path) -> int | None:
    """The mode of a file that exists; raises if something else is there."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "Not a regular file", str(target))
    return stat.S_IMODE(status.st_mode) & 0o777


def _prefix(target: Path) -> str:
    return f".{target.name[:_MOST_OF_NAME]}."


def _create(target: Path, mode: int | None) -> tuple[int, Path]:
    """A new, locked file beside the target."""
    while True:
        beside = target.with_name(f"{_prefix(target)}{secrets.token_hex(8)}{_ENDING}")
        try:
            descriptor = os.open(beside, _FLAGS, 0o666 if mode is None else 0o600)
        except FileExistsError:
            continue
        try:
            _lock(descriptor)
            if os.fstat(descriptor).st_nlink > 0:  # else it was taken for abandoned before it was locked
                return descriptor, beside
        except BaseException:
            os.close(descriptor)
            with suppress(OSError):
                beside.unlink()
            raise
        os.close(descriptor)


def _lock(descriptor: int, flags: int = 0) -> None:
    """Lock an open file, where the system and its folder can."""
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | flags)
        except BlockingIOError:
            raise
        except OSError:  # some network file systems have no locks
            if flags:
                raise


def _remove_abandoned(target: Path) -> None:
    """Remove what killed writers of the same target have left."""
    if fcntl is None:
        return
    prefix, length = _prefix(target), len(_prefix(target)) + 16 + len(_ENDING)
    with suppress(OSError):
        for name in os.listdir(target.parent):  # noqa: PTH208, names are all that is needed
            if name.startswith(prefix) and name.endswith(_ENDING) and len(name) == length:
                with suppress(OSError):
                    _remove_unlocked(target.with_name(name))


def _remove_unlocked(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            _lock(descriptor, fcntl.LOCK_NB)
            path.unlink()
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Make the rename survive a power failure too, where folders can be synced."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
