"""Cutting a source text into its top-level statements without parsing it.

A chunk is one top-level statement with the comments and blank lines behind it. Chunks are the unit of parsing and of reuse:
an edit changes one of them, and a broken one leaves its neighbours alone. The cut is lexical (strings, comments, brackets,
line continuations), so it stands on text that does not parse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

TOKEN = re.compile(
    r"""
      (?P<string>"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:"{3}|\Z)
               | '{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*(?:'{3}|\Z)
               | "[^"\\\r\n]*(?:\\(?:\r\n|.)[^"\\\r\n]*)*"?
               | '[^'\\\r\n]*(?:\\(?:\r\n|.)[^'\\\r\n]*)*'?)
    | (?P<comment>\#[^\r\n]*)
    | (?P<open>[(\[{])
    | (?P<close>[)\]}])
    | (?P<joined>\\(?:\r\n|\r|\n))
    | (?P<newline>\r\n|\r|\n)
    """,
    re.VERBOSE | re.DOTALL,
)
_CONTINUES = re.compile(r"(?:else|elif|except|finally)\b|[)\]}]")
_NEVER_INSIDE_BRACKETS = re.compile(r"(?:def|class|import|from|async[ \t]+def)[ \t]|@[A-Za-z_]")


@dataclass(frozen=True, slots=True)
class Piece:
    """One cut: code-point offsets into the text, and whether it was `forced` at a line that no open bracket can hold."""

    start: int
    end: int
    forced: bool


def cut(source: str) -> Iterator[Piece]:
    """The pieces of `source`, which together are the whole of it.

    A line begins a new piece if something stands in its first column and no string, bracket, line continuation, decorator
    or clause of a compound statement ties it to the line before. A bracket that was never closed is given up at the first
    line that starts with `def`, `class`, an import or a decorator.
    """
    start, depth, forced = 0, 0, False
    decorated = source.startswith("@")
    for match in TOKEN.finditer(source):
        kind = match.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind == "newline":
            at = match.end()
            if at >= len(source) or source[at] in " \t\f#\r\n":
                continue
            gives_up = depth > 0 and _NEVER_INSIDE_BRACKETS.match(source, at) is not None
            if depth > 0 and not gives_up:
                continue
            if not decorated and _CONTINUES.match(source, at) is None:
                yield Piece(start, at, forced)
                start, forced = at, gives_up
            depth = 0
            decorated = source[at] == "@"
    yield Piece(start, len(source), forced)
