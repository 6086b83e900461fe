"""What an instance of a class outside of the program is to the analysis, and what its functions give, by the tables."""

from __future__ import annotations

from collections.abc import Hashable

from shardlint.placement.counts import ANY, ONE
from shardlint.placement.domain import (
    Array,
    Capsule,
    Device,
    DeviceId,
    Devices,
    Foreign,
    Host,
    Mesh,
    Sharding,
    Spec,
    Value,
)
from shardlint.placement.handoffs import result_of
from shardlint.placement.machine import Machine
from shardlint.placement.trace import Trace

WORDS = {"mesh": "Mesh", "sharding": "NamedSharding", "some-sharding": "Sharding", "capsule": "DLPack capsule"}
"""The kinds of which a finding may come, in the words of its evidence."""

_GIVEN = {
    **dict.fromkeys(("make-mesh", "mesh-over"), "mesh"),
    **dict.fromkeys(("named-sharding", "positional-sharding"), "sharding"),
    **dict.fromkeys(("create", "like", "like-or-same", "from-host", "place", "create-sharded", "import"), "array"),
    **dict.fromkeys(("place-on-list", "replicate"), "array"),
    "single-device-sharding": "one-device-sharding",
    "devices": "devices",
    "capsule": "capsule",
    "host": "host",
    "host-made": "host",
    "foreign": "foreign",
    "foreign-array": "foreign",
    "spec": "spec",
}
"""What a function with this effect gives, whatever its arguments are."""


def kind_of(name: str, machine: Machine) -> tuple[str, str] | None:
    """The kind of object that calling the class or function `name` gives, and the library of one that is foreign."""
    row = machine.table.classes.get(name)
    if row is not None:
        return row.kind, row.library
    consumer = machine.table.consumers.get(name)
    given = None if consumer is None else result_of(consumer)
    if isinstance(given, Foreign):
        return "foreign", given.library
    if isinstance(given, Host | Capsule):
        return ("host" if isinstance(given, Host) else "capsule"), ""
    effect = machine.table.effect(name, machine.target.versions)
    if effect is None or effect.name not in _GIVEN:
        return None
    return _GIVEN[effect.name], effect.library or ""


def instance(kind: str, library: str, key: Hashable, trace: Trace | None) -> Value | None:
    """An object of this kind, an array with this `key`; None for kinds that tell nothing."""
    match kind:
        case "array":
            return Array(None, key)
        case "host":
            return Host()
        case "foreign":
            return Foreign(library)
        case "capsule":
            return Capsule(trace)
        case "mesh":
            return Mesh(ANY, trace)
        case "sharding" | "some-sharding":
            return Sharding(ANY, None, trace)
        case "one-device-sharding":
            return Sharding(ONE)
        case "device":
            return Device(DeviceId(None))
        case "devices":
            return Devices(ANY, None, trace)
        case "spec":
            return Spec()
        case _:
            return None
