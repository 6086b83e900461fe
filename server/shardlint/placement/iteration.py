"""What iterating over a value gives, and what unpacking it into names gives."""

from __future__ import annotations

import ast

from shardlint.placement.domain import (
    ONE,
    UNKNOWN,
    Array,
    Constant,
    Device,
    DeviceId,
    Devices,
    Elements,
    Foreign,
    Host,
    Mapping,
    Sequence,
    Value,
    Version,
    each,
    one_of,
)
from shardlint.placement.machine import Frame
from shardlint.syntax.tree import Node


def element(values: Value, node: Node, frame: Frame) -> Value:
    """One item of `values`; `node` is where it comes to be."""

    def of(value: Value) -> Value:
        match value:
            case Array(count=count):
                # Rows of a sharded array are on one device, rows of a replicated one on all: a multi-device array says nothing.
                row = ONE if frame.count(value) == ONE and count is not None else None
                return Array(row, frame.fresh(node), None, value.traced, value.trace)
            case Sequence(items):
                return one_of(items)
            case Elements(item):
                return item
            case Mapping(items):
                return one_of(Constant(key) for key, _ in items)
            case Devices(_, first, _):
                return Device(DeviceId(None, first.platform if first is not None else None))
            case Host():
                return Host()
            case Foreign(library):
                return Foreign(library)
            case Version(known):
                return Version(known, opaque=True)
            case _:
                return UNKNOWN

    return each(values, of)


def unpacked(values: Value, targets: list[ast.expr], node: Node, frame: Frame) -> list[Value]:
    """The value for each of `targets`, one of which may be starred."""
    if isinstance(values, Sequence):
        starred = next((i for i, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
        items = values.items
        if starred is None and len(items) == len(targets):
            return list(items)
        if starred is not None and len(items) >= len(targets) - 1:
            behind = len(targets) - starred - 1
            middle = Sequence(items[starred : len(items) - behind])
            return [*items[:starred], middle, *items[len(items) - behind :]]
        return [UNKNOWN] * len(targets)
    item = element(values, node, frame)
    return [Elements(item) if isinstance(target, ast.Starred) else item for target in targets]
