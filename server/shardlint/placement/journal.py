"""What a run did besides what it gave back, and what it looked at: enough to tell whether it would do the same again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from shardlint.placement.definition import Definition
from shardlint.placement.domain import Array, Capsule, Devices, Fact, Function, Mesh, Sharding, Transformed, Value
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import leaves, map_leaves
from shardlint.placement.machine import Event
from shardlint.placement.trace import Trace
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


Entries = dict[FunctionNode, list[Entry]]


def add_entries(entries: Entries, more: Mapping[FunctionNode, Sequence[Entry]]) -> None:
    """Add those that say something else."""
    for node, found in more.items():
        known = entries.setdefault(node, [])
        for entry in found:
            if all(one.how.how != entry.how.how or one.how.static != entry.how.static for one in known):
                known.append(entry)


@dataclass(frozen=True, slots=True)
class Look:
    """A class as it was when it was looked at."""

    bases: tuple[Value, ...]
    attributes: Mapping[str, Value]


@dataclass(eq=False)
class Journal:
    """What was noted from the beginning of a run.

    The run `asked` questions, `called` functions, found others that JAX calls with tracers, `defined` functions and `kept` what
    objects of classes hold. It ran code of `chunks`, read variables of modules, looked at classes and at what their objects `held`,
    and `loaded` modules.
    Each is noted once, however often it happened: calls of calls would multiply it. The run is not `lasting` if it did something that
    is not written down here.
    """

    events: dict[Hashable, Event] = field(default_factory=dict[Hashable, Event])
    asked: set[str] = field(default_factory=set[str])
    called: set[FunctionNode] = field(default_factory=set[FunctionNode])
    traced: Entries = field(default_factory=dict["FunctionNode", "list[Entry]"])
    contexts: set[tuple[FunctionNode, Hashable]] = field(default_factory=set[tuple[FunctionNode, Hashable]])
    defined: dict[Function, None] = field(default_factory=dict["Function", None])
    kept: dict[tuple[Definition, Items], None] = field(default_factory=dict["tuple[Definition, Items]", None])
    chunks: set[Chunk] = field(default_factory=set[Chunk])
    reads: dict[tuple[Frame, str], Value | None] = field(default_factory=dict[tuple[Frame, str], "Value | None"])
    classes: dict[Definition, Look] = field(default_factory=dict[Definition, Look])
    held: dict[Definition, Items] = field(default_factory=dict[Definition, Items])
    loaded: set[str] = field(default_factory=set[str])
    lasting: bool = True

    def add(self, other: Journal, evidence: Callable[[Trace | None], Trace | None] | None = None) -> None:
        """Take over what another run noted; `evidence` makes its evidence that of who calls now."""
        for key, event in other.events.items():
            self.events.setdefault(key, event if evidence is None else _with_evidence(event, evidence))
        self.asked |= other.asked
        self.called |= other.called
        add_entries(self.traced, other.traced)
        self.contexts |= other.contexts
        self.defined.update(other.defined)
        for definition, items in other.kept:
            self.kept.setdefault((definition, items if evidence is None else _evident(items, evidence)))
        self.chunks |= other.chunks
        self.loaded |= other.loaded
        for place, value in other.reads.items():
            self.reads.setdefault(place, value)
        for definition, look in other.classes.items():
            self.classes.setdefault(definition, look)
        for definition, items in other.held.items():
            self.held.setdefault(definition, items)
        self.lasting = self.lasting and other.lasting

    def read(self, frame: Frame, name: str, value: Value | None) -> None:
        """Note what a variable of a module held."""
        if frame.enclosing is None:
            self.reads.setdefault((frame, name), value)

    def look(self, definition: Definition) -> None:
        """Note what a class is."""
        if definition not in self.classes:
            for one in definition.order():
                self.classes.setdefault(one, Look(one.bases, dict(one.attributes)))

    def look_inside(self, definition: Definition) -> None:
        """Note what the objects of a class were seen to hold."""
        for one in definition.order():
            self.held.setdefault(one, tuple(one.held.items()))

    def holds(self, chunks: frozenset[Chunk], modules: frozenset[str]) -> bool:
        """Whether a run that begins now would look at the very same; `chunks` is the code that still stands, `modules` are those that
        need not be run again.
        """
        return (
            self.lasting
            and self.loaded <= modules
            and all(chunk in chunks for chunk in self.chunks)
            and all(identical(frame.state.variables.get(name), value) for (frame, name), value in self.reads.items())
            and all(_same_class(one, look) for one, look in self.classes.items())
            and all(_same_items(tuple(one.held.items()), items) for one, items in self.held.items())
        )


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
    return len(mine) == len(theirs) and all(map(_same_trace, mine, theirs))


def _same_trace(one: Trace | None, other: Trace | None) -> bool:
    while one is not other:
        if one is None or other is None:
            return False
        if one.place.node is not other.place.node or one.text != other.text:
            return False
        one, other = one.before, other.before
    return True
