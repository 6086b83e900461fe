"""Source text and its three column units.

Inside shardlint a position is one integer: a code-point offset into the decoded text of a file. This module is the only
place that knows others: `ast` and tree-sitter speak UTF-8 bytes, people and JSON speak 1-based lines and columns, an
editor speaks whatever it negotiated (UTF-8, UTF-16 or UTF-32 code units, 0-based).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

_LINE_END = re.compile(r"\r\n|\r|\n")


class Unit(StrEnum):
    """What a column counts; the values are LSP's names for position encodings."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of code-point offsets, 0-based, into one text."""

    start: int
    end: int

    def contains(self, offset: int) -> bool:
        """Whether `offset` lies inside; the end itself counts, as a cursor behind the last character does."""
        return self.start <= offset <= self.end

    def shifted(self, by: int) -> Span:
        return Span(self.start + by, self.end + by)


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell of a notebook: its index among all cells (0-based), and where it starts in the joined text."""

    index: int
    start: int


@dataclass(frozen=True)
class Text:
    """A decoded source text with its line starts. The code cells of a notebook are one text that knows its `cells`.

    Lines end at LF, CRLF or CR, as Python's tokenizer and LSP agree; form feeds and Unicode separators do not end one.
    """

    source: str
    cells: tuple[Cell, ...] = ()
    _ascii: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ascii", self.source.isascii())

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """Code-point offset at which each line begins; there is always a first line."""
        return (0, *(match.end() for match in _LINE_END.finditer(self.source)))

    def line_of(self, offset: int) -> int:
        """The 0-based line that holds `offset`."""
        return bisect_right(self.line_starts, offset) - 1

    def line_span(self, line: int) -> Span:
        """The 0-based line without its line end. A line past the last one is the empty span at the end of the text."""
        starts = self.line_starts
        if line >= len(starts):
            return Span(len(self.source), len(self.source))
        start = starts[line]
        end = starts[line + 1] if line + 1 < len(starts) else len(self.source)
        while end > start and self.source[end - 1] in "\r\n":
            end -= 1
        return Span(start, end)

    def line_text(self, line: int) -> str:
        span = self.line_span(line)
        return self.source[span.start : span.end]

    def slice(self, span: Span) -> str:
        return self.source[span.start : span.end]

    def position(self, offset: int, unit: Unit = Unit.UTF32) -> tuple[int, int]:
        """Line and column, both 0-based, the column in `unit`. An offset outside the text is moved to its nearest end."""
        offset = max(0, min(offset, len(self.source)))
        line = self.line_of(offset)
        start = self.line_starts[line]
        return line, _width(self.source[start:offset], unit, self._ascii)

    def place(self, offset: int) -> tuple[int | None, int, int]:
        """The cell's index (None in a text without cells), and line and column in it, all 0-based, columns in code points."""
        line, column = self.position(offset)
        cell = next((cell for cell in reversed(self.cells) if cell.start <= offset), None)
        if cell is None:
            return None, line, column
        return cell.index, line - self.line_of(cell.start), column

    def offset(self, line: int, column: int, unit: Unit = Unit.UTF32) -> int:
        """The offset of a 0-based line and column (in `unit`).

        As LSP demands, a column past the end of its line means the line's end, and a column inside a character means its
        start. A negative or too large line is moved to the nearest end of the text.
        """
        if line < 0:
            return 0
        span = self.line_span(line)
        column = max(0, column)
        if self._ascii or unit is Unit.UTF32:
            return min(span.start + column, span.end)
        width = 0
        for index in range(span.start, span.end):
            width += _char_width(self.source[index], unit)
            if width > column:
                return index
        return span.end

    @cached_property
    def newline(self) -> str:
        """The line end that this text uses first, or LF."""
        match = _LINE_END.search(self.source)
        return match.group() if match else "\n"


def _char_width(char: str, unit: Unit) -> int:
    code = ord(char)
    if unit is Unit.UTF16:
        return 2 if code > 0xFFFF else 1
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4


def _width(text: str, unit: Unit, ascii_only: bool) -> int:
    if ascii_only or unit is Unit.UTF32 or text.isascii():
        return len(text)
    return sum(_char_width(char, unit) for char in text)
