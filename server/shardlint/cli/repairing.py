"""What `--fix` makes of a file, and how `--diff` shows that. Nothing is written here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from shardlint.files import SourceFile, problem
from shardlint.model import Safety
from shardlint.project import Checked, Repaired, repair
from shardlint.report import diff
from shardlint.report.paint import Paint
from shardlint.syntax import notebook


def repaired(checked: Checked, *, unsafe: bool) -> Repaired:
    """The file after the safe repairs, or after the best repair of every finding, whatever it costs."""
    return _repaired_anyhow(checked) if unsafe else repair(checked)


def _repaired_anyhow(checked: Checked) -> Repaired:
    from shardlint.fixes.repair import fixed

    source, old = checked.source, checked.snapshot.text
    new, fixes = fixed(checked.snapshot, frozenset(Safety))
    if not old.cells:
        return Repaired(old.source, new.source, fixes)
    before = source.raw.decode(source.encoding)
    after = notebook.rewritten(before, old, new) if fixes else before
    if after is None:
        clause = "was not repaired: its JSON is not laid out as Jupyter does it, and all of it would be written anew."
        return Repaired(before, before, (), problem(source.path, clause))
    return Repaired(before, after, fixes)


def as_diff(source: SourceFile, target: Path, made: Repaired, paint: Paint, content: Callable[[str], str]) -> str:
    """The diff of a file that is `target` when links are followed; `content` has the last word on what stands in a line."""
    mark = "\ufeff" if source.encoding == "utf-8-sig" else ""
    return diff.render(_name_here(target), mark + made.before, mark + made.text, paint, content)


def _name_here(path: Path) -> str:
    """A path as a diff names it, with slashes: from the current folder, for a file elsewhere from the root of all."""
    return path.relative_to(Path.cwd() if path.is_relative_to(Path.cwd()) else path.anchor).as_posix()
