"""The words of findings and of hand-offs: placeholders of a rule's message, and what is known where nothing is wrong."""

from __future__ import annotations

import ast
from dataclasses import replace

from shardlint.model import Target
from shardlint.placement.counts import Count, Spans
from shardlint.placement.domain import Array, Capsule, Foreign, Host
from shardlint.placement.machine import Event
from shardlint.placement.nature import Gone
from shardlint.records.catalogue import Observation, Rule, observation_for
from shardlint.records.telling import consumer_words, observed_words, sentence, target_words

_ASKED = {
    "dlpack": "jax.Array.__dlpack__",
    "cuda-array-interface": "jax.Array.__cuda_array_interface__",
    "buffer": "builtins.memoryview",
}
"""What a consumer reads first of an array, by protocol."""
_JAX = ("jax.", "jaxlib.")


def devices_words(count: Count | None) -> str:
    """How many devices, as a phrase."""
    if count is None:
        return "several devices"
    return count.words()


def outcome_words(rule: Rule, event: Event, target: Target) -> str:
    """What was seen to happen, as a clause whose subject is the consumer; never more than was seen or is marked as read.

    Of a consumer that was not run it is told what the array does when that consumer asks it.
    """
    return _observed_outcome(rule, event, target) or _read_outcome(event) or "fails in a way that was not observed yet"


def _observed_outcome(rule: Rule, event: Event, target: Target) -> str:
    seen = observation_for(rule, observed_name(event), target.versions)
    if seen is not None:
        return _dated(_seen_words(rule, seen, event), seen, target)
    asked = _ASKED.get(event.protocol, "")
    seen = None if _read_outcome(event) else observation_for(rule, asked, target.versions)
    if seen is None:
        return ""
    clause = f"asks for its {consumer_words(asked)}, which {_seen_words(rule, seen, event)}"
    return _dated(clause, seen, target)


def _read_outcome(event: Event) -> str:
    """What the source of the consumer says that it does, where its table has that."""
    return (event.row.source_says if event.row else None) or ""


def _seen_words(rule: Rule, seen: Observation, event: Event) -> str:
    """What one run showed, as it is here: the text of an exception tells which kind of tracer it was, and its shape."""
    if event.traced and seen.exception is not None:
        return observed_words(replace(seen, message=None))
    return observed_words(seen, devices=_number(event.count), outcomes=rule.outcome)


def observed_name(event: Event) -> str:
    """The name under which a rule keeps what was seen of this kind of hand-off: an import of a name fails in its own way."""
    by_import = isinstance(event.place.node, ast.alias | ast.Name)
    return f"import.{event.consumer}" if event.protocol == "name" and by_import else event.consumer


def _number(count: Count | None) -> str | None:
    """The number of devices as JAX's own words have it."""
    if count is None:
        return None
    return str(count.low) if count.low == count.high else "N"


def _dated(clause: str, seen: Observation, target: Target) -> str:
    return clause if seen.jax in target.versions else f"{clause} (seen on JAX {seen.jax})"


def message(rule: Rule, event: Event, target: Target, removed: str | None = None) -> str:
    """The rule's message with its placeholders filled, as a sentence, and a second one that tells what is not sure. `removed` is the
    version of JAX that has the consumer no more.
    """
    text = rule.message.format(
        consumer=consumer_words(event.consumer),
        devices=devices_words(event.count),
        outcome=outcome_words(rule, event, target),
        target=target_words(target),
        removed=removed or "a later version",
    )
    return " ".join(filter(None, (f"{text.rstrip('.')}.", _doubt(rule, event))))


def _doubt(rule: Rule, event: Event) -> str:
    """Why a finding is not sure, as a sentence; empty where it is."""
    count = event.count
    if rule.when.get("spans-processes") and count is not None and count.spans is Spans.MAYBE:
        return "This needs several processes, and whether there are is not known here."
    whole = event.value.shard_of if isinstance(event.value, Array) else None
    if "shard" in rule.when and whole is not None and not whole.surely_many:
        return "This needs more than one device, and how many there are is not known here."
    one_is_fine = rule.when.get("devices") == "many" or ("split" in rule.when and "spans-processes" not in rule.when)
    if one_is_fine and count is not None and not count.surely_many:
        return "This needs more than one device, and how many there are is not known here."
    if "deleted" in rule.when and isinstance(event.value, Array) and event.value.nature.gone is Gone.MAYBE:
        return "JAX gives up what is donated only where a result has a use for its memory."
    mixed = event.varied if rule.when.keys() & _OF_DETAILS else event.mixed
    return "Not every path that leads here does so." if mixed else ""


_OF_DETAILS = frozenset(
    {"dtype", "key", "deleted", "spans-processes", "split", "shard", "marks", "shares", "other-dtype", "asked-dtype"}
)


def status(event: Event, breaks: str = "") -> str:
    """What is known of a hand-off and what it does, for people who ask where nothing is wrong: one or two sentences. `breaks` is
    one more, on what would be wrong.
    """
    if event.row is None:
        return _not_ours(event)
    known = _known(event)
    told = f"{known}. {event.row.does}" if event.row.does else known
    return f"{told.rstrip('.')}. {sentence(breaks)}" if breaks else told


def is_open(event: Event) -> bool:
    """Whether what comes here may be an array on several devices, and nothing tells that it is or is not."""
    known_otherwise = isinstance(event.value, Capsule | Host | Foreign)
    return event.count is None and not event.traced and not known_otherwise


def on_several_devices(rule: Rule, event: Event, target: Target) -> str:
    """What was seen to happen at this kind of hand-off with an array on several devices, as a clause; empty if nothing was seen."""
    seen = _observed_outcome(rule, event, target)
    return f"with an array on several devices {consumer_words(event.consumer)} {seen}" if seen else ""


def _known(event: Event) -> str:
    match event.value:
        case Array() if event.traced:
            return "inside a JAX transformation this is a tracer, which has no memory to hand over"
        case Array() if event.count is not None:
            if event.count.surely_one:
                return "the array is on one device"
            return f"the array is on {devices_words(event.count)}"
        case Array():
            return "a JAX array comes here, but nothing tells on how many devices it is"
        case Capsule():
            return "a DLPack capsule comes here"
        case Host():
            return "a NumPy array or a Python number comes here, not a JAX array"
        case Foreign(library):
            return f"a value of {library} comes here, not a JAX array"
        case _:
            return "nothing is known of the value that comes here"


def _not_ours(event: Event) -> str:
    if event.consumer.startswith("?."):
        return "this is not known to be a function of JAX, so no JAX version matters here"
    if event.consumer.startswith(_JAX):
        return "this function of JAX is not in the catalogue"
    library = event.consumer.partition(".")[0]
    return f"this is a function of {library}, not of JAX: no JAX version changes what it does"
