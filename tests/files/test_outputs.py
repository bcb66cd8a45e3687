"""Files that are written: whole or not at all, and never over an input."""

from __future__ import annotations

import os
import stat

import pytest

from ocoboost.errors import OutputFileError
from ocoboost.files.outputs import check_output, check_outputs, is_same_file, writing
from ocoboost.writing import replacing


def test_a_file_is_known_by_every_path_that_leads_to_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "rows.csv"
    path.write_text("a\n")
    (tmp_path / "soft").symlink_to("rows.csv")
    (tmp_path / "hard").hardlink_to(path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "copy.csv").write_text("a\n")
    for other in ("rows.csv", "./rows.csv", "folder/../rows.csv", "soft", "hard"):
        assert is_same_file(other, str(path))
        assert is_same_file(str(path), other)
    assert not is_same_file("copy.csv", str(path))
    (tmp_path / "dangling").symlink_to("new.csv")
    assert is_same_file("dangling", "folder/../new.csv")  # neither is there yet
    assert not is_same_file("new.csv", "newer.csv")
    with path.open() as opened:
        assert is_same_file(opened.fileno(), "soft")
    assert not is_same_file(os.devnull, os.devnull)  # nothing is lost there


def test_outputs_must_differ_from_inputs_and_from_each_other(tmp_path):
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    check_outputs({"--save": one, "--report": None}, {"the input": other, "--resume": None})
    with pytest.raises(OutputFileError, match="--save would overwrite the input"):
        check_outputs({"--save": one}, {"the input": one})
    with pytest.raises(OutputFileError, match="--report would overwrite --save"):
        check_outputs({"--save": one, "--report": one}, {"the input": other})


def test_paths_that_cannot_be_written_are_refused(tmp_path):
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe")
    for path, why in (
        (tmp_path, "it is a folder"),
        (tmp_path / "no" / "file", "there is no folder"),
        (tmp_path / "file" / "file", "no folder|Not a directory"),
        (tmp_path / "pipe", "not a regular file"),
        (tmp_path / ("x" * 300), "File name too long"),
        (os.devnull, "not a regular file"),
        ("/proc/file", "No such file|Permission denied|not permitted"),
    ):
        with pytest.raises(OutputFileError, match=f"cannot be written .*({why})"):
            check_output(str(path))
    check_output(os.devnull, pipes=True)
    before = sorted(tmp_path.iterdir())
    check_output(str(tmp_path / "new"))
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_files_and_folders_are_refused(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "file").chmod(0o400)
    with pytest.raises(OutputFileError, match="read-only"):
        check_output(str(tmp_path / "file"))
    tmp_path.chmod(0o500)
    with pytest.raises(OutputFileError, match="Permission denied"):
        check_output(str(tmp_path / "new"))
    tmp_path.chmod(0o700)


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path):
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    with replacing(link) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert link.is_symlink()
    assert sorted(tmp_path.iterdir()) == [path, link]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def fail(error):
        with writing(str(path)) as out:
            out.write("new")
            raise error

    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error):
            fail(error)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_encoded_is_escaped(tmp_path):
    with writing(str(tmp_path / "file")) as out:
        out.write("\ud800é\r\n")
    assert (tmp_path / "file").read_bytes() == "\\ud800é\r\n".encode()
