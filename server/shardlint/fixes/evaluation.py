"""What may be evaluated earlier, in another order, more than once or not at all without a program noticing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

_EFFECTS = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
_MAY_NOT_RUN = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def has_effects(node: ast.AST) -> bool:
    """Whether evaluating it may do or meet something else than reading names, attributes and items."""
    return any(isinstance(part, _EFFECTS) for part in ast.walk(node))


def objection(pattern: ast.AST, replacement: Iterable[ast.AST], holes: Mapping[str, ast.expr]) -> str | None:
    """Why the holes' expressions would not be evaluated as they are now, as a clause; None if they are.

    `pattern` and `replacement` hold the holes as names; the parts of `replacement` are evaluated in their order, the
    program's own expressions in the order in which they stand.
    """
    times = [name for name in _in_order(pattern) if name in holes]
    before = sorted(holes, key=lambda name: (holes[name].lineno, holes[name].col_offset))
    roots = list(replacement)
    after = [name for root in roots for name in _in_order(root) if name in holes]
    busy = {name for name, node in holes.items() if has_effects(node)}
    for name, node in holes.items():
        if after.count(name) > 1 and not isinstance(node, ast.Name | ast.Constant):
            return "an expression would be evaluated more than once"
        if name in busy and times.count(name) > 1:
            return "an expression would be evaluated less often than it is now"
        if name in busy and name not in after:
            return "an expression would no longer be evaluated"
    if busy and [name for name in before if name in after] != after:
        return "expressions would be evaluated in another order"
    for root in roots:
        for scope in (node for node in ast.walk(root) if isinstance(node, _MAY_NOT_RUN)):
            inside = {name for name in _in_order(scope) if name in holes}
            if inside & busy:
                return "an expression might no longer be evaluated"
            read = {n.id for hole in inside for n in ast.walk(holes[hole]) if isinstance(n, ast.Name)}
            if read & bound_in(scope):
                return "a name would mean something else"
    return None


def _in_order(node: ast.AST) -> list[str]:
    """The names that are read in a node, in the order of the text."""
    names: list[str] = []
    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            names.append(part.id)
        stack += _children(part)[::-1]
    return names


def _children(node: ast.AST) -> list[ast.AST]:
    """The child nodes, those of a dictionary in the order of its evaluation."""
    if isinstance(node, ast.Dict):
        return [part for pair in zip(node.keys, node.values, strict=True) for part in pair if part is not None]
    return list(ast.iter_child_nodes(node))


def bound_in(expression: ast.AST) -> set[str]:
    """The names that lambdas and comprehensions in an expression bind."""
    parts = list(ast.walk(expression))
    stored = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    return stored | {part.arg for part in parts if isinstance(part, ast.arg)}


def always_runs(path: Sequence[ast.AST]) -> bool:
    """Whether the innermost node of `path`, a node and its ancestors, runs once whenever the outermost one does."""
    for inner, child, parent in zip((None, *path), path, path[1:], strict=False):
        match parent:
            case ast.Compare():
                runs = len(parent.ops) == 1 or child in (parent.left, parent.comparators[0])
            case ast.BoolOp():
                runs = child is parent.values[0]
            case ast.IfExp():
                runs = child is parent.test
            case ast.Lambda():
                runs = child is parent.args
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                runs = child is parent.generators[0] and inner is parent.generators[0].iter
            case _:
                runs = True
        if not runs:
            return False
    return True


def objection_to_moving(holes: Iterable[ast.expr], path: Sequence[ast.AST], source: str) -> str | None:
    """Why expressions in the innermost node of `path` cannot be evaluated before its outermost one, a statement.

    `source` is the text of the file.
    """
    before = _earlier(path)
    busy = any(has_effects(part) for part in before)
    for hole in holes:
        names = {part.id for part in ast.walk(hole) if isinstance(part, ast.Name)}
        if has_effects(hole):
            binds = any(isinstance(part, ast.NamedExpr) for part in ast.walk(hole))
            if binds or any(not _is_called(part, path) for part in before):
                return "the expression would be evaluated earlier than it is now"
        elif busy:
            given = {part.target.id for root in before for part in ast.walk(root) if isinstance(part, ast.NamedExpr)}
            reads = any(isinstance(part, ast.Attribute | ast.Subscript) for part in ast.walk(hole))
            if reads or names & given or any(_rebound_elsewhere(name, source) for name in names):
                return "the expression might have another value earlier in the statement"
    return None


def _earlier(path: Sequence[ast.AST]) -> list[ast.AST]:
    """What is evaluated in the outermost node of `path` before the innermost one is."""
    found: list[ast.AST] = []
    for child, parent in pairwise(path):
        if isinstance(parent, ast.Assign | ast.AnnAssign | ast.For | ast.AsyncFor | ast.NamedExpr):
            continue  # the value comes before the target
        children = _children(parent)
        found += [part for part in children[: children.index(child)] if isinstance(part, ast.expr | ast.keyword)]
    return found


def _is_called(part: ast.AST, path: Sequence[ast.AST]) -> bool:
    """Whether it is the bare or dotted name of a function that is called with what comes later."""
    dotted = all(isinstance(node, ast.Name | ast.Attribute | ast.Load) for node in ast.walk(part))
    return dotted and any(isinstance(parent, ast.Call) and parent.func is part for parent in path)


def _rebound_elsewhere(name: str, source: str) -> bool:
    return re.search(rf"\b(?:global|nonlocal)\b[^\n\r]*\b{re.escape(name)}\b", source) is not None
