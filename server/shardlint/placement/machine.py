"""The parts of the interpreter as they see each other, and what they hand around: arguments and events."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from shardlint.model import Target
from shardlint.placement.counts import Count
from shardlint.placement.definition import Definition
from shardlint.placement.domain import UNKNOWN, Array, Foreign, Function, Host, Ids, Transformed, Value
from shardlint.placement.frame import Code, Frame
from shardlint.placement.modules import Module
from shardlint.placement.rows import Consumer
from shardlint.placement.table import Table
from shardlint.placement.trace import Trace
from shardlint.placement.tracing import Tracing
from shardlint.syntax.scopes import FunctionNode, Names
from shardlint.syntax.tree import Node, Place

if TYPE_CHECKING:
    from shardlint.placement.claiming import Claiming
    from shardlint.placement.journal import Items, Journal


@dataclass(frozen=True, slots=True)
class Arguments:
    """The evaluated arguments of a call. `open` means that `*` or `**` of unknown content may have given more, `rest` what the
    items of an unpacked iterable of unknown length are. `node` is the call that was written so, None where a library calls; `sent` is
    what a generator gets that began with the others; the first `bound` positional ones were given before.
    """

    positional: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict[str, Value])
    open: bool = False
    rest: Value | None = None
    node: ast.Call | None = None
    sent: Value | None = None
    bound: int = 0

    def get(self, position: int | None, keyword: str | None = None) -> Value | None:
        """The argument at `position` or named `keyword`, or None."""
        if keyword is not None and keyword in self.keywords:
            return self.keywords[keyword]
        if position is not None and 0 <= position < len(self.positional):
            return self.positional[position]
        return self.rest if position is not None and position >= len(self.positional) else None

    def written(self, position: int | None, keyword: str | None = None) -> ast.expr | None:
        """The expression for the argument at `position` or named `keyword`, None where the program writes none for it alone."""
        if self.node is None:
            return None
        named = next((one.value for one in self.node.keywords if one.arg is not None and one.arg == keyword), None)
        if named is not None or position is None:
            return named
        place = position - self.bound
        if not 0 <= place < len(self.node.args) or any(
            isinstance(one, ast.Starred) for one in self.node.args[: place + 1]
        ):
            return None
        return self.node.args[place]

    def values(self) -> tuple[Value, ...]:
        rest = () if self.rest is None else (self.rest,)
        return (*self.positional, *rest, *self.keywords.values())


@dataclass(frozen=True, slots=True)
class Event:
    """A hand-off, the use of a name that the table's timeline lists, or what a program does around hand-offs (see `is_hand_off`), as
    seen on one way in.

    `node` is the whole expression, `name` the node whose last part names the consumer, `operand` what is handed over. `value`
    is one alternative of the operand's value, `count` its devices with every guard applied. `handlers` are the exception
    names that enclosing handlers catch, innermost last ("*" catches whatever a test expects). `entry` is how JAX came to run this with tracers;
    `mixed` tells that other alternatives fare otherwise, `varied` that they differ as well in dtype, in being gone, or in what each
    device and each process has of them. In a module of which `wide` holds, JAX may keep dtypes of 64 bits.
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
    traced: Tracing
    mixed: bool = False
    varied: bool = False
    entry: Trace | None = None
    wide: bool = False

    @property
    def is_hand_off(self) -> bool:
        """Whether something crosses a border here: the other events are of what a program does around that."""
        return self.protocol not in _NO_HAND_OFFS

    @property
    def trace(self) -> Trace | None:
        """The evidence: where the value comes from, or how JAX came to run this with a tracer."""
        if self.traced >= Tracing.DIFFERENTIATED:
            return self.entry
        if isinstance(self.value, Host) and self.value.made is not None:
            return self.value.made
        trace = getattr(self.value, "trace", None)
        return self.value.nature.trace if trace is None and isinstance(self.value, Array | Host | Foreign) else trace


_NO_HAND_OFFS = frozenset({"name", "placement", "guard", "handler", "collective", "value"})


class Machine(Protocol):
    """What the parts of the interpreter ask of each other."""

    @property
    def table(self) -> Table: ...
    @property
    def target(self) -> Target: ...

    @property
    def claiming(self) -> Claiming: ...

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        """The value of an expression in the frame's current state, which may change."""
        ...

    def entered(self, code: Code, frame: Frame) -> None:
        """Note that a function begins to run, with its parameters bound in this frame."""
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

    def run(self, function: Function, arguments: Arguments, node: Node, frame: Frame) -> Value:
        """The result of calling a function of the program."""
        ...

    def definition(self, node: ast.ClassDef | ast.Call, name: str, frame: Frame) -> Definition:
        """The class that a definition makes in this frame: the same one if it is run again."""
        ...

    def define(self, function: Function) -> None:
        """Note that the program has made this function."""
        ...

    def traces(self, function: Value, how: Transformed, node: Node, frame: Frame) -> None:
        """Note that JAX will call this function with tracers."""
        ...

    def record(self, event: Event) -> None:
        """Keep a hand-off."""
        ...

    def names(self, function: FunctionNode) -> Names:
        """The names of a function's scope."""
        ...

    def steady(self, frame: Frame, name: Hashable) -> bool:
        """Whether the variable, once bound, never changes in the whole module."""
        ...

    def new_ids(self) -> Ids:
        """The identity of a container that is made now."""
        ...

    @property
    def journal(self) -> Journal:
        """Where the present run is noted."""
        ...

    def keep(self, definition: Definition, items: Items) -> None:
        """Note what an object of a class, or of one derived from it, holds."""
        ...

    def noting(self, journal: Journal) -> AbstractContextManager[None]:
        """Note in another journal what is done inside of the `with` statement."""
        ...

    def upset(self) -> None:
        """Note that something changed of which no journal tells: what was found out is good for this check alone."""
        ...

    def ask(self, name: str) -> None:
        """Note that somebody who can look into other modules should say what a path leads to."""
        ...

    def meaning(self, path: str, node: Node, frame: Frame) -> Value | None:
        """What is told of the object at a path, if that says more than the path; `node` is where it comes in."""
        ...

    def imported(self, value: Value, node: Node, frame: Frame) -> Value:
        """`value` with what its symbols mean in the workspace."""
        ...

    def as_of_now(self, value: Value, node: Node, frame: Frame) -> Value:
        """The same for a variable of another module that changes: who imports it keeps what it held then."""
        ...

    def member(self, module: str, name: str, node: Node, frame: Frame) -> Value:
        """`module.name` for a module of the workspace."""
        ...

    def set_member(self, module: str, name: str, value: Value, frame: Frame) -> None:
        """`module.name = value` for a module of the workspace."""
        ...

    def everything(self, module: str, node: ast.alias, frame: Frame) -> Iterable[tuple[str, Value]]:
        """What `from module import *` binds, as far as it is known."""
        ...

    def module_of(self, frame: Frame) -> Module:
        """The module in which the frame's code stands."""
        ...

    @property
    def at_home(self) -> bool:
        """Whether what happens is the doing of the module that is checked, and not of one that it imports."""
        ...

    def canonical_symbol(self, name: str, node: Node, frame: Frame) -> Value:
        """The symbol for an external dotted name, recording the use of a removed one."""
        ...


def item_of(value: Value | None) -> Value:
    """`value`, or unknown where there is none."""
    return UNKNOWN if value is None else value
