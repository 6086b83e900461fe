"""The comments of a text that speak to shardlint, found whatever the state of the code around them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from shardlint.syntax.chunks import TOKEN
from shardlint.syntax.tree import Chunk, Tree
from shardlint.text import Span

ADDRESS = "shardlint:"
_ADDRESSED = re.compile(rf"#\s*{ADDRESS}([^#]*)")


@dataclass(frozen=True, slots=True)
class Comment:
    """What is said to shardlint in one comment: the `text` behind the colon, its `span` in the whole text from the `#` on, and the
    0-based line. One that stands `alone` has no code in front of it.
    """

    text: str
    span: Span
    line: int
    alone: bool


def comments(tree: Tree) -> Iterator[Comment]:
    """The comments `# shardlint: ...` in order. Another `#` ends one. What is part of a string is no comment."""
    if ADDRESS not in tree.text.source:
        return
    for chunk, start in zip(tree.chunks, tree.starts, strict=True):
        source = chunk.text.source
        if ADDRESS not in source:
            continue
        strings = tuple(_strings(chunk))
        for token in TOKEN.finditer(source):
            if token.lastgroup != "comment" or any(span.start < token.start() < span.end for span in strings):
                continue
            for found in _ADDRESSED.finditer(source, token.start(), token.end()):
                span = Span(found.start(), found.start() + len(found.group().rstrip())).shifted(start)
                line = tree.text.line_of(span.start)
                alone = not tree.text.source[tree.text.line_span(line).start : token.start() + start].strip()
                yield Comment(found[1].strip(), span, line, alone)


def _strings(chunk: Chunk) -> Iterator[Span]:
    """The strings of a chunk: only the parser knows where one with strings inside it ends."""
    for statement in chunk.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
                yield chunk.span(node)
