"""Answers made values: what it means that an object outside of the program is known by another path."""

from __future__ import annotations

from shardlint.placement.domain import Array, Method, Value
from shardlint.placement.frame import Frame
from shardlint.placement.instances import WORDS, instance, kind_of
from shardlint.placement.machine import Machine
from shardlint.placement.paths import CALL, steps_of
from shardlint.placement.trace import traced
from shardlint.syntax.tree import Node

_SAME_ARRAYS = frozenset({"like", "like-or-same", "same", "place"})


def meant(answer: str, path: str, node: Node, frame: Frame, machine: Machine) -> Value | None:
    """The object at `path`, of which `answer` is the other path; None where the table says nothing of that one."""
    steps = steps_of(answer)
    if CALL not in steps:
        return None
    at = steps.index(CALL)
    name = machine.table.canonical("".join(steps[:at]))
    known = kind_of(name, machine)
    if known is None or known[0] == "some-sharding":
        return None  # a sharding of any kind is as likely on one device
    kind, library = known
    step = f"{path} is a {WORDS[kind]}, by the source of {path.partition('.')[0]}" if kind in WORDS else None
    value = instance(kind, library, frame.fresh(node), None if step is None else traced(None, frame.place(node), step))
    return _followed(value, steps[at + 1 :], machine)


def _followed(value: Value | None, steps: tuple[str, ...], machine: Machine) -> Value | None:
    """What methods of an array make of it; of nothing else is anything said."""
    for step in steps:
        match value, step:
            case Array(), "()":
                return None
            case Array(), _ if step.startswith("."):
                value = Method(value, step[1:])
            case Method(Array() as array, name), "()":
                effect = machine.table.effects.get(f"jax.Array.{name}")
                value = array if effect is not None and effect.name in _SAME_ARRAYS else None
            case _:
                return None
    return None if isinstance(value, Method) else value
