"""How `--diff` shows what `--fix` would make of a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from shardlint.files import SourceFile
from shardlint.project import Repaired
from shardlint.report import diff
from shardlint.report.paint import Paint


def as_diff(source: SourceFile, target: Path, made: Repaired, paint: Paint, content: Callable[[str], str]) -> str:
    """The diff of a file that is `target` when links are followed; `content` has the last word on what stands in a line."""
    mark = "\ufeff" if source.encoding == "utf-8-sig" else ""
    return diff.render(_name_here(target), mark + made.before, mark + made.text, paint, content)


def _name_here(path: Path) -> str:
    """A path as a diff names it, with slashes: from the current folder, for a file elsewhere from the root of all."""
    return path.relative_to(Path.cwd() if path.is_relative_to(Path.cwd()) else path.anchor).as_posix()
