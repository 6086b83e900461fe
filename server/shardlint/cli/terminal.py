"""What the command line knows of the terminal before it: colours, width, a progress bar. rich is loaded only for one."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TextIO

from shardlint.report.paint import Paint, coloured, plain

WIDEST = 110
"""Prose in longer lines is hard to read."""


def paint_for(stream: TextIO, environ: Mapping[str, str]) -> Paint:
    """Colours where they are wanted: not with `NO_COLOR`, always with `FORCE_COLOR`, else on a terminal that has them."""
    if environ.get("NO_COLOR"):
        return plain
    if environ.get("FORCE_COLOR"):
        return coloured()
    return coloured() if stream.isatty() and environ.get("TERM") != "dumb" else plain


def width_of(stream: TextIO) -> int | None:
    """The cells in a line to wrap prose at; None where a line may have any length, as in a file or a pipe."""
    return min(shutil.get_terminal_size().columns, WIDEST) if stream.isatty() else None


@contextmanager
def progress(label: str) -> Generator[Callable[[str, int, int], None]]:
    """A bar on stderr while something lasts, if that is a terminal; it is gone at the end.

    What it gives is to be told the part that comes next, how many are done and how many there are.
    """
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield _untold
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[part]}", style="dim"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None, part="")
        yield lambda part, done, total: bar.update(task, part=escape(part), completed=done, total=total)


def _untold(part: str, done: int, total: int) -> None:
    del part, done, total
