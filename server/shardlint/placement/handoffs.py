"""Seeing hand-offs: a call or attribute read of the table of consumers becomes events, one for each alternative."""

from __future__ import annotations

import ast
from collections.abc import Hashable

from shardlint.placement.counts import ONE, Subject, Told
from shardlint.placement.domain import UNKNOWN, Array, Capsule, Foreign, Host, Method, OneOf, Symbol, Unknown, Value
from shardlint.placement.external import ask_about
from shardlint.placement.facts import exclude, learn
from shardlint.placement.frame import Frame
from shardlint.placement.giving import use_up
from shardlint.placement.lattice import alternatives, one_of
from shardlint.placement.machine import Arguments, Event, Machine
from shardlint.placement.noting import note
from shardlint.placement.table import Consumer
from shardlint.placement.tracing import Tracing
from shardlint.syntax.tree import Node

TELLING_NAMES = frozenset({"to_dlpack", "from_dlpack", "toDlpack", "fromDlpack"})
_ASKING_WORDS = frozenset({"copy", "device", "dl_device"})
"""Keywords with which it matters what library the data comes from; else only what goes into JAX may be wrong to hand over at all."""
_CAUGHT_WITH = frozenset({"*", "Exception", "BaseException"})
_EXPECTED_OF_HAND_OFFS = frozenset({"ValueError", "TypeError", "RuntimeError", "AttributeError", "NotImplementedError"})


def consumer_of(machine: Machine, function: Value) -> tuple[Consumer, Value | None] | None:
    """The consumer that calling `function` is, with the object whose method it is."""
    match function:
        case Symbol(name):
            row = machine.table.consumers.get(name)
            return None if row is None else (row, None)
        case Method(Array() | Unknown() as owner, name):
            row = machine.table.consumers.get(f"jax.Array.{name}")
            return None if row is None or row.attribute else (row, owner)
        case OneOf(values) if all(isinstance(one, Method) for one in values):
            found = [consumer_of(machine, one) for one in values]
            rows = {row.name: row for row in (one[0] for one in found if one is not None)}
            if len(rows) != 1:
                return None
            return next(iter(rows.values())), one_of([one.owner for one in values if isinstance(one, Method)])
        case _:
            return None


def call_seen(machine: Machine, function: Value, arguments: Arguments, node: Node, frame: Frame) -> None:
    """Record the hand-off, if any, that a call is."""
    if not isinstance(node, ast.Call):
        return
    found = consumer_of(machine, function)
    if found is not None:
        row, owner = found
        operand_node, value = _operand(row, owner, arguments)
        if not isinstance(owner, Unknown):
            _record(machine, row, operand_node, value, arguments, node, node.func, frame)
        return
    name = function.name if isinstance(function, Symbol | Method) else ""
    if name.rpartition(".")[2] in TELLING_NAMES:
        full = name if isinstance(function, Symbol) else f"?.{name}"
        place, func = frame.place(node), frame.place(node.func)
        machine.record(
            Event(place, func, full, "dlpack", None, UNKNOWN, None, arguments, None, frame.handlers, False, Tracing.NO)
        )


def attribute_read(machine: Machine, owner: Value, node: ast.Attribute, frame: Frame) -> None:
    """Record the hand-off, if any, that reading an attribute of an array is."""
    row = machine.table.consumers.get(f"jax.Array.{node.attr}")
    if row is not None and row.attribute and any(isinstance(one, Array) for one in alternatives(owner)):
        _record(machine, row, node.value, owner, Arguments(), node, node, frame)


def _operand(row: Consumer, owner: Value | None, arguments: Arguments) -> tuple[ast.expr | None, Value]:
    """What is handed over, and the expression for it where the program writes one."""
    call, position, keyword = arguments.node, row.array.position, row.array.keyword
    if owner is not None:
        function = None if call is None else call.func
        return (function.value if isinstance(function, ast.Attribute) else None), owner
    given = arguments.get(position, keyword)
    value = UNKNOWN if given is None else given
    if call is None:
        return None, value
    for one in call.keywords:
        if one.arg is not None and one.arg == keyword:
            return one.value, value
    plain = not any(isinstance(argument, ast.Starred) for argument in call.args[: position + 1])
    return (call.args[position] if plain and 0 <= position < len(call.args) else None), value


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
    choices = tuple(one for one in alternatives(value) if not isinstance(one, Array) or frame.informed(one) is not None)
    if any(_may_be_refused(choice, frame) for choice in choices):
        frame.may_raise()
    if row.gives == "jax" or not _ASKING_WORDS.isdisjoint(arguments.keywords):
        ask_about(value, machine)
    mixed = len({_kind(choice, frame) for choice in choices}) > 1
    varied = mixed or len({_nature(choice) for choice in choices if isinstance(choice, Array | Capsule)}) > 1
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
                traced=choice.traced if isinstance(choice, Array) else Tracing.NO,
                mixed=mixed,
                varied=varied,
                entry=frame.entry,
            )
        )
    _unhandled(machine, row, choices, frame)
    if "capsule" in row.takes:
        use_up(operand, frame)
    _survive(row, choices, frame)


def _nature(value: Array | Capsule) -> Hashable:
    return value.nature if isinstance(value, Array) else value.used


def _unhandled(machine: Machine, row: Consumer, choices: tuple[Value, ...], frame: Frame) -> None:
    """Note a handler around nothing but this hand-off that cannot be for anything else, and catches not what it raises."""
    handled = frame.attempts[-1].handled if frame.attempts else ()
    caught = frozenset[str]().union(*(names for _, names in handled))
    if not handled or not row.raises or not caught <= _EXPECTED_OF_HAND_OFFS or caught & (row.raises | _CAUGHT_WITH):
        return
    for choice in choices:
        if isinstance(choice, Array) and not choice.traced and frame.count(choice) not in (None, ONE):
            mixed = len(choices) > 1
            outer = frame.handlers[:-1]
            note(machine, frame, "handler", row.name, handled[0][0], value=choice, mixed=mixed, handlers=outer)


def _kind(value: Value, frame: Frame) -> Hashable:
    """What decides over a hand-off of `value`: alternatives of one kind fare alike."""
    if not isinstance(value, Array):
        return value if isinstance(value, Foreign) else type(value)
    count = frame.count(value)
    if count is None or not count.surely_many:
        return (Array, count, value.device, value.traced)
    return (Array, "many", value.traced)


def _may_be_refused(value: Value, frame: Frame) -> bool:
    if isinstance(value, Array):
        return bool(value.traced) or frame.count(value) != ONE
    return not isinstance(value, Host | Foreign)


def _survive(row: Consumer, choices: tuple[Value, ...], frame: Frame) -> None:
    """Where a handler catches the refusal of an array on several devices, what comes behind the hand-off was not refused."""
    caught = frozenset[str]().union(*frame.handlers)
    if not row.raises or not caught & (row.raises | _CAUGHT_WITH):
        return
    told: dict[Subject, Told] = {
        (one.key, one.count): ONE for one in choices if isinstance(one, Array) and not one.traced
    }
    if len(choices) == 1:
        learn(told, frame)
    else:
        exclude(told, frame)


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
