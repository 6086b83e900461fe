"""Positions in three units."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardlint.text import Span, Text, Unit

TEXTS = st.text(alphabet=st.sampled_from("ab\t é😀e\u0301\ufeff\u2028\f\n")).map(
    lambda text: text.replace("\n\n", "\r\n")
)


@given(TEXTS, st.data())
def test_round_trip(source: str, data: st.DataObject) -> None:
    """An offset becomes a line and column in any unit and back again, except inside a CRLF."""
    text = Text(source)
    offset = data.draw(st.integers(0, len(source)))
    if source[offset - 1 : offset + 1] == "\r\n":
        return
    for unit in Unit:
        assert text.offset(*text.position(offset, unit), unit) == offset


@given(TEXTS)
def test_columns_count_their_unit(source: str) -> None:
    """The column of a line's end is the length of the line in that unit."""
    text = Text(source)
    for line in range(len(text.line_starts)):
        content = text.line_text(line)
        end = text.line_span(line).end
        assert text.position(end, Unit.UTF8) == (line, len(content.encode("utf-8")))
        assert text.position(end, Unit.UTF16) == (line, len(content.encode("utf-16-le")) // 2)
        assert text.position(end, Unit.UTF32) == (line, len(content))


@pytest.mark.parametrize(("line", "column"), [(-1, 0), (0, -5), (0, 99), (99, 0), (2**31 - 1, 2**31 - 1)])
def test_hostile_positions_are_moved_inside(line: int, column: int) -> None:
    """A position outside the text means its nearest end, never an error."""
    text = Text("a😀b\nc")
    for unit in Unit:
        assert 0 <= text.offset(line, column, unit) <= len(text.source)


def test_a_column_inside_a_character_is_its_start() -> None:
    """UTF-16 has two units for an emoji and UTF-8 four; a column between them means the emoji's start."""
    assert Text("a😀b").offset(0, 2, Unit.UTF16) == 1
    assert Text("a😀b").offset(0, 3, Unit.UTF8) == 1


def test_only_python_line_ends_count() -> None:
    """LF, CRLF and CR end lines; a form feed and Unicode's separators do not."""
    assert Text("a\fb\u2028c\rd\r\ne\nf").line_starts == (0, 6, 9, 11)


def test_spans_hold_their_end() -> None:
    """A cursor behind the last character is still on it."""
    assert Span(2, 4).contains(4)
    assert not Span(2, 4).contains(5)
