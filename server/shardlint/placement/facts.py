"""What tests have told of arrays: keeping it, applying it, and taking it along."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from dataclasses import replace

from shardlint.placement.counts import ABSENT, ONE, UNTOLD, Count, Subject, Told
from shardlint.placement.domain import CHOICES, Array, Value, inside
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import bounded, choose_arrays
from shardlint.placement.state import EVERY_ARRAY, IMPOSSIBLE


def settled(value: Value, frame: Frame) -> Value:
    """`value` as a name or a caller may keep it: bounded in weight, and with what guards have told about its arrays made
    part of it, so that it outlives the path.
    """
    value = bounded(value)
    if not has_facts(frame):
        return value
    return choose_arrays(value, frame.informed)


def has_facts(frame: Frame) -> bool:
    """Whether any guard has told anything here."""
    current: Frame | None = frame
    while current is not None:
        if current.state.facts:
            return True
        current = current.enclosing
    return False


def learn(told: MappingType[Subject, Told], frame: Frame) -> None:
    """Continue on the path on which all of this holds of arrays; the path ends where it excludes what is known."""
    absent: dict[Subject, Told] = {subject: IMPOSSIBLE for subject, count in told.items() if count == ABSENT}
    for (key, asked), count in told.items():
        if count == ABSENT:
            continue
        known = frame.fact(key)
        if count is not None and count != UNTOLD:
            count = _met(_met(count, asked), known if isinstance(known, Count) else None)
        too_few = key == EVERY_ARRAY and count is not None and count.high is not None and count.high < fewest(frame)
        if count is None or too_few:
            frame.state.alive = False
            return
        frame.state.facts[key] = count
        if asked is not None and asked.whole and key != EVERY_ARRAY and count != UNTOLD:
            learn({(EVERY_ARRAY, None): ONE if count.surely_one else Count(min(count.low, 2), None)}, frame)
    if absent:
        exclude(absent, frame)


def fewest(frame: Frame) -> int:
    """How many devices the machine has at least, as there is a mesh over so many."""
    number = frame.state.fewest
    while frame.enclosing is not None:
        frame = frame.enclosing
        number = max(number, frame.state.fewest)
    return number


def _met(count: Told, known: Count | None) -> Told:
    return count if count is None or known is None or known == UNTOLD else count.met(known)


def exclude(told: MappingType[Subject, Told], frame: Frame) -> None:
    """The same where the arrays are only alternatives of what was tested: they are narrowed, or taken out, where a variable has
    several alternatives; a variable that surely holds such an array keeps it.
    """

    def chosen(value: Array) -> Value | None:
        subject = next((one for one in ((value.key, value.count), (value.key, None)) if one in told), None)
        if subject is None:
            return value
        count = told[subject]
        if count is None or count == UNTOLD:
            return None if count is None else replace(value, count=None)
        met = count if value.count is None else value.count.met(count)
        return None if met is None else value if met == value.count else replace(value, count=met)

    for name, value in frame.state.variables.items() if told else ():
        if inside(value) & CHOICES:
            frame.state.variables[name] = choose_arrays(value, chosen, among=True)
