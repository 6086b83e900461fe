"""Whether the value of an expression may be used when what a new variable holds is gone: the function around has ended, or a loop
has begun another turn and given the variable another value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from shardlint.syntax.scopes import names_of, targets

_KEEPING = frozenset({"add", "append", "appendleft", "extend", "insert", "put", "setdefault", "update"})
"""Methods by which containers keep what they are given. Any other call is taken to be done with its arguments when it returns."""


_Loop = ast.For | ast.AsyncFor | ast.While
_Region = _Loop | ast.FunctionDef | ast.AsyncFunctionDef


def outlives(node: ast.expr, around: Sequence[ast.AST], module: Iterable[ast.stmt]) -> bool:
    """Whether the value of `node`, or one made of it, leaves the function or the turn of a loop in which a statement ahead of
    `node`'s would stand.

    `around` are the ancestors of that statement, innermost first, and `module` is all that is on the top level.
    """
    for index, part in enumerate(around):
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            return _leaves(node, part, names_of(part).outer)
        if isinstance(part, _Loop) and _leaves(node, part, _mentioned_outside(part, around[index + 1 :], module)):
            return True
    return False


def _mentioned_outside(loop: _Loop, around: Sequence[ast.AST], module: Iterable[ast.stmt]) -> frozenset[str]:
    """The names in the loop's scope that others than its turns may read or have set."""
    function = next((part for part in around if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)), None)
    inside = set(ast.walk(loop))
    roots = module if function is None else [function]
    parts = (part for root in roots for part in ast.walk(root) if part not in inside)
    return frozenset(part.id for part in parts if isinstance(part, ast.Name))


def _leaves(node: ast.expr, region: _Region, outer: frozenset[str]) -> bool:
    """Whether the value is returned, yielded, raised, or stored in more than variables of the region."""
    flows = [(set(ast.walk(value)), names) for part in ast.walk(region) for value, names in _flows(part, region)]
    reached: set[str] = set()
    while True:
        before = len(reached)
        for parts, names in flows:
            if node in parts or any(isinstance(part, ast.Name) and part.id in reached for part in parts):
                if names is None or names & outer:
                    return True
                reached |= names
        if len(reached) == before:
            return False


def _flows(node: ast.AST, region: _Region) -> Iterator[tuple[ast.AST, frozenset[str] | None]]:
    """The values that a node hands on, each with the variables that hold it then; None stands for any other place."""
    match node:
        case ast.Return(value=ast.expr() as value) | ast.Yield(value=ast.expr() as value) | ast.YieldFrom(value=value):
            yield value, None
        case ast.Call(func=ast.Attribute(attr=name)) if name in _KEEPING:
            for argument in (*node.args, *node.keywords):
                yield argument, None
        case ast.Assign(value=value, targets=found):
            yield value, _variables(found)
        case (
            ast.AnnAssign(value=ast.expr() as value, target=target)
            | ast.AugAssign(value=value, target=target)
            | ast.NamedExpr(value=value, target=target)
            | ast.For(iter=value, target=target)
            | ast.AsyncFor(iter=value, target=target)
            | ast.comprehension(iter=value, target=target)
            | ast.withitem(context_expr=value, optional_vars=ast.expr() as target)
        ):
            yield value, _variables([target])
        case ast.Match(subject=value) | ast.Raise(exc=ast.expr() as value):
            yield value, None
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name) if (
            node is not region
        ):
            yield node, frozenset({name})
        case _:
            pass


def _variables(found: list[ast.expr]) -> frozenset[str] | None:
    if any(isinstance(part, ast.Attribute | ast.Subscript) for target in found for part in ast.walk(target)):
        return None
    return frozenset(name for target in found for name in targets(target))
