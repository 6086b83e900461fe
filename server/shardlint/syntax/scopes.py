"""Which names a function binds itself, as Python's compiler decides it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class Names:
    """Names that a body binds, and those among them that `global` or `nonlocal` send elsewhere."""

    bound: frozenset[str]
    outer: frozenset[str]

    @property
    def local(self) -> frozenset[str]:
        return self.bound - self.outer


def names_of(function: FunctionNode) -> Names:
    """The names of a function's own scope, parameters included."""
    bound = {arg.arg for arg in parameters(function.args)}
    outer: set[str] = set()
    body: Iterable[ast.AST] = [function.body] if isinstance(function, ast.Lambda) else function.body
    for node in _own_nodes(body):
        if isinstance(node, ast.Global | ast.Nonlocal):
            outer.update(node.names)
        else:
            bound.update(_bindings(node))
    return Names(frozenset(bound), frozenset(outer))


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """All parameters in the order of their declaration, starred ones included."""
    found = [*arguments.posonlyargs, *arguments.args]
    if arguments.vararg is not None:
        found.append(arguments.vararg)
    found.extend(arguments.kwonlyargs)
    if arguments.kwarg is not None:
        found.append(arguments.kwarg)
    return found


def targets(node: ast.expr) -> Iterator[str]:
    """The names that an assignment target binds."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Tuple | ast.List):
        for element in node.elts:
            yield from targets(element)
    elif isinstance(node, ast.Starred):
        yield from targets(node.value)


def _own_nodes(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes of a body that can bind, except those inside nested scopes; a nested definition itself is one of them."""
    stack = list(body)
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind in _LEAVES:
            continue
        yield node
        if kind not in _NESTED:
            stack.extend(ast.iter_child_nodes(node))


_NESTED = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef})
_LEAVES = frozenset({ast.Name, ast.Constant, ast.Load, ast.Store, ast.Del, ast.Pass, ast.arg})


def _bindings(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Assign() | ast.Delete():
            for target in node.targets:
                yield from targets(target)
        case ast.AugAssign() | ast.AnnAssign() | ast.For() | ast.AsyncFor() | ast.NamedExpr():
            yield from targets(node.target)
        case ast.Import() | ast.ImportFrom():
            for alias in node.names:
                yield (alias.asname or alias.name).partition(".")[0]
        case ast.withitem(optional_vars=ast.expr() as target):
            yield from targets(target)
        case (
            ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name) | ast.MatchStar(name=str() as name)
        ):
            yield name
        case ast.MatchMapping(rest=str() as name):
            yield name
        case _:
            pass


def absolute(node: ast.ImportFrom, package: str) -> str:
    """The dotted name of the module from which a statement imports; one that leaves the package keeps its dots."""
    if not node.level:
        return node.module or ""
    parts = package.split(".") if package else []
    if node.level > len(parts):
        return f"{'.' * node.level}{node.module or ''}"
    base = parts[: len(parts) - node.level + 1]
    return ".".join([*base, node.module] if node.module else base)
