"""What iterating over a value gives, and what unpacking it into names gives."""

from __future__ import annotations

import ast
from dataclasses import replace

from shardlint.placement.counts import ONE, Share
from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Constant,
    Device,
    DeviceId,
    Devices,
    Elements,
    Fact,
    Foreign,
    Host,
    Instance,
    Mapping,
    Sequence,
    Value,
    Version,
)
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import alternatives, each, held, one_of
from shardlint.placement.nature import PLAIN, Nature
from shardlint.placement.natures import ITEM, STRIDED, kept
from shardlint.syntax.tree import Node

_LONGEST_TEXT = 8


def element(values: Value, node: Node, frame: Frame) -> Value:
    """One item of `values`; `node` is where it comes to be."""

    def of(value: Value) -> Value:
        match value:
            case Array():
                return _row(value, node, frame)
            case Sequence(items):
                return one_of(items)
            case Elements(item):
                return item
            case Instance(definition) if definition.shape == "tuple":
                return one_of(held(value))
            case Mapping(items, rest):
                return one_of([*(Constant(key) for key, _ in items), *(() if rest is None else (UNKNOWN,))])
            case Devices(_, first, _):
                return Device(DeviceId(None, first.platform if first is not None else None))
            case Fact(what="device_set" | "local", items=None):
                return Device(DeviceId(None))
            case Fact(items=Elements(item)):
                return item
            case Host() | Foreign():
                return value if value.nature is PLAIN else replace(value, nature=_of_item(value.nature))
            case Version(known):
                return Version(known, opaque=True)
            case _:
                return UNKNOWN

    return each(values, of)


def _row(array: Array, node: Node, frame: Frame) -> Array:
    """Rows of a sharded array are on one device, those of a replicated one on all: where that is not known, nothing is said."""
    count = frame.count(array)
    if array.count is not None and count is not None and count.share is Share.ALL:
        return replace(array, count=count, key=frame.fresh(node), nature=kept(array))
    row = ONE if count == ONE and array.count is not None else None
    return Array(row, frame.fresh(node), None, array.traced, array.trace, nature=kept(array))


def _of_item(nature: Nature) -> Nature:
    return replace(nature, marks=(nature.marks - {STRIDED}) | {ITEM})


def items_of(values: Value) -> tuple[Value, ...] | None:
    """The items of a container in their order, where all are known one by one."""
    match values:
        case Sequence(items):
            return items
        case Mapping(items, None):
            return tuple(Constant(key) for key, _ in items)
        case Instance(definition) if definition.shape == "tuple":
            return held(values)
        case Constant(str() as text) if len(text) <= _LONGEST_TEXT:
            return tuple(Constant(character) for character in text)
        case _:
            return None


def unpacked(values: Value, targets: list[ast.expr], node: Node, frame: Frame) -> list[Value]:
    """The value for each of `targets`, one of which may be starred; each alternative is unpacked by itself."""
    columns = [_unpacked(value, targets, node, frame) for value in alternatives(values)]
    return [one_of(column) for column in zip(*columns, strict=True)]


def _unpacked(values: Value, targets: list[ast.expr], node: Node, frame: Frame) -> list[Value]:
    items = items_of(values)
    if items is None:
        item = element(values, node, frame)
        return [Elements(item) if isinstance(target, ast.Starred) else item for target in targets]
    starred = next((i for i, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
    if starred is None and len(items) == len(targets):
        return list(items)
    if starred is not None and len(items) >= len(targets) - 1:
        behind = len(targets) - starred - 1
        middle = Sequence(items[starred : len(items) - behind])
        return [*items[:starred], middle, *items[len(items) - behind :]]
    return [UNKNOWN] * len(targets)
