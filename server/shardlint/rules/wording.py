"""The words of findings and of hand-offs: placeholders of a rule's message, and what is known where nothing is wrong."""

from __future__ import annotations

import ast
from collections.abc import Callable

from shardlint.model import Target
from shardlint.placement.domain import Array, Capsule, Count, Foreign, Host
from shardlint.placement.machine import Event
from shardlint.records.catalogue import Observation, Rule, observation_for

_KINDS = {
    "silent-copy": "silently copies through the host",
    "silent-partial": "silently hands over one shard only",
    "silent-dtype": "silently changes the dtype",
    "silent-device": "silently ends up on another device",
    "silent-wrong": "silently gives wrong values",
    "aliasing": "shares memory that somebody can write to",
    "crash": "ends the interpreter",
}
_LONGEST = 200
_ASKED = {
    "dlpack": "jax.Array.__dlpack__",
    "cuda-array-interface": "jax.Array.__cuda_array_interface__",
}
"""What a consumer reads first of an array, by protocol."""
_JAX = ("jax.", "jaxlib.")


def target_words(target: Target) -> str:
    """`JAX 0.10.2`, or the span of the candidates."""
    first, last = target.versions[0], target.versions[-1]
    return f"JAX {last}" if first == last else f"JAX {first} to {last}"


def devices_words(count: Count | None) -> str:
    """How many devices, as a phrase."""
    if count is None:
        return "several devices"
    return count.words()


def consumer_words(consumer: str) -> str:
    """A consumer as people write it: a method of arrays by its bare name."""
    if consumer.startswith("import."):
        return f"the import of {consumer.removeprefix('import.')}"
    return consumer.removeprefix("jax.Array.").removeprefix("builtins.")


def outcome_words(rule: Rule, event: Event, target: Target) -> str:
    """What was seen to happen, as a clause whose subject is the consumer; never more than was seen or is marked as read.

    Of a consumer that was not run it is told what the array does when that consumer asks it.
    """
    seen = observation_for(rule, observed_name(event), target.versions)
    if seen is not None:
        return _dated(observed_words(seen, devices=event.count), seen, target)
    if event.row is not None and event.row.source_says:
        return event.row.source_says
    asked = _ASKED.get(event.protocol, "")
    seen = observation_for(rule, asked, target.versions)
    if seen is None:
        return "fails in a way that was not observed yet"
    clause = f"asks for its {consumer_words(asked)}, which {observed_words(seen, devices=event.count)}"
    return _dated(clause, seen, target)


def observed_name(event: Event) -> str:
    """The name under which a rule keeps what was seen of this kind of hand-off: an import of a name fails in its own way."""
    by_import = isinstance(event.place.node, ast.alias | ast.Name)
    return f"import.{event.consumer}" if event.protocol == "name" and by_import else event.consumer


def _dated(clause: str, seen: Observation, target: Target) -> str:
    return clause if seen.jax in target.versions else f"{clause} (seen on JAX {seen.jax})"


def observed_words(seen: Observation, quote: Callable[[str], str] = str, devices: Count | None = None) -> str:
    """What one run showed, as a clause: `raises BufferError: ...`. `quote` marks the words of JAX as such.

    The runs have eight devices; where JAX's words tell their number, it is written for the `devices` of this hand-off.
    """
    if seen.exception is None:
        return _KINDS.get(seen.kind, seen.kind)
    text = (seen.message or "").strip().partition("\n")[0].rstrip(".")
    if devices is not None:
        number = str(devices.low) if devices.low == devices.high else "N"
        text = text.replace("8 devices", f"{number} devices")
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    return "raises " + quote(": ".join(filter(None, (seen.exception.rpartition(".")[2], text))))


def message(rule: Rule, event: Event, target: Target) -> str:
    """The rule's message with its placeholders filled, as a sentence, and a second one that tells what is not sure."""
    text = rule.message.format(
        consumer=consumer_words(event.consumer),
        devices=devices_words(event.count),
        outcome=outcome_words(rule, event, target),
        target=target_words(target),
    )
    return " ".join(filter(None, (f"{text}.", _doubt(event))))


def _doubt(event: Event) -> str:
    """Why a finding is not sure, as a sentence; empty where it is."""
    count = event.count
    if count is not None and not count.surely_many:
        return "This needs more than one device, and how many there are is not known here."
    return "Not every path that leads here does so." if event.mixed else ""


def status(event: Event) -> str:
    """What is known of a hand-off and what it does, for people who ask where nothing is wrong: one or two sentences."""
    if event.row is None:
        return _not_ours(event)
    known = _known(event)
    return f"{known}. {event.row.does}" if event.row.does else known


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
