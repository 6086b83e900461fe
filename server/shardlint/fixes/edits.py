"""Edits as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from shardlint.model import Edit
from shardlint.text import Cell, Span, Text


class OverlapError(ValueError):
    """Two edits would change the same text."""


def apply(text: str, edits: Sequence[Edit]) -> str:
    """`text` with all `edits` made at once. Raises `OverlapError`. Edits of the same empty span keep their order."""
    parts: list[str] = []
    end = 0
    for edit in ordered(edits):
        if edit.span.start < end:
            raise OverlapError(f"two edits meet at offset {edit.span.start}")
        parts += [text[end : edit.span.start], edit.text]
        end = edit.span.end
    return "".join([*parts, text[end:]])


def edited(text: Text, edits: Sequence[Edit]) -> Text:
    """The same of a text that may have cells. Raises `OverlapError`, also for an edit that reaches from one cell into the next.

    What is put exactly between two cells belongs to the second, but an import, which is put behind others, to the first.
    """
    source = apply(text.source, edits)
    if not text.cells:
        return Text(source)
    moved: list[Cell] = []
    for cell in text.cells:
        if any(edit.span.start < cell.start < edit.span.end for edit in edits):
            raise OverlapError(f"an edit reaches into cell {cell.index}")
        before = (edit for edit in edits if edit.span.start < cell.start or (cell.start and _goes_before(edit, cell)))
        moved.append(
            replace(cell, start=cell.start + sum(len(one.text) - (one.span.end - one.span.start) for one in before))
        )
    return Text(source, tuple(moved))


def _goes_before(edit: Edit, cell: Cell) -> bool:
    return edit.span == Span(cell.start, cell.start) and edit.text.startswith(("import ", "from "))


def ordered(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The edits by position, each once."""
    return tuple(sorted(dict.fromkeys(edits), key=lambda edit: (edit.span.start, edit.span.end)))
