"""Conditions on where what is handed over lives, and on where it is to go."""

from __future__ import annotations

from shardlint.model import Verdict
from shardlint.placement.counts import Share, Spans
from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Constant,
    Device,
    DeviceId,
    Foreign,
    Host,
    Sequence,
    Sharding,
    Value,
)
from shardlint.placement.lattice import alternatives
from shardlint.placement.machine import Event
from shardlint.placement.nature import KEY
from shardlint.rules.judging import one, sure


def devices(event: Event, wanted: object) -> Verdict:
    """`devices = "many"`: the array is on more than one device, `"one"` that it is surely on one. A tracer is on none yet, and a
    typed key is refused wherever it is.
    """
    if wanted not in ("many", "one") or not isinstance(event.value, Array):
        return Verdict.NO
    count = event.count
    if event.value.nature.dtype == KEY:
        return Verdict.NO
    if event.traced or count is None:
        return Verdict.UNKNOWN
    if wanted == "one":
        return one(event) if count.surely_one else Verdict.NO
    if count.surely_many:
        return Verdict.POSSIBLE if event.mixed else Verdict.YES
    return Verdict.NO if count.surely_one else Verdict.POSSIBLE


def spans_processes(event: Event, wanted: object) -> Verdict:
    """`spans-processes = true`: the array is on devices of several processes, or on one that is another's on all processes but one.
    Possible where the program runs in several only under a condition. With `false` it is not seen to be so.
    """
    if not isinstance(event.value, Array):
        return Verdict.NO
    count = event.count
    spans = Spans.UNTOLD if count is None or event.traced else count.spans
    if not spans.possible:
        return Verdict.NO if wanted else Verdict.YES
    if spans is Spans.MAYBE:
        return Verdict.POSSIBLE
    return sure(event) if wanted else Verdict.NO


def split(event: Event, wanted: object) -> Verdict:
    """`split = true`: each device has only a part of the array, and where it spans processes, so has each of these. Possible where that
    needs more devices than there may be, unknown where nothing tells what each of them has.
    """
    count = event.count
    if wanted is not True or not isinstance(event.value, Array) or (count is not None and count.share is Share.ALL):
        return Verdict.NO
    if event.traced or count is None:
        return Verdict.UNKNOWN
    if count.surely_one:
        return Verdict.NO
    if count.share is Share.UNTOLD or (count.spans.possible and count.share is not Share.OWN):
        return Verdict.UNKNOWN
    return sure(event) if count.surely_many else Verdict.POSSIBLE


def shard(event: Event, wanted: object) -> Verdict:
    """`shard = "partial"`: it is what one device has of an array that is split. `shard = "any"`: of one on several devices, which may
    have all of it.
    """
    whole = event.value.shard_of if isinstance(event.value, Array) else None
    if whole is None or whole.surely_one:
        return Verdict.NO
    if wanted == "partial" and whole.share is Share.ALL:
        return Verdict.NO
    if wanted == "partial" and whole.share is Share.UNTOLD:
        return Verdict.UNKNOWN
    return sure(event) if whole.surely_many else Verdict.POSSIBLE


def onto(event: Event, wanted: object) -> Verdict:
    """`onto = "one-device"`: the array is to be put on one device. `onto = "processes"`: on devices of several processes,
    `onto = "many-devices"` on more than one,
    and `onto = "other-process"` on one device that is another process's in all but one.
    """
    answers = {_put(one, wanted) for one in alternatives(event.arguments.get(1, "device") or UNKNOWN)}
    return answers.pop() if len(answers) == 1 else Verdict.UNKNOWN


def _put(target: Value, wanted: object) -> Verdict:
    match target, wanted:
        case Device(spans=spans), "other-process" if spans.possible:
            return Verdict.YES if spans is Spans.SURE else Verdict.POSSIBLE
        case Sharding(count), "many-devices":
            return Verdict.YES if count.surely_many else Verdict.NO if count.surely_one else Verdict.POSSIBLE
        case Device(), "one-device":
            return Verdict.YES
        case Sharding(count), "one-device":
            return Verdict.YES if count.surely_one else Verdict.NO if count.surely_many else Verdict.UNKNOWN
        case Sharding(count), "processes" if count.spans.possible and not count.surely_one:
            return Verdict.YES if count.spans is Spans.SURE else Verdict.POSSIBLE
        case _:
            return Verdict.UNKNOWN


def tiled(event: Event, wanted: object) -> Verdict:
    """`tiled = false`: the call does not ask for one array of all pieces with `tiled=True`."""
    given = event.arguments.get(1, "tiled")
    if given is None:
        return Verdict.UNKNOWN if event.arguments.open else Verdict.YES if wanted is False else Verdict.NO
    if not isinstance(given, Constant):
        return Verdict.UNKNOWN
    return Verdict.YES if bool(given.value) is wanted else Verdict.NO


def device(event: Event, wanted: object) -> Verdict:
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
