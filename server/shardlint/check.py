"""The core's one entrance: a snapshot of a file in, findings out. Pure, without I/O; it cannot raise on any input."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from shardlint.model import Belief, Finding, HandOff, Problem, Target
from shardlint.placement import analysis, tables
from shardlint.placement.analysis import hand_offs
from shardlint.placement.machine import Event
from shardlint.placement.modules import Module, Modules, NoModules, imported
from shardlint.placement.probe import Probe
from shardlint.records.catalogue import Catalogue
from shardlint.rules import beliefs, claims, matching, own
from shardlint.rules.sources import Sources
from shardlint.syntax.tree import Tree, parse
from shardlint.text import Span, Text


@dataclass(frozen=True)
class Snapshot:
    """All that one check reads: the text of one file under the name the user gives it, the target and the rules in force.

    `answers` are what earlier reports asked for: other paths to the same objects (`placement.paths`), by the paths that the
    file's imports spell. `modules` finds the other modules of the workspace, `module` is the file's own dotted name among them;
    `is_package` tells that it is an `__init__.py`. `assume` says where values live that qualified names lead to, in the words of
    `model.PLACEMENT_WORDS`. `ignored` are the rules to keep quiet about: if None, those that wait to be asked for.
    `ignored_in` gives more of them for the path of a file, as findings spell it. `called` are the places of functions in the text that
    other files are known to call: what these give them is found from there.
    """

    path: str
    text: Text
    target: Target
    catalogue: Catalogue
    ignored: frozenset[str] | None = None
    answers: Mapping[str, str] = field(default_factory=dict[str, str])
    modules: Modules = field(default_factory=NoModules)
    module: str = ""
    is_package: bool = False
    assume: Mapping[str, str] = field(default_factory=dict[str, str])
    ignored_in: Callable[[str], Collection[str]] | None = None
    called: frozenset[int] = frozenset()

    def speaks_of(self, finding: Finding) -> bool:
        """Whether the rule of a finding runs, and runs where it stands."""
        ignored = self.catalogue.opt_in if self.ignored is None else self.ignored
        if finding.rule in ignored:
            return False
        return self.ignored_in is None or finding.rule not in self.ignored_in(finding.location.path)


@dataclass(frozen=True)
class Report:
    """What one check found. Findings are sorted by position, hand-offs too; problems are about this file alone. Findings in other
    files, to which calls in this one lead, come last. `looked_into` are the texts of the other files that were run, by path, `imports` the modules of the workspace that the file
    imports: what these and those behind them say may make it another report.

    `questions` are paths to external objects that the table does not know and of which the answer might matter. `broken` are the
    spans that do not parse and were not checked. `called` are the functions of other files that were called, by path and place.
    `aside` are the findings of other files that hold here too and that they tell themselves, by rule, path and span.
    """

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    hand_offs: tuple[HandOff, ...]
    questions: tuple[str, ...] = ()
    broken: tuple[Span, ...] = ()
    looked_into: Mapping[str, Text] = field(default_factory=dict[str, Text])
    imports: tuple[str, ...] = ()
    called: frozenset[tuple[str, int]] = frozenset()
    aside: frozenset[tuple[str, str, Span]] = frozenset()


@dataclass(frozen=True)
class Elsewhere:
    """The hand-offs of another file to which calls in the one that is checked lead."""

    tree: Tree
    events: tuple[Event, ...]


@dataclass(frozen=True)
class Analysis:
    """A report with what it was made from, for those who repair: the hand-offs of this file, and those of others by path."""

    tree: Tree
    events: tuple[Event, ...]
    report: Report
    elsewhere: Mapping[str, Elsewhere] = field(default_factory=dict[str, Elsewhere])


@dataclass(eq=False)
class Memory:
    """What checks of one file have found out, so that the next one, after an edit, need not find it out again. The report is the
    same with and without it; it belongs to one file and to one thread at a time.
    """

    main: Module | None = None
    analysis: analysis.Memory = field(default_factory=analysis.Memory)


def check(snapshot: Snapshot, memory: Memory | None = None) -> Report:
    """Find the hand-offs of one file and the rules that hold at them."""
    return analyse(snapshot, memory).report


def analyse(snapshot: Snapshot, memory: Memory | None = None) -> Analysis:
    """The same with the tree and the hand-offs as the interpreter saw them."""
    memory = Memory() if memory is None else memory
    before = memory.main if memory.main is not None and memory.main.name == snapshot.module else None
    tree = parse(snapshot.text, None if before is None else before.tree)
    try:
        patterns = own.patterns(snapshot.catalogue, tables.load())
        known = own.with_consumers(tables.load(), patterns.values())
        main = Module(snapshot.module, snapshot.path, tree, snapshot.is_package, before)
        seen = hand_offs(
            main, snapshot.modules, snapshot.target, known, snapshot.answers, snapshot.assume,
            called=snapshot.called, memory=memory.analysis,
        )  # fmt: skip
        memory.main = main.forget()
        events, sources = seen.events, Sources.of(main, seen.modules)
        holding = matching.findings(events, sources, snapshot.target, snapshot.catalogue, patterns, known)
        found = holding.findings
        if seen.wrong_claims:
            found = matching.in_order((*found, *claims.findings(seen.wrong_claims, sources)), main.path)
    except RecursionError:
        memory.main, memory.analysis = None, analysis.Memory()
        problem = Problem(
            snapshot.path, "the file nests expressions too deeply to be analysed; nothing in it was checked"
        )
        return Analysis(tree, (), Report((), (problem,), ()))
    kept = tuple(filter(snapshot.speaks_of, found))
    shown = matching.hand_offs(events, kept, sources, snapshot.target, snapshot.catalogue)
    others = {module.path: module.tree.text for module in seen.modules if module is not main}
    by_module: dict[Module, list[Event]] = {module: [] for module in seen.modules}
    for event in events:
        by_module.setdefault(sources.module(event.place), []).append(event)
    here = tuple(by_module.pop(main, ()))
    elsewhere = {module.path: Elsewhere(module.tree, tuple(own_events)) for module, own_events in by_module.items()}
    near = tuple(module.name for module in imported(main, snapshot.modules))
    problems = tuple(Problem(snapshot.path, one.message, one.span) for one in main.claims.misread)
    problems += tuple(Problem(snapshot.path, sentence) for sentence in seen.missing)
    called = frozenset((one.path, one.span.start) for one in map(sources.location, seen.called))
    report = Report(kept, problems, shown, seen.questions, tree.broken, others, near, called, holding.aside)
    return Analysis(tree, here, report, elsewhere)


@dataclass(frozen=True)
class Believed:
    """What is believed of names, by context and then by position, and the texts of other files that this depends on, by path."""

    beliefs: tuple[Belief, ...] = ()
    looked_into: Mapping[str, Text] = field(default_factory=dict[str, Text])


def believe(snapshot: Snapshot, span: Span) -> Believed:
    """What is believed of each name in a span of the file, in each context in which it was looked at, with the evidence.

    A name that was never reached has one belief without words. In a file that is nested too deeply there is none.
    """
    tree = parse(snapshot.text)
    main = Module(snapshot.module, snapshot.path, tree, snapshot.is_package)
    probe = Probe(tree, span)
    try:
        seen = hand_offs(
            main, snapshot.modules, snapshot.target, tables.load(), snapshot.answers, snapshot.assume, probe=probe
        )
    except RecursionError:
        return Believed()
    others = {module.path: module.tree.text for module in seen.modules if module is not main}
    return Believed(beliefs.beliefs(probe, Sources.of(main, seen.modules)), others)
