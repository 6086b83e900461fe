"""Imports that a repair makes needless: which they are, and the edits that remove them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from shardlint.fixes.bindings import Import
from shardlint.fixes.module import Module
from shardlint.fixes.names import Names, Scope, loose
from shardlint.fixes.surroundings import Surroundings, blocks
from shardlint.model import Edit
from shardlint.syntax.tree import Chunk, Place, Tree
from shardlint.text import Span, Text

_KEPT_ON_PURPOSE = re.compile(r"#.*\b(?:noqa|type:|pylint|pyright|ruff|isort|shardlint)", re.IGNORECASE)


@dataclass(frozen=True)
class Removed:
    """Imported names that go: the edits, the statement, and what is left of it (None: nothing)."""

    edits: tuple[Edit, ...]
    statement: ast.stmt
    left: ast.stmt | None


def needless(gone: Sequence[tuple[ast.Name, Names]], kept: Iterable[tuple[ast.AST, ast.AST]]) -> list[Import]:
    """Imports whose names occur only in the nodes `gone` that repairs take away, and not in those that they put there.

    Each node that goes comes with the names in sight of it; each that is `kept`, with the node of the program in whose place or ahead
    of which it comes to stand. A plain `import jax` stays: it says that the program uses the library, not what it uses of it. So does
    what is imported for others (`as` its own name, a comment for linters, anything in a package's own module, and in a class, of
    which it is an attribute) and what any text of the file may mean.
    """
    counts: dict[ast.AST, int] = {}
    found: dict[ast.AST, tuple[Import, Scope, Names]] = {}
    for node, names in gone:
        items, scope = names.imports_of(node.id), names.scope_of(node.id)
        if scope is None or isinstance(scope.owner, ast.ClassDef):
            continue
        if len(items) == len(scope.names[node.id]) == 1:
            alias = items[0].alias.node
            counts[alias] = counts.get(alias, 0) + 1
            found[alias] = items[0], scope, names
    going = {node for node, _ in gone}
    still: dict[str, set[ast.AST]] = {}
    for place, root in kept:
        for node in ast.walk(root):
            if isinstance(node, ast.Name) and node not in going:
                still.setdefault(node.id, set()).add(place)
    return [
        item
        for alias, (item, scope, names) in found.items()
        if not _is_in_sight(item, scope, still.get(item.name, set()), names.around.module)
        and _goes(item, names.around.module)
        and uses(item.name, scope.owner, names.around.module) == counts[alias]
    ]


def _is_in_sight(item: Import, scope: Scope, places: Collection[ast.AST], module: Module) -> bool:
    """Whether what the import binds in its scope is what its name means at one of the places."""
    wanted = set(places)
    for chunk in module.tree.chunks if wanted else ():
        met = [node for root in chunk.body for node in ast.walk(root) if node in wanted]
        for seen in (Names(Surroundings(module, chunk, node)).scope_of(item.name) for node in met):
            if seen is not None and seen.owner is scope.owner:
                return True
    return False


def _goes(item: Import, module: Module) -> bool:
    """Whether the import is there for what the file does with it, and for nothing else."""
    alias = item.alias.node
    is_part = isinstance(item.statement, ast.ImportFrom) or (isinstance(alias, ast.alias) and alias.asname is not None)
    return is_part and not module.is_package and not is_exported(item) and not _commented(item, module.tree)


def is_exported(item: Import) -> bool:
    """Whether the import says by `as` its own name that it is for others."""
    alias = item.alias.node
    return isinstance(alias, ast.alias) and alias.asname == alias.name


def _commented(item: Import, tree: Tree) -> bool:
    span = tree.span(Place(item.alias.chunk, item.statement))
    lines = range(tree.text.line_of(span.start), tree.text.line_of(span.end) + 1)
    return any(_KEPT_ON_PURPOSE.search(tree.text.line_text(line)) for line in lines)


def uses(name: str, owner: ast.AST | None, module: Module) -> int:
    """How often `name` is used that the function `owner` binds, or the module if that is None.

    In code, and by whatever may be code: strings, type comments, and what does not parse.
    """
    tree, word = module.tree, re.compile(rf"\b{re.escape(name)}\b")
    count = sum(len(word.findall(tree.text.slice(span))) for span in tree.broken)
    count += len(re.findall(rf"#\s*type:.*\b{re.escape(name)}\b", tree.text.source))
    if owner is not None:
        # a default, a decorator or an annotation is of the scope around
        inside = (
            owner.body if isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef) else ast.iter_child_nodes(owner)
        )
        return count + sum(loose(root, name, _mentions) for root in inside)
    roots = (root for chunk in tree.chunks if name in chunk.text.source for root in chunk.body)
    return count + sum(loose(root, name, _mentions) for root in roots)


def _mentions(node: ast.AST, name: str) -> bool:
    """Whether a string may be read as code that holds `name`: a doctest, an annotation, an entry of `__all__`."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or name not in node.value:
        return False
    try:
        tree = ast.parse(node.value.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ">>>" in node.value and re.search(rf"\b{re.escape(name)}\b", node.value) is not None
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(tree))


