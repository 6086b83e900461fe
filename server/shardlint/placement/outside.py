"""Functions that nothing in the program calls are run as somebody from outside would call them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace

from shardlint.placement.definition import Definition
from shardlint.placement.domain import UNKNOWN, Array, Class, Constant, Function, Host, Instance, Transformed, Value
from shardlint.placement.frame import Code, Frame
from shardlint.placement.functions import run_body
from shardlint.placement.lattice import alternatives, joined, one_of
from shardlint.placement.machine import Machine
from shardlint.placement.modules import Module
from shardlint.placement.objects import typical
from shardlint.placement.state import State
from shardlint.placement.tracing import Tracing
from shardlint.placement.transformed import came_in, positional_names, traced_inside
from shardlint.syntax.scopes import FunctionNode, parameters
from shardlint.syntax.tree import Place


@dataclass(frozen=True, slots=True)
class Entry:
    """A function was given to a transformation at this place."""

    how: Transformed
    place: Place


_MOST_RUNS = 3
_FREE = frozenset({"staticmethod"})
_OF_CLASS = frozenset({"classmethod"})


@dataclass(eq=False)
class Outside:
    """Runs what nothing has called: functions with parameters of which only the annotations are known, methods on objects that
    hold what the program was seen to put into them. `defined` grows while they run; only what `matters` is run.
    """

    machine: Machine
    main: Module
    defined: list[Function]
    called: set[FunctionNode]
    traced: Mapping[FunctionNode, list[Entry]]
    matters: frozenset[FunctionNode]
    annotated: Callable[[ast.arg, Hashable, Frame], Value]
    _runs: dict[FunctionNode, int] = field(default_factory=dict[FunctionNode, int])
    _news: dict[Definition, int] = field(default_factory=dict[Definition, int])

    def visit(self) -> None:
        """First those whose names nobody reads, as what they call needs no run of its own; methods again when there is news of
        what their objects hold.
        """
        for unread in (True, False):
            self._round(unread=unread)
        seen = dict[FunctionNode, int]()
        for _ in range(_MOST_RUNS - 1):
            again = [one for one in self.defined if self._outdated(one, seen)]
            for function in again:
                code = function.code
                assert isinstance(code, Code)
                assert code.owner is not None
                seen[code.node] = self._news.get(code.owner, 0)
                self._run(function, code)

    def _round(self, *, unread: bool) -> None:
        position = 0
        while position < len(self.defined):
            function = self.defined[position]
            position += 1
            code = function.code
            if not isinstance(code, Code) or code.node in self._runs or code.node in self.called:
                continue
            if code.node not in self.matters or code.chunk not in self.main.chunks:
                continue
            if (unread and code.name in self.main.survey.read) or self._only_called(function, code):
                continue
            self._run(function, code)

    def _outdated(self, function: Function, seen: dict[FunctionNode, int]) -> bool:
        code = function.code
        if not isinstance(code, Code) or code.owner is None or code.node not in self._runs:
            return False
        return self._news.get(code.owner, 0) > seen.get(code.node, self._runs[code.node])

    def _only_called(self, function: Function, code: Code) -> bool:
        """Whether a function is one of a function's own that it only calls: where it does not, nobody does."""
        nested = isinstance(function.closure, Frame) and function.closure.enclosing is not None
        names = self.main.survey
        return nested and code.name in names.read and code.name not in names.passed and code.owner is None

    def _run(self, function: Function, code: Code) -> None:
        closure = function.closure
        assert isinstance(closure, Frame)
        around = closure.state
        owner = code.owner
        self._runs[code.node] = 0 if owner is None else self._news.get(owner, 0)
        state = State(mesh=around.mesh, mesh_trace=around.mesh_trace, default=around.default)
        entries = self.traced.get(code.node, [])
        frame = Frame(
            code.chunk, code, closure, self.machine.names(code.node).local, state,
            traced=min([traced_inside(entry.how.how, Tracing.NO) for entry in entries], default=Tracing.NO),
            entry=came_in(entries[0].how, entries[0].place) if entries else None,
        )  # fmt: skip
        signature = positional_names(function)
        defaults = dict(function.defaults)
        for index, parameter in enumerate(parameters(code.node.args)):
            given = self._own(code, owner, index)
            value = given or self.annotated(parameter, ("parameter", code.node, index), closure)
            default = defaults.get(parameter.arg, UNKNOWN)
            key = index if signature and index < len(signature) else parameter.arg
            if given is None and all(entry.how.static.has(key, signature) is False for entry in entries) and entries:
                value = _tracer(
                    value,
                    parameter.arg not in defaults and parameter is not code.node.args.vararg,
                    ("parameter", code.node, index),
                )
            elif value == UNKNOWN and not isinstance(default, Constant):
                value = one_of([default, UNKNOWN])
            state.variables[parameter.arg] = value
        _, end = run_body(code, frame, self.machine)
        frame.state = frame.state if end is None else end
        for (target, name), value in frame.state.outer.items():
            # Nobody knows whether it was called.
            target.state.variables[name] = joined(target.state.variables.get(name), value) or value
        if owner is not None and end is not None:
            self._keep(code, owner, end)

    def _own(self, code: Code, owner: Definition | None, index: int) -> Value | None:
        """What the first parameter of a method is."""
        if owner is None or index > 0 or isinstance(code.node, ast.Lambda):
            return None
        decorators = {one.id for one in code.node.decorator_list if isinstance(one, ast.Name)}
        if decorators & _FREE:
            return None
        return Class(owner) if decorators & _OF_CLASS else typical(owner, ("self", owner))

    def _keep(self, code: Code, owner: Definition, end: State) -> None:
        """Note what a method leaves in its object."""
        names = [*code.node.args.posonlyargs, *code.node.args.args]
        held = end.variables.get(names[0].arg, UNKNOWN) if names else UNKNOWN
        for one in alternatives(held):
            if isinstance(one, Instance):
                for definition in owner.order():
                    if definition.keep(one.items):
                        self._news[definition] = self._news.get(definition, 0) + 1


def _tracer(value: Value, plain: bool, key: Hashable) -> Value:
    """A parameter of a function that JAX runs with tracers: what is not annotated is one too, or holds such."""
    if isinstance(value, Array):
        return replace(value, traced=Tracing.SURE)
    arrays = value == UNKNOWN or isinstance(value, Host)
    return Array(None, key, traced=Tracing.SURE) if arrays and plain else value
