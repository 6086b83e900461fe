"""Functions that nothing in the program calls are run as somebody from outside would call them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from shardlint.placement.definition import Definition
from shardlint.placement.domain import UNKNOWN, Class, Constant, Function, Instance, Value
from shardlint.placement.frame import Code, Frame
from shardlint.placement.functions import run_body
from shardlint.placement.lattice import alternatives, joined, one_of
from shardlint.placement.machine import Machine
from shardlint.placement.modules import Module
from shardlint.placement.objects import typical
from shardlint.placement.state import State
from shardlint.syntax.scopes import FunctionNode, parameters

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
    traced: set[FunctionNode]
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
        frame = Frame(
            code.chunk, code, closure, self.machine.names(code.node).local, state, traced=code.node in self.traced
        )
        defaults = dict(function.defaults)
        for index, parameter in enumerate(parameters(code.node.args)):
            given = self._own(code, owner, index)
            value = given or self.annotated(parameter, ("parameter", code.node, index), closure)
            default = defaults.get(parameter.arg, UNKNOWN)
            if value == UNKNOWN and not isinstance(default, Constant):
                value = one_of([default, UNKNOWN])
            value = self.machine.claiming.given(parameter, value, frame)
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
