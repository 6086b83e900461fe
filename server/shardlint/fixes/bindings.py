"""What binds names: every import, assignment, definition and parameter of one scope."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from shardlint.placement.table import Table
from shardlint.syntax.scopes import FunctionNode, names_of, parameters, targets
from shardlint.syntax.tree import Chunk, Place, Tree

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Definition = FunctionNode | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Import:
    """A name that an import binds: the alias and statement it comes from, and what it means by its canonical name."""

    name: str
    meaning: str
    alias: Place
    statement: ast.Import | ast.ImportFrom

    @property
    def module(self) -> str:
        """What the statement loads, as it is written."""
        node = self.alias.node
        assert isinstance(node, ast.alias)
        return node.name if isinstance(self.statement, ast.Import) else f"{self.statement.module}.{node.name}"


@dataclass(frozen=True, slots=True)
class Binding:
    """One way in which a scope gives a name a value. `empty` is the `None` of a handler, for a library that is not there."""

    name: str
    item: Import | None = None
    empty: bool = False


def module_bindings(tree: Tree, table: Table) -> list[Binding]:
    """What the module itself binds, and what functions bind that declare the name as global."""
    found = [binding for chunk in tree.chunks for binding in _of_body(chunk.body, chunk, table)]
    if "global" in tree.text.source:
        for chunk in tree.chunks:
            for function in _functions(chunk.body):
                outer = names_of(function).outer
                body = () if isinstance(function, ast.Lambda) else function.body
                found += [binding for binding in _of_body(body, chunk, table) if outer and binding.name in outer]
    return found


def scope_bindings(owner: ast.AST, chunk: Chunk, table: Table) -> list[Binding]:
    """What a function, lambda, class or comprehension binds in its own scope."""
    match owner:
        case ast.Lambda():
            own = [Binding(arg.arg) for arg in parameters(owner.args)]
            return own + list(_of_body([owner.body], chunk, table))
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            outer = names_of(owner).outer
            own = [Binding(arg.arg) for arg in parameters(owner.args)]
            return own + [b for b in _of_body(owner.body, chunk, table) if b.name not in outer]
        case ast.ClassDef():
            return list(_of_body(owner.body, chunk, table))
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return [Binding(name) for part in owner.generators for name in targets(part.target)]
        case _:
            return []


def by_name(bindings: Iterable[Binding]) -> dict[str, list[Binding]]:
    """The bindings of each name."""
    names: dict[str, list[Binding]] = {}
    for binding in bindings:
        names.setdefault(binding.name, []).append(binding)
    return names


def outside(definition: Definition) -> list[ast.AST]:
    """The parts of a definition that run in the scope around it: decorators, defaults, annotations, bases."""
    if isinstance(definition, ast.ClassDef):
        return [*definition.decorator_list, *definition.bases, *definition.keywords]
    defaults = [node for node in (*definition.args.defaults, *definition.args.kw_defaults) if node is not None]
    if isinstance(definition, ast.Lambda):
        return [*defaults]
    hints = [arg.annotation for arg in parameters(definition.args)]
    return [*definition.decorator_list, *defaults, *(node for node in (*hints, definition.returns) if node is not None)]


def _functions(body: Iterable[ast.AST]) -> Iterator[FunctionNode]:
    for root in body:
        for node in ast.walk(root):
            if isinstance(node, FunctionNode):
                yield node


def _of_body(body: Iterable[ast.AST], chunk: Chunk, table: Table) -> Iterator[Binding]:
    stack = list(body)[::-1]
    while stack:
        node = stack.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield Binding(node.name)
                stack += outside(node)
            case ast.Lambda():
                stack += outside(node)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                stack += _without_targets(node)  # but an assignment expression in it binds outside
            case ast.Import() | ast.ImportFrom():
                yield from _of_import(node, chunk, table)
            case ast.Name() if not isinstance(node.ctx, ast.Load):
                yield Binding(node.id)
            case ast.ExceptHandler(name=name):
                if name is not None:
                    yield Binding(name)
                for statement in node.body:
                    match statement:
                        case ast.Assign(targets=[ast.Name(id=missing)], value=ast.Constant(value=None)):
                            yield Binding(missing, empty=True)
                        case _:
                            stack.append(statement)
            case ast.MatchAs(name=str() as name) | ast.MatchStar(name=str() as name):
                yield Binding(name)
                stack += ast.iter_child_nodes(node)
            case ast.MatchMapping(rest=str() as name):
                yield Binding(name)
                stack += ast.iter_child_nodes(node)
            case _:
                stack += ast.iter_child_nodes(node)


def _without_targets(node: Comprehension) -> list[ast.AST]:
    parts: list[ast.AST] = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    for generator in node.generators:
        parts += [generator.iter, *generator.ifs]
    return parts


def _of_import(node: ast.Import | ast.ImportFrom, chunk: Chunk, table: Table) -> Iterator[Binding]:
    for alias in node.names:
        place = Place(chunk, alias)
        top = alias.name.partition(".")[0]
        if isinstance(node, ast.Import):
            meaning = table.canonical(alias.name) if alias.asname else top
            yield Binding(alias.asname or top, Import(alias.asname or top, meaning, place, node))
        elif node.level or not node.module:
            yield Binding(alias.asname or alias.name)
        elif alias.name != "*":
            meaning = table.canonical(f"{node.module}.{alias.name}")
            name = alias.asname or alias.name
            yield Binding(name, Import(name, meaning, place, node))
