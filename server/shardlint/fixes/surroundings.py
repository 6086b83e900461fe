"""What stands around a node: its ancestors, the imports that name things there, and what names are taken."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from shardlint.placement.table import Table
from shardlint.syntax.scopes import FunctionNode, names_of
from shardlint.syntax.tree import Chunk, Place, Tree

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Import:
    """A name that an import binds: the alias and statement it comes from, and what it means by its canonical name."""

    name: str
    meaning: str
    alias: Place
    statement: ast.Import | ast.ImportFrom


@dataclass(frozen=True)
class Surroundings:
    """The view from one node of a tree."""

    tree: Tree
    table: Table
    chunk: Chunk
    node: ast.AST

    @cached_property
    def path(self) -> tuple[ast.AST, ...]:
        """The node and its ancestors, innermost first."""
        for statement in self.chunk.body:
            found = _path(statement, self.node)
            if found is not None:
                return tuple(found)
        return ()

    @property
    def parent(self) -> ast.AST | None:
        return self.path[1] if len(self.path) > 1 else None

    @cached_property
    def functions(self) -> tuple[FunctionNode, ...]:
        """The functions around the node, innermost first."""
        return tuple(
            node for node in self.path[1:] if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        )

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        """The imports that count here: those of the functions around, innermost first, then the module's."""
        found: list[Import] = []
        for function in self.functions:
            if not isinstance(function, ast.Lambda):
                found.extend(self._imports(self.chunk, function.body))
        for chunk in self.tree.chunks:
            found.extend(self._imports(chunk, chunk.body))
        return tuple(found)

    def _imports(self, chunk: Chunk, body: list[ast.stmt] | tuple[ast.stmt, ...]) -> Iterator[Import]:
        stack: list[ast.AST] = [*reversed(body)]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield from self._import(chunk, node)
            elif isinstance(node, ast.stmt | ast.excepthandler) and not isinstance(node, _SCOPES):
                children = [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.stmt | ast.excepthandler)]
                stack.extend(children[::-1])

    def _import(self, chunk: Chunk, node: ast.Import | ast.ImportFrom) -> Iterator[Import]:
        for alias in node.names:
            place = Place(chunk, alias)
            if isinstance(node, ast.Import):
                top = alias.name.partition(".")[0]
                meaning = self.table.canonical(alias.name) if alias.asname else top
                yield Import(alias.asname or top, meaning, place, node)
            elif not node.level and node.module and alias.name != "*":
                meaning = self.table.canonical(f"{node.module}.{alias.name}")
                yield Import(alias.asname or alias.name, meaning, place, node)

    def meaning(self, node: ast.AST) -> str | None:
        """The canonical name of a dotted expression whose first name an import binds."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        bound = next((item for item in self.imports if item.name == node.id), None)
        if bound is None:
            return None
        name = bound.meaning
        for part in reversed(parts):
            name = self.table.canonical(f"{name}.{part}")
        return name

    def spelled(self, name: str) -> str | None:
        """How the program writes the canonical dotted `name`, or None where no import leads to it."""
        best: tuple[int, str] | None = None
        for item in self.imports:
            rest = name.removeprefix(item.meaning)
            if (rest == "" or (rest.startswith(".") and rest != name)) and self._visible(item):
                rank = len(item.meaning)
                if best is None or rank > best[0]:
                    best = (rank, item.name + rest)
        return None if best is None else best[1]

    def _visible(self, item: Import) -> bool:
        """Whether the name still means this import here: no parameter or assignment of a function around hides it."""
        for function in self.functions:
            if item.name in names_of(function).local:
                own = () if isinstance(function, ast.Lambda) else tuple(self._imports(self.chunk, function.body))
                return any(item.alias.node is mine.alias.node for mine in own)
        return True

    def taken(self, name: str) -> bool:
        """Whether the name stands for something in the file, anywhere."""
        return name in self._words

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self.tree.text.source))

    def fresh(self, wanted: str) -> str:
        """`wanted`, with a number behind it if the file has that word already."""
        name, number = wanted, 2
        while self.taken(name):
            name, number = f"{wanted}_{number}", number + 1
        return name


def _path(root: ast.AST, wanted: ast.AST) -> list[ast.AST] | None:
    """`wanted` and its ancestors up to `root`, without recursion: trees may be deep."""
    parents: dict[ast.AST, ast.AST] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        if node is wanted:
            path = [node]
            while path[-1] in parents:
                path.append(parents[path[-1]])
            return path
        for child in ast.iter_child_nodes(node):
            parents[child] = node
            stack.append(child)
    return None
