"""Edits as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shardlint.model import Edit


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


def ordered(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The edits by position, each once."""
    return tuple(sorted(dict.fromkeys(edits), key=lambda edit: (edit.span.start, edit.span.end)))
