"""Reading files that someone else wrote: bounded, and every way to fail said as one clause."""

from __future__ import annotations

import json
import stat
import tomllib
from pathlib import Path
from typing import Any, NoReturn

from shardlint.model import Problem

LIMIT = 5_000_000
"""The most bytes that are read of one file."""
TOML_LIMIT = 32_000
"""The most bytes of a TOML file, smaller as the time to read one can grow with the square of its size."""


class UnusableError(Exception):
    """A file that cannot be used. The text is a clause that can follow the file's name and a colon."""


def problem(path: Path, clause: object) -> Problem:
    """The sentence that tells a person which file cannot be used and why."""
    shown = _shown(path)
    return Problem(shown, one_line(f"{shown}: {clause}", most=1000) + ".")


def one_line(text: str, most: int = 300) -> str:
    """Text of unknown origin as one printable line of at most `most` characters."""
    words = " ".join(text.split())
    shortened = words if len(words) <= most else words[: most - 1] + "…"
    return "".join(char if char.isprintable() else "?" for char in shortened)


def read_text(path: Path, limit: int = LIMIT) -> str:
    """The file's text, decoded from UTF-8 (with or without a byte order mark).

    Raises `UnusableError` for what is not a readable regular file of at most `limit` bytes in UTF-8.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for its other end
            raise UnusableError("is a folder, not a file" if path.is_dir() else "is not a regular file")
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except FileNotFoundError:
        raise UnusableError("does not exist") from None
    except OSError as error:
        raise UnusableError(f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UnusableError(f"is not a path: {error}") from error
    if len(content) > limit:
        raise UnusableError(f"is larger than {limit // 1000} kB, the most that is read")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnusableError(f"is not UTF-8 text: byte {error.start} cannot be decoded") from error


def read_json(path: Path) -> Any:
    """The value that the file's JSON text stands for, every string of it valid Unicode.

    Raises `UnusableError` as `read_text` does, and for text that is not JSON (NaN and infinities are not).
    """
    text = read_text(path)
    if not text.strip():
        raise UnusableError("is empty")
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise UnusableError(f"is not JSON: {error.msg} in line {error.lineno}, column {error.colno}") from error
    except UnicodeEncodeError as error:
        raise UnusableError("holds half of a surrogate pair, which is not text") from error
    except ValueError as error:
        raise UnusableError(f"is not JSON: {error}") from error
    except RecursionError as error:
        raise UnusableError("is nested too deeply") from error
    return value


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file. Raises `UnusableError` as `read_text` does, and for text that is not TOML."""
    text = read_text(path, TOML_LIMIT)
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise UnusableError("is nested too deeply") from error
    except ValueError as error:
        raise UnusableError(f"is not TOML: {error}") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _shown(path: Path) -> str:
    """The path as text that any output can encode: a file name need not be valid UTF-8."""
    return str(path).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
