"""Tests of arrays that do not tell what they are taken for."""

from __future__ import annotations

import ast

from shardlint.placement.counts import ONE
from shardlint.placement.definition import Definition
from shardlint.placement.domain import Array, Fact, Value
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import alternatives
from shardlint.placement.machine import Machine
from shardlint.placement.missing import has_no
from shardlint.placement.names import is_builtin
from shardlint.placement.noting import array_of, arrays, note, possible
from shardlint.syntax.tree import Node

INTERFACE = "__cuda_array_interface__"
_SINGLE = "jax.sharding.SingleDeviceSharding"


def asked_for_interface(machine: Machine, value: Value, name: str, node: Node, frame: Frame) -> None:
    """Note a test for `__cuda_array_interface__`, which an array on several devices does not have."""
    if name != INTERFACE:
        return
    choices = possible(value, frame)
    for one in choices:
        if isinstance(one, Array) and not one.traced and frame.count(one) not in (None, ONE):
            note(machine, frame, "guard", f"jax.Array.{name}", node, value=one, mixed=len(choices) > 1)


def asked_for_class(
    machine: Machine, value: Value, names: frozenset[str | Definition], node: Node, frame: Frame
) -> None:
    """Note a test for a sharding of a single device, which an array on a mesh of one device does not pass."""
    if names != frozenset[str | Definition]({_SINGLE}):
        return
    choices = alternatives(value)
    for one in choices:
        if isinstance(one, Fact) and one.what == "sharding" and one.meshed and frame.count(array_of(one)) == ONE:
            operand = node.args[0] if isinstance(node, ast.Call) else None
            note(machine, frame, "guard", _SINGLE, node, value=array_of(one), mixed=len(choices) > 1, operand=operand)


def branch_tested(machine: Machine, node: ast.If, frame: Frame) -> None:
    """Note an `if` without an `else` that never runs, as it asks arrays for an attribute that they have not any more: where what it
    does is not done in another way either.
    """
    test = node.test.values[0] if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And) else node.test
    match test:
        case ast.Call(func=function, args=[subject, ast.Constant(value=str(name))], keywords=[]):
            full = f"jax.Array.{name}"
            if node.orelse or full not in machine.table.timeline or not _has_no_other_way(node):
                return
            if not is_builtin(function, "hasattr", frame, machine) or not has_no(machine, full):
                return
            choices = possible(machine.evaluate(subject, frame), frame)
            found = arrays(choices)
            if found and len(found) == len(choices):
                note(machine, frame, "guard", full, test, value=found[0], operand=subject)
        case _:
            pass


def _has_no_other_way(node: ast.If) -> bool:
    """Whether the body only does something: one that leaves, or gives a name a value, is there to be replaced by what is behind it."""
    return not any(
        isinstance(part, ast.Return | ast.Raise | ast.Continue | ast.Break | ast.Assign | ast.AnnAssign | ast.Yield)
        for statement in node.body
        for part in ast.walk(statement)
    )
