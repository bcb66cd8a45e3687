"""How model files are written and read: whole at any moment, and nothing in them is executed."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
import threading

import pytest

import ocoboost
from model_files import MODELS, long_stream, taught
from ocoboost import writing
from ocoboost.errors import ModelFileError
from ocoboost.writing import replacing


def small():
    return taught(MODELS["hoeffding"](seed=1), list(long_stream(20)))


@pytest.mark.parametrize("call", ["fsync", "fchmod", "write", "replace"])
def test_a_failed_write_leaves_the_old_file(call, tmp_path, monkeypatch):
    path = tmp_path / "model.oco"
    model = small()
    ocoboost.save(model, path)
    before = path.read_bytes()

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    if call == "write":
        opened = os.fdopen

        def broken(*args):
            file = opened(*args)
            file.write(b"some bytes, before the disk is full")
            monkeypatch.setattr(os, "fsync", full)
            return file

        monkeypatch.setattr(os, "fdopen", broken)
    else:
        monkeypatch.setattr(*((writing.Path, call, full) if call == "replace" else (os, call, full)))
    with pytest.raises(ModelFileError, match=r"model\.oco: cannot be written .No space left on device.\.$"):
        ocoboost.save(taught(model, list(long_stream(20))), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_grows_too_large_leaves_the_old_one(tmp_path):
    """The system itself refuses to write more than a few bytes."""
    path = tmp_path / "old"
    path.write_bytes(b"old")
    code = (
        "import resource, signal\n"
        "from ocoboost.writing import replacing\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n"
        f"    with replacing({str(path)!r}) as file:\n"
        "        file.write(bytes(10**6))\n"
        "except OSError as error:\n"
        "    print(error.strerror)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "File too large\n"
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_places_that_cannot_be_written_are_named(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path, why in {
        tmp_path / "no folder" / "model.oco": "No such file or directory",
        tmp_path / "folder": "Is a directory",
        tmp_path / "pipe": "Not a regular file",
        tmp_path / "loop": "Too many levels of symbolic links",
        tmp_path / ("long" * 100): "File name too long",
    }.items():
        with pytest.raises(ModelFileError) as refused:
            ocoboost.save(small(), path)
        assert str(refused.value) == f"{path}: cannot be written ({why})."
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "pipe", "loop"}


def test_a_folder_that_vanishes_is_an_error(tmp_path):
    (tmp_path / "folder").mkdir()
    replacement = replacing(tmp_path / "folder" / "file")
    replacement.__enter__().write(b"new")
    shutil.rmtree(tmp_path / "folder")
    with pytest.raises(FileNotFoundError):
        replacement.__exit__(None, None, None)


def test_there_is_a_whole_file_at_any_moment(tmp_path):
    """A process saves in a loop and is killed; whatever is left loads, and the next one to save clears up."""
    path = tmp_path / "model.oco"
    code = (
        "import ocoboost, itertools\n"
        "model = ocoboost.MondrianTrees(n_learners=50, seed=1)\n"
        "for number in itertools.count():\n"
        "    model.learn_many([{'a': float(number), 'b': float(n)} for n in range(20)], list('ab' * 10))\n"
        f"    ocoboost.save(model, {str(path)!r})\n"
        "    print(number, flush=True)\n"
    )
    for n_lines in (1, 4, 9):
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
            for _ in range(n_lines):
                process.stdout.readline()
            process.kill()
        assert ocoboost.load(path).n_rows_ >= 20 * n_lines
    ocoboost.save(small(), path)
    assert list(tmp_path.iterdir()) == [path]


def test_what_killed_writers_left_is_removed_and_what_others_write_is_not(tmp_path):
    path = tmp_path / "model.oco"
    left = tmp_path / f".model.oco.{'0' * 16}.tmp"
    left.write_bytes(b"of a process that was killed")
    others = [tmp_path / ".model.oco.tmp", tmp_path / ".model.oco.short.tmp", tmp_path / f".other.{'0' * 16}.tmp"]
    for other in others:
        other.write_bytes(b"someone else's")
    link = tmp_path / f".model.oco.{'1' * 16}.tmp"
    link.symlink_to(others[0])
    with replacing(path) as first:
        assert not left.exists()
        with replacing(path) as second:  # while the first is still being written
            second.write(b"second")
        assert path.read_bytes() == b"second"
        first.write(b"first")
    assert path.read_bytes() == b"first"
    assert set(tmp_path.iterdir()) == {path, link, *others}
    assert others[0].read_bytes() == b"someone else's"


def test_writers_at_the_same_time_do_not_collide(tmp_path):
    path = tmp_path / "file"
    errors = []

    def write(number):
        try:
            for _ in range(30):
                with replacing(path) as file:
                    file.write(bytes([number]) * 100_000)
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if path.exists():
            assert len(set(data := path.read_bytes())) == 1
            assert len(data) == 100_000
    assert not errors
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_a_file_keeps_its_mode(mode, tmp_path):
    path = tmp_path / "model.oco"
    path.write_bytes(b"")
    path.chmod(mode)
    with replacing(path) as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == mode  # from the first byte on
        file.write(b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path):
    before = os.umask(0o027)
    try:
        ocoboost.save(MODELS["agnostic"](), tmp_path / "model.oco")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "model.oco").stat().st_mode) == 0o640


def test_the_file_beside_is_new_and_its_name_cannot_be_guessed(tmp_path):
    names = set()
    for _ in range(2):
        with replacing(tmp_path / "file") as file:
            names |= {path.name for path in tmp_path.iterdir()} - {"file"}
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            assert writing._FLAGS & flags == flags
            file.write(b"x")
    assert len(names) == 2


def test_a_link_keeps_pointing_to_the_file(tmp_path):
    (tmp_path / "link.oco").symlink_to(tmp_path / "model.oco")
    for _ in range(2):  # once to nothing, once to a file
        ocoboost.save(MODELS["agnostic"](), tmp_path / "link.oco")
        assert (tmp_path / "link.oco").is_symlink()
        assert ocoboost.load(tmp_path / "model.oco").gamma == 0.3


def test_loading_executes_and_imports_nothing_from_the_file(tmp_path):
    code = (
        "import sys, ocoboost\n"
        f"model = ocoboost.load({str(tmp_path / 'model.oco')!r})\n"
        "print('pickle' in dir(sys.modules['ocoboost.saving.container']), type(model).__name__)\n"
    )
    ocoboost.save(MODELS["agnostic"](), tmp_path / "model.oco")
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False", "OnlineAgnosticBoostClassifier"]
