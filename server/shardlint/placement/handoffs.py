"""Seeing hand-offs: a call or attribute read of the table of consumers becomes events, one for each alternative."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator

from shardlint.placement.counts import ONE, Subject, Told
from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Capsule,
    Elements,
    Foreign,
    Host,
    Method,
    OneOf,
    Symbol,
    Unknown,
    Value,
)
from shardlint.placement.external import ask_about
from shardlint.placement.facts import exclude, learn
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import alternatives, is_container, leaves, one_of
from shardlint.placement.machine import Arguments, Event, Machine
from shardlint.placement.nature import PLAIN
from shardlint.placement.natures import Data, library
from shardlint.placement.table import Consumer
from shardlint.placement.tracing import Tracing
from shardlint.syntax.tree import Node

TELLING_NAMES = frozenset({"to_dlpack", "from_dlpack", "toDlpack", "fromDlpack"})
COMMON_PROTOCOLS = frozenset(
    {
        "numpy",
        "scalar",
        "operator",
        "write",
        "save",
        "pickle",
        "text",
        "iteration",
        "place",
        "gather",
        "shards",
        "computation",
    }
)
"""The protocols of what every program does all the time: they refuse no array for its placement, and where nothing is known nobody asks."""
_ASKING_WORDS = frozenset({"copy", "device", "dl_device"})
"""Keywords with which it matters what library the data comes from; else only what goes into JAX may be wrong to hand over at all."""
_CAUGHT_WITH = frozenset({"*", "Exception", "BaseException"})


def consumer_of(machine: Machine, function: Value) -> tuple[Consumer, Value | None] | None:
    """The consumer that calling `function` is, with the object whose method it is."""
    match function:
        case Symbol(name):
            row = machine.table.consumers.get(name)
            return None if row is None else (row, None)
        case Method(Array() | Unknown() | Host() | Foreign() as owner, name):
            row = machine.table.consumers.get(f"{machine.table.array_classes.get(library(owner) or 'jax')}.{name}")
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
        if not isinstance(owner, Unknown):
            for operand, value in _operands(row, owner, arguments):
                record(machine, row, operand, value, arguments, node, node.func, frame)
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
        record(machine, row, node.value, owner, Arguments(), node, node, frame)


def _operands(row: Consumer, owner: Value | None, arguments: Arguments) -> Iterator[tuple[ast.expr | None, Value]]:
    """All that is handed over, each with the expression for it where the program writes one."""
    if row.every and arguments.node is not None:
        written = [*arguments.node.args, *(one.value for one in arguments.node.keywords)]
        values = arguments.values()
        given = (
            list(zip(written, values, strict=True)) if len(written) == len(values) else [(None, one) for one in values]
        )
    else:
        given = [_operand(row, owner, arguments)]
    if row.alike:
        given = [(operand, value.item) for operand, value in given if isinstance(value, Elements)]
    for operand, value in given:
        for part in leaves(value) if row.tree and any(is_container(one) for one in alternatives(value)) else (value,):
            yield operand, part


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


def record(
    machine: Machine,
    row: Consumer,
    operand: ast.expr | None,
    value: Value,
    arguments: Arguments,
    node: ast.expr,
    name: ast.expr,
    frame: Frame,
) -> None:
    """Record that `value` is handed over to the consumer of a row, as one event for each of its alternatives.

    `operand` is the expression for it, where there is one; `node` is the whole hand-off, `name` the part that names the consumer.
    """
    choices = tuple(one for one in alternatives(value) if not isinstance(one, Array) or frame.informed(one) is not None)
    if row.protocol in COMMON_PROTOCOLS and not any(_tells(choice) for choice in choices):
        return
    if any(_may_be_refused(choice, row, frame) for choice in choices):
        frame.may_raise()
    told_where = row.protocol != "place" and not _ASKING_WORDS.isdisjoint(arguments.keywords)
    if row.gives == "jax" or told_where:
        ask_about(value, machine)
    mixed = len({_kind(choice, frame) for choice in choices}) > 1
    varied = mixed or len({_details(choice, frame) for choice in choices if isinstance(choice, Data)}) > 1
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
    _survive(row, choices, frame)


def _kind(value: Value, frame: Frame) -> Hashable:
    """What decides over a hand-off of `value`: alternatives of one kind fare alike."""
    if not isinstance(value, Array):
        return (Foreign, value.library, value.device) if isinstance(value, Foreign) else type(value)
    count = frame.count(value)
    if count is None or not count.surely_many:
        return (Array, count and count.number, value.device, value.traced)
    return (Array, "many", value.traced)


def _details(value: Data, frame: Frame) -> Hashable:
    """What else tells data of one kind apart."""
    count = frame.count(value) if isinstance(value, Array) else None
    return value.nature, *((None, None) if count is None else (count.spans, count.share))


def _may_be_refused(value: Value, row: Consumer, frame: Frame) -> bool:
    if isinstance(value, Array):
        return bool(value.traced) or (row.protocol not in COMMON_PROTOCOLS and frame.count(value) != ONE)
    return row.protocol not in COMMON_PROTOCOLS and not isinstance(value, Host | Foreign)


def _tells(value: Value) -> bool:
    """Whether anything is known of a value for which a rule could ask."""
    return isinstance(value, Array) or (isinstance(value, Host | Foreign) and value.nature is not PLAIN)


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
