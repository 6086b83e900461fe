"""Between the core's spans and LSP's ranges, whose columns count what the client negotiated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types
from pygls.uris import to_fs_path

from shardlint.text import Span, Text, Unit


def position(text: Text, offset: int, unit: Unit) -> types.Position:
    line, column = text.position(offset, unit)
    return types.Position(line, column)


def range_of(text: Text, span: Span, unit: Unit) -> types.Range:
    return types.Range(position(text, span.start, unit), position(text, span.end, unit))


def offset_of(text: Text, where: types.Position, unit: Unit) -> int:
    """The offset that a client's position means; a position outside the text means the nearest one inside."""
    return text.offset(where.line, where.character, unit)


def span_of(text: Text, where: types.Range, unit: Unit) -> Span:
    """The span that a client's range means; a range whose end comes before its start is empty."""
    start = offset_of(text, where.start, unit)
    return Span(start, max(start, offset_of(text, where.end, unit)))


def changed(text: Text, changes: Sequence[types.TextDocumentContentChangeEvent], unit: Unit) -> Text:
    """The text after a client's changes, each of which speaks of the text that the one before it left."""
    for change in changes:
        if isinstance(change, types.TextDocumentContentChangePartial):
            span = span_of(text, change.range, unit)
            text = Text(text.source[: span.start] + change.text + text.source[span.end :])
        else:
            text = Text(change.text)
    return text


def moved(span: Span, old: Text, new: Text) -> Span | None:
    """Where a span of a text is in a later one, if what changed lies before or behind it; None if it lies within."""
    if old.source == new.source:
        return span
    before, after = old.source, new.source
    head = _common(before, after)
    if span.end <= head:
        return span
    tail = _common(before[head:][::-1], after[head:][::-1])
    return span.shifted(len(after) - len(before)) if span.start >= len(before) - tail else None


def _common(one: str, other: str) -> int:
    """How many characters both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def path_of(uri: str) -> str | None:
    """The name under which shardlint speaks of a document: the path of a file, the name of an unsaved buffer.

    None for every other scheme (and for what is no URI at all): shardlint does not look at such documents.
    """
    scheme, separator, name = uri.partition(":")
    if scheme.lower() == "untitled" and separator:
        return name or "untitled"
    try:
        path = to_fs_path(uri)
    except ValueError:
        return None
    return path if path and "\0" not in path else None


def uri_of(path: str) -> str:
    """The URI of a file that the client has not named itself."""
    return Path(path).absolute().as_uri()
