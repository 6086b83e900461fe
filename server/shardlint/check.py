"""The core's one entrance: a snapshot of a file in, findings out. Pure, without I/O; it cannot raise on any input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shardlint.model import Finding, HandOff, Problem, Target
from shardlint.placement import table
from shardlint.placement.machine import Event
from shardlint.placement.program import hand_offs
from shardlint.records.catalogue import Catalogue
from shardlint.rules import matching, own
from shardlint.syntax.tree import Tree, parse
from shardlint.text import Span, Text


@dataclass(frozen=True)
class Snapshot:
    """All that one check reads: the text of one file under the name the user gives it, the target and the rules in force.

    `answers` are what earlier reports asked for: other paths to the same objects (`placement.paths`), by the paths that the
    file's imports spell.
    """

    path: str
    text: Text
    target: Target
    catalogue: Catalogue
    ignored: frozenset[str] = field(default=frozenset())
    answers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Report:
    """What one check found. Findings are sorted by position, hand-offs too; problems are about this file alone.

    `questions` are paths to external objects that the table does not know and of which the answer might matter. `broken` are the
    spans that do not parse and were not checked.
    """

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    hand_offs: tuple[HandOff, ...]
    questions: tuple[str, ...] = ()
    broken: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Analysis:
    """A report with what it was made from, for those who repair."""

    tree: Tree
    events: tuple[Event, ...]
    report: Report


def check(snapshot: Snapshot) -> Report:
    """Find the hand-offs of one file and the rules that hold at them."""
    return analyse(snapshot).report


def analyse(snapshot: Snapshot) -> Analysis:
    """The same with the tree and the hand-offs as the interpreter saw them."""
    tree = parse(snapshot.text)
    try:
        patterns = own.patterns(snapshot.catalogue, table.load())
        known = own.with_consumers(table.load(), patterns.values())
        seen = hand_offs(tree, snapshot.target, known, snapshot.answers)
        events = seen.events
        found = matching.findings(events, tree, snapshot.path, snapshot.target, snapshot.catalogue, patterns, known)
    except RecursionError:
        problem = Problem(
            snapshot.path, "the file nests expressions too deeply to be analysed; nothing in it was checked"
        )
        return Analysis(tree, (), Report((), (problem,), ()))
    kept = tuple(finding for finding in found if finding.rule not in snapshot.ignored)
    shown = matching.hand_offs(events, kept, tree, snapshot.path)
    return Analysis(tree, events, Report(kept, (), shown, seen.questions, tree.broken))
