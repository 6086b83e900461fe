"""The lines of a statement that say what it is: all of a simple one, and what stands before the block of a compound one."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from shardlint.syntax.chunks import TOKEN
from shardlint.syntax.scopes import parameters
from shardlint.syntax.tree import Chunk


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a chunk, 1-based as `ast` has them, both included."""

    first: int
    last: int


def header(chunk: Chunk, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Lines:
    """From the first decorator to the colon before the body."""
    args = node.args
    parts = [*parameters(args), *args.defaults, *(one for one in args.kw_defaults if one is not None)]
    parts += [] if node.returns is None else [node.returns]
    end = max((chunk.span(part).end for part in parts), default=chunk.span(node).start)
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    return Lines(first, chunk.text.line_of(_colon(chunk.text.source, end)) + 1)


def _colon(source: str, start: int) -> int:
    """Where the first colon after `start` stands that is not part of a comment; `start` if there is none."""
    position = start
    while (colon := source.find(":", position)) >= 0:
        token = TOKEN.search(source, position)
        if token is None or token.start() > colon or token.lastgroup != "comment":
            if token is not None and token.end() <= colon:
                position = token.end()
                continue
            return colon
        position = token.end()
    return start
