"""Writing one file: whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardlint.files import SourceFile, read, write


def source(path: Path) -> SourceFile:
    """The file, which must be readable."""
    result = read(path)
    assert isinstance(result, SourceFile)
    return result


def test_file_changed_meanwhile_is_left(tmp_path: Path) -> None:
    """What another program wrote after the file was read is not lost."""
    file = tmp_path / "a.py"
    file.write_text("old\n")
    before = source(file)
    file.write_text("theirs\n")
    problem = write(before, "ours\n")
    assert problem is not None
    assert problem.message == f"{file}: was changed by another program meanwhile and was left as it is; run again."
    assert file.read_text() == "theirs\n"


def test_file_removed_meanwhile_is_told(tmp_path: Path) -> None:
    """A file that is gone is not made again."""
    file = tmp_path / "a.py"
    file.write_text("old\n")
    before = source(file)
    file.unlink()
    problem = write(before, "ours\n")
    assert problem is not None
    assert "cannot be written and was left as it is" in problem.message
    assert not file.exists()


def test_text_outside_the_encoding_is_told(tmp_path: Path) -> None:
    """A repair that the file's encoding cannot express is not made, and the sentence names the encoding."""
    file = tmp_path / "a.py"
    file.write_bytes(b"# coding: ascii\nold\n")
    problem = write(source(file), "# coding: ascii\n\u00e9\n")
    assert problem is not None
    assert problem.message == f"{file}: the repair does not fit its encoding, ascii; it was left as it is."
    assert file.read_bytes() == b"# coding: ascii\nold\n"


def test_interrupted_write_leaves_the_old_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt before the new content is in place leaves the old file whole and nothing beside it."""

    def interrupt(self: Path, target: Path) -> None:
        raise KeyboardInterrupt

    file = tmp_path / "a.py"
    file.write_text("old\n")
    before = source(file)
    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(before, "new\n")
    assert file.read_text() == "old\n"
    assert list(tmp_path.iterdir()) == [file]


def test_name_that_is_not_utf8_can_be_told(tmp_path: Path) -> None:
    """A path that no encoding can write still gives a sentence that any output can."""
    problem = read(tmp_path / "caf\udce9.py")
    assert not isinstance(problem, SourceFile)
    assert problem.message.encode().endswith("caf\ufffd.py: does not exist.".encode())
