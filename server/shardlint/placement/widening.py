"""Keeping loops finite: what grows from round to round is made into what holds for every round."""

from __future__ import annotations

import ast
from collections.abc import Sequence as SequenceType

from shardlint.placement.domain import UNKNOWN, Constant, Elements, Ids, Instance, Sequence, Value
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import alternatives, one_of
from shardlint.placement.mutation import change_ids
from shardlint.placement.state import State


def widened(before: State, after: State) -> State:
    """`after` with what still changes made wide: numbers become unknown, lists of several lengths lists of some length."""
    for name, value in after.variables.items():
        if value != before.variables.get(name):
            after.variables[name] = _widened(value)
    for place, value in after.outer.items():
        if value != before.outer.get(place):
            after.outer[place] = _widened(value)
    return after


def _widened(value: Value) -> Value:
    choices = alternatives(value)
    numbers = [one for one in choices if isinstance(one, Constant) and type(one.value) in (int, float)]
    lists = [one for one in choices if isinstance(one, Sequence)]
    if len(numbers) < 2 and len({len(one.items) for one in lists}) < 2:
        return value
    rest = [one for one in choices if one not in numbers and one not in lists]
    if len(lists) > 1:
        items = [item for one in lists for item in one.items]
        ids: Ids = frozenset(key for one in lists for key in one.ids)
        rest.append(Elements(one_of(items), ids))
    else:
        rest += lists
    if len(numbers) > 1:
        rest.append(UNKNOWN)
    else:
        rest += numbers
    return one_of(rest)


def forget_bound(statements: SequenceType[ast.stmt], frame: Frame) -> None:
    """Take it that nothing is known of whatever these statements bind, nor of any array that was tested."""
    stack: list[ast.AST] = list(statements)
    while stack:
        node = stack.pop()
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                frame.assign(frame.owner(name), name, UNKNOWN)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                frame.assign(frame.owner(name), name, UNKNOWN)
                continue
            case ast.Attribute() | ast.Subscript() if isinstance(node.ctx, ast.Store | ast.Del):
                _forget_part(node, frame)
            case ast.alias():
                name = (node.asname or node.name).partition(".")[0]
                frame.assign(frame.owner(name), name, UNKNOWN)
            case ast.Lambda():
                continue
            case _:
                pass
        stack.extend(ast.iter_child_nodes(node))
    frame.state.facts.clear()


def _forget_part(node: ast.Attribute | ast.Subscript, frame: Frame) -> None:
    """An attribute of an object of the program is forgotten alone, of anything else all is."""
    held = root_name(node)
    value = UNKNOWN if held is None else frame.state.variables.get(held, UNKNOWN)
    if isinstance(value, Instance) and isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        change_ids(value.ids, value.having({node.attr: UNKNOWN}), frame, sure=True)
    elif held is not None and held in frame.state.variables:
        frame.state.variables[held] = UNKNOWN


def root_name(node: ast.expr) -> str | None:
    """The variable that a chain of attributes and subscripts begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
