"""What a quick look at a whole module tells, before any of it is run."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from shardlint.syntax.scopes import FunctionNode, targets
from shardlint.syntax.tree import Chunk, Tree


@dataclass(frozen=True, slots=True)
class Survey:
    """`steady` are the module's names that are bound in one place, which runs once; `read` are the names and attributes that
    anything in the module reads, `passed` those that it reads otherwise than to call them at once; `assigned` are the attributes
    that it assigns of others than `self`, and the methods that change their object, by PyTorch's way to spell them. Of the calls in
    `dropped` nobody takes the result. A `wide` module speaks of `enable_x64`, JAX's word for dtypes of 64 bits.
    """

    steady: frozenset[str]
    read: frozenset[str]
    passed: frozenset[str]
    assigned: frozenset[str]
    dropped: frozenset[ast.expr]
    looks: Mapping[Chunk, Look]
    wide: bool = False


_OWN = frozenset({"self", "cls"})
_LEAVES = frozenset({ast.Constant, ast.Load, ast.Store, ast.Del, ast.Pass, ast.arg})


@dataclass(frozen=True, slots=True)
class Look:
    """What one chunk tells: how often it binds names of the module and any names, and what it sends to the module by `global`."""

    once: Mapping[str, int]
    stored: Mapping[str, int]
    outer: frozenset[str]
    read: frozenset[str]
    passed: frozenset[str]
    assigned: frozenset[str]
    dropped: frozenset[ast.expr]
    wide: bool = False


def survey(tree: Tree, before: Survey | None = None) -> Survey:
    """Look at a module; only at what is new since the survey `before`."""
    known: Mapping[Chunk, Look] = {} if before is None else before.looks
    looks = {chunk: known.get(chunk) or _look(chunk) for chunk in tree.chunks}
    once, stored = Counter[str](), Counter[str]()
    for look in looks.values():
        once.update(look.once)
        stored.update(look.stored)
    outer = frozenset[str]().union(*(look.outer for look in looks.values()))
    return Survey(
        frozenset(name for name, times in once.items() if times == 1 and stored[name] <= 1 and name not in outer),
        frozenset[str]().union(*(look.read for look in looks.values())),
        frozenset[str]().union(*(look.passed for look in looks.values())),
        frozenset[str]().union(*(look.assigned for look in looks.values())),
        frozenset[ast.expr]().union(*(look.dropped for look in looks.values())),
        looks,
        any(look.wide for look in looks.values()),
    )


def _look(chunk: Chunk) -> Look:
    stored: Counter[str] = Counter()
    read: set[str] = set()
    passed: set[str] = set()
    assigned: set[str] = set()
    dropped: set[ast.expr] = set()
    outer: set[str] = set()
    stack: list[ast.AST] = list(chunk.body)
    while stack:
        node = stack.pop()
        match node:
            case ast.Call(func=ast.Name(id=name)):
                read.add(name)
                stack.extend((*node.args, *node.keywords))
                continue
            case ast.Call(func=ast.Attribute(attr=name)) if name.endswith("_") and not name.startswith("_"):
                assigned.add(name)
            case ast.Name(id=name, ctx=ast.Load()):
                read.add(name)
                passed.add(name)
            case ast.Name(id=name):
                stored[name] += 1
            case ast.Attribute(attr=name, ctx=ast.Load()):
                read.add(name)
            case ast.Attribute(value=owner, attr=name):
                read.add(name)
                if not isinstance(owner, ast.Name) or owner.id not in _OWN:
                    assigned.add(name)
            case ast.Expr(value=ast.Call() as call):
                dropped.add(call)
            case ast.Global(names=names):
                outer.update(names)
            case _:
                pass
        stack.extend(child for child in ast.iter_child_nodes(node) if type(child) not in _LEAVES)
    source = chunk.text.source
    once = Counter(name for statement in chunk.body for name in _bound_by(statement))
    return Look(
        once,
        stored,
        frozenset(outer),
        frozenset(read),
        frozenset(passed),
        frozenset(assigned),
        frozenset(dropped),
        "enable_x64" in source or "ENABLE_X64" in source,
    )


def _bound_by(statement: ast.stmt) -> Iterable[str]:
    """The names that a statement of the module itself binds, twice where it may do so more than once or not at all."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield statement.name
        case ast.Import() | ast.ImportFrom():
            for alias in statement.names:
                yield (alias.asname or alias.name).partition(".")[0]
        case ast.Assign(targets=assigned):
            for target in assigned:
                yield from targets(target)
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            yield from targets(target)
        case _:
            for node in ast.walk(statement):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    yield from (node.name, node.name)
                elif isinstance(node, ast.alias):
                    name = (node.asname or node.name).partition(".")[0]
                    yield from (name, name)


def own_nodes(function: FunctionNode) -> Iterator[ast.AST]:
    """The nodes of a function's body without those of the functions and classes in it."""
    stack: list[ast.AST] = [function.body] if isinstance(function, ast.Lambda) else list(function.body)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            stack.extend(ast.iter_child_nodes(node))
