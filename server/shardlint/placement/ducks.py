"""Calls of methods of objects of which nothing is known: where one class of the module has such a method, it is likely to be that one's.

What is given is given there perhaps: what is found is never sure, and what the call gives back stays unknown.
"""

from __future__ import annotations

from dataclasses import replace

from shardlint.placement.counts import ONE
from shardlint.placement.domain import UNKNOWN, Array, Function, Method, Unknown, Value
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import leaves, one_of
from shardlint.placement.machine import Arguments, Machine
from shardlint.placement.objects import object_attribute, typical
from shardlint.syntax.tree import Node

_OF_PYTHON = frozenset(
    name for kind in (list, dict, set, str, bytes, tuple, int, float, complex, slice, range) for name in dir(kind)
)
"""The methods of Python's own objects, which any unknown one may be."""


def perhaps_called(method: Method, arguments: Arguments, node: Node, frame: Frame, machine: Machine) -> None:
    """Follow an array on several devices into the only method of this name that a class of the module has."""
    if not isinstance(method.owner, Unknown) or method.name in _OF_PYTHON or _is_of_libraries(method.name, machine):
        return
    if not any(_is_on_many(leaf, frame) for value in arguments.values() for leaf in leaves(value)):
        return
    holders = [one for one in frame.module.definitions if isinstance(one.attributes.get(method.name), Function)]
    if len(holders) != 1:
        return
    machine.upset()  # a class that comes with an edit may have the method too
    state, raises = frame.state, frame.raises
    frame.state = state.copy()
    owner = typical(holders[0], ("met", holders[0]), machine)
    given = replace(
        arguments,
        positional=tuple(one_of([one, UNKNOWN]) for one in arguments.positional),
        keywords={name: one_of([one, UNKNOWN]) for name, one in arguments.keywords.items()},
    )
    machine.call(object_attribute(owner, method.name, node, frame, machine), given, node, frame)
    frame.state, frame.raises = state, raises


def _is_on_many(value: Value, frame: Frame) -> bool:
    return isinstance(value, Array) and frame.count(value) not in (None, ONE)


def _is_of_libraries(name: str, machine: Machine) -> bool:
    """Whether arrays of some library have a method of this name."""
    table = machine.table
    known = (f"{owner}.{name}" for owner in table.array_classes.values())
    return any(one in table.effects or one in table.consumers or one in table.marks for one in known)
