"""The vocabulary of a rule's `[when]` table: each key is a question to one hand-off, answered yes, possible, no or unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from shardlint.model import Verdict
from shardlint.placement.domain import (
    Array,
    Capsule,
    Constant,
    Foreign,
    Host,
    Symbol,
    Value,
)
from shardlint.placement.lattice import alternatives
from shardlint.placement.machine import Event
from shardlint.placement.nature import KEY, Gone
from shardlint.placement.natures import NARROWED, Data, library
from shardlint.placement.rows import Refusal
from shardlint.placement.tracing import Tracing
from shardlint.rules import placed
from shardlint.rules.judging import among, one, sure


def verdict(when: Mapping[str, Any], event: Event) -> Verdict:
    """Whether all conditions hold: no if one does not, unknown if one is unknown, possible if one is only that."""
    answers = {_QUESTIONS[key](event, wanted) for key, wanted in when.items()}
    for answer in (Verdict.NO, Verdict.UNKNOWN, Verdict.POSSIBLE):
        if answer in answers:
            return answer
    return Verdict.POSSIBLE if not when and event.mixed else Verdict.YES


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
        return Verdict.NO if dtype not in NARROWED else Verdict.UNKNOWN if event.wide else sure(event)
    found = bool(refusals(event)) if wanted == "refused" else dtype in wanted
    return sure(event) if found else Verdict.NO


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
    return sure(event) if gone is Gone.SURE else Verdict.POSSIBLE if gone is Gone.MAYBE else Verdict.NO


def _marks(event: Event, wanted: object) -> Verdict:
    """`marks = ["read-only"]`: one of these marks of api.toml holds of what is handed over."""
    if not isinstance(event.value, Data) or not isinstance(wanted, list | tuple):
        return Verdict.NO
    return sure(event) if any(mark in wanted for mark in event.value.nature.marks) else Verdict.NO


def _shares(event: Event, wanted: object) -> Verdict:
    """`shares = "jax-array"`: its memory is that of a `jax.Array`."""
    shared = isinstance(event.value, Data) and event.value.nature.shares is not None
    return sure(event) if shared and wanted == "jax-array" else Verdict.NO


def _library(event: Event, wanted: object) -> Verdict:
    """`library = ["torch"]`: what is handed over is of one of these libraries."""
    if not isinstance(wanted, list | tuple):
        return Verdict.UNKNOWN
    return one(event) if library(event.value) in wanted else Verdict.NO


def _left(event: Event, wanted: object) -> Verdict:
    """`left = ["torch"]`: what stands on the left of an operator is an array of one of these libraries."""
    return among(event, event.arguments.get(0), wanted)


def _right(event: Event, wanted: object) -> Verdict:
    """`right = ["torch"]`: the same of what stands on its right."""
    return among(event, event.arguments.get(1), wanted)


def _other(event: Event, wanted: object) -> Verdict:
    """`other = ["torch"]`: what meets an array of JAX in an operation is surely an array of one of these libraries."""
    return among(event, _beside(event), wanted)


def _beside(event: Event) -> Value | None:
    """The operand of an operation that is not the array of JAX; None where neither is one."""
    left, right = event.arguments.get(0), event.arguments.get(1)
    for this, other in ((right, left), (left, right)):
        if this is not None and any(isinstance(one, Array) for one in alternatives(this)):
            return other
    return None


def _other_dtype(event: Event, wanted: object) -> Verdict:
    """`other-dtype = ["float32"]`: the array of another library that it meets has one of these dtypes."""
    other = _beside(event)
    if not isinstance(other, Host | Foreign) or not isinstance(wanted, list | tuple):
        return Verdict.UNKNOWN
    return sure(event) if other.nature.dtype in wanted else Verdict.NO


def _asked_dtype(event: Event, wanted: object) -> Verdict:
    """`asked-dtype = ["float32"]`: the call says by `dtype`, or as its second argument, that it wants one of these dtypes."""
    asked = event.arguments.keywords.get("dtype", event.arguments.get(1))
    if asked is None or not isinstance(wanted, list | tuple):
        return Verdict.NO
    match asked:
        case Constant(str() as name):
            return sure(event) if name in wanted else Verdict.NO
        case Symbol(name):
            return sure(event) if name.rpartition(".")[2] in wanted else Verdict.NO
        case _:
            return Verdict.NO


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
    """`copy = false`: the call says `copy=` with this very literal. `copy = "allowed"`: it does not forbid one."""
    given = event.arguments.keywords.get("copy")
    if wanted == "allowed":
        return Verdict.NO if given == Constant(False) else Verdict.YES
    if given is None:
        return Verdict.NO
    if not isinstance(given, Constant):
        return Verdict.UNKNOWN
    return Verdict.YES if given.value is wanted else Verdict.NO


_QUESTIONS: Mapping[str, Callable[[Event, object], Verdict]] = {
    "devices": placed.devices,
    "spans-processes": placed.spans_processes,
    "split": placed.split,
    "shard": placed.shard,
    "onto": placed.onto,
    "tiled": placed.tiled,
    "traced": _traced,
    "dtype": _dtype,
    "key": _key,
    "deleted": _deleted,
    "value": _value,
    "copy": _copy,
    "device": placed.device,
    "marks": _marks,
    "shares": _shares,
    "library": _library,
    "left": _left,
    "right": _right,
    "other": _other,
    "other-dtype": _other_dtype,
    "asked-dtype": _asked_dtype,
}
