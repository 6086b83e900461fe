"""Whether the value of an expression may be used when the function around it, with its variables, has ended."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from shardlint.syntax.scopes import FunctionNode, names_of, targets

_KEEPING = frozenset({"add", "append", "appendleft", "extend", "insert", "put", "setdefault", "update"})
"""Methods by which containers keep what they are given. Any other call is taken to be done with its arguments when it returns."""


def outlives(node: ast.expr, function: FunctionNode) -> bool:
    """Whether the value of `node`, or one made of it, is returned, yielded, raised, or stored in more than a variable of the function."""
    outer = names_of(function).outer
    flows = [(set(ast.walk(value)), names) for part in ast.walk(function) for value, names in _flows(part, function)]
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


def _flows(node: ast.AST, function: FunctionNode) -> Iterator[tuple[ast.AST, frozenset[str] | None]]:
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
            node is not function
        ):
            yield node, frozenset({name})
        case _:
            pass


def _variables(found: list[ast.expr]) -> frozenset[str] | None:
    if any(isinstance(part, ast.Attribute | ast.Subscript) for target in found for part in ast.walk(target)):
        return None
    return frozenset(name for target in found for name in targets(target))
