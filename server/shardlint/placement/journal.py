"""What a run did besides what it gave back, and what it looked at: enough to tell whether it would do the same again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from shardlint.placement.definition import Definition, Look
from shardlint.placement.domain import Array, Capsule, Devices, Fact, Function, Mesh, Sharding, Transformed, Value
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import leaves, map_leaves
from shardlint.placement.machine import Event
from shardlint.placement.trace import Trace, same_evidence
from shardlint.syntax.scopes import FunctionNode
from shardlint.syntax.tree import Chunk, Place

_WITH_EVIDENCE = (Array, Capsule, Devices, Mesh, Sharding, Fact)

Items = tuple[tuple[str, Value], ...]
"""Attributes of an object."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A function was given to a transformation at this place."""

    how: Transformed
    place: Place


Evidence: TypeAlias = Callable[[Trace | None], Trace | None] | None
"""What becomes of evidence; None where it stays as it is."""

Entries = dict[FunctionNode, list[Entry]]


def add_entries(entries: Entries, more: Mapping[FunctionNode, Sequence[Entry]]) -> None:
    """Add those that say something else."""
    for node, found in more.items():
        known = entries.setdefault(node, [])
        for entry in found:
            if all(one.how.how != entry.how.how or one.how.static != entry.how.static for one in known):
                known.append(entry)


@dataclass(eq=False, slots=True)
class Notes:
    """What was noted in one stretch of a run, each thing once and in the order in which it came."""

    events: dict[Hashable, Event] = field(default_factory=dict[Hashable, Event])
    traced: Entries = field(default_factory=dict["FunctionNode", "list[Entry]"])
    defined: dict[Function, None] = field(default_factory=dict["Function", None])
    kept: dict[tuple[Definition, Items], None] = field(default_factory=dict["tuple[Definition, Items]", None])
    reads: dict[tuple[Frame, str], Value | None] = field(default_factory=dict[tuple[Frame, str], "Value | None"])
    classes: dict[Definition, Look] = field(default_factory=dict[Definition, Look])
    held: dict[Definition, Items] = field(default_factory=dict[Definition, Items])

    def add(self, other: Notes, evidence: Evidence) -> None:
        """Take over what is new in other notes; `evidence` makes their evidence that of who calls now."""
        for key, event in other.events.items():
            if key not in self.events:
                self.events[key] = _with_evidence(event, evidence) if evidence else event
        add_entries(self.traced, other.traced)
        self.defined.update(other.defined)
        for definition, items in other.kept:
            self.kept.setdefault((definition, _evident(items, evidence) if evidence else items))
        for place, value in other.reads.items():
            self.reads.setdefault(place, value)
        for definition, look in other.classes.items():
            self.classes.setdefault(definition, look)
        for definition, items in other.held.items():
            self.held.setdefault(definition, items)


