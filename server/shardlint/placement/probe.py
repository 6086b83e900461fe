"""Asking a program for values: what its names hold at a place, noted while it runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from shardlint.placement.domain import Value
from shardlint.placement.evaluate import Evaluator
from shardlint.placement.execute import Executor
from shardlint.placement.facts import settled
from shardlint.placement.frame import Code, Frame
from shardlint.placement.lattice import join
from shardlint.placement.machine import Machine
from shardlint.syntax.claims import Function
from shardlint.syntax.scopes import parameters
from shardlint.syntax.tree import Chunk, Node, Place, Tree
from shardlint.text import Span

Named = ast.Name | ast.Attribute | ast.arg
"""What a value can be asked of: a name, an attribute, a parameter."""


@dataclass(frozen=True)
class Context:
    """One way into a function: its node, the call (None: nobody in the program calls it so), and its parameters' values."""

    name: str
    call: Node | None
    given: tuple[tuple[str, Value], ...]
    caller: Place | None = field(compare=False)


@dataclass(frozen=True)
class Note:
    """What a name held at its place, in one context (None: outside of functions)."""

    place: Place
    context: Context | None
    value: Value


@dataclass(eq=False)
class Probe:
    """The names in a span of a tree, and what they were seen to hold. `functions` are those around them."""

    tree: Tree
    span: Span
    functions: frozenset[Function] = field(init=False)
    _wanted: dict[ast.AST, Place] = field(default_factory=dict[ast.AST, Place])
    _contexts: dict[Frame, Context] = field(default_factory=dict[Frame, Context])
    _notes: dict[tuple[ast.AST, Context | None], Note] = field(
        default_factory=dict["tuple[ast.AST, Context | None]", Note]
    )

    def __post_init__(self) -> None:
        around: set[Function] = set()
        for chunk, start in zip(self.tree.chunks, self.tree.starts, strict=True):
            if start < self.span.end and self.span.start <= start + len(chunk.text.source):
                self._look(chunk, start, around)
        self.functions = frozenset(around)

    def _look(self, chunk: Chunk, start: int, around: set[Function]) -> None:
        for statement in chunk.body:
            for node in ast.walk(statement):
                if not isinstance(node, Named | Function):
                    continue
                span = chunk.span(node).shifted(start)
                if isinstance(node, ast.arg):
                    span = Span(span.start, span.start + len(node.arg))
                if not (span.start < self.span.end and self.span.start < span.end):
                    continue
                if isinstance(node, Function):
                    around.add(node)
                else:
                    self._wanted[node] = Place(chunk, node)

    @property
    def places(self) -> tuple[Place, ...]:
        """All names in the span, in their order."""
        return tuple(sorted(self._wanted.values(), key=lambda place: self.tree.span(place)))

    @property
    def notes(self) -> tuple[Note, ...]:
        return tuple(self._notes.values())

    def note(self, node: ast.AST, value: Value, frame: Frame) -> None:
        """Take in the value of a node, if that is wanted."""
        place = self._wanted.get(node)
        if place is None or not frame.state.alive:
            return
        context = self._context(frame)
        value = settled(value, frame)
        known = self._notes.get((node, context))
        joined = value if known is None else join(known.value, value)
        self._notes[node, context] = Note(place, context, joined)

    def entered(self, code: Code, frame: Frame) -> None:
        """Take in that a function begins, and what its parameters hold."""
        if code.node not in self.functions:
            return
        given = tuple((one.arg, frame.state.variables[one.arg]) for one in _bound(code, frame))
        call = None if frame.caller is None else frame.caller.node
        self._contexts[frame] = Context(code.name, call, given, frame.caller)
        for one in _bound(code, frame):
            self.note(one, frame.state.variables[one.arg], frame)

    def _context(self, frame: Frame) -> Context | None:
        current: Frame | None = frame
        while current is not None:
            if current in self._contexts:
                return self._contexts[current]
            current = current.enclosing
        return None


def _bound(code: Code, frame: Frame) -> Iterator[ast.arg]:
    return (one for one in parameters(code.node.args) if one.arg in frame.state.variables)


class ProbedEvaluator(Evaluator):
    """Tells the values of names as they are read."""

    def __init__(self, machine: Machine, probe: Probe) -> None:
        super().__init__(machine)
        self._probe = probe

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        value = super().evaluate(node, frame)
        self._probe.note(node, value, frame)
        return value


class ProbedExecutor(Executor):
    """Tells the values of names as they are bound."""

    def __init__(self, machine: Machine, probe: Probe) -> None:
        super().__init__(machine)
        self._probe = probe

    def bind(self, target: ast.expr, value: Value, frame: Frame) -> None:
        super().bind(target, value, frame)
        if isinstance(target, ast.Name):
            bound = frame.variable(frame.owner(target.id), target.id)
            value = value if bound is None else bound
        self._probe.note(target, value, frame)
