"""What happens to values that cross the border of a call: keys of arrays and ids of containers are renamed on the way in, so that
calls with equal arguments share one summary, and renamed back on the way out; evidence gets a step more.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from collections.abc import Mapping as MappingType
from dataclasses import dataclass, field, replace

from shardlint.placement.counts import Count, Facts, Subject, Told
from shardlint.placement.domain import (
    Array,
    Capsule,
    Constant,
    Elements,
    Fact,
    Foreign,
    Host,
    Ids,
    Instance,
    Mapping,
    OneOf,
    Sequence,
    Test,
    Value,
)
from shardlint.placement.frame import Code, Frame
from shardlint.placement.lattice import bounded, leaves, map_items, one_of
from shardlint.placement.machine import Event
from shardlint.placement.state import EVERY_ARRAY, THIS_PROCESS
from shardlint.placement.trace import Trace, traced
from shardlint.syntax.tree import Node

_OF_ALL = frozenset({EVERY_ARRAY, THIS_PROCESS})
_MOST_COPIES = 32


@dataclass(eq=False)
class Crossing:
    """One call from `node` in `frame` to `code`. A function that `closes_over` its parameters gets its arguments as the very objects
    that they are: the functions that it makes see later what becomes of them. `seen` are the keys of the arrays that it found around
    itself: those mean the same in the caller.
    """

    code: Code
    node: Node
    frame: Frame
    new_ids: Callable[[], Ids]
    _keys: dict[Hashable, Hashable] = field(default_factory=dict[Hashable, Hashable])
    _counts: dict[Hashable, Count | None] = field(default_factory=dict[Hashable, "Count | None"])
    _ids: dict[Ids, Ids] = field(default_factory=dict[Ids, Ids])
    _made: dict[Hashable, Hashable] = field(default_factory=dict[Hashable, Hashable])
    _copies: dict[Hashable, Ids] = field(default_factory=dict[Hashable, Ids])
    _any_other: Ids = frozenset()
    _left: dict[Ids, Ids] = field(default_factory=dict[Ids, Ids])
    closes_over: bool = False
    seen: frozenset[Hashable] = frozenset()
    pattern: list[Ids] = field(default_factory=list[Ids])
    """The inner ids of the argument containers as they are met: which arguments are the same object."""

    def enter(self, value: Value, name: str) -> Value:
        """An argument as the parameter `name` gets it."""
        return self._mapped(bounded(value), lambda leaf: self._entering(leaf, name), self._entering_ids)

    def _entering(self, leaf: Value, name: str) -> Value:
        match leaf:
            case Array(count=count, key=key, trace=trace):
                told = self.frame.informed(leaf)
                self._counts[key] = None if told is None else told.count
                count = count if told is None else told.count
                return replace(leaf, key=self._inner(key), trace=self._passed(trace, name), count=count)
            case Constant(value, facts) if facts:
                return Constant(value)
            case Fact(key=key):
                return replace(leaf, key=self._inner(key))
            case Test(true, false):
                return Test(_renamed(true, self._inner), _renamed(false, self._inner))
            case Capsule(trace):
                return replace(leaf, trace=self._passed(trace, name))
            case Host(made=made, nature=nature) if made is not None or nature.shares is not None:
                shares = None if nature.shares is None else self._inner(nature.shares)
                return replace(leaf, made=self._passed(made, name), nature=replace(nature, shares=shares))
            case Foreign(nature=nature) if nature.shares is not None:
                return replace(leaf, nature=replace(nature, shares=self._inner(nature.shares)))
            case _:
                return leaf

    def _passed(self, trace: Trace | None, name: str) -> Trace | None:
        text = f"passed to `{name}` of {self.code.name}"
        return trace and traced(trace, self.frame.place(self.node), text, call=True)

    def _inner(self, key: Hashable) -> Hashable:
        return key if key in _OF_ALL else self._keys.setdefault(key, ("argument", self.code.node, len(self._keys)))

    def _entering_ids(self, ids: Ids) -> Ids:
        if ids and self.closes_over:
            self.pattern.append(ids)
        elif ids:
            ids = self._ids.setdefault(ids, frozenset({("argument", self.code.node, len(self._ids))}))
            self.pattern.append(ids)
        return ids

    def leave(self, value: Value, born: range, evidence: Callable[[Trace | None], Trace | None]) -> Value:
        """What comes out, as the caller sees it: its own keys and ids for what it passed in, new ones for what was made (the ids in
        `born` are those of the containers that the summarised run made).
        """
        return self._mapped(value, lambda leaf: self._leaving(leaf, evidence), lambda ids: self.outer_ids(ids, born))

    def _leaving(self, leaf: Value, evidence: Callable[[Trace | None], Trace | None]) -> Value:
        match leaf:
            case Array(key=key, trace=trace):
                return replace(leaf, key=self._outer(key), trace=evidence(trace))
            case Constant(value, facts) if facts:
                return Constant(value, _renamed(facts, self._outer))
            case Fact(key=key):
                return replace(leaf, key=self._outer(key))
            case Test(true, false):
                return Test(_renamed(true, self._outer), _renamed(false, self._outer))
            case Capsule(trace=trace):
                return replace(leaf, trace=evidence(trace))
            case Host(nature=nature) | Foreign(nature=nature) if nature.shares is not None:
                return replace(leaf, nature=replace(nature, shares=self._outer(nature.shares)))
            case _:
                return leaf

    def _outer(self, key: Hashable) -> Hashable:
        if key in _OF_ALL or key in self.seen:
            return key
        for outer, inner in self._keys.items():
            if inner == key:
                return outer
        if key not in self._made:
            self._made[key] = self.frame.fresh(self.node, len(self._made) + 1)
        return self._made[key]

    def outer_ids(self, ids: Ids, born: range) -> Ids:
        """The caller's ids for those of a summary."""
        known = self._left.get(ids)
        if known is None:
            passed = [outer for outer, inner in self._ids.items() if not inner.isdisjoint(ids)]
            made = sorted(one for one in ids if isinstance(one, int) and one in born)
            kept = ids.difference(made, *(self._ids[outer] for outer in passed))
            known = self._left[ids] = kept.union(*passed, *(self._copy(one) for one in made))
        return known

    def _copy(self, one: Hashable) -> Ids:
        """The ids of a container that the call has made; of very many, all but the first may each be any of the others."""
        if one not in self._copies:
            if len(self._copies) < _MOST_COPIES:
                self._copies[one] = self.new_ids()
            else:
                self._any_other = self._any_other or self.new_ids() | self.new_ids()
                self._copies[one] = self._any_other
        return self._copies[one]

    def told(self, facts: dict[Hashable, Told]) -> dict[Subject, Told]:
        """Facts of a summary about what the caller passed in, as the caller knows it, and about what was there anyway."""
        told = {(outer, self._counts.get(outer)): facts[inner] for outer, inner in self._keys.items() if inner in facts}
        told.update({(key, None): facts[key] for key in facts if key in self.seen})
        return {**told, (EVERY_ARRAY, None): facts[EVERY_ARRAY]} if EVERY_ARRAY in facts else told

    def written(self, events: MappingType[Hashable, tuple[Event, ...]]) -> Iterator[tuple[Hashable, tuple[Event, ...]]]:
        """What a summary wrote into the memory of what the caller passed in, by the caller's keys."""
        for outer, inner in self._keys.items():
            if inner in events:
                yield outer, events[inner]

    def _mapped(self, value: Value, leaf: Callable[[Value], Value], ids: Callable[[Ids], Ids]) -> Value:
        match value:
            case OneOf(values):
                return one_of([self._mapped(alternative, leaf, ids) for alternative in values])
            case Sequence() | Mapping() | Elements() | Instance():
                renamed = ids(value.ids)
                return map_items(value, lambda item: self._mapped(item, leaf, ids), renamed)
            case _:
                return leaf(value)


def _renamed(facts: Facts, rename: Callable[[Hashable], Hashable]) -> Facts:
    return tuple(((rename(key), known), told) for (key, known), told in facts)


def entered(bound: dict[str, Value]) -> tuple[Trace | None, ...]:
    """The evidence that came in with the arguments, in a fixed order."""
    return tuple(
        leaf.trace for name in sorted(bound) for leaf in leaves(bound[name]) if isinstance(leaf, Array | Capsule)
    )


def rebased(trace: Trace | None, then: tuple[Trace | None, ...], now: tuple[Trace | None, ...]) -> Trace | None:
    """Evidence that grew in a summarised run, on what came in `now` in the place of what came in `then`."""
    if trace is None:
        return None
    for old, new in zip(then, now, strict=False):
        if old is not None and old is not new:
            found = trace.rebased(old, new)
            if found is not None:
                return found
    return trace