def removed(items: Collection[Import], tree: Tree) -> list[Removed]:
    """The edits that take names out of their import statements, and whole statements where no name is left."""
    found: list[Removed] = []
    taken = {item.alias.node for item in items}
    statements = {item.statement: item.alias.chunk for item in items}
    whole = {one for one in statements if taken.issuperset(one.names)}
    for statement, chunk in statements.items():
        left = [alias for alias in statement.names if alias not in taken]
        if not left:
            edit, stand_in = _whole(chunk, statement, whole, tree)
            found.append(Removed(() if edit is None else (edit,), statement, stand_in))
        else:
            rest = ast.Import(left)
            if isinstance(statement, ast.ImportFrom):
                rest = ast.ImportFrom(statement.module, left, statement.level)
            found.append(Removed(tuple(_some(chunk, statement, taken, tree)), statement, rest))
    return found


def _whole(
    chunk: Chunk, statement: ast.stmt, going: Collection[ast.stmt], tree: Tree
) -> tuple[Edit | None, ast.stmt | None]:
    """Without its lines, a comment behind it included; a block or a line that it shares with others stays.

    What goes with it on one line goes with the first of them.
    """
    text, block = tree.text, _block(chunk, statement)
    siblings = block if block is not None else chunk.body
    spans = [tree.span(Place(chunk, one)) for one in siblings]
    first = last = siblings.index(statement)

    def joined(index: int) -> bool:
        """Whether the sibling shares a line with the one before, and goes like that."""
        together = text.line_of(spans[index].start) == text.line_of(spans[index - 1].end)
        return together and siblings[index] in going and siblings[index - 1] in going

    if first > 0 and joined(first):
        return None, None
    while last + 1 < len(siblings) and joined(last + 1):
        last += 1
    span = Span(spans[first].start, spans[last].end)
    if first == 0 and block is not None and all(one in going for one in block):
        return Edit(span, "pass"), ast.Pass()
    start, end = text.line_of(span.start), text.line_of(span.end)
    behind = text.source[span.end : text.line_span(end).end].strip(" \t;")
    if not text.source[text.line_starts[start] : span.start].strip() and behind[:1] in ("", "#"):
        return Edit(Span(text.line_starts[start], _next_line(text, end)), ""), None
    if last + 1 < len(siblings) and text.line_of(spans[last + 1].start) == end:
        return Edit(Span(span.start, spans[last + 1].start), ""), None
    if first > 0:
        return Edit(Span(spans[first - 1].end, span.end), ""), None
    return Edit(span, "pass"), ast.Pass()


def _block(chunk: Chunk, statement: ast.stmt) -> list[ast.stmt] | None:
    """The block of another statement that holds this one, None at top level."""
    nodes = (node for root in chunk.body for node in ast.walk(root))
    return next((block for node in nodes for block in blocks(node) if statement in block), None)


def _next_line(text: Text, line: int) -> int:
    return text.line_starts[line + 1] if line + 1 < len(text.line_starts) else len(text.source)


def _some(
    chunk: Chunk, statement: ast.Import | ast.ImportFrom, going: Collection[ast.AST], tree: Tree
) -> Iterator[Edit]:
    """Without some of its names; one that has lines to itself goes with them, and with the comments on them."""
    spans = [tree.span(Place(chunk, alias)) for alias in statement.names]
    index = 0
    while index < len(spans):
        first = index
        while index < len(spans) and statement.names[index] in going:
            index += 1
        if index == first:
            index += 1
        elif all(_alone(span, tree.text) for span in spans[first:index]):
            text = tree.text
            start = text.line_starts[text.line_of(spans[first].start)]
            yield Edit(Span(start, _next_line(text, text.line_of(spans[index - 1].end))), "")
        elif index < len(spans):
            yield Edit(Span(spans[first].start, spans[index].start), "")
        else:
            yield Edit(Span(spans[first - 1].end, spans[-1].end), "")


def _alone(span: Span, text: Text) -> bool:
    line = text.line_of(span.start)
    before = text.source[text.line_starts[line] : span.start]
    behind = text.source[span.end : text.line_span(text.line_of(span.end)).end].lstrip(" \t,")
    joined = line > 0 and text.line_text(line - 1).endswith("\\")
    return not before.strip() and behind[:1] in ("", "#") and not joined
