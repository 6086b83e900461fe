"""Objects of which nothing is known but how they are reached: what is read from them, what calling them gives, and when to ask.

A question is asked only where an answer may matter: where the object is what arrays are put on, where it goes into JAX as a
hand-off, or where it gets something that has a placement.
"""

from __future__ import annotations

import ast
from math import prod

from shardlint.placement.counts import ONE
from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Constant,
    Device,
    Devices,
    External,
    Mesh,
    Method,
    Sequence,
    Sharding,
    Symbol,
    Value,
)
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import alternatives, leaves
from shardlint.placement.machine import Arguments, Machine
from shardlint.placement.paths import CALL, name_of, steps_of
from shardlint.syntax.tree import Node


def path_of(value: Value) -> str | None:
    """How a value is reached from outside of the program, None where it is not from there or that is not known."""
    match value:
        case Symbol(path) | External(path):
            return path
        case Method(owner, name):
            inner = path_of(owner)
            return inner and f"{inner}.{name}"
        case _:
            return None


def ask_about(value: Value, machine: Machine) -> None:
    """Ask what a value is, where only others can tell."""
    for one in alternatives(value):
        path = path_of(one)
        if path is not None and len(steps_of(path)) > 1 and not _told_by_table(name_of(path), machine):
            machine.ask(path)


def _told_by_table(name: str, machine: Machine) -> bool:
    table = machine.table
    return name.startswith("builtins.") or name in table.classes or name in table.consumers or bool(table.effect(name))


def read(owner: Value, name: str, node: Node, frame: Frame, machine: Machine) -> Value:
    """`owner.name`: what it means where that is told, else a method that waits to be called."""
    found = Method(owner, name)
    path = path_of(found)
    if path is None:
        return found
    if name in machine.module_of(frame).survey.assigned:
        return Method(UNKNOWN, name)  # the program itself has put something else there
    return _meaning(path, owner, node, frame, machine) or found


def called(function: Value, arguments: Arguments, node: Node, frame: Frame, machine: Machine) -> Value:
    """The result of calling something of which nothing is known but how it is reached."""
    frame.may_raise()
    path = path_of(function)
    if path is None or not steps_of(path + CALL):
        return UNKNOWN
    result = External(path + CALL, narrow=_narrow(function) or _say_one(arguments))
    known = _meaning(result.path, result, node, frame, machine)
    matters = known is None and node not in machine.module_of(frame).survey.dropped
    if matters and any(_has_placement(leaf, frame) for value in arguments.values() for leaf in leaves(value)):
        ask_about(result, machine)
    return result if known is None else known


def item(owner: Value, index: Value, node: Node, frame: Frame, machine: Machine) -> Value | None:
    """`owner[index]` of such an object, None where nothing can be said."""
    path = path_of(owner)
    if path is None or not isinstance(index, Constant) or type(index.value) is not int or index.value < 0:
        return None
    found = External(f"{path}[{index.value}]", narrow=_narrow(owner))
    return _meaning(found.path, found, node, frame, machine) or (found if steps_of(found.path) else None)


def opened(value: Value, targets: list[ast.expr], node: Node, frame: Frame, machine: Machine) -> Value:
    """What is unpacked into these targets: a tuple, for an object of which the items can be asked for."""
    if not isinstance(value, External) or any(isinstance(target, ast.Starred) for target in targets):
        return value
    items = [item(value, Constant(index), node, frame, machine) for index in range(len(targets))]
    return Sequence(tuple(UNKNOWN if one is None else one for one in items))


def entered(manager: Value, node: Node, frame: Frame, machine: Machine) -> Value:
    """What a `with` statement binds: what the `__enter__` of such an object gives."""
    if not isinstance(manager, External):
        return manager
    return called(Method(manager, "__enter__"), Arguments(), node, frame, machine)


def _meaning(path: str, owner: Value, node: Node, frame: Frame, machine: Machine) -> Value | None:
    known = machine.meaning(path, node, frame)
    if _narrow(owner) and isinstance(known, Mesh | Sharding) and known.count != ONE:
        return UNKNOWN
    return known


def _narrow(value: Value) -> bool:
    match value:
        case External(narrow=narrow):
            return narrow
        case Method(owner):
            return _narrow(owner)
        case _:
            return False


def _say_one(arguments: Arguments) -> bool:
    """Whether what is given may say that one device is enough: what comes of it is on one perhaps."""
    return any(_says_one(value) for value in arguments.values())


def _says_one(value: Value) -> bool:
    match value:
        case Constant(number):
            return type(number) is int and number == 1
        case Array(count) | Mesh(count) | Sharding(count) | Devices(count):
            return count is not None and count.surely_one
        case Device():
            return True
        case Sequence(items) if items and all(
            isinstance(one, Constant) and isinstance(one.value, int) for one in items
        ):
            return prod(one.value for one in items if isinstance(one, Constant) and isinstance(one.value, int)) == 1
        case _:
            inner = [leaf for leaf in leaves(value) if leaf is not value]
            return any(_says_one(leaf) for leaf in inner)


def _has_placement(value: Value, frame: Frame) -> bool:
    match value:
        case Array():
            return frame.count(value) not in (None, ONE)
        case Mesh() | Sharding() | Devices():
            return True
        case _:
            return False


def nameless(value: Value) -> Value:
    """The value, but unknown for an object of which only the way to it is known."""
    return UNKNOWN if isinstance(value, External) else value
