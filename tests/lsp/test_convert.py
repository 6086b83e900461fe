"""Positions, edits and names on the border between LSP and the core."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lsprotocol import types

from shardlint.lsp.convert import changed, moved, offset_of, path_of, position, range_of, span_of
from shardlint.text import Span, Text, Unit

FAR = 2**31 - 1
ENCODINGS = {Unit.UTF8: ("utf-8", 1), Unit.UTF16: ("utf-16-le", 2), Unit.UTF32: ("utf-32-le", 4)}

units = st.sampled_from(list(Unit))
texts = st.text(alphabet=st.sampled_from("ab \té😀e\u0301\f\u2028\n\r")).map(lambda text: text.replace("\r", "\r\n"))


def place(line: int, column: int) -> types.Position:
    return types.Position(line, column)


def edit(start: tuple[int, int], end: tuple[int, int], text: str) -> types.TextDocumentContentChangePartial:
    return types.TextDocumentContentChangePartial(types.Range(place(*start), place(*end)), text)


@given(texts, st.data(), units)
def test_columns_count_code_units(source: str, data: st.DataObject, unit: Unit) -> None:
    """A position's column is the number of code units between the start of its line and it, and it leads back."""
    text = Text(source)
    offset = data.draw(st.integers(0, len(source)))
    if source[offset - 1 : offset + 1] == "\r\n":
        offset -= 1  # between these two is no place that an editor can name
    found = position(text, offset, unit)
    encoding, size = ENCODINGS[unit]
    before = source[:offset].replace("\r\n", "\n").split("\n")
    assert found.line == len(before) - 1
    assert found.character == len(before[-1].encode(encoding)) // size
    assert offset_of(text, found, unit) == offset


@given(texts, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), texts), max_size=5), units)
def test_edits_in_any_unit_give_the_same_text(source: str, edits: list[tuple[int, int, str]], unit: Unit) -> None:
    """A sequence of edits told in the client's unit gives the text that the same edits by offset give."""
    expected, changes = source, []
    for first, second, new in edits:
        text = Text(expected)
        start, end = (
            offset_of(text, position(text, min(at, len(expected)), unit), unit) for at in sorted((first, second))
        )
        changes.append(types.TextDocumentContentChangePartial(range_of(text, Span(start, end), unit), new))
        expected = expected[:start] + new + expected[end:]
    assert changed(Text(source), changes, unit).source == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (edit((0, 0), (FAR, FAR), "new"), "new"),
        (edit((FAR, FAR), (FAR, FAR), "new"), "ab\ncdnew"),
        (edit((0, FAR), (1, 0), "new"), "abnewcd"),
        (edit((1, 1), (0, 1), "new"), "ab\ncnewd"),
        (edit((5, 0), (9, 9), "new"), "ab\ncdnew"),
        (types.TextDocumentContentChangeWholeDocument("new"), "new"),
    ],
    ids=["everything", "behind-the-end", "over-the-line-end", "reversed", "lines-that-are-not", "whole"],
)
def test_edits_out_of_range_are_clamped(change: types.TextDocumentContentChangeEvent, expected: str) -> None:
    """A position outside the text is the nearest one inside; a range that ends before it starts is empty."""
    assert changed(Text("ab\ncd"), [change], Unit.UTF16).source == expected


def test_column_inside_a_character_is_its_start() -> None:
    """A column between the two halves of a surrogate pair does not cut the character."""
    assert span_of(Text("a😀b"), types.Range(place(0, 2), place(0, 3)), Unit.UTF16) == Span(1, 2)


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///home/me/a%20b.py", "/home/me/a b.py"),
        ("untitled:Untitled-1", "Untitled-1"),
        ("untitled:", "untitled"),
        ("UNTITLED:x", "x"),
        ("untitled", None),
        ("vscode-notebook-cell:/a.ipynb#1", None),
        ("git:/a.py", None),
        ("http://host/a.py", None),
        ("file:", None),
        ("file:///a%00.py", None),
        ("file://[x/a.py", None),
        ("", None),
    ],
)
def test_names_of_documents(uri: str, path: str | None) -> None:
    """Files are known by their path and unsaved buffers by their name; other schemes and broken URIs are not looked at."""
    assert path_of(uri) == path


@given(texts, texts, texts, texts, st.data())
def test_a_span_moves_with_an_edit_beside_it(head: str, old: str, new: str, tail: str, data: st.DataObject) -> None:
    """A span before or behind the one place that was edited still holds the same text; what holds another one is given up.

    Where the texts alone do not tell which of several like places was edited, a span among these may be given up as well.
    """
    assume(head + old == head + new or (old + tail)[:1] != (new + tail)[:1])
    before, after = Text(head + old + tail), Text(head + new + tail)
    start = data.draw(st.integers(0, len(before.source)))
    span = Span(start, data.draw(st.integers(start, len(before.source))))
    found = moved(span, before, after)
    if span.end <= len(head) or span.start >= len(head) + len(old):
        assert found is not None
    if found is not None:
        assert after.slice(found) == before.slice(span)
