"""Adding the import that a repair needs: where it belongs, and under which name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from shardlint.fixes.names import Names, Scope
from shardlint.fixes.surroundings import Surroundings, ahead
from shardlint.model import Edit
from shardlint.syntax.tree import Place, Tree
from shardlint.text import Span


@dataclass(frozen=True)
class Added:
    """A new import: its edit, the statement, what it binds to what, and the statement that it comes to stand ahead of."""

    name: str
    meaning: str
    edit: Edit
    statement: ast.stmt
    before: ast.stmt


def add(statement: str, names: Names) -> Added | None:
    """The one-name import `statement`, under another name where that one is taken.

    It goes into the function around where that is where the consumer is imported, else behind the module's leading imports.
    None where there is no room.
    """
    scope = _scope(names)
    for name, written in _spellings(statement, names.around):
        [node] = ast.parse(written).body
        assert isinstance(node, ast.Import | ast.ImportFrom)
        meaning = _meaning(node)
        if names.free(name, names.table.canonical(meaning), scope):
            place = _in_function(scope.owner, written, names) or _in_module(written, names)
            return None if place is None else Added(name, meaning, place[0], node, place[1])
    return None


def _spellings(statement: str, around: Surroundings) -> Iterator[tuple[str, str]]:
    """The import as it is written in the example, and under other names."""
    head, _, alias = statement.partition(" as ")
    module = head.rpartition(" ")[2]
    wanted = alias or module.partition(".")[0]
    yield wanted, statement
    if alias and "." not in module and head.startswith("import "):
        yield module, head
    fresh = around.fresh(alias or module.rpartition(".")[2])
    yield fresh, f"{head} as {fresh}"


def _meaning(node: ast.Import | ast.ImportFrom) -> str:
    [alias] = node.names
    if isinstance(node, ast.ImportFrom):
        return f"{node.module}.{alias.name}"
    return alias.name if alias.asname else alias.name.partition(".")[0]


def _scope(names: Names) -> Scope:
    """Where the file imports what the repaired expression uses: in the function around, or in the module."""
    used = {node.id for part in names.around.path[:2] for node in ast.walk(part) if isinstance(node, ast.Name)}
    for scope in names.scopes:
        local = any(binding.item for name in used for binding in scope.names.get(name, ()))
        if local and _first_import(scope.owner, names) is not None:
            return scope
    return names.scopes[-1]


def _first_import(owner: ast.AST | None, names: Names) -> ast.stmt | None:
    """The first import of a function, if it runs before the repaired expression does."""
    if not isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    first = next((stmt for stmt in owner.body if isinstance(stmt, ast.Import | ast.ImportFrom)), None)
    here = names.around.statement
    if first is None or here is None or names.around.span(here).start < names.around.span(first).start:
        return None
    return first


_Place = tuple[Edit, ast.stmt]


def _in_function(owner: ast.AST | None, written: str, names: Names) -> _Place | None:
    first = _first_import(owner, names)
    edit = None if first is None else ahead(first, [written], names.around)
    return None if first is None or edit is None else (edit, first)


def _in_module(written: str, names: Names) -> _Place | None:
    """Behind the last of the imports with which the file begins, or where they would be."""
    tree = names.around.tree
    text, newline = tree.text, tree.text.newline
    last: Place | None = None
    for chunk in tree.chunks:
        for statement in chunk.body:
            if _leads(statement, is_first=last is None):
                last = Place(chunk, statement)
                continue
            start = tree.span(Place(chunk, statement)).start
            if last is None:
                at = _after_comments(tree)
                return Edit(Span(at, at), written + newline), statement
            line = text.line_of(tree.span(last).end)
            if text.line_of(start) == line:
                return Edit(Span(start, start), f"{written}; "), statement
            at = text.line_starts[line + 1]
            gap = newline if isinstance(last.node, ast.Expr) else ""
            return Edit(Span(at, at), gap + written + newline), statement
    return None


def _leads(node: ast.stmt, *, is_first: bool) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    return is_first and isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)


def _after_comments(tree: Tree) -> int:
    """Where the code begins, behind shebang, encoding and licence, but ahead of the comment on the first statement."""
    text = tree.text
    line = 0
    while line + 1 < len(text.line_starts) and text.line_text(line).lstrip()[:1] in ("", "#"):
        line += 1
    first = line
    while first > 0 and text.line_text(first - 1).lstrip().startswith("#"):
        first -= 1
    line = first if first > 1 else line
    return text.line_starts[line]
