"""What reading an attribute of a value gives."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from dataclasses import replace

from shardlint.placement.counts import ONE, Count, Share
from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Class,
    Constant,
    Devices,
    Elements,
    Fact,
    Foreign,
    Function,
    Host,
    Instance,
    Mesh,
    Method,
    Namespace,
    Sequence,
    Sharding,
    Super,
    Symbol,
    Value,
)
from shardlint.placement.external import read
from shardlint.placement.frame import Frame
from shardlint.placement.machine import Arguments, Machine
from shardlint.placement.nature import MESH_OF_ONE, PLAIN, Nature
from shardlint.placement.natures import library, natured
from shardlint.placement.objects import object_attribute
from shardlint.placement.parameters import positional_defaults
from shardlint.placement.rows import Effect
from shardlint.placement.site import Site
from shardlint.placement.state import EVERY_ARRAY
from shardlint.placement.telling import addressable, replicated
from shardlint.syntax.tree import Node

_OF_SHARDING = {
    "device_set": "device_set",
    "num_devices": "count",
    "_device_assignment": "device_set",
    "mesh": "mesh",
    "addressable_devices": "local",
}


_PARTS = frozenset({"real", "imag"})


def attribute(owner: Value, name: str, node: Node, frame: Frame, machine: Machine) -> Value:
    """`owner.name`; what is not known is a method that waits to be called."""
    match owner:
        case Symbol():
            return _of_symbol(owner, name, node, frame, machine)
        case Namespace(module):
            return machine.member(module, name, node, frame)
        case Instance() | Class() | Super():
            return object_attribute(owner, name, node, frame, machine)
        case Function(defaults=defaults) if name == "__defaults__" and defaults:
            return Sequence(tuple(value for _, value in positional_defaults(owner)))
        case Array():
            return _of_array(owner, name, node, frame, machine)
        case Host() | Foreign():
            return _of_other_library(owner, name, node, frame, machine)
        case Fact():
            return _of_fact(owner, name)
        case Mesh(count, trace) if name == "devices":
            return Devices(count, None, trace)
        case Mesh(count) | Devices(count=count) if name == "size":
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
            array = replace(array, nature=_of_part(array.nature)) if name in _PARTS else array
            return array if not array.stacked else replace(array, stacked=False, count=ONE)
        case "shards":
            marks = frozenset({"replica"} if known is not None and known.share is Share.ALL else ())
            nature = Nature(marks=marks, trace=array.trace) if marks else PLAIN
            one = Array(ONE, frame.fresh(node), trace=array.trace, committed=True, nature=nature, shard_of=known)
            local = "" if name == "global_shards" else "local "
            shard = Fact(f"{local}shard", array.key, known, array.trace, one)
            return Fact(local.rstrip() or "shards", array.key, known, array.trace, Elements(shard))
        case "sharding" | "device":
            return Fact(reads, array.key, known, array.trace, meshed=MESH_OF_ONE in array.nature.marks)
        case "addressable" if not array.traced:
            return addressable(array, known)
        case "replicated" if not array.traced:
            return replicated(array, known)
        case _:
            return Method(array, name)


def _of_symbol(owner: Symbol, name: str, node: Node, frame: Frame, machine: Machine) -> Value:
    """A name in a library; attributes that hold an array have the library's name in the table."""
    full = f"{owner.name}.{name}"
    held = machine.table.attributes.get(full)
    if held is None or held not in machine.table.array_classes:
        return machine.canonical_symbol(full, node, frame)
    return natured(Foreign(held, sure=True), Site(machine, frame, node, full, Effect("unknown"), Arguments()))


def _of_other_library(owner: Host | Foreign, name: str, node: Node, frame: Frame, machine: Machine) -> Value:
    full = f"{machine.table.array_classes.get(library(owner) or '')}.{name}"
    if machine.table.attributes.get(full) != "like":
        return read(owner, name, node, frame, machine)
    owner = replace(owner, nature=_of_part(owner.nature)) if name in _PARTS else owner
    return natured(owner, Site(machine, frame, node, full, Effect("unknown"), Arguments(), owner))


def _of_part(nature: Nature) -> Nature:
    """The nature of the real or imaginary part of an array, whose dtype is another one."""
    return replace(nature, dtype=None) if (nature.dtype or "").startswith("complex") else nature


def _of_fact(fact: Fact, name: str) -> Value:
    if fact.what == "sharding" and name in _OF_SHARDING:
        return replace(fact, what=_OF_SHARDING[name])
    if fact.what == "sharding" and name == "is_fully_addressable":
        return addressable(Array(fact.count, fact.key), fact.count)
    if fact.what == "sharding" and name == "is_fully_replicated":
        return replicated(Array(fact.count, fact.key), fact.count)
    if fact.what in ("shard", "local shard") and name in ("data", "device"):
        made = fact.items if name == "data" else replace(fact, what=f"device of {fact.what}", items=None)
        return Method(fact, name) if made is None else made
    if (fact.what == "mesh" and name == "devices") or (fact.what in DEVICES_OF and name == "id"):
        return fact
    if fact.what == "mesh" and name == "size":
        return replace(fact, what="count")
    return Method(fact, name)


DEVICES_OF: MappingType[str, str] = {"device of shard": "device_set", "device of local shard": "local"}
"""What the devices of all shards make together, by what each is."""


def length(fact: Fact) -> Value:
    """`len()` of a set of devices or of a list of shards."""
    match fact.what:
        case "device_set" | "shards":
            return replace(fact, what="count")
        case "local":
            return replace(fact, what="local count")
        case _:
            return Method(fact, "len")
