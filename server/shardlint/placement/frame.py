"""Where the interpreter is: the run of a module's body or of a function."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import dataclass, field

from shardlint.placement.counts import Count, Told
from shardlint.placement.definition import Definition
from shardlint.placement.domain import UNKNOWN, Array, Value
from shardlint.placement.merging import informed, merge
from shardlint.placement.state import EVERY_ARRAY, State
from shardlint.placement.trace import Trace
from shardlint.placement.tracing import Tracing
from shardlint.syntax.scopes import FunctionNode
from shardlint.syntax.tree import Chunk, Node, Place


@dataclass(frozen=True)
class Code:
    """A function of the program: its node and the chunk in which it stands. A method has the class in whose body it stands as its
    `owner`.
    """

    chunk: Chunk
    node: FunctionNode
    name: str
    owner: Definition | None = None

    @property
    def place(self) -> Place:
        return Place(self.chunk, self.node)


@dataclass(eq=False)
class Attempt:
    """A `try` body while it runs: `raised` is what holds where it may be left by an exception, so far. `handled` are the exceptions that
    its handlers catch, by handler, where the body is one statement.
    """

    raised: State | None = None
    handled: tuple[tuple[Node, frozenset[str]], ...] = ()

    def add(self, state: State) -> None:
        """Note that an exception may leave the body in this state."""
        self.raised = state.copy() if self.raised is None else merge(self.raised, state)


@dataclass(eq=False)
class Loop:
    """A loop while it runs: whether it is run item by item, and the states of its `break` and `continue` statements."""

    by_item: bool = False
    breaks: list[State] = field(default_factory=list[State])
    continues: list[State] = field(default_factory=list[State])


@dataclass(frozen=True, slots=True)
class FactOf:
    """What a frame knows of the array `key`, as something that can be read, like a variable."""

    key: Hashable


@dataclass(eq=False)
class Frame:
    """One run of a module body or of a function. `state` is always the current one; `enclosing` is where names go next.

    `globals` and `nonlocals` are the names that the body has declared so, `comprehended` those that comprehensions bind just now
    and `scope` the frame that functions made there close over,
    `turn` tells at which items, from 1, loops are that are run item by item, outermost first.
    `raises` tells that the run may end in an exception; containers with ids from `born` on were made by it. The frame of a class
    body has the `definition` that the body makes; `definitions` are the classes that were made here, and `caller` is the call that
    this is the run of, if the program has one. A run that was `given_up` has not come to its end and never will. `donations` are what
    the running statement has donated, with what that held and the evidence. Where JAX runs this with tracers, `entry` is how it came to.
    """

    chunk: Chunk
    code: Code | None
    enclosing: Frame | None
    locals: frozenset[str]
    state: State
    globals: frozenset[str] = frozenset()
    nonlocals: frozenset[str] = frozenset()
    handlers: tuple[frozenset[str], ...] = ()
    traced: Tracing = Tracing.NO
    entry: Trace | None = None
    depth: int = 0
    returns: list[tuple[Value, State]] = field(default_factory=list[tuple[Value, State]])
    yields: list[Value] = field(default_factory=list[Value])
    loops: list[Loop] = field(default_factory=list[Loop])
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    reads: dict[tuple[Frame, str | FactOf], Value | Told] = field(
        default_factory=dict["tuple[Frame, str | FactOf]", "Value | Told"]
    )
    comprehended: frozenset[str] = frozenset()
    scope: Frame | None = None
    turn: tuple[int, ...] = ()
    raises: bool = False
    born: int = 0
    definition: Definition | None = None
    definitions: list[Definition] = field(default_factory=list[Definition])
    caller: Place | None = None
    given_up: bool = False
    donations: list[tuple[ast.expr, Value | None, Trace]] = field(
        default_factory=list["tuple[ast.expr, Value | None, Trace]"]
    )

    def begin(self, chunk: Chunk) -> None:
        """Be as before anything ran here."""
        self.__init__(chunk, self.code, self.enclosing, self.locals, State())

    @property
    def repeats(self) -> bool:
        """Whether what runs now stands for any number of runs."""
        return any(not loop.by_item for loop in self.loops)

    @property
    def module(self) -> Frame:
        frame = self
        while frame.enclosing is not None:
            frame = frame.enclosing
        return frame

    def place(self, node: Node) -> Place:
        return Place(self.chunk, node)

    def variable(self, target: Frame, name: str) -> Value | None:
        """What the variable `name` of `target`, this frame or one around it, holds as seen from here."""
        if target is self:
            return self.state.variables.get(name)
        written = self.state.outer.get((target, name))
        return target.state.variables.get(name) if written is None else written

    def assign(self, target: Frame, name: str, value: Value) -> None:
        """Bind a variable of this frame or of one around it, on this path only."""
        self.state.forget_conditions(name)
        if target is self:
            self.state.variables[name] = value
        else:
            self.state.outer[target, name] = value

    def owner(self, name: str) -> Frame:
        """The frame whose variable an assignment to `name` here binds."""
        if name in self.globals:
            return self.module
        if name not in self.nonlocals:
            return self
        frame = self.enclosing
        while frame is not None and frame.enclosing is not None and name not in frame.locals:
            frame = frame.enclosing
        return self if frame is None else frame

    def own_object(self) -> Value:
        """What the first parameter holds, in a run of a method its object."""
        arguments = None if self.code is None else self.code.node.args
        names = [] if arguments is None else [*arguments.posonlyargs, *arguments.args]
        return self.state.variables.get(names[0].arg, UNKNOWN) if names else UNKNOWN

    def may_raise(self) -> None:
        """Note that an exception may leave this very point."""
        self.raises = True
        if self.attempts:
            self.attempts[-1].add(self.state)

    def fact(self, key: Hashable) -> Told | bool:
        """What is known of the array `key` here: a count, UNTOLD, IMPOSSIBLE, or False where there is no fact."""
        frame: Frame | None = self
        while frame is not None:
            if key in frame.state.facts:
                told = frame.state.facts[key]
                if frame is not self:
                    self.reads.setdefault((frame, FactOf(key)), told)
                return told
            frame = frame.enclosing
        return False

    def count(self, array: Array) -> Count | None:
        """The device count of `array` with all facts applied; None where nothing is known or the path is impossible."""
        told = self.informed(array)
        return None if told is None else told.count

    def informed(self, array: Array) -> Array | None:
        """The array with all that is told of it here; None if it cannot be on this path."""
        return informed(array, self.fact(array.key), self.fact(EVERY_ARRAY))

    def fresh(self, node: Node, number: int = 0) -> Hashable:
        """The key of the value with this number that `node` makes now: facts about what it made before are forgotten."""
        key = (node, *self.turn, number) if self.turn or number else node
        self.state.facts.pop(key, None)
        self.state.written.pop(key, None)
        return key
