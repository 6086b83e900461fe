"""Answers kept on disk. Each holds as long as the files that it was made from are as they were."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from shardlint import __version__

Stamp = tuple[int, int] | None
"""The size of a file and the time of its last change in nanoseconds, or None for one that is not there."""
_MOST_ENTRIES = 2000


@dataclass(frozen=True, slots=True)
class Entry:
    """What a name means, None for one that has no other name, and the stamps of the files on which that depends."""

    meaning: str | None
    seen: Mapping[str, Stamp]

    @property
    def holds(self) -> bool:
        return all(stamp(file) == then for file, then in self.seen.items())


class Store:
    """The answers of one list of folders. What cannot be read or written on disk is kept for this process alone."""

    def __init__(self, folder: Path | None, *scope: str) -> None:
        """`folder` is where the files of all stores are, None for nowhere; `scope` is all that the answers depend on."""
        python = ".".join(map(str, sys.version_info[:2]))
        key = hashlib.sha256(json.dumps([__version__, python, *scope]).encode()).hexdigest()[:32]
        self._file = folder and folder / f"names-{key}.json"
        self._entries = self._on_disk()

    def get(self, name: str) -> Entry | None:
        """The answer for `name`, if there is one that still holds."""
        entry = self._entries.get(name)
        return entry if entry is not None and entry.holds else None

    def add(self, entries: Mapping[str, Entry]) -> None:
        """Take in answers, and write all that are known; others that were written meanwhile stay."""
        if not entries:
            return
        for name, entry in entries.items():
            self._entries.pop(name, None)  # the newest are last
            self._entries[name] = entry
        if self._file is None or not made(self._file.parent):
            return
        together = {**self._on_disk(), **self._entries}
        data = {name: [entry.meaning, entry.seen] for name, entry in [*together.items()][-_MOST_ENTRIES:]}
        # What cannot be written is asked again by the next process; that is all that it costs.
        with contextlib.suppress(OSError):
            _replace(self._file, json.dumps(data))

    def _on_disk(self) -> dict[str, Entry]:
        try:
            data: object = json.loads(self._file.read_bytes()) if self._file else {}
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(data, dict):
            return {}
        rows = cast("dict[str, object]", data).items()
        return {name: entry for name, row in rows if (entry := _row(row)) is not None}


def entry_of(meaning: object, seen: object) -> Entry | None:
    """An entry out of JSON, None if these are not the parts of one."""
    if not (meaning is None or isinstance(meaning, str)) or not isinstance(seen, dict):
        return None
    stamps: dict[str, Stamp] = {}
    for file, found in cast("dict[str, Any]", seen).items():
        match found:
            case None:
                stamps[file] = None
            case [int() as size, int() as changed]:
                stamps[file] = (size, changed)
            case _:
                return None
    return Entry(meaning, stamps)


def stamp(file: str) -> Stamp:
    """What changes when a file does."""
    try:
        found = Path(file).stat()
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns


def cache_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """Where shardlint keeps what can be made again, by the conventions of the platform; None where nothing says it.

    `environ` holds the variables of the process, `platform` is a `sys.platform`.
    """
    named = environ.get("LOCALAPPDATA" if platform == "win32" else "XDG_CACHE_HOME", "")
    if Path(named).is_absolute():
        return Path(named, "shardlint", "Cache") if platform == "win32" else Path(named, "shardlint")
    try:
        home = Path.home()
    except RuntimeError:
        return None
    below = {"win32": "AppData/Local/shardlint/Cache", "darwin": "Library/Caches/shardlint"}
    return home / below.get(platform, ".cache/shardlint")


def made(folder: Path) -> bool:
    """Make a folder that nobody else may look into, if there is none yet; false if that is not possible."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return False
    return True


def _row(row: object) -> Entry | None:
    if not isinstance(row, list) or len(cast("list[object]", row)) != 2:
        return None
    meaning, seen = cast("list[object]", row)
    return entry_of(meaning, seen)


def _replace(file: Path, text: str) -> None:
    """Write the file so that whoever reads it finds the old or the new as a whole."""
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as opened:
            opened.write(text)
        Path(name).replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
