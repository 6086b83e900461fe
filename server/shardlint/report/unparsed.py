"""What of a file does not parse, in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shardlint.report.summary import counted
from shardlint.text import Span, Text


def sentence(text: Text, broken: Sequence[Span], repairs: int) -> str:
    """A sentence that follows a file's name, on the `broken` spans of it; `repairs` were made in the file.

    It tells the lines of the first part, 1-based, in its notebook cell if any, and how many parts follow.
    """
    first, *others = _parts(text, broken)
    cell, line, _ = text.place(first.start)
    _, last, _ = text.place(first.end)
    where = f"line {line + 1}" if line == last else f"lines {line + 1} to {last + 1}"
    where += "" if cell is None else f" of cell {cell + 1}"
    if others:
        where += f" and {counted(len(others), 'more place', 'more places')}"
    verbs = "does not parse and was" if line == last and not others else "do not parse and were"
    elsewhere = f"; {counted(repairs, 'repair was', 'repairs were')} made elsewhere in the file" if repairs else ""
    return f"{where} {verbs} not checked{elsewhere}."


def _parts(text: Text, broken: Iterable[Span]) -> list[Span]:
    """The spans in order, without white space around them; those with nothing else between them, in one cell, are one."""
    parts: list[Span] = []
    for span in sorted(broken):
        inside = text.slice(span)
        start = span.start + len(inside) - len(inside.lstrip())
        part = Span(start, max(start, span.start + len(inside.rstrip())))
        before = parts[-1] if parts else None
        if (
            before is None
            or text.slice(Span(before.end, part.start)).strip()
            or _cell(text, before) != _cell(text, part)
        ):
            parts.append(part)
        else:
            parts[-1] = Span(before.start, max(before.end, part.end))
    return parts


def _cell(text: Text, span: Span) -> int | None:
    return text.place(span.start)[0]
