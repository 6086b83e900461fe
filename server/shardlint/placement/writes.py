"""Changes of memory: those that raise where they stand, and those that change a `jax.Array` in the same memory."""

from __future__ import annotations

from shardlint.placement.domain import Array, Foreign, Host, Value
from shardlint.placement.frame import Frame
from shardlint.placement.machine import Event
from shardlint.placement.natures import ITEM, READ_ONLY

_MOST_WRITES = 4


def is_refused(value: Value) -> bool:
    """Whether nothing can be written into this."""
    return isinstance(value, Array) or (isinstance(value, Host | Foreign) and READ_ONLY in value.nature.marks)


def is_seen(value: Value, *, in_place: bool) -> bool:
    """Whether a change of this is one of memory of which something is known. An operation in place on what may be a number binds
    its name anew.
    """
    if not isinstance(value, Host | Foreign):
        return False
    nature = value.nature
    if in_place and isinstance(value, Host) and (ITEM in nature.marks or READ_ONLY not in nature.marks):
        return False
    return READ_ONLY in nature.marks or nature.shares is not None


def note_write(event: Event, frame: Frame) -> bool:
    """Keep a write into the memory of a `jax.Array` until that is read; False where it is no such write."""
    nature = event.value.nature if isinstance(event.value, Host | Foreign) else None
    if nature is None or nature.shares is None or READ_ONLY in nature.marks:
        return False
    known = frame.state.written.get(nature.shares, ())
    if len(known) < _MOST_WRITES and all(one.place.node is not event.place.node for one in known):
        frame.state.written[nature.shares] = (*known, event)
    return True
