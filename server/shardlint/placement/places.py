"""Expressions that name a place where a value is held: a variable, an attribute, an item; what is there, and putting something else there.

Nothing is assigned by this: it is the same object, of which more is known.
"""

from __future__ import annotations

import ast

from shardlint.placement.domain import Constant, Instance, Mapping, Sequence, Value
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import is_container
from shardlint.placement.machine import Machine
from shardlint.placement.names import lookup
from shardlint.placement.storing import change_each, with_item
from shardlint.placement.subscripts import entry


def held_now(place: ast.expr, frame: Frame, machine: Machine) -> Value | None:
    """What is held at a place, None where the expression names none or nothing is known of it."""
    match place:
        case ast.Name(id=name):
            return lookup(name, frame, machine)
        case ast.Attribute(value=inner, attr=name):
            owner = held_now(inner, frame, machine)
            return owner.get(name) if isinstance(owner, Instance) else None
        case ast.Subscript(value=inner, slice=ast.Constant(value=key)):
            owner = held_now(inner, frame, machine)
            if isinstance(owner, Mapping):
                return entry(owner, Constant(key))
            if isinstance(owner, Sequence) and isinstance(key, int) and -len(owner.items) <= key < len(owner.items):
                return owner.items[key]
            return None
        case _:
            return None


def put_at(place: ast.expr, value: Value, frame: Frame, machine: Machine) -> None:
    """Know `value` of what is held at a place."""
    match place:
        case ast.Name(id=name):
            current: Frame | None = frame
            while current is not None and frame.variable(current, name) is None:
                current = current.enclosing
            if current is frame:
                frame.state.variables[name] = value
            elif current is not None:
                frame.state.outer[current, name] = value
        case ast.Attribute(value=inner, attr=name):
            owner = held_now(inner, frame, machine)
            if isinstance(owner, Instance):
                change_each(
                    owner, inner, lambda one: one.having({name: value}) if isinstance(one, Instance) else one, frame
                )
        case ast.Subscript(value=inner, slice=ast.Constant(value=key)):
            owner = held_now(inner, frame, machine)
            if owner is not None and is_container(owner):
                change_each(owner, inner, lambda one: with_item(one, Constant(key), value) or one, frame)
        case _:
            pass
