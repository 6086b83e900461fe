"""The vocabulary of a rule's `[when]` table: each key is a question to one hand-off, answered yes, possible, no or unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from shardlint.model import Verdict
from shardlint.placement.domain import Array, Capsule, Constant, Device, DeviceId, Foreign, Host, Sequence, Value
from shardlint.placement.machine import Event
from shardlint.placement.tracing import Tracing


def verdict(when: Mapping[str, Any], event: Event) -> Verdict:
    """Whether all conditions hold: no if one does not, unknown if one is unknown, possible if one is only that."""
    answers = {_QUESTIONS[key](event, wanted) for key, wanted in when.items()}
    for answer in (Verdict.NO, Verdict.UNKNOWN, Verdict.POSSIBLE):
        if answer in answers:
            return answer
    return Verdict.YES


def _devices(event: Event, wanted: object) -> Verdict:
    """`devices = "many"`: the array is on more than one device. A tracer is on none yet."""
    if wanted != "many" or not isinstance(event.value, Array):
        return Verdict.NO
    count = event.count
    if event.traced or count is None:
        return Verdict.UNKNOWN
    if count.surely_many:
        return Verdict.POSSIBLE if event.mixed else Verdict.YES
    return Verdict.NO if count.surely_one else Verdict.POSSIBLE


def _traced(event: Event, wanted: object) -> Verdict:
    """`traced = true`: what is handed over is a tracer, which JAX has put in an array's place and which holds no data. Unknown where a
    transformation is at work and whether this value comes of what it traces is not seen.
    """
    if wanted is not True or not isinstance(event.value, Array) or event.traced is Tracing.NO:
        return Verdict.NO
    if event.traced is Tracing.MAYBE:
        return Verdict.UNKNOWN
    return Verdict.POSSIBLE if event.mixed else Verdict.YES


def _value(event: Event, wanted: object) -> Verdict:
    """`value = "capsule"`: what is handed over is a DLPack capsule."""
    if wanted != "capsule" or not isinstance(event.value, Capsule):
        return Verdict.NO
    return Verdict.POSSIBLE if event.mixed else Verdict.YES


def _copy(event: Event, wanted: object) -> Verdict:
    """`copy = false`: the call says `copy=` with this very literal."""
    given = event.arguments.keywords.get("copy")
    if given is None:
        return Verdict.NO
    if not isinstance(given, Constant):
        return Verdict.UNKNOWN
    return Verdict.YES if given.value is wanted else Verdict.NO


def _device(event: Event, wanted: object) -> Verdict:
    """`device = "other"`: the device that the call names is surely not the one that holds the data.

    Two devices surely differ if their indices in the same list do, or if one is a device other than the first of the default
    platform and the other is the first CPU device.
    """
    asked = _asked_device(event)
    held = _held_device(event.value)
    if wanted != "other" or asked is None or held is None:
        return Verdict.UNKNOWN
    if isinstance(event.value, Array) and event.count is not None and not event.count.surely_one:
        return Verdict.UNKNOWN
    if asked.index is None or held.index is None:
        return Verdict.UNKNOWN
    if asked.index != held.index:
        return Verdict.YES
    return Verdict.NO if asked.platform == held.platform else Verdict.UNKNOWN


def _asked_device(event: Event) -> DeviceId | None:
    match event.arguments.keywords.get("device"):
        case Device(id=device):
            return device
        case Constant("cpu"):
            return DeviceId(0, "cpu")
        case _:
            pass
    match event.arguments.keywords.get("dl_device"):
        case Sequence((Constant(int() as kind), Constant(int() as index))):
            return DeviceId(index, {1: "cpu", 2: "cuda"}.get(kind))
        case _:
            return None


def _held_device(value: Value) -> DeviceId | None:
    match value:
        case Array(device=device):
            return device
        case Host():
            return DeviceId(0, "cpu")
        case Foreign(device=device):
            return device
        case _:
            return None


_QUESTIONS: Mapping[str, Callable[[Event, object], Verdict]] = {
    "devices": _devices,
    "traced": _traced,
    "value": _value,
    "copy": _copy,
    "device": _device,
}
