"""The tolerant tree of one file: chunks of `ast` statements whose positions are relative to their chunk.

The tree is made of the standard `ast` classes, whichever parser a chunk went through, so whoever can read Python's own
tree can read ours. Nodes are never changed after parsing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from shardlint.syntax.chunks import Piece, cut
from shardlint.syntax.recovery import Parsed, parse_chunk
from shardlint.text import Span, Text, Unit

Node = ast.expr | ast.stmt | ast.alias | ast.arg | ast.keyword | ast.excepthandler


@dataclass(frozen=True, eq=False)
class Chunk:
    """One top-level statement. Two chunks are never equal, even with the same text: each stands at its own place."""

    text: Text
    parsed: Parsed

    @property
    def body(self) -> tuple[ast.stmt, ...]:
        return self.parsed.body

    def span(self, node: Node) -> Span:
        """The span of `node`, in code points from the start of this chunk."""
        start = self.text.offset(node.lineno - 1, node.col_offset, Unit.UTF8)
        end_line = node.end_lineno if node.end_lineno is not None else node.lineno
        end_column = node.end_col_offset if node.end_col_offset is not None else node.col_offset
        return Span(start, self.text.offset(end_line - 1, end_column, Unit.UTF8))


@dataclass(frozen=True, eq=False)
class Place:
    """A node in its chunk: stays true when lines before the chunk come and go."""

    chunk: Chunk
    node: Node


@dataclass(frozen=True, eq=False)
class Tree:
    """All chunks of one text, in order, and where each starts (code points)."""

    text: Text
    chunks: tuple[Chunk, ...]
    starts: tuple[int, ...]

    @cached_property
    def _start_of(self) -> Mapping[Chunk, int]:
        return dict(zip(self.chunks, self.starts, strict=True))

    def span(self, place: Place) -> Span:
        """The absolute span of a place of this tree, in code points. Raises KeyError for a place of another tree."""
        return place.chunk.span(place.node).shifted(self._start_of[place.chunk])

    @cached_property
    def broken(self) -> tuple[Span, ...]:
        """Absolute spans of what was left out because it does not parse."""
        return tuple(
            span.shifted(start)
            for chunk, start in zip(self.chunks, self.starts, strict=True)
            for span in chunk.parsed.broken
        )


def parse(text: Text, previous: Tree | None = None) -> Tree:
    """The tree of `text`; never fails. Chunks of `previous` whose text is unchanged are taken over as they are.

    The cells of a notebook are parsed each on its own: nothing reaches from one into the next.
    """
    reusable: dict[str, list[Chunk]] = {}
    if previous is not None:
        for chunk in reversed(previous.chunks):
            reusable.setdefault(chunk.text.source, []).append(chunk)
    chunks: list[Chunk] = []
    starts: list[int] = []
    for piece in _pieces(text):
        source = text.source[piece.start : piece.end]
        kept = reusable.get(source)
        chunk = kept.pop() if kept else _parse_piece(source)
        if piece.forced and chunks and chunks[-1].parsed.broken:
            # The bracket may have been closed after all: what was cut apart by force is whole if it parses together.
            together = _parse_piece(chunks[-1].text.source + source)
            if not together.parsed.broken:
                chunks[-1] = together
                continue
        chunks.append(chunk)
        starts.append(piece.start)
    return Tree(text, tuple(chunks), tuple(starts))


def _pieces(text: Text) -> Iterator[Piece]:
    starts = [cell.start for cell in text.cells] or [0]
    for start, end in zip(starts, [*starts[1:], len(text.source)], strict=True):
        for piece in cut(text.source[start:end]):
            yield Piece(piece.start + start, piece.end + start, piece.forced)


def _parse_piece(source: str) -> Chunk:
    text = Text(source)
    return Chunk(text, parse_chunk(text))
