"""Seeing hand-offs: a call or attribute read of the table of consumers becomes events, one for each alternative."""

from __future__ import annotations

import ast

from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Capsule,
    Foreign,
    Host,
    Method,
    Symbol,
    Unknown,
    Value,
    alternatives,
)
from shardlint.placement.machine import IMPOSSIBLE, Arguments, Event, Frame, Machine
from shardlint.placement.table import Consumer
from shardlint.syntax.tree import Node

_TELLING_NAMES = frozenset({"to_dlpack", "from_dlpack", "toDlpack", "fromDlpack"})


def consumer_of(machine: Machine, function: Value) -> tuple[Consumer, Value | None] | None:
    """The consumer that calling `function` is, with the object whose method it is."""
    match function:
        case Symbol(name):
            row = machine.table.consumers.get(name)
            return None if row is None else (row, None)
        case Method(Array() | Unknown() as owner, name):
            row = machine.table.consumers.get(f"jax.Array.{name}")
            return None if row is None or row.attribute else (row, owner)
        case _:
            return None


def call_seen(machine: Machine, function: Value, arguments: Arguments, node: Node, frame: Frame) -> None:
    """Record the hand-off, if any, that a call is."""
    if not isinstance(node, ast.Call):
        return
    found = consumer_of(machine, function)
    if found is not None:
        row, owner = found
        operand_node, value = _operand(row, owner, arguments, node)
        if owner is not None and isinstance(owner, Unknown):
            return
        _record(machine, row, operand_node, value, arguments, node, node.func, frame)
        return
    name = function.name if isinstance(function, Symbol | Method) else ""
    if name.rpartition(".")[2] in _TELLING_NAMES:
        full = name if isinstance(function, Symbol) else f"?.{name}"
        place, func = frame.place(node), frame.place(node.func)
        machine.record(
            Event(place, func, full, "dlpack", None, UNKNOWN, None, arguments, None, frame.handlers, False, False)
        )


def attribute_read(machine: Machine, owner: Value, node: ast.Attribute, frame: Frame) -> None:
    """Record the hand-off, if any, that reading an attribute of an array is."""
    row = machine.table.consumers.get(f"jax.Array.{node.attr}")
    if row is not None and row.attribute and isinstance(owner, Array):
        _record(machine, row, node.value, owner, Arguments(), node, node, frame)


def _operand(row: Consumer, owner: Value | None, arguments: Arguments, node: ast.Call) -> tuple[ast.expr | None, Value]:
    if owner is not None:
        return (node.func.value if isinstance(node.func, ast.Attribute) else None), owner
    position = row.array.position
    for keyword in node.keywords:
        if keyword.arg is not None and keyword.arg == row.array.keyword:
            return keyword.value, arguments.keywords[keyword.arg]
    if 0 <= position < len(node.args) and position < len(arguments.positional):
        operand = node.args[position]
        if not any(isinstance(argument, ast.Starred) for argument in node.args[: position + 1]):
            return operand, arguments.positional[position]
    return None, UNKNOWN


def _record(
    machine: Machine,
    row: Consumer,
    operand: ast.expr | None,
    value: Value,
    arguments: Arguments,
    node: ast.expr,
    name: ast.expr,
    frame: Frame,
) -> None:
    choices = [choice for choice in alternatives(value) if not _impossible(choice, frame)]
    for choice in choices:
        machine.record(
            Event(
                place=frame.place(node),
                name=frame.place(name),
                consumer=row.name,
                protocol=row.protocol,
                operand=None if operand is None else frame.place(operand),
                value=choice,
                count=frame.count(choice) if isinstance(choice, Array) else None,
                arguments=arguments,
                row=row,
                handlers=frame.handlers,
                version_guarded=frame.state.version_guarded,
                traced=isinstance(choice, Array) and choice.traced,
                mixed=len(choices) > 1,
            )
        )


def _impossible(value: Value, frame: Frame) -> bool:
    return isinstance(value, Array) and frame.fact(value.key) is IMPOSSIBLE


def result_of(row: Consumer) -> Value | None:
    """What a consumer returns, or None where the effect table says it."""
    match row.gives:
        case "numpy":
            return Host()
        case "torch" | "cupy" | "warp" | "tensorflow":
            return Foreign(row.gives)
        case "capsule":
            return Capsule()
        case _:
            return None
