"""The state where paths meet.

What only one of the paths knew is not lost: facts become part of the arrays that they are about, and flags that differ remember
what else differs.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from itertools import compress
from operator import is_not
from typing import TYPE_CHECKING, TypeVar

from shardlint.placement.counts import ABSENT, UNTOLD, Count, Spans, Subject, Told, narrowed
from shardlint.placement.domain import ARRAYS, Array, Constant, Test, Value, inside
from shardlint.placement.lattice import alternatives, choose_arrays, each, join
from shardlint.placement.state import EVERY_ARRAY, Change, State

if TYPE_CHECKING:
    from shardlint.placement.frame import Frame
    from shardlint.placement.machine import Event

_Key = TypeVar("_Key", bound=Hashable)
_MOST_ABSENT = 16


def merge(left: State, right: State) -> State:
    """The state where two paths meet. A variable that only one path bound keeps that value: the other would raise."""
    if not left.alive:
        return right.copy()
    if not right.alive:
        return left.copy()
    mesh = left.mesh if left.mesh == right.mesh else None
    facts = joined_facts(left.facts, right.facts)
    meeting = _Meeting(left, right, facts)
    return State(
        meeting.variables(),
        meeting.outer(),
        facts,
        _merged_changes(left.changes, right.changes),
        meeting.conditions(),
        _merged_writes(left.written, right.written),
        min(left.fewest, right.fewest),
        mesh,
        left.mesh_trace if mesh else None,
        left.entered if left.entered == right.entered else None,
        left.default if left.default == right.default else None,
        left.processes if left.processes is right.processes else Spans.MAYBE,
        left.processes_trace or right.processes_trace,
        left.version_guarded and right.version_guarded,
        recording=left.recording and right.recording,
    )


class _Meeting:
    """Joins what two paths left behind. Where they differ, the facts that only one of them knows become part of what it left;
    a flag that differs is told what else holds on the path from which it comes.
    """

    def __init__(self, left: State, right: State, kept: dict[Hashable, Told]) -> None:
        self._states = left, right
        self._facts = _lost(left, kept), _lost(right, kept)
        self._told: tuple[dict[Subject, Told], dict[Subject, Told]] | None = None

    def variables(self) -> dict[str, Value]:
        left, right = (state.variables for state in self._states)
        # Nearly all variables are the same objects on both paths; only the others cost more than a comparison.
        differ = list(compress(right.items(), map(is_not, map(left.get, right), right.values())))
        merged = dict(left)
        for name, value in differ:
            mine = merged.get(name)
            merged[name] = value if mine is None else self._joined(mine, value)
        return merged

    def outer(self) -> dict[tuple[Frame, str], Value]:
        left, right = (state.outer for state in self._states)
        merged: dict[tuple[Frame, str], Value] = {}
        for place in (*left, *(place for place in right if place not in left)):
            target, name = place
            held = target.state.variables.get(name)
            mine, other = left.get(place, held), right.get(place, held)
            value = other if mine is None else mine if other is None else self._joined(mine, other)
            if value is not None:
                merged[place] = value
        return merged

    def conditions(self) -> dict[str, Value]:
        left, right = (state.conditions for state in self._states)
        return {text: self._joined(left[text], right[text]) for text in left if text in right}

    def _joined(self, left: Value, right: Value) -> Value:
        if left is right or left == right:
            return join(left, right)
        if _is_flag(left) and _is_flag(right):
            told = self._told = self._told or self._what_differs()
            return join(with_facts(left, told[0]), with_facts(right, told[1]))
        return join(_baked(left, self._facts[0]), _baked(right, self._facts[1]))

    def _what_differs(self) -> tuple[dict[Subject, Told], dict[Subject, Told]]:
        (left, right), (left_facts, right_facts) = self._states, self._facts
        here, there = dict[Subject, Told](), dict[Subject, Told]()
        for name in left.variables.keys() & right.variables.keys():
            mine, other = left.variables[name], right.variables[name]
            if mine is not other:
                mine, other = _baked(mine, left_facts), _baked(other, right_facts)
                _tell_absent(mine, other, here)
                _tell_absent(other, mine, there)
        here.update({(key, None): told for key, told in left_facts.items()})
        there.update({(key, None): told for key, told in right_facts.items()})
        return here, there


def _tell_absent(mine: Value, other: Value, told: dict[Subject, Told]) -> None:
    """Note the arrays that a variable holds on the other path and not on this one."""
    own = alternatives(mine)
    for one in alternatives(other):
        if isinstance(one, Array) and one not in own and len(told) < _MOST_ABSENT:
            told[one.key, one.count] = ABSENT


def _is_flag(value: Value) -> bool:
    return all(
        isinstance(one, Test) or (isinstance(one, Constant) and isinstance(one.value, bool | str))
        for one in alternatives(value)
    )


def with_facts(value: Value, told: dict[Subject, Told]) -> Value:
    """A flag that also tells this."""

    def add(one: Value) -> Value:
        match one:
            case Constant(held, facts):
                return Constant(held, tuple({**dict(facts), **told}.items()))
            case Test(true, false):
                return Test(tuple({**dict(true), **told}.items()), tuple({**dict(false), **told}.items()))
            case _:
                return one

    return each(value, add) if told else value


def _lost(state: State, kept: dict[Hashable, Told]) -> dict[Hashable, Told]:
    return {key: told for key, told in state.facts.items() if key not in kept or kept[key] != told}


def _baked(value: Value, lost: dict[Hashable, Told]) -> Value:
    """A value with the facts that will be lost made part of its arrays."""
    if not lost or not inside(value) & ARRAYS:
        return value

    def bake(leaf: Array) -> Value | None:
        return informed(leaf, lost.get(leaf.key, False), lost.get(EVERY_ARRAY, False))

    return choose_arrays(value, bake)


def informed(array: Array, fact: Told | bool, machine: Told | bool) -> Array | None:
    """An array with what is told of it and of the whole machine made part of it; None if it cannot be on this path."""
    count = array.count
    for told in (fact, machine):
        if not isinstance(told, Count):
            continue
        known = count
        whole = count is not None and count.whole
        # That the machine has several devices tells nothing of an array, unless it is on all of them.
        limits = Count(1, told.high, spans=told.spans) if told is machine and told != UNTOLD and not whole else told
        count = narrowed(count, limits)
        if count is None and known is not None and told != UNTOLD:
            return None
    return array if count == array.count else replace(array, count=count)


def merge_all(states: list[State]) -> State | None:
    """The state where several paths meet, None where there is no path."""
    end: State | None = None
    for state in states:
        end = state if end is None else merge(end, state)
    return end


def joined_facts(left: dict[_Key, Told], right: dict[_Key, Told]) -> dict[_Key, Told]:
    """What both paths tell of arrays. Where one of them says nothing, both do only if the array is on one device on the other."""
    facts: dict[_Key, Told] = {}
    for key in left.keys() & right.keys():
        ours, theirs = left[key], right[key]
        if ours == theirs or ours is None or theirs is None:
            facts[key] = theirs if ours is None else ours
        elif ABSENT not in (ours, theirs) and (UNTOLD not in (ours, theirs) or ours.surely_one or theirs.surely_one):
            facts[key] = ours.joined(theirs)
    return facts


def _merged_changes(left: dict[Hashable, Change], right: dict[Hashable, Change]) -> dict[Hashable, Change]:
    merged: dict[Hashable, Change] = {}
    for key in (*left, *(key for key in right if key not in left)):
        ours, theirs = left.get(key), right.get(key)
        if ours is not None and theirs is not None:
            merged[key] = Change(join(ours.content, theirs.content), ours.sure and theirs.sure)
        elif (change := ours or theirs) is not None:
            merged[key] = Change(change.content, sure=False)
    return merged


def _merged_writes(
    left: dict[Hashable, tuple[Event, ...]], right: dict[Hashable, tuple[Event, ...]]
) -> dict[Hashable, tuple[Event, ...]]:
    """What either path has written into."""
    if not left or not right:
        return dict(left or right)
    merged = dict(left)
    for key, events in right.items():
        mine = merged.get(key, ())
        merged[key] = (
            *mine,
            *(event for event in events if all(event.place.node is not one.place.node for one in mine)),
        )
    return merged
