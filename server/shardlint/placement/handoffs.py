"""Hand-offs as events: one for each alternative of what is handed over. Which calls are hand-offs is told in `meeting`."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import replace

from shardlint.placement.capsules import use_up
from shardlint.placement.counts import ONE, Subject, Told
from shardlint.placement.domain import Array, Capsule, Foreign, Host, Method, OneOf, Symbol, Unknown, Value
from shardlint.placement.external import ask_about
from shardlint.placement.facts import exclude, learn
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import alternatives, one_of
from shardlint.placement.machine import Arguments, Event, Machine
from shardlint.placement.nature import PLAIN, Nature
from shardlint.placement.natures import HOLDERS, ITEM, READ_ONLY, STRIDED, Data, layout_of, library
from shardlint.placement.noting import note
from shardlint.placement.rows import Consumer
from shardlint.placement.trace import Trace
from shardlint.placement.tracing import Tracing
from shardlint.placement.writes import is_refused, note_write

COMMON_PROTOCOLS = frozenset(
    {
        "numpy", "scalar", "operator", "write", "compute", "donate", "address", "save", "pickle", "text", "iteration",
        "place", "gather", "shards", "computation", "function", "items", "conversion",
    }
)  # fmt: skip
"""The protocols of what every program does all the time: they refuse no array for its placement, and where nothing is known nobody asks."""
_ASKING_WORDS = frozenset({"copy", "device", "dl_device"})
"""Keywords with which it matters what library the data comes from; else only what goes into JAX may be wrong to hand over at all."""
_CAUGHT_WITH = frozenset({"*", "Exception", "BaseException"})
_EXPECTED_OF_HAND_OFFS = frozenset({"ValueError", "TypeError", "RuntimeError", "AttributeError", "NotImplementedError"})


def consumer_of(machine: Machine, function: Value) -> tuple[Consumer, Value | None] | None:
    """The consumer that calling `function` is, with the object whose method it is."""
    match function:
        case Symbol(name):
            row = machine.table.consumer(name)
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


def attribute_read(machine: Machine, owner: Value, node: ast.Attribute, frame: Frame) -> None:
    """Record the hand-off, if any, that reading an attribute of an array is."""
    row = machine.table.consumers.get(f"jax.Array.{node.attr}")
    if row is not None and row.attribute and any(isinstance(one, Array) for one in alternatives(owner)):
        record(machine, row, node.value, owner, Arguments(), node, node, frame)


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
    if row.protocol in COMMON_PROTOCOLS and not any(_tells(choice, row) for choice in choices):
        return
    if any(_may_be_refused(choice, row, frame) for choice in choices):
        frame.may_raise()
    told_where = row.protocol != "place" and not _ASKING_WORDS.isdisjoint(arguments.keywords)
    if row.gives == "jax" or told_where:
        ask_about(value, machine)
    mixed = len({_kind(choice, frame) for choice in choices}) > 1
    varied = mixed or len({_details(choice, frame) for choice in choices if isinstance(choice, Data | Capsule)}) > 1
    for choice in choices:
        event = Event(
            place=frame.place(node),
            name=frame.place(name),
            consumer=row.name,
            protocol=row.protocol,
            operand=None if operand is None else frame.place(operand),
            value=_as_handed(choice, operand, row, frame, machine),
            count=frame.count(choice) if isinstance(choice, Array) else None,
            arguments=arguments,
            row=row,
            handlers=frame.handlers,
            version_guarded=frame.state.version_guarded,
            traced=choice.traced if isinstance(choice, Array) else Tracing.NO,
            mixed=mixed,
            varied=varied,
            entry=frame.entry,
            wide=machine.module_of(frame).survey.wide,
        )
        if row.protocol != "write" or is_refused(choice):
            machine.record(event)
        else:
            note_write(event, frame)
    _unhandled(machine, row, choices, frame)
    if "capsule" in row.takes:
        use_up(operand, frame)
    _survive(row, choices, frame)


def _as_handed(value: Value, operand: ast.expr | None, row: Consumer, frame: Frame, machine: Machine) -> Value:
    """A value as a hand-off gets it: nothing can be written into an array of JAX, and of a value of which nothing is known that goes into
    JAX, the subscript that it is written as tells how its memory lies.
    """
    if row.protocol == "write" and isinstance(value, Array):
        return replace(value, nature=replace(value.nature, marks=value.nature.marks | {READ_ONLY}))
    if row.gives != "jax" or not isinstance(value, Unknown) or not isinstance(operand, ast.Subscript):
        return value
    marks = layout_of(machine.evaluate(operand.slice, frame)) - {ITEM}
    trace = Trace(frame.place(operand), "this leaves out items") if STRIDED in marks else None
    return Foreign("", None, Nature(None, marks=marks, trace=trace)) if marks else value


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
        return (Foreign, value.library, value.device) if isinstance(value, Foreign) else type(value)
    count = frame.count(value)
    if count is None or not count.surely_many:
        return (Array, count and count.number, value.device, value.traced)
    return (Array, "many", value.traced)


def _details(value: Data | Capsule, frame: Frame) -> Hashable:
    """What else tells data of one kind apart."""
    if isinstance(value, Capsule):
        return value.used
    count = frame.count(value) if isinstance(value, Array) else None
    return value.nature, *((None, None) if count is None else (count.spans, count.share))


def _may_be_refused(value: Value, row: Consumer, frame: Frame) -> bool:
    if isinstance(value, Array):
        return bool(value.traced) or (row.protocol not in COMMON_PROTOCOLS and frame.count(value) != ONE)
    return row.protocol not in COMMON_PROTOCOLS and not isinstance(value, Host | Foreign)


def _tells(value: Value, row: Consumer) -> bool:
    """Whether anything is known of a value for which a rule could ask."""
    if isinstance(value, Foreign) and value.sure:
        return True
    if row.every:
        return isinstance(value, Array)
    if row.protocol == "numpy" and library(value) in HOLDERS:
        return True
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
        case "torch" | "cupy" | "warp" | "tensorflow" | "numba":
            return Foreign(row.gives, sure=True)
        case "capsule":
            return Capsule()
        case _:
            return None
