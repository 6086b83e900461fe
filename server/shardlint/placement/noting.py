"""Keeping an event that is no hand-off of its own: the use of a name, a test, a question where an array lives."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from shardlint.placement.domain import UNKNOWN, Array, Fact, Value
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import alternatives
from shardlint.placement.machine import Arguments, Event, Machine
from shardlint.placement.tracing import Tracing
from shardlint.syntax.tree import Node

_NOTHING = Arguments()


def note(
    machine: Machine,
    frame: Frame,
    protocol: str,
    consumer: str,
    node: Node,
    *,
    value: Value = UNKNOWN,
    mixed: bool = False,
    operand: ast.expr | None = None,
    name: Node | None = None,
    arguments: Arguments = _NOTHING,
    handlers: tuple[frozenset[str], ...] | None = None,
) -> None:
    """Keep that `node` does something of this protocol with one alternative of a value. `handlers` are what handlers around it catch, if
    not all those around this point do.
    """
    array = value if isinstance(value, Array) else None
    machine.record(
        Event(
            place=frame.place(node),
            name=frame.place(node if name is None else name),
            consumer=consumer,
            protocol=protocol,
            operand=None if operand is None else frame.place(operand),
            value=value,
            count=None if array is None else frame.count(array),
            arguments=arguments,
            row=None,
            handlers=frame.handlers if handlers is None else handlers,
            version_guarded=frame.state.version_guarded,
            traced=Tracing.NO if array is None else array.traced,
            mixed=mixed,
            entry=frame.entry,
        )
    )


def possible(value: Value, frame: Frame) -> tuple[Value, ...]:
    """The alternatives of a value that can be on this path."""
    return tuple(one for one in alternatives(value) if not isinstance(one, Array) or frame.informed(one) is not None)


def arrays(values: Iterable[Value]) -> list[Array]:
    """The arrays among some values."""
    return [one for one in values if isinstance(one, Array)]


def array_of(fact: Fact) -> Array:
    """The array of which a property was asked, as far as its devices are concerned."""
    return Array(fact.count, fact.key, trace=fact.trace)


def is_caught(frame: Frame, names: frozenset[str]) -> bool:
    """Whether a handler around this point catches one of these exceptions, by the name that it gives."""
    return any(not names.isdisjoint(caught) for caught in frame.handlers)
