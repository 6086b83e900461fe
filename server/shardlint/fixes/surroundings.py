"""What stands around a node: its ancestors, the text of its neighbours, the room ahead of a statement."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from shardlint.fixes.module import Module
from shardlint.model import Edit
from shardlint.syntax.tree import Chunk, Node, Place, Tree
from shardlint.text import Span

_BLOCKS = ("body", "orelse", "finalbody")


@dataclass(frozen=True)
class Surroundings:
    """The view from one node of a module."""

    module: Module
    chunk: Chunk
    node: ast.AST

    @property
    def tree(self) -> Tree:
        return self.module.tree

    @cached_property
    def path(self) -> tuple[ast.AST, ...]:
        """The node and its ancestors, innermost first."""
        for statement in self.chunk.body:
            found = path_to(statement, self.node)
            if found is not None:
                return found
        return (self.node,)

    @property
    def parent(self) -> ast.AST | None:
        return self.path[1] if len(self.path) > 1 else None

    @property
    def statement(self) -> ast.stmt | None:
        """The innermost statement around the node."""
        return next((part for part in self.path if isinstance(part, ast.stmt)), None)

    def fresh(self, wanted: str, taken: Collection[str] = ()) -> str:
        """`wanted`, with a number behind it if the file has that word already, or `taken` does."""
        name, number = wanted, 2
        while name in self.module.words or name in taken:
            name, number = f"{wanted}_{number}", number + 1
        return name

    def span(self, node: Node) -> Span:
        """The span of a node of the same chunk, in code points of the file."""
        return self.tree.span(Place(self.chunk, node))

    def source(self, node: Node) -> str:
        return self.tree.text.slice(self.span(node))


def ahead(statement: ast.stmt, lines: list[str], around: Surroundings) -> Edit | None:
    """The edit that puts simple statements ahead of another of the same chunk, or None where there is no room for them."""
    text, start = around.tree.text, around.span(statement).start
    line = text.line_of(start)
    indent = text.source[text.line_starts[line] : start]
    joined = line > 0 and text.line_text(line - 1).rstrip().endswith("\\")
    if not indent.strip() and not joined:
        made = "".join(f"{indent}{written}{text.newline}" for written in lines)
        return Edit(Span(start - len(indent), start - len(indent)), made)
    if isinstance(statement, _SIMPLE):
        return Edit(Span(start, start), "".join(f"{written}; " for written in lines))
    return None


_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Raise, ast.Import, ast.ImportFrom)


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements that a node holds itself."""
    for name in _BLOCKS:
        block: list[ast.stmt] | ast.expr | None = getattr(node, name, None)
        if isinstance(block, list):
            yield block


def path_to(root: ast.AST, wanted: ast.AST) -> tuple[ast.AST, ...] | None:
    """`wanted` and its ancestors up to `root`, without recursion: trees may be deep."""
    parents: dict[ast.AST, ast.AST] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        if node is wanted:
            path = [node]
            while path[-1] in parents:
                path.append(parents[path[-1]])
            return tuple(path)
        for child in ast.iter_child_nodes(node):
            parents[child] = node
            stack.append(child)
    return None
