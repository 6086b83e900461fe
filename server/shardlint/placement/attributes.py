"""What reading an attribute of a value gives."""

from __future__ import annotations

from dataclasses import replace

from shardlint.placement.counts import ONE, Count
from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Class,
    Constant,
    Devices,
    Elements,
    Fact,
    Instance,
    Mesh,
    Method,
    Namespace,
    Sharding,
    Super,
    Symbol,
    Value,
)
from shardlint.placement.external import read
from shardlint.placement.frame import Frame
from shardlint.placement.machine import Machine
from shardlint.placement.objects import object_attribute
from shardlint.placement.state import EVERY_ARRAY
from shardlint.syntax.tree import Node

_OF_SHARDING = {
    "device_set": "device_set",
    "num_devices": "count",
    "_device_assignment": "device_set",
    "mesh": "mesh",
    "addressable_devices": "local",
}


def attribute(owner: Value, name: str, node: Node, frame: Frame, machine: Machine) -> Value:
    """`owner.name`; what is not known is a method that waits to be called."""
    match owner:
        case Symbol():
            return machine.canonical_symbol(f"{owner.name}.{name}", node, frame)
        case Namespace(module):
            return machine.member(module, name, node, frame)
        case Instance() | Class() | Super():
            return object_attribute(owner, name, node, frame, machine)
        case Array():
            return _of_array(owner, name, node, frame, machine)
        case Fact():
            return _of_fact(owner, name)
        case Method(Array() as array, "shard") if name == "data":
            return array
        case Mesh(count, trace) if name == "devices":
            return Devices(count, None, trace)
        case Mesh(count) | Devices(count) if name == "size":
            return size(count)
        case Devices() if name in ("T", "flat"):
            return owner
        case Sharding(count) if name in _OF_SHARDING:
            return _of_fact(Fact("sharding", EVERY_ARRAY, count), name) if count.whole else _counted(count, name)
        case _:
            return read(owner, name, node, frame, machine)


def size(count: Count) -> Value:
    """A number of devices: known, or that of all devices."""
    if count.low == count.high:
        return Constant(count.low)
    return Fact("count", EVERY_ARRAY) if count.whole else UNKNOWN


def _counted(count: Count, name: str) -> Value:
    return size(count) if name == "num_devices" else Method(Sharding(count), name)


def _of_array(array: Array, name: str, node: Node, frame: Frame, machine: Machine) -> Value:
    reads = machine.table.attributes.get(f"jax.Array.{name}")
    known = frame.count(array)
    match reads:
        case "like":
            return array if not array.stacked else replace(array, stacked=False, count=ONE)
        case "shards":
            shard = Method(Array(ONE, frame.fresh(node), committed=True), "shard")
            what = "shards" if name == "global_shards" else "local"
            return Fact(what, array.key, known, array.trace, Elements(shard))
        case "sharding" | "device":
            return Fact(reads, array.key, known, array.trace, meshed=array.nature.meshed)
        case _:
            return Method(array, name)


def _of_fact(fact: Fact, name: str) -> Value:
    if fact.what == "sharding" and name in _OF_SHARDING:
        return replace(fact, what=_OF_SHARDING[name])
    if fact.what == "mesh" and name == "devices":
        return fact
    if fact.what == "mesh" and name == "size":
        return replace(fact, what="count")
    return Method(fact, name)


def length(fact: Fact) -> Value:
    """`len()` of a set of devices or of a list of shards."""
    match fact.what:
        case "device_set" | "shards":
            return replace(fact, what="count")
        case "local":
            return replace(fact, what="local count")
        case _:
            return Method(fact, "len")
