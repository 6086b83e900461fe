"""The parts of the interpreter as they see each other, and the data that they share: frames, states, events."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from shardlint.model import Target
from shardlint.placement.domain import UNKNOWN, Array, Count, DeviceId, Trace, Value, bounded, join, map_leaves
from shardlint.placement.table import Consumer, Table
from shardlint.syntax.scopes import FunctionNode, Names
from shardlint.syntax.tree import Chunk, Node, Place

EVERY_ARRAY = "every array"
"""The key of facts that hold for all arrays at once (`jax.device_count() == 1`)."""

FIRST_DEVICE = DeviceId(0)

IMPOSSIBLE = None
"""The fact of a value that cannot be on this path."""


@dataclass(eq=False)
class State:
    """What holds at one point of the program: variables of the frame, facts about arrays by key, the mesh in force, and the
    device on which new arrays are made (None: not known).
    """

    variables: dict[str, Value] = field(default_factory=dict[str, Value])
    facts: dict[Hashable, Count | None] = field(default_factory=dict[Hashable, "Count | None"])
    mesh: Count | None = None
    mesh_trace: Trace | None = None
    default: DeviceId | None = FIRST_DEVICE
    version_guarded: bool = False
    alive: bool = True

    def copy(self) -> State:
        return State(
            dict(self.variables),
            dict(self.facts),
            self.mesh,
            self.mesh_trace,
            self.default,
            self.version_guarded,
            self.alive,
        )

    def same(self, other: State) -> bool:
        return (
            self.alive == other.alive
            and self.variables == other.variables
            and self.facts == other.facts
            and self.mesh == other.mesh
            and self.default == other.default
            and self.version_guarded == other.version_guarded
        )


def merge(left: State, right: State) -> State:
    """The state where two paths meet. A variable that only one path bound keeps that value: the other would raise."""
    if not left.alive:
        return right.copy()
    if not right.alive:
        return left.copy()
    variables = dict(left.variables)
    for name, value in right.variables.items():
        variables[name] = join(variables[name], value) if name in variables else value
    facts: dict[Hashable, Count | None] = {}
    for key in left.facts.keys() & right.facts.keys():
        ours, theirs = left.facts[key], right.facts[key]
        facts[key] = theirs if ours is None else ours if theirs is None else ours.joined(theirs)
    mesh = left.mesh if left.mesh == right.mesh else None
    return State(
        variables,
        facts,
        mesh,
        left.mesh_trace if mesh else None,
        left.default if left.default == right.default else None,
        left.version_guarded and right.version_guarded,
    )


@dataclass(frozen=True)
class Code:
    """A function of the program: its node and the chunk in which it stands."""

    chunk: Chunk
    node: FunctionNode
    name: str
    is_method: bool = False

    @property
    def place(self) -> Place:
        return Place(self.chunk, self.node)


@dataclass(eq=False)
class Frame:
    """One run of a module body or of a function. `state` is always the current one; `enclosing` is where names go next."""

    chunk: Chunk
    code: Code | None
    enclosing: Frame | None
    locals: frozenset[str]
    state: State
    globals: frozenset[str] = frozenset()
    returns: list[tuple[Value, State]] = field(default_factory=list[tuple[Value, State]])
    yields: list[Value] = field(default_factory=list[Value])
    loops: list[tuple[list[State], list[State]]] = field(default_factory=list[tuple[list[State], list[State]]])
    handlers: tuple[frozenset[str], ...] = ()
    reads: dict[tuple[Frame, str], Value | None] = field(default_factory=dict["tuple[Frame, str]", "Value | None"])
    defined: list[tuple[Code, Frame]] = field(default_factory=list["tuple[Code, Frame]"])
    traced: bool = False
    depth: int = 0

    @property
    def module(self) -> Frame:
        frame = self
        while frame.enclosing is not None:
            frame = frame.enclosing
        return frame

    def place(self, node: Node) -> Place:
        return Place(self.chunk, node)

    def fact(self, key: Hashable) -> Count | bool | None:
        """What is known of the array `key` here: a count, IMPOSSIBLE, or False where there is no fact."""
        frame: Frame | None = self
        while frame is not None:
            if key in frame.state.facts:
                return frame.state.facts[key]
            frame = frame.enclosing
        return False

    def count(self, array: Array) -> Count | None:
        """The device count of `array` with all facts applied; None where nothing is known or the path is impossible."""
        count = array.count
        for key in (array.key, EVERY_ARRAY):
            fact = self.fact(key)
            if isinstance(fact, Count):
                count = fact if count is None else count.met(fact)
                if count is None:
                    return None
        return count

    def fresh(self, node: Node) -> Hashable:
        """The key of a value that `node` makes now: facts about what it made before are forgotten."""
        self.state.facts.pop(node, None)
        return node


@dataclass(frozen=True, slots=True)
class Arguments:
    """The evaluated arguments of a call. `open` means that `*` or `**` of unknown content may have given more."""

    positional: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict[str, Value])
    open: bool = False

    def get(self, position: int | None, keyword: str | None = None) -> Value | None:
        """The argument at `position` or named `keyword`, or None."""
        if keyword is not None and keyword in self.keywords:
            return self.keywords[keyword]
        if position is not None and 0 <= position < len(self.positional):
            return self.positional[position]
        return None

    def values(self) -> tuple[Value, ...]:
        return (*self.positional, *self.keywords.values())


@dataclass(frozen=True, slots=True)
class Event:
    """A hand-off, or the use of a name that the table's timeline lists, as seen on one way in.

    `node` is the whole expression, `name` the node whose last part names the consumer, `operand` what is handed over. `value`
    is one alternative of the operand's value, `count` its devices with every guard applied. `handlers` are the exception
    names that enclosing handlers catch, innermost last ("*" catches whatever a test expects).
    """

    place: Place
    name: Place
    consumer: str
    protocol: str
    operand: Place | None
    value: Value
    count: Count | None
    arguments: Arguments
    row: Consumer | None
    handlers: tuple[frozenset[str], ...]
    version_guarded: bool
    traced: bool
    mixed: bool = False

    @property
    def trace(self) -> Trace | None:
        return getattr(self.value, "trace", None)


class Machine(Protocol):
    """What the parts of the interpreter ask of each other."""

    @property
    def table(self) -> Table: ...
    @property
    def target(self) -> Target: ...

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        """The value of an expression in the frame's current state, which may change."""
        ...

    def execute(self, body: Sequence[ast.stmt], frame: Frame) -> None:
        """Run statements, leaving the state behind them in the frame."""
        ...

    def assume(self, test: ast.expr, truth: bool, frame: Frame) -> None:
        """Continue on the path on which `test` is `truth`; the state dies if there is none."""
        ...

    def bind(self, target: ast.expr, value: Value, frame: Frame) -> None:
        """Assign to a name, a pattern of names, an item or an attribute."""
        ...

    def call(self, function: Value, arguments: Arguments, node: Node, frame: Frame) -> Value:
        """The result of calling a value."""
        ...

    def run(self, code: Code, closure: Frame, arguments: Arguments, node: Node, frame: Frame, *, traced: bool) -> Value:
        """The result of calling a function of the program."""
        ...

    def record(self, event: Event) -> None:
        """Keep a hand-off."""
        ...

    def names(self, function: FunctionNode) -> Names:
        """The names of a function's scope."""
        ...

    def ask(self, name: str) -> None:
        """Note that somebody who can look into other modules should say what an external name means."""
        ...

    def canonical_symbol(self, name: str, node: Node, frame: Frame) -> Value:
        """The symbol for an external dotted name, recording the use of a removed one."""
        ...


def settled(value: Value, frame: Frame) -> Value:
    """`value` as a name or a caller may keep it: bounded in weight, and with what guards have told about its arrays made
    part of it, so that it outlives the path.
    """

    def settle(leaf: Value) -> Value:
        if isinstance(leaf, Array):
            count = frame.count(leaf)
            if count is not None and count != leaf.count:
                return replace(leaf, count=count)
        return leaf

    value = bounded(value)
    return map_leaves(value, settle) if has_facts(frame) else value


def has_facts(frame: Frame) -> bool:
    """Whether any guard has told anything here."""
    current: Frame | None = frame
    while current is not None:
        if current.state.facts:
            return True
        current = current.enclosing
    return False


def item_of(value: Value | None) -> Value:
    """`value`, or unknown where there is none."""
    return UNKNOWN if value is None else value
