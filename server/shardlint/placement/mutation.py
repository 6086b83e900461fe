"""Objects that change: a container gets a new content, and whatever holds that container sees it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from shardlint.placement.definition import Definition
from shardlint.placement.domain import (
    CLOSURES,
    Elements,
    Function,
    Ids,
    Instance,
    Mapping,
    OneOf,
    Partial,
    Sequence,
    Value,
    inside,
    marks,
    weight,
)
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import bounded, copied, leaves, rewritten
from shardlint.placement.state import Change

_HEAVIEST = 64
_MAY_HOLD = frozenset({Sequence, Mapping, Elements, Instance, OneOf})
_HOLDING = _MAY_HOLD | {Function}
"""What holds others, and knows what may be `inside`."""


def change_ids(ids: Ids, content: Value, frame: Frame, *, sure: bool) -> None:
    """Give the container of these ids a new content wherever it can be seen from `frame`; `sure` means that it surely got it.

    What was made before the frame's run began is noted as a change, for those who called.
    """
    content = bounded(copied(content, ids))
    sure = sure and len(ids) == 1
    own = all(made_in(frame, key) for key in ids)
    current: Frame | None = frame
    while current is not None:
        for definition in current.definitions:
            _change_attributes(definition, ids, content)
        _rewrite(current, frame, ids, content, sure=sure)
        for around in _closures(current):
            _rewrite(around, frame, ids, content, sure=sure)
        current = None if own else current.enclosing
    for key in ids:
        if not made_in(frame, key):
            frame.state.changes[key] = Change(content, sure)


def _rewrite(owner: Frame, frame: Frame, ids: Ids, content: Value, *, sure: bool) -> None:
    """The variables of a frame, as seen from `frame`, with the new content in them."""
    bits = marks(ids)
    held = owner.state.variables
    seen = {name: held[name] for name in _holding(owner, bits)}
    if owner is not frame:
        seen |= {name: value for (written, name), value in frame.state.outer.items() if written is owner}
    for name, value in seen.items():
        new = rewritten(value, ids, content, sure=sure)
        if new is not value:
            frame.assign(owner, name, new)


def _holding(owner: Frame, bits: int) -> list[str]:
    """The variables of a frame in which one of the objects with these bits may be. This is asked for every change of every object, of
    all variables of a module.
    """
    return [name for name, held in owner.state.variables.items() if type(held) in _HOLDING and inside(held) & bits]


def _closures(frame: Frame) -> list[Frame]:
    """The frames of functions that have returned, and whose variables functions still see that a frame knows."""
    found: dict[Frame, None] = {}
    values = frame.state.variables.values()
    for value in [one for one in values if (type(one) in _HOLDING or type(one) is Partial) and inside(one) & CLOSURES]:
        for leaf in _functions_in(value):
            around = leaf.closure
            while isinstance(around, Frame) and around.enclosing is not None and around not in found:
                found[around] = None
                around = around.enclosing
    return [one for one in found if one is not frame]


def _functions_in(value: Value) -> Iterator[Function]:
    if isinstance(value, Function):
        yield value
    elif isinstance(value, Partial):
        yield from _functions_in(value.function)
    elif type(value) in _MAY_HOLD and inside(value) & CLOSURES and weight(value) <= _HEAVIEST:
        for leaf in leaves(value):
            if isinstance(leaf, Function | Partial):
                yield from _functions_in(leaf)


def _change_attributes(definition: Definition, ids: Ids, content: Value) -> None:
    """A container that a class holds has the new content too, or still the old one: which run was first is not followed here."""
    if not definition.inside & marks(ids):
        return
    for name, held in list(definition.attributes.items()):
        if type(held) in _MAY_HOLD:
            new = rewritten(held, ids, content, sure=False)
            if new is not held:
                definition.put(name, new)
                definition.restless = True


def made_in(frame: Frame, key: Hashable) -> bool:
    """Whether the object was made by the very run of `frame` (or by what it called): nobody outside holds it then."""
    return isinstance(key, int) and key >= frame.born
