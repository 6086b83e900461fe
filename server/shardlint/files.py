"""One file on disk: read within bounds, decoded as Python would decode it, written back whole or not at all."""

from __future__ import annotations

import contextlib
import io
import os
import re
import stat
import tempfile
import tokenize
from dataclasses import dataclass
from pathlib import Path

from shardlint.model import Problem
from shardlint.text import Text

_COOKIE = re.compile(rb"coding[:=]\s*([-\w.]+)")
_ADVICE = "save it as UTF-8, or name its encoding in the first line (# -*- coding: latin-1 -*-)"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The text of a file as it was read.

    `encoding` is a codec's name (`utf-8-sig` for UTF-8 with a byte order mark). The text keeps the file's line ends. `raw`
    are the bytes, kept to notice that somebody else wrote in the meantime.
    """

    path: Path
    text: Text
    encoding: str
    raw: bytes


def problem(path: Path, clause: str) -> Problem:
    """The sentence that tells a person what is the matter with a file; `clause` follows its name and a colon."""
    shown = str(path).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return Problem(shown, f"{shown}: {clause}")


def read_bytes(path: Path) -> bytes:
    """The content of a regular file. Raises `OSError` with a `strerror` for any other."""
    if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for its other end
        raise OSError(0, "it is not a regular file")
    return path.read_bytes()


def read(path: Path) -> SourceFile | Problem:
    """The file, or one sentence on why it cannot be read."""
    try:
        raw = read_bytes(path)
    except FileNotFoundError:
        return problem(path, "does not exist.")
    except OSError as error:
        return problem(path, f"cannot be read: {error.strerror}.")
    try:
        text, encoding = _decoded(raw)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        advice = _ADVICE if error.encoding == "utf-8" else "correct the encoding that its first lines name"
        byte = f"byte 0x{raw[error.start]:02x} in line {line}"
        return problem(path, f"is not {error.encoding.upper()} text, as {byte} shows; {advice}.")
    except (SyntaxError, LookupError, UnicodeError):
        named = _COOKIE.search(raw)
        name = named[1].decode("ascii", "replace") if named else "none"
        return problem(
            path, f"its first lines name {name!r} as its encoding, by which it cannot be read; correct that."
        )
    return SourceFile(path, Text(text), encoding, raw)


def write(source: SourceFile, text: str) -> Problem | None:
    """Replace the file's content by `text`, in the encoding it had, or say in one sentence why it was left as it is.

    The new content is complete beside the file before it takes its place, so that at every moment the file is old or new as
    a whole. Mode and links stay: what a symbolic link names is what is replaced. So do owner and group, as far as the system lets
    whoever runs this give a file away.
    """
    target = Path(os.path.realpath(source.path))
    try:
        content = text.encode(source.encoding)
        status = target.stat()
        # Replacing needs no right on the file itself, and root has every right: the mode says what its owner wants.
        if not status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(target, os.W_OK):
            return problem(source.path, "is read-only and was left as it is; make it writable to have it repaired.")
        if read_bytes(target) != source.raw:
            return problem(source.path, "was changed by another program meanwhile and was left as it is; run again.")
        _replace(target, content, status)
    except UnicodeEncodeError:
        return problem(source.path, f"the repair does not fit its encoding, {source.encoding}; it was left as it is.")
    except OSError as error:
        return problem(source.path, f"cannot be written and was left as it is: {error.strerror}.")
    return None


def _decoded(raw: bytes) -> tuple[str, str]:
    """The text and its encoding. Raises `SyntaxError`, `LookupError` or `UnicodeError` where it has none."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    except SyntaxError:
        raw.decode()  # where the reason is a byte that is not UTF-8, this raises the error that says which
        raise
    return raw.decode(encoding), encoding


def _replace(target: Path, content: bytes, before: os.stat_result) -> None:
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".shardlint")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _give(temporary, before)
        temporary.chmod(stat.S_IMODE(before.st_mode))
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _give(temporary: Path, before: os.stat_result) -> None:
    """Let a new file belong to whom the old one belongs. Only root may change the owner; the group anybody who is in it."""
    now = temporary.stat()
    for user, group in ((before.st_uid, before.st_gid), (-1, before.st_gid)):
        if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
            with contextlib.suppress(OSError):
                os.chown(temporary, user, group)
                return
