"""Where the assignments of a template can stand ahead of a statement, and where their values can stand in it instead."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

from shardlint.fixes.evaluation import always_runs, objection_to_moving
from shardlint.fixes.fitting import Fit, NoFitError
from shardlint.fixes.lifetime import outlives
from shardlint.fixes.names import Names
from shardlint.fixes.surroundings import Surroundings
from shardlint.records.template import Template


def statement_to_precede(template: Template, found: Fit, names: Names) -> ast.stmt:
    """The statement around the node, if what is in the holes can be evaluated before all of it. Raises `NoFitError`."""
    around = names.around
    statement = around.statement
    if statement is None or not _begins_with(statement, around):
        raise NoFitError("no statement can be put ahead of this expression")
    if isinstance(names.innermost.owner, ast.ClassDef):
        raise NoFitError("a name more would be an attribute of the class")
    path = around.path[: around.path.index(statement) + 1]
    if not always_runs(path):
        raise NoFitError("this expression may not run, and a statement ahead of it would")
    reason = objection_to_moving(found.holes.values(), path, around.tree.text.source)
    if reason is not None:
        raise NoFitError(reason)
    module = [one for chunk in around.tree.chunks for one in chunk.body]
    if not _held(template, found, around.parent) and outlives(found.node, around.path[len(path) :], module):
        raise NoFitError("the value would be freed before what is made of it is used for the last time")
    return statement


def _begins_with(statement: ast.stmt, around: Surroundings) -> bool:
    """Whether the node lies in the part of the statement that runs first, and once."""
    path = around.path
    index = path.index(statement)
    child, inner = path[index - 1], path[index - 2] if index > 1 else None
    match statement:
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Return() | ast.Expr():
            return child is statement.value
        case ast.Raise():
            return child is statement.exc
        case ast.If():
            return child is statement.test and around.source(statement).startswith("if")  # and not `elif`
        case ast.For() | ast.AsyncFor():
            return child is statement.iter
        case ast.With() | ast.AsyncWith():
            return child is statement.items[0] and inner in (None, statement.items[0].context_expr)
        case ast.Match():
            return child is statement.subject
        case _:
            return False


def inlined(template: Template, found: Fit, holder: ast.AST | None) -> ast.expr | None:
    """The replacement with the values of the assignments in place of their names, or None where that is not the same.

    A value that no name holds is freed after its use. So each must be used once, and be held by what uses it. `holder` is
    what holds the changed expression.
    """
    values = dict(template.inserted)
    used = [node.id for node in _nodes(template, found) if isinstance(node, ast.Name) and node.id in values]
    if sorted(used) != sorted(values) or not _held(template, found, holder):
        return None
    made: ast.expr = _Inliner(values).visit(copy.deepcopy(found.replacement))
    return made


def _held(template: Template, found: Fit, holder: ast.AST | None) -> bool:
    """Whether the new values are arguments of calls, which hold them as long as they need them.

    An attribute of one may be its bare address.
    """
    arguments = [part for node in _nodes(template, found) if isinstance(node, ast.Call) for part in _arguments(node)]
    if isinstance(holder, ast.keyword) or (isinstance(holder, ast.Call) and found.node in holder.args):
        arguments.append(found.replacement)
    in_calls = {argument.id for argument in arguments if isinstance(argument, ast.Name)}
    return all(name in in_calls for name, _ in template.inserted)


def _nodes(template: Template, found: Fit) -> list[ast.AST]:
    roots = [found.replacement, *(value for _, value in template.inserted)]
    return [node for root in roots for node in ast.walk(root)]


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


class _Inliner(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self._values.get(node.id)
        return node if value is None else self.visit(copy.deepcopy(value))
