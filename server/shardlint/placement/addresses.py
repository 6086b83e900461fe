"""Addresses of memory: they keep nothing alive, so that one may outlive the memory to which it leads."""

from __future__ import annotations

import ast
from collections.abc import Collection, Hashable, Iterator
from dataclasses import replace

from shardlint.placement.domain import Array, External, Foreign, Function, Host, Method, Symbol, Transformed, Value
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import alternatives, each, leaves
from shardlint.placement.machine import Arguments, Event, Machine
from shardlint.placement.natures import ADDRESS, DANGLING
from shardlint.placement.rows import Consumer
from shardlint.placement.trace import Trace
from shardlint.placement.tracing import Tracing
from shardlint.syntax.tree import Place

_USERS = ("ctypes.", "numpy.ctypeslib.")
_LOOKING = frozenset({"from_address", "from_buffer", "in_dll"})


def orphan(keys: Collection[Hashable], frame: Frame, evidence: Trace | None) -> None:
    """Note that the memory of these arrays is given up: addresses of it lead nowhere, if no view keeps it."""
    viewed = {one.nature.shares for one in views(frame)}
    keys = frozenset(keys) - viewed
    for name, value in frame.state.variables.items():
        if any(isinstance(one, Host) and one.nature.shares in keys for one in alternatives(value)):
            frame.state.variables[name] = each(value, lambda one: _dangling(one, keys, evidence))


def views(frame: Frame) -> Iterator[Host | Foreign]:
    """What variables hold that keeps the memory of a `jax.Array`: views of it, and no addresses."""
    for value in frame.state.variables.values():
        for one in alternatives(value):
            if isinstance(one, Host | Foreign) and one.nature.shares is not None and ADDRESS not in one.nature.marks:
                yield one


def _dangling(one: Value, keys: Collection[Hashable], evidence: Trace | None) -> Value:
    if not isinstance(one, Host) or one.nature.shares not in keys or ADDRESS not in one.nature.marks:
        return one
    before, marks = one.nature.trace, one.nature.marks | {DANGLING}
    trace = before if evidence is None else evidence if before is None else before.then(evidence.place, evidence.text)
    return replace(one, nature=replace(one.nature, marks=marks, trace=trace))


def deleted(value: Value | None, place: Place, frame: Frame) -> None:
    """A variable that held this was deleted: what no other variable holds is gone, and with it the memory of addresses."""
    keys = {one.key for one in alternatives(value) if isinstance(one, Array)} if value is not None else set[Hashable]()
    if keys:
        held = {
            leaf.key for other in frame.state.variables.values() for leaf in leaves(other) if isinstance(leaf, Array)
        }
        orphan(keys - held, frame, Trace(place, "the array is deleted here"))


def of_temporary(made: Value, owner: Array, node: ast.AST, frame: Frame, machine: Machine) -> Value:
    """The address that the call `node` took of an array: if that was made right there, nobody holds it. Functions of the program may
    keep what they make, and some of JAX give back what they were given.
    """
    receiver = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    if not isinstance(receiver, ast.Call) or owner.key not in (receiver, (receiver, 1)):
        return made
    if not _makes_anew(machine.evaluate(receiver.func, frame)):
        return made
    return _dangling(made, {owner.key}, Trace(frame.place(receiver), "nothing holds the array that is made here"))


def _makes_anew(function: Value) -> bool:
    match function:
        case Transformed(how):
            return how in ("jit", "pjit")
        case Symbol(name):
            return name.startswith("jax.random.") or name in _CREATORS
        case _:
            return False


_CREATORS = frozenset(
    f"jax.numpy.{name}" for name in ("zeros", "ones", "empty", "full", "arange", "linspace", "eye", "array", "copy")
)


def passed(function: Value, arguments: Arguments, frame: Frame, machine: Machine) -> None:
    """Record that an address that leads nowhere is used: given to a function of the program, of `ctypes` or of a library of C."""
    if not _follows(function):
        return
    for value in arguments.values():
        for one in alternatives(value):
            if isinstance(one, Host) and DANGLING in one.nature.marks and one.nature.trace is not None:
                machine.record(_event(one, one.nature.trace, machine.table.consumers["jax.address"], frame))


def _follows(function: Value) -> bool:
    match function:
        case Function():
            return True
        case Symbol(name):
            return name.startswith(_USERS)
        case Method(_, name):
            return name in _LOOKING
        case External(path):
            return path.startswith(_USERS)
        case _:
            return False


def _event(value: Host, trace: Trace, row: Consumer, frame: Frame) -> Event:
    """The event stands where the address was taken."""
    place = (trace.before or trace).place
    node = place.node
    name = Place(place.chunk, node.func) if isinstance(node, ast.Call) else place
    return Event(
        place, name, row.name, row.protocol, None, value, None, Arguments(), row, frame.handlers, False, Tracing.NO
    )
