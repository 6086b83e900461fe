"""Seeing hand-offs that are no calls: operations on arrays of two libraries, changes of memory that may be shared, and loops."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from shardlint.placement.domain import Array, Foreign, Host, Sequence, Value
from shardlint.placement.frame import Frame
from shardlint.placement.handoffs import record
from shardlint.placement.lattice import alternatives
from shardlint.placement.machine import Arguments, Machine
from shardlint.placement.writes import is_seen

OPERATORS: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
"""The names of operators in Python's module `operator`; with underscores around them those of special methods."""

COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
"""The names of comparisons in Python's module `operator`."""


def operated(
    name: str,
    left: Value,
    right: Value,
    nodes: tuple[ast.expr, ast.expr],
    node: ast.expr,
    frame: Frame,
    machine: Machine,
) -> None:
    """Record an operation, named as in Python's module `operator`, in which an array of JAX meets one of another library.

    `nodes` are the operands, of which the array of JAX is what is handed over; `node` is the whole expression.
    """
    for this, other, operand in ((right, left, nodes[1]), (left, right, nodes[0])):
        if name == "getitem" and isinstance(this, Sequence):
            this = next((one for one in this.items if isinstance(one, Array)), this)
        arrays = [one for one in alternatives(this) if isinstance(one, Array)]
        others = [
            one for one in alternatives(other) if isinstance(one, Host) or (isinstance(one, Foreign) and one.sure)
        ]
        if arrays and others:
            of_numpy = name == "getitem" and this is not left and all(isinstance(one, Host) for one in others)
            row = machine.table.consumers.get("numpy.ndarray.__getitem__" if of_numpy else f"operator.{name}")
            if row is not None:
                record(machine, row, operand, this, Arguments((left, right)), node, node, frame)
            return


def gone_through(values: Value, node: ast.expr, frame: Frame, machine: Machine) -> None:
    """Record that a loop goes through `values`, of which `node` is the expression."""
    if any(isinstance(one, Array) for one in alternatives(values)):
        row = machine.table.consumers["builtins.iter"]
        record(machine, row, node, values, Arguments(), node, node, frame)


def worded(value: Value, node: ast.expr, frame: Frame, machine: Machine) -> None:
    """Record that a text shows `value`, of which `node` is the expression."""
    if any(isinstance(one, Array) for one in alternatives(value)):
        record(machine, machine.table.consumers["builtins.format"], node, value, Arguments(), node, node, frame)


def written(consumer: str, owner: Value, operand: ast.expr, node: ast.expr, frame: Frame, machine: Machine) -> None:
    """Record a change of `owner`, the value of `operand`, where something is known of its memory."""
    in_place = consumer == "operator.inplace"
    if any(is_seen(one, in_place=in_place) for one in alternatives(owner)):
        record(machine, machine.table.consumers[consumer], operand, owner, Arguments(), node, node, frame)
