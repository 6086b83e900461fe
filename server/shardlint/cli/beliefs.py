"""The command `explain-placement`: what is believed of the names on a line, and why."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import click

from shardlint.check import believe
from shardlint.cli.shared import CLEAN, FAILED, PATIENCE, tell
from shardlint.cli.terminal import paint_for
from shardlint.model import Problem, Target
from shardlint.project import Checked, Scope, check_file, folder_of, scope_of
from shardlint.records.catalogue import Catalogue
from shardlint.report import beliefs as report
from shardlint.text import Span, Text
from shardlint.workspace import Workspaces

_PLACE = re.compile(r"(?P<file>.+?)(?::cell (?P<cell>\d+))?:(?P<line>\d+)(?::(?P<column>\d+))?")
_HINT = "'PLACE'"


def run_explain_placement(
    place: str, output_format: str, target: Target | None, shipped: Catalogue, *, jedi: bool
) -> int:
    """Print what is believed there, and give the exit code. Raises `BadParameter` for a place that is none."""
    parts = _PLACE.fullmatch(place)
    if parts is None:
        raise click.BadParameter(
            f"{place!r} is not FILE:LINE or FILE:LINE:COLUMN, such as app.py:12.", param_hint=_HINT
        )
    path = Path(parts["file"])
    scope, problems = scope_of(folder_of(path), shipped, os.environ, target)
    checked = _checked(path, scope, jedi=jedi)
    if isinstance(checked, Problem):
        raise click.BadParameter(checked.message, param_hint=_HINT)
    for problem in problems:
        tell(problem.message)
    snapshot = checked.snapshot
    numbers = [None if parts[name] is None else int(parts[name]) for name in ("cell", "line", "column")]
    believed = believe(snapshot, _span(snapshot.text, path, *numbers))
    found, texts = believed.beliefs, {**believed.looked_into, snapshot.path: snapshot.text}
    if output_format == "json":
        click.echo(report.as_json(found, texts), nl=False)
    elif found:
        click.echo(report.as_text(found, texts, paint_for(sys.stdout, os.environ)), nl=False, color=True)
    else:
        tell(f"{place} has no name to explain.")
    return FAILED if problems else CLEAN


def _checked(path: Path, scope: Scope, *, jedi: bool) -> Checked | Problem:
    """The file as `check` sees it, with what jedi says of names that other packages pass on."""
    if not jedi:
        return check_file(path, scope, Workspaces(_spelled))
    from shardlint.inference.door import Inference
    from shardlint.inference.store import cache_folder

    with Inference(cache_folder(os.environ), PATIENCE) as inference:
        return check_file(path, scope, Workspaces(_spelled), lambda: inference)


def _span(text: Text, path: Path, cell: int | None, line: int | None, column: int | None) -> Span:
    """The line, or the place on it. Raises `BadParameter` where the file has no such place."""
    assert line is not None
    first, last, where = 0, len(text.line_starts), str(path)
    if cell is not None or text.cells:
        known = [one for one in text.cells if cell is None or one.index == cell - 1]
        if cell is None or not known:
            raise click.BadParameter(_no_cell(path, text, cell), param_hint=_HINT)
        later = [one.start for one in text.cells if one.start > known[0].start]
        first = text.line_of(known[0].start)
        last = text.line_of(later[0]) if later else last
        where = f"cell {cell} of {path}"
    if last > first and text.line_span(last - 1).start == len(text.source):
        last -= 1  # nothing stands behind the last line end
    if not 1 <= line <= last - first:
        raise click.BadParameter(f"{where} has {last - first} lines, and no line {line}.", param_hint=_HINT)
    whole = text.line_span(first + line - 1)
    if column is None:
        return whole
    length = whole.end - whole.start
    if not 1 <= column <= max(length, 1):
        raise click.BadParameter(
            f"line {line} of {where} has {length} columns, and no column {column}.", param_hint=_HINT
        )
    return Span(whole.start + column - 1, whole.start + column)


def _no_cell(path: Path, text: Text, cell: int | None) -> str:
    if not text.cells:
        return f"{path} is no notebook, and has no cell {cell}."
    listed = ", ".join(str(one.index + 1) for one in text.cells)
    return f"{path} is a notebook: write {path}:cell N:LINE, with one of its code cells for N ({listed})."


def _spelled(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
