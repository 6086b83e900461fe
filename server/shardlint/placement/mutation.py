"""Objects that change: a container gets a new content, and whatever holds that container sees it."""

from __future__ import annotations

from collections.abc import Hashable

from shardlint.placement.definition import Definition
from shardlint.placement.domain import Elements, Function, Ids, Instance, Mapping, OneOf, Sequence, Value
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import bounded, copied, rewritten
from shardlint.placement.state import Change

_MAY_HOLD = frozenset({Sequence, Mapping, Elements, Instance, OneOf})


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
        for name, held in current.state.variables.items():
            if type(held) in _MAY_HOLD or (isinstance(held, Function) and held.defaults):
                value = frame.variable(current, name) or held
                new = rewritten(value, ids, content, sure=sure)
                if new is not value:
                    frame.assign(current, name, new)
        current = None if own else current.enclosing
    for key in ids:
        if not made_in(frame, key):
            frame.state.changes[key] = Change(content, sure)


def _change_attributes(definition: Definition, ids: Ids, content: Value) -> None:
    """A container that a class holds has the new content too, or still the old one: which run was first is not followed here."""
    for name, held in definition.attributes.items():
        if type(held) in _MAY_HOLD:
            new = rewritten(held, ids, content, sure=False)
            if new is not held:
                definition.attributes[name] = new
                definition.restless = True


def made_in(frame: Frame, key: Hashable) -> bool:
    """Whether the object was made by the very run of `frame` (or by what it called): nobody outside holds it then."""
    return isinstance(key, int) and key >= frame.born
