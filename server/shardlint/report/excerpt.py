"""One line of source as it can be shown: tabs widened, control characters harmless, long lines cut around what matters."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shardlint.text import Span, Text

_TAB = 4
# What a terminal would obey, what would reorder the line, and halves of surrogate pairs, which cannot be written at all.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_CUT = "..."


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A line's text for a terminal. `indent` and `width` are cells of it: where the marked part begins, how wide it is."""

    line: int
    text: str
    indent: int
    width: int


def harmless(text: str) -> str:
    """The text with a replacement character for each one that must not reach a terminal."""
    return _UNSAFE.sub("\ufffd", text)


def excerpt(text: Text, span: Span, limit: int) -> Excerpt:
    """The first line of a span, cut to about `limit` cells where it is longer. `line` is 1-based, in its notebook cell if any.

    What of the span lies on later lines is not marked; an empty span is marked by one cell.
    """
    line = text.line_of(span.start)
    whole = text.line_span(line)
    first, last = max(whole.start, span.start), min(whole.end, max(span.start, span.end))
    left = whole.start if last - whole.start <= limit else max(whole.start, first - limit // 4)
    right = min(whole.end, left + limit)
    before, marked, after = (
        harmless(text.slice(part)) for part in (Span(left, first), Span(first, min(last, right)), Span(last, right))
    )
    before = before.lstrip() if left > whole.start else before
    start = (_CUT if left > whole.start else "") + before
    shown_start = start.expandtabs(_TAB)
    shown_marked = (start + marked).expandtabs(_TAB)[len(shown_start) :]
    shown = (start + marked + after).expandtabs(_TAB).rstrip() + (_CUT if right < whole.end else "")
    return Excerpt(text.place(span.start)[1] + 1, shown, cells(shown_start), max(1, cells(shown_marked)))


def cells(text: str) -> int:
    """How many cells of a terminal a text takes: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
