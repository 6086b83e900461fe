"""What one run of a function gave, and what that is to who calls it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from shardlint.placement.counts import Spans, Told
from shardlint.placement.crossing import Crossing, rebased
from shardlint.placement.domain import UNKNOWN, Value
from shardlint.placement.facts import learn
from shardlint.placement.frame import FactOf, Frame
from shardlint.placement.journal import Journal
from shardlint.placement.machine import Event
from shardlint.placement.mutation import change_ids
from shardlint.placement.state import Change
from shardlint.placement.trace import Trace


@dataclass(frozen=True, slots=True)
class Summary:
    """What one run gave: the result, facts about the arguments that hold after it, what it assigned, changed and wrote into outside of
    itself, whether the program runs in several processes then, whether it returns at all and whether it may raise. `seen` are the
    keys of the arrays that it found around itself, `born` the ids of the containers that it made.
    """

    result: Value
    facts: dict[Hashable, Told]
    outer: dict[tuple[Frame, str], Value]
    changes: dict[Hashable, Change]
    written: dict[Hashable, tuple[Event, ...]]
    processes: tuple[Spans, Trace | None]
    returns: bool
    raises: bool
    entered: tuple[Trace | None, ...]
    reads: tuple[tuple[Frame, str | FactOf, Value | Told], ...]
    seen: frozenset[Hashable]
    born: range
    journal: Journal

    def holds(self, frame: Frame) -> bool:
        """Whether all that the run read from around the function is still so, seen from a caller."""
        return all(_read_again(frame, target, name) == value for target, name, value in self.reads)


def _read_again(frame: Frame, target: Frame, name: str | FactOf) -> Value | Told:
    return frame.variable(target, name) if isinstance(name, str) else target.state.facts.get(name.key)


def applied(summary: Summary, crossing: Crossing, now: tuple[Trace | None, ...]) -> Value:
    """What a summary does to the caller, and its result there."""
    frame, born = crossing.frame, summary.born
    crossing.seen = summary.seen
    place, step = frame.place(crossing.node), f"returned by {crossing.code.name}"

    def known(trace: Trace | None) -> Trace | None:
        return rebased(trace, summary.entered, now)

    def evidence(trace: Trace | None) -> Trace | None:
        trace = known(trace)
        return trace and trace.then(place, step)

    if summary.raises:
        frame.may_raise()
    if not summary.returns:
        frame.state.alive = False
        return UNKNOWN
    for (target, name), value in summary.outer.items():
        frame.assign(target, name, crossing.leave(value, born, known))
    for key, change in summary.changes.items():
        content = crossing.leave(change.content, born, known)
        change_ids(crossing.outer_ids(frozenset({key}), born), content, frame, sure=change.sure)
    frame.state.written.update(crossing.written(summary.written))
    if frame.state.processes is not summary.processes[0]:
        frame.state.processes, frame.state.processes_trace = summary.processes[0], known(summary.processes[1])
    learn(crossing.told(summary.facts), frame)
    return crossing.leave(summary.result, born, evidence)
