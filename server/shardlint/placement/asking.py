"""What a program asks of where an array lives, and what it does with the answer."""

from __future__ import annotations

import ast

from shardlint.placement.counts import ONE
from shardlint.placement.domain import Array, Constant, Device, Fact, Host, Method, Sequence, Symbol, Value
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import alternatives
from shardlint.placement.machine import Arguments, Machine
from shardlint.placement.nature import Gone
from shardlint.placement.noting import array_of, note, possible
from shardlint.placement.tracing import Tracing
from shardlint.syntax.tree import Node

_CHANGES_A_SET = frozenset({"pop", "remove", "discard", "clear", "add", "update"})
_NEVER_A_PLATFORM = frozenset({"cuda", "rocm"})
"""What JAX calls the platform of such devices is `gpu` (jaxlib's `xla_client` and `py_array.cc`, read)."""


def attribute_asked(machine: Machine, owner: Value, node: ast.Attribute, frame: Frame) -> None:
    """Note where an attribute of an array, or of its device, is read that tells where it lives."""
    if node.attr in machine.table.asked:
        _of_arrays(machine, owner, node.attr, node, node.value, frame)
    if node.attr in machine.table.device_attributes:
        choices = alternatives(owner)
        for fact in choices:
            array = array_of(fact) if isinstance(fact, Fact) and fact.what == "device" else None
            if array is not None and frame.count(array) != ONE:
                consumer, mixed = f"jax.Array.device.{node.attr}", len(choices) > 1
                note(machine, frame, "placement", consumer, node, value=array, mixed=mixed, operand=node.value)
                frame.may_raise()


def call_asked(machine: Machine, function: Value, arguments: Arguments, node: ast.Call, frame: Frame) -> None:
    """Note the call of a method that tells where an array lives, or that changes the set of its devices; and None given to JAX."""
    for one in alternatives(function):
        match one:
            case Method(Array() as array, name) if name in machine.table.asked_methods:
                operand = node.func.value if isinstance(node.func, ast.Attribute) else None
                _of_arrays(machine, array, name, node, operand, frame)
            case Method(Fact(what="device_set", items=None) as fact, name) if name in _CHANGES_A_SET:
                consumer, mixed = f"jax.Array.devices.{name}", function is not one
                operand = node.func.value if isinstance(node.func, ast.Attribute) else None
                note(machine, frame, "placement", consumer, node, value=array_of(fact), mixed=mixed, operand=operand)
            case Symbol(name) if (row := machine.table.making_arrays.get(name)) is not None:
                where = (row.array.position, row.array.keyword)
                given = alternatives(arguments.get(*where) or Constant(0))
                operand = arguments.written(*where)
                for value in given:
                    if value == Constant(None) or (isinstance(value, Host) and value.swapped):
                        note(machine, frame, "value", name, node, value=value, mixed=len(given) > 1, operand=operand)
            case _:
                pass


def _of_arrays(machine: Machine, owner: Value, name: str, node: Node, operand: ast.expr | None, frame: Frame) -> None:
    choices = possible(owner, frame)
    for one in choices:
        if isinstance(one, Array) and (one.traced is Tracing.SURE or one.nature.gone is not Gone.NO):
            mixed = len(choices) > 1
            note(machine, frame, "placement", f"jax.Array.{name}", node, value=one, mixed=mixed, operand=operand)
            frame.may_raise()


def unpacking_asked(machine: Machine, fact: Fact, target: ast.expr, number: int, frame: Frame) -> None:
    """Note that the only device of an array is unpacked: `device, = x.devices()`."""
    if number == 1 and fact.what == "device_set":
        note(machine, frame, "placement", "jax.Array.devices.__iter__", target, value=array_of(fact))


def comparison_asked(machine: Machine, operands: list[Value], node: ast.Compare, frame: Frame) -> None:
    """Note the comparison of a platform with what is never one."""
    if len(operands) != 2 or not isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.In | ast.NotIn):
        return
    for asked, other in (operands, operands[::-1]):
        consumer = _platform(asked)
        if consumer is not None and (names := _texts(other)) and names <= _NEVER_A_PLATFORM:
            note(machine, frame, "guard", consumer, node)
            return


def _platform(value: Value) -> str | None:
    match value:
        case Fact(what="platform"):
            return "jax.Array.platform"
        case Method(Device(), "platform"):
            return "jax.Device.platform"
        case _:
            return None


def _texts(value: Value) -> set[str]:
    items = value.items if isinstance(value, Sequence) else (value,)
    texts = {one.value for one in items if isinstance(one, Constant) and isinstance(one.value, str)}
    return texts if len(texts) == len(items) else set()
