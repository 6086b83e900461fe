"""The vocabulary of a rule's `[when]` table: each key is a question to one hand-off, answered yes, possible, no or unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from shardlint.model import Verdict
from shardlint.placement.counts import Share, Spans
from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Capsule,
    Constant,
    Device,
    DeviceId,
    Foreign,
    Host,
    Sequence,
    Sharding,
    Symbol,
    Value,
)
from shardlint.placement.lattice import alternatives
from shardlint.placement.machine import Event
from shardlint.placement.nature import KEY, Gone
from shardlint.placement.natures import NARROWED, Data, library
from shardlint.placement.table import Refusal
from shardlint.placement.tracing import Tracing


def verdict(when: Mapping[str, Any], event: Event) -> Verdict:
    """Whether all conditions hold: no if one does not, unknown if one is unknown, possible if one is only that."""
    answers = {_QUESTIONS[key](event, wanted) for key, wanted in when.items()}
    for answer in (Verdict.NO, Verdict.UNKNOWN, Verdict.POSSIBLE):
        if answer in answers:
            return answer
    return Verdict.POSSIBLE if not when and event.mixed else Verdict.YES


def _devices(event: Event, wanted: object) -> Verdict:
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
        return _one(event) if count.surely_one else Verdict.NO
    if count.surely_many:
        return Verdict.POSSIBLE if event.mixed else Verdict.YES
    return Verdict.NO if count.surely_one else Verdict.POSSIBLE


def _spans(event: Event, wanted: object) -> Verdict:
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
    return _sure(event) if wanted else Verdict.NO


def _split(event: Event, wanted: object) -> Verdict:
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
    return _sure(event) if count.surely_many else Verdict.POSSIBLE


def _shard(event: Event, wanted: object) -> Verdict:
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
    return _sure(event) if whole.surely_many else Verdict.POSSIBLE


def _onto(event: Event, wanted: object) -> Verdict:
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


def _tiled(event: Event, wanted: object) -> Verdict:
    """`tiled = false`: the call does not ask for one array of all pieces with `tiled=True`."""
    given = event.arguments.get(1, "tiled")
    if given is None:
        return Verdict.UNKNOWN if event.arguments.open else Verdict.YES if wanted is False else Verdict.NO
    if not isinstance(given, Constant):
        return Verdict.UNKNOWN
    return Verdict.YES if bool(given.value) is wanted else Verdict.NO


def _one(event: Event) -> Verdict:
    return Verdict.POSSIBLE if event.mixed else Verdict.YES


def _traced(event: Event, wanted: object) -> Verdict:
    """`traced = true`: what is handed over is a tracer, which JAX has put in an array's place and which holds no data. Unknown where a
    transformation is at work and whether this value comes of what it traces is not seen.
    """
    if wanted is not True or not isinstance(event.value, Array) or event.traced is Tracing.NO:
        return Verdict.NO
    knows_its_number = event.traced is Tracing.DIFFERENTIATED and event.row is not None and event.row.primal
    if event.traced is Tracing.MAYBE or knows_its_number:
        return Verdict.UNKNOWN
    return Verdict.POSSIBLE if event.mixed else Verdict.YES


def _dtype(event: Event, wanted: object) -> Verdict:
    """`dtype = ["bfloat16"]`: the array has one of these dtypes, by NumPy's names. Unknown where the program does not say it.
    `dtype = "refused"`: one that the consumer does not take of this library, `dtype = "narrowed"`: one that JAX makes narrower.
    """
    if not isinstance(event.value, Data) or not isinstance(wanted, list | tuple | str):
        return Verdict.NO
    dtype = event.value.nature.dtype
    if dtype is None or event.traced:
        return Verdict.UNKNOWN
    if wanted == "narrowed":
        return Verdict.NO if dtype not in NARROWED else Verdict.UNKNOWN if event.wide else _sure(event)
    found = bool(refusals(event)) if wanted == "refused" else dtype in wanted
    return _sure(event) if found else Verdict.NO


def refusals(event: Event) -> tuple[Refusal, ...]:
    """The rows of the table by which the consumer does not take what is handed over, each for some JAX versions."""
    if event.row is None or not isinstance(event.value, Data):
        return ()
    whose, dtype = library(event.value), event.value.nature.dtype
    return tuple(one for one in event.row.refuses if one.of == whose and dtype in one.dtypes)


def _key(event: Event, wanted: object) -> Verdict:
    """`key = true`: what is handed over is an array of typed keys, as `jax.random.key` makes them, and not of the numbers in them."""
    return _dtype(event, [KEY]) if wanted is True else Verdict.NO


def _deleted(event: Event, wanted: object) -> Verdict:
    """`deleted = true`: the array has been deleted; possible where it was donated, as JAX keeps what it has no use for."""
    if wanted is not True or not isinstance(event.value, Array) or event.traced:
        return Verdict.NO
    gone = event.value.nature.gone
    return _sure(event) if gone is Gone.SURE else Verdict.POSSIBLE if gone is Gone.MAYBE else Verdict.NO


def _marks(event: Event, wanted: object) -> Verdict:
    """`marks = ["read-only"]`: one of these marks of api.toml holds of what is handed over."""
    if not isinstance(event.value, Data) or not isinstance(wanted, list | tuple):
        return Verdict.NO
    return _sure(event) if any(mark in wanted for mark in event.value.nature.marks) else Verdict.NO


def _shares(event: Event, wanted: object) -> Verdict:
    """`shares = "jax-array"`: its memory is that of a `jax.Array`."""
    shared = isinstance(event.value, Data) and event.value.nature.shares is not None
    return _sure(event) if shared and wanted == "jax-array" else Verdict.NO


def _library(event: Event, wanted: object) -> Verdict:
    """`library = ["torch"]`: what is handed over is of one of these libraries."""
    if not isinstance(wanted, list | tuple):
        return Verdict.UNKNOWN
    return _one(event) if library(event.value) in wanted else Verdict.NO


def _left(event: Event, wanted: object) -> Verdict:
    """`left = ["torch"]`: what stands on the left of an operator is an array of one of these libraries."""
    return _among(event, event.arguments.get(0), wanted)


def _right(event: Event, wanted: object) -> Verdict:
    """`right = ["torch"]`: the same of what stands on its right."""
    return _among(event, event.arguments.get(1), wanted)


def _other(event: Event, wanted: object) -> Verdict:
    """`other = ["torch"]`: what meets an array of JAX in an operation is surely an array of one of these libraries."""
    return _among(event, _beside(event), wanted)


def _beside(event: Event) -> Value | None:
    """The operand of an operation that is not the array of JAX."""
    left, right = event.arguments.get(0), event.arguments.get(1)
    return left if right is not None and any(isinstance(one, Array) for one in alternatives(right)) else right


def _other_dtype(event: Event, wanted: object) -> Verdict:
    """`other-dtype = ["float32"]`: the array of another library that it meets has one of these dtypes."""
    other = _beside(event)
    if not isinstance(other, Host | Foreign) or not isinstance(wanted, list | tuple):
        return Verdict.UNKNOWN
    return _sure(event) if other.nature.dtype in wanted else Verdict.NO


def _asked_dtype(event: Event, wanted: object) -> Verdict:
    """`asked-dtype = ["float32"]`: the call says by `dtype`, or as its second argument, that it wants one of these dtypes."""
    asked = event.arguments.keywords.get("dtype", event.arguments.get(1))
    if asked is None or not isinstance(wanted, list | tuple):
        return Verdict.NO
    match asked:
        case Constant(str() as name):
            return _sure(event) if name in wanted else Verdict.NO
        case Symbol(name):
            return _sure(event) if name.rpartition(".")[2] in wanted else Verdict.NO
        case _:
            return Verdict.NO


def _among(event: Event, value: Value | None, wanted: object) -> Verdict:
    """Whether a value is an array of one of the wanted libraries; possible where only some of its alternatives are."""
    if value is None or not isinstance(wanted, list | tuple):
        return Verdict.UNKNOWN
    found = {library(one) in wanted and not _vague(one) for one in alternatives(value)}
    if found == {True}:
        return Verdict.POSSIBLE if event.mixed else Verdict.YES
    return Verdict.POSSIBLE if True in found else Verdict.NO


def _vague(value: Value) -> bool:
    """Whether a value of another library may be no array at all."""
    return isinstance(value, Foreign) and not value.sure


def _sure(event: Event) -> Verdict:
    """Yes if that holds for all alternatives."""
    return Verdict.POSSIBLE if event.varied else Verdict.YES


def _value(event: Event, wanted: object) -> Verdict:
    """`value = "capsule"`: what is handed over is a DLPack capsule; `"array"`: an array of JAX; `"used-capsule"`: one that was taken before; `"none"`: it is None;
    `"swapped"`: a NumPy array whose dtype has the other order of bytes.
    """
    match event.value:
        case Capsule(used=used):
            holds = wanted == "capsule" or (wanted == "used-capsule" and used)
        case Array():
            holds = wanted == "array"
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
    "spans-processes": _spans,
    "split": _split,
    "shard": _shard,
    "onto": _onto,
    "tiled": _tiled,
    "traced": _traced,
    "dtype": _dtype,
    "key": _key,
    "deleted": _deleted,
    "value": _value,
    "copy": _copy,
    "device": _device,
    "marks": _marks,
    "shares": _shares,
    "library": _library,
    "left": _left,
    "right": _right,
    "other": _other,
    "other-dtype": _other_dtype,
    "asked-dtype": _asked_dtype,
}
