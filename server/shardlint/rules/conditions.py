"""The vocabulary of a rule's `[when]` table: each key is a question to one hand-off, answered yes, possible, no or unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from shardlint.model import Verdict
from shardlint.placement.domain import Array, Capsule, Constant, Device, DeviceId, Foreign, Host, Sequence, Value
from shardlint.placement.machine import Event
from shardlint.placement.nature import KEY, Gone
from shardlint.placement.tracing import Tracing


def verdict(when: Mapping[str, Any], event: Event) -> Verdict:
    """Whether all conditions hold: no if one does not, unknown if one is unknown, possible if one is only that."""
    answers = {_QUESTIONS[key](event, wanted) for key, wanted in when.items()}
    for answer in (Verdict.NO, Verdict.UNKNOWN, Verdict.POSSIBLE):
        if answer in answers:
            return answer
    return Verdict.POSSIBLE if not when and event.mixed else Verdict.YES


def _devices(event: Event, wanted: object) -> Verdict:
    """`devices = "many"`: the array is on more than one device. A tracer is on none yet, and a typed key is refused
    wherever it is.
    """
    if wanted != "many" or not isinstance(event.value, Array):
        return Verdict.NO
    count = event.count
    if event.value.nature.dtype == KEY:
        return Verdict.NO
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


def _dtype(event: Event, wanted: object) -> Verdict:
    """`dtype = ["bfloat16"]`: the array has one of these dtypes, by NumPy's names. Unknown where the program does not say it."""
    if not isinstance(event.value, Array) or not isinstance(wanted, list | tuple):
        return Verdict.NO
    dtype = event.value.nature.dtype
    if dtype is None or event.traced:
        return Verdict.UNKNOWN
    return _sure(event) if dtype in wanted else Verdict.NO


def _key(event: Event, wanted: object) -> Verdict:
    """`key = true`: what is handed over is an array of typed keys, as `jax.random.key` makes them, and not of the numbers in them."""
    return _dtype(event, [KEY]) if wanted is True else Verdict.NO


def _deleted(event: Event, wanted: object) -> Verdict:
    """`deleted = true`: the array has been deleted; possible where it was donated, as JAX keeps what it has no use for."""
    if wanted is not True or not isinstance(event.value, Array) or event.traced:
        return Verdict.NO
    gone = event.value.nature.gone
    return _sure(event) if gone is Gone.SURE else Verdict.POSSIBLE if gone is Gone.MAYBE else Verdict.NO


def _sure(event: Event) -> Verdict:
    """Yes if that holds for all alternatives."""
    return Verdict.POSSIBLE if event.varied else Verdict.YES


def _value(event: Event, wanted: object) -> Verdict:
    """`value = "capsule"`: what is handed over is a DLPack capsule; `"used-capsule"`: one that was taken before; `"none"`: it is None;
    `"swapped"`: a NumPy array whose dtype has the other order of bytes.
    """
    match event.value:
        case Capsule(used=used):
            holds = wanted == "capsule" or (wanted == "used-capsule" and used)
        case Constant(None):
            holds = wanted == "none"
        case Host(swapped=True):
            holds = wanted == "swapped"
        case _:
            holds = False
    if not holds:
        return Verdict.NO
    return Verdict.POSSIBLE if event.mixed or (wanted == "used-capsule" and event.varied) else Verdict.YES


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
    "dtype": _dtype,
    "key": _key,
    "deleted": _deleted,
    "value": _value,
    "copy": _copy,
    "device": _device,
}