@dataclass(eq=False, slots=True)
class Journal:
    """What was noted from the beginning of a run.

    The run `asked` questions, `called` functions, found others that JAX calls with tracers, `defined` functions and `kept` what
    objects of classes hold. It ran code of `chunks`, read variables of modules, looked at classes and at what their objects `held`,
    and `loaded` modules. The run is not `lasting` if it did something that is not written down here, and is `entered` if JAX came
    with tracers to a hand-off in it.

    What the runs noted that it led to stands in their journals, of which this one knows; `whole` puts all together. So each thing is
    written down once, however often it happened and however deep: calls of calls would multiply it.
    """

    asked: set[str] = field(default_factory=set[str])
    called: set[FunctionNode] = field(default_factory=set[FunctionNode])
    contexts: set[tuple[FunctionNode, Hashable]] = field(default_factory=set[tuple[FunctionNode, Hashable]])
    chunks: set[Chunk] = field(default_factory=set[Chunk])
    loaded: set[str] = field(default_factory=set[str])
    lasting: bool = True
    entered: bool = False
    _parts: list[Notes | _Part] = field(default_factory=list["Notes | _Part"])
    _known: set[Journal] = field(default_factory=set["Journal"])

    @property
    def notes(self) -> Notes:
        """Where to note what happens now."""
        last = self._parts[-1] if self._parts else None
        if not isinstance(last, Notes):
            last = Notes()
            self._parts.append(last)
        return last

    def add(self, other: Journal, evidence: Evidence = None) -> None:
        """Take over what another run noted; `evidence` makes its evidence that of who calls now."""
        if other not in self._known:
            self._known.add(other)
            self._parts.append(_Part(other, evidence))
        self.lasting = self.lasting and other.lasting
        self.entered = self.entered or other.entered

    def whole(self) -> Journal:
        """All that was noted in the run and in those that it led to, in order, with no reference to their journals."""
        if len(self._parts) == 1 and isinstance(self._parts[0], Notes):
            return self
        made = Journal(lasting=self.lasting, entered=self.entered)
        made._begin(self)
        notes = made.notes
        seen: set[Journal] = {self}
        stack: list[tuple[Iterator[Notes | _Part], tuple[Evidence, ...]]] = [(iter(self._parts), ())]
        while stack:
            parts, steps = stack[-1]
            part = next(parts, None)
            if part is None:
                stack.pop()
            elif isinstance(part, Notes):
                notes.add(part, _after(steps))
            elif part.journal not in seen:
                seen.add(part.journal)
                made._begin(part.journal)
                more = () if part.evidence is None else (part.evidence,)
                stack.append((iter(part.journal._parts), (*more, *steps)))
        return made

    def _begin(self, other: Journal) -> None:
        self.asked |= other.asked
        self.called |= other.called
        self.contexts |= other.contexts
        self.chunks |= other.chunks
        self.loaded |= other.loaded

    def read(self, frame: Frame, name: str, value: Value | None) -> None:
        """Note what a variable of a module held."""
        if frame.enclosing is None:
            self.notes.reads.setdefault((frame, name), value)

    def look(self, definition: Definition) -> None:
        """Note what a class is."""
        classes = self.notes.classes
        if definition not in classes:
            for one in definition.order():
                classes.setdefault(one, one.look)

    def look_inside(self, definition: Definition) -> None:
        """Note what the objects of a class were seen to hold."""
        for one in definition.order():
            self.notes.held.setdefault(one, tuple(one.held.items()))

    def holds(self, chunks: frozenset[Chunk], modules: frozenset[str]) -> bool:
        """Whether a run that begins now would look at the very same; `chunks` is the code that still stands, `modules` are those that
        need not be run again. Asked of a `whole` journal.
        """
        notes = self.notes
        return (
            self.lasting
            and self.loaded <= modules
            and all(chunk in chunks for chunk in self.chunks)
            and all(identical(frame.state.variables.get(name), value) for (frame, name), value in notes.reads.items())
            and all(_same_class(one, look) for one, look in notes.classes.items())
            and all(_same_items(tuple(one.held.items()), items) for one, items in notes.held.items())
        )


@dataclass(frozen=True, slots=True)
class _Part:
    """What another run noted, with its evidence changed."""

    journal: Journal
    evidence: Evidence


def _after(steps: tuple[Evidence, ...]) -> Evidence:
    """What becomes of evidence in several steps, first to last."""

    def evidence(trace: Trace | None) -> Trace | None:
        for step in steps:
            trace = step(trace) if step else trace
        return trace

    return evidence if steps else None


def _with_evidence(event: Event, evidence: Callable[[Trace | None], Trace | None]) -> Event:
    return replace(event, value=_anew(event.value, evidence))


def _evident(items: Items, evidence: Callable[[Trace | None], Trace | None]) -> Items:
    return tuple((name, map_leaves(value, lambda leaf: _anew(leaf, evidence))) for name, value in items)


def _anew(value: Value, evidence: Callable[[Trace | None], Trace | None]) -> Value:
    return replace(value, trace=evidence(value.trace)) if isinstance(value, Array | Capsule) else value


def _same_class(definition: Definition, look: Look) -> bool:
    now = definition.attributes
    return (
        definition.bases == look.bases
        and now.keys() == look.attributes.keys()
        and all(identical(now[name], value) for name, value in look.attributes.items())
    )


def _same_items(one: Items, other: Items) -> bool:
    return len(one) == len(other) and all(
        a == b and identical(value, before) for (a, value), (b, before) in zip(one, other, strict=True)
    )


def identical(one: Value | None, other: Value | None) -> bool:
    """Whether two values say the same and with the same evidence."""
    if one is other:
        return True
    if one is None or other is None or one != other:
        return False
    mine = [leaf.trace for leaf in leaves(one) if isinstance(leaf, _WITH_EVIDENCE)]
    theirs = [leaf.trace for leaf in leaves(other) if isinstance(leaf, _WITH_EVIDENCE)]
    return len(mine) == len(theirs) and all(map(same_evidence, mine, theirs))
