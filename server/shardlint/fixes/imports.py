"""Edits of import statements: adding one that a repair needs, removing one that it made needless."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from shardlint.fixes.surroundings import Import, Surroundings
from shardlint.model import Edit
from shardlint.syntax.tree import Chunk, Place, Tree
from shardlint.text import Span


def added(statement: str, tree: Tree) -> Edit:
    """The edit that puts an import statement behind the file's leading imports, docstring and comments."""
    last: Place | None = None
    for chunk in tree.chunks:
        if not chunk.body:
            continue
        if not all(_leads(node) for node in chunk.body):
            break
        last = Place(chunk, chunk.body[-1])
    newline = tree.text.newline
    if last is None:
        return Edit(Span(_after_comments(tree), _after_comments(tree)), statement + newline)
    text = tree.text
    line = text.line_span(text.line_of(tree.span(last).end))
    separator = newline * 2 if isinstance(last.node, ast.Expr) else newline
    return Edit(Span(line.end, line.end), separator + statement)


def _leads(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )


def _after_comments(tree: Tree) -> int:
    """The first offset behind a shebang, an encoding cookie and the comment that opens the file."""
    text = tree.text
    line = 0
    while line < len(text.line_starts) and text.line_text(line).startswith("#"):
        line += 1
    return text.line_starts[line] if line < len(text.line_starts) else len(text.source)


def removed(item: Import, tree: Tree) -> Edit:
    """The edit that takes one name out of its import statement, or the whole statement where it was alone in it."""
    chunk, statement = item.alias.chunk, item.statement
    if len(statement.names) > 1:
        return Edit(_alias_span(item, tree), "")
    span = tree.span(Place(chunk, statement))
    text = tree.text
    line, last_line = text.line_of(span.start), text.line_of(span.end)
    before = text.source[text.line_starts[line] : span.start]
    behind = text.source[span.end : text.line_span(last_line).end]
    if before.strip() or behind.strip() or _alone_in_block(chunk, statement):
        return Edit(span, "pass")
    end = text.line_starts[last_line + 1] if last_line + 1 < len(text.line_starts) else len(text.source)
    return Edit(Span(text.line_starts[line], end), "")


def _alias_span(item: Import, tree: Tree) -> Span:
    names = item.statement.names
    index = next(i for i, alias in enumerate(names) if alias is item.alias.node)
    here = tree.span(item.alias)
    if index + 1 < len(names):
        return Span(here.start, tree.span(Place(item.alias.chunk, names[index + 1])).start)
    return Span(tree.span(Place(item.alias.chunk, names[index - 1])).end, here.end)


def _alone_in_block(chunk: Chunk, statement: ast.stmt) -> bool:
    if any(root is statement for root in chunk.body):
        return False
    return any(
        len(block) == 1 and block[0] is statement
        for root in chunk.body
        for node in ast.walk(root)
        for block in _blocks(node)
    )


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block: list[ast.stmt] | ast.expr | None = getattr(node, name, None)
        if isinstance(block, list):
            yield block


def needless(around: Surroundings, gone: Iterable[ast.AST], new_text: str) -> list[Import]:
    """Imports whose names occur only in the nodes that a repair takes away, and not in the text that it puts there.

    A name that `__all__` or any other text of the file mentions stays. So does a plain `import jax`, which says that the
    program uses the library, not what it uses of it.
    """
    vanishing = [node for root in gone for node in ast.walk(root) if isinstance(node, ast.Name)]
    counts: dict[str, int] = {}
    for node in vanishing:
        counts[node.id] = counts.get(node.id, 0) + 1
    found = [
        item
        for item in around.imports
        if _names_a_part(item)
        and item.name in counts
        and item.name not in new_text
        and uses(around.tree, item.name) == counts[item.name]
    ]
    return found if len({item.name for item in found}) == len(found) else []


def _names_a_part(item: Import) -> bool:
    alias = item.alias.node
    return isinstance(item.statement, ast.ImportFrom) or (isinstance(alias, ast.alias) and alias.asname is not None)


def uses(tree: Tree, name: str) -> int:
    """How often the file names `name`, in code or as the whole of a string."""
    count = 0
    for chunk in tree.chunks:
        if name not in chunk.text.source:
            continue
        for root in chunk.body:
            for node in ast.walk(root):
                named = isinstance(node, ast.Name) and node.id == name
                mentioned = isinstance(node, ast.Constant) and node.value == name
                count += named or mentioned
    return count
