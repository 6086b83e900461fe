"""What `owner[index]` gives."""

from __future__ import annotations

import ast
from dataclasses import replace

from shardlint.placement.counts import ONE, Count, Spans
from shardlint.placement.domain import (
    OPEN,
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
    Method,
    Sequence,
    Slice,
    Value,
    Version,
)
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import held, one_of
from shardlint.placement.natures import alone, kept, viewed, with_nature
from shardlint.placement.operators import combined
from shardlint.placement.state import THIS_PROCESS
from shardlint.placement.versions import part


def subscript(owner: Value, index: Value, node: ast.Subscript, frame: Frame) -> Value:
    """One alternative of `owner[index]`."""
    match owner:
        case Array():
            return (
                owner
                if index in (Constant(...), Slice(None, None, None))
                else with_nature(combined([owner], node, frame), kept(owner))
            )
        case Sequence(items):
            return _item(items, index)
        case Instance(definition) if definition.shape == "tuple":
            return _item(held(owner), index)
        case Mapping():
            return entry(owner, index)
        case Elements(item):
            return Elements(item) if isinstance(index, Slice) else item
        case Fact(items=Elements() as shards):
            return shards if isinstance(index, Slice) else _shard(shards.item, index)
        case Devices():
            return _device(owner, index, frame)
        case Host():
            return viewed(replace(owner, made=None), index)  # an array of objects may hold anything
        case Foreign("ref"):
            return Array(None, frame.fresh(node), traced=frame.traced)
        case Foreign():
            return viewed(owner, index)
        case Version():
            return part(owner, index)
        case Method(Array() as array, "at"):
            return array
        case Method(Array() as array, "shape"):
            return Method(array, "size")
        case _:
            return UNKNOWN


def _shard(shard: Value, index: Value) -> Value:
    match shard:
        case Fact(items=Array() as array) if isinstance(index, Constant):
            return replace(shard, items=alone(array))
        case _:
            return shard


def _item(items: tuple[Value, ...], index: Value) -> Value:
    match index:
        case Constant(int() as number):
            return items[number] if -len(items) <= number < len(items) else UNKNOWN
        case Slice() if (chosen := sliced(index, len(items))) is not None:
            return Sequence(tuple(items[i] for i in chosen))
        case Slice():
            return Elements(one_of(items))
        case _:
            return one_of(items)


def sliced(index: Slice, length: int) -> range | None:
    """The positions that a slice of literals chooses; None if it is not made of literals."""
    low, high, step = index.low, index.high, index.step
    if OPEN in (low, high, step) or step == 0:
        return None
    return range(*slice(low, high, step).indices(length))


def entry(owner: Mapping, index: Value) -> Value:
    """What a dict holds under a key."""
    if isinstance(index, Constant):
        for key, value in owner.items:
            if key == index.value:
                return value
        return UNKNOWN if owner.rest is None else owner.rest
    return one_of([*held(owner), UNKNOWN])


def _device(devices: Devices, index: Value, frame: Frame) -> Value:
    platform = devices.first.platform if devices.first is not None else None
    match index:
        case Constant(int() as number):
            starts_at_zero = devices.first is not None and devices.first.index == 0
            id_ = DeviceId(number if starts_at_zero and number >= 0 else None, platform)
            spans = devices.count.spans if frame.fact(THIS_PROCESS) is False else Spans.UNTOLD
            return Device(id_, spans, devices.trace)
        case Slice(None, None, None):
            return devices
        case Slice():
            first = index.low or 0
            starts = devices.first is not None and devices.first.index == 0 and isinstance(first, int) and first >= 0
            count = _sliced_count(devices.count, index)
            return Devices(
                count, DeviceId(first if starts and isinstance(first, int) else None, platform), devices.trace
            )
        case Sequence(parts) if any(isinstance(one, Slice) for one in parts):
            part = Count(1, devices.count.high, spans=devices.count.spans)
            return Devices(part, DeviceId(None, platform), devices.trace)
        case _:
            return Device(DeviceId(None, platform))


def _sliced_count(count: Count, index: Slice) -> Count:
    """How many devices a slice of them has; at least one, as a mesh of none is not possible."""
    if count.low == count.high and (chosen := sliced(index, count.low)) is not None:
        return Count(len(chosen), len(chosen), spans=count.spans) if chosen else ONE
    low, high = index.low or 0, index.high
    most: int | None = None
    if index.step in (None, 1) and isinstance(low, int):
        if isinstance(high, int) and (low < 0) == (high < 0):
            most = high - low
        elif high is None and low < 0:
            most = -low
    if most is not None and most < 1:
        return ONE
    return Count(1, most).met(count) or ONE
