"""Functions that nothing in the program calls are run as somebody from outside would call them."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import dataclass, field, replace

from shardlint.placement.annotations import annotated
from shardlint.placement.definition import Definition
from shardlint.placement.domain import Array, Class, Function, Host, Instance, Unknown, Value
from shardlint.placement.facts import fewest
from shardlint.placement.frame import Code, Frame
from shardlint.placement.functions import Functions, run_body
from shardlint.placement.journal import Entries, Journal, add_entries
from shardlint.placement.lattice import alternatives, joined
from shardlint.placement.machine import Machine
from shardlint.placement.modules import Module
from shardlint.placement.objects import typical
from shardlint.placement.state import State
from shardlint.placement.tracing import Tracing, of_argument
from shardlint.placement.transformed import came_in, positional_names, traced_inside
from shardlint.syntax.scopes import FunctionNode, parameters
from shardlint.syntax.tree import Chunk

_MOST_RUNS = 3
_FREE = frozenset({"staticmethod"})
_OF_CLASS = frozenset({"classmethod"})


@dataclass(frozen=True, slots=True)
class Unit:
    """A run of a function from outside: under which conditions it ran, and what was noted."""

    conditions: tuple[object, ...]
    journal: Journal


Units = dict[tuple[FunctionNode, Frame, int], Unit]
"""Runs by the function, where it was defined, and how often it had run before."""


@dataclass(eq=False)
class Outside:
    """Runs what nothing has called: functions with parameters of which only the annotations are known, methods on objects that
    hold what the program was seen to put into them, of which there is `news`. `defined` grows while they run; only what `matters` is
    run, and nothing of which others `called` it. `before` are the runs of an earlier check, `units` those of this one; `chunks` is the code that still stands, `modules`
    are those that need not be run again.
    """

    machine: Machine
    main: Module
    chunks: frozenset[Chunk]
    modules: frozenset[str]
    defined: list[Function]
    functions: Functions
    traced: Entries
    matters: frozenset[FunctionNode]
    called: frozenset[int]
    news: dict[Definition, int]
    before: Units
    units: Units = field(default_factory=dict["tuple[FunctionNode, Frame, int]", Unit])
    _runs: dict[FunctionNode, int] = field(default_factory=dict[FunctionNode, int])
    _count: dict[FunctionNode, int] = field(default_factory=dict[FunctionNode, int])

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
                seen[code.node] = self.news.get(code.owner, 0)
                self._run(function, code)

    def _round(self, *, unread: bool) -> None:
        position = 0
        while position < len(self.defined):
            function = self.defined[position]
            position += 1
            code = function.code
            if not isinstance(code, Code) or code.node in self._runs or code.node in self.functions.called:
                continue
            if code.node not in self.matters or code.chunk not in self.main.chunks or _is_void(function):
                continue
            given = code.owner is None and any(parameters(code.node.args))  # without any, all calls are alike
            if given and self.called and self.main.tree.span(code.place).start in self.called:
                continue
            if (unread and code.name in self.main.survey.read) or self._only_called(function, code):
                continue
            self._run(function, code)

    def _outdated(self, function: Function, seen: dict[FunctionNode, int]) -> bool:
        code = function.code
        if not isinstance(code, Code) or code.owner is None or code.node not in self._runs:
            return False
        return self.news.get(code.owner, 0) > seen.get(code.node, self._runs[code.node])

    def _only_called(self, function: Function, code: Code) -> bool:
        """Whether a function is one of a function's own that it only calls: where it does not, nobody does."""
        nested = isinstance(function.closure, Frame) and function.closure.enclosing is not None
        names = self.main.survey
        return nested and code.name in names.read and code.name not in names.passed and code.owner is None

    def _run(self, function: Function, code: Code) -> None:
        """Run a function, or note once more what its last run noted, if it would do the same again."""
        closure = function.closure
        assert isinstance(closure, Frame)
        number = self._count.get(code.node, 0)
        self._count[code.node] = number + 1
        self._runs[code.node] = 0 if code.owner is None else self.news.get(code.owner, 0)
        around = closure.state
        facts = closure.module.state.facts
        entries = tuple((one.how, one.place.node) for one in self.traced.get(code.node, ()))
        conditions = (code, entries, around.mesh, around.default, around.processes, fewest(closure), dict(facts))
        place = code.node, closure, number
        unit = self.before.get(place)
        if unit is not None and unit.conditions == conditions:
            unit = Unit(conditions, unit.journal.whole())  # what it led to is an earlier check's
        if unit is not None and unit.conditions == conditions and unit.journal.holds(self.chunks, self.modules):
            self._note_again(unit.journal)
        else:
            unit = Unit(conditions, Journal())
            with self.machine.noting(unit.journal):
                self._execute(function, code, closure)
        self.units[place] = unit
        self.machine.journal.add(unit.journal)

    def _note_again(self, journal: Journal) -> None:
        for function in journal.notes.defined:
            if function not in self.defined:
                self.defined.append(function)
        self.functions.called |= journal.called
        add_entries(self.traced, journal.notes.traced)
        for node, mark in journal.contexts:
            self.functions.contexts.setdefault(node, set()).add(mark)
        for definition, items in journal.notes.kept:
            self.machine.keep(definition, items)

    def _execute(self, function: Function, code: Code, closure: Frame) -> None:
        around = closure.state
        owner = code.owner
        state = State(
            mesh=around.mesh, mesh_trace=around.mesh_trace, default=around.default,
            processes=around.processes, processes_trace=around.processes_trace,
        )  # fmt: skip
        entries = self.traced.get(code.node, [])
        frame = Frame(
            code.chunk, code, closure, self.machine.names(code.node).local, state,
            traced=min([traced_inside(entry.how.how, Tracing.NO) for entry in entries], default=Tracing.NO),
            entry=came_in(entries[0].how, entries[0].place) if entries else None,
        )  # fmt: skip
        signature = positional_names(function)
        defaults = dict(function.defaults)
        for index, parameter in enumerate(parameters(code.node.args)):
            key, default = ("parameter", code.node, index), defaults.get(parameter.arg)
            own = self._own(code, owner, index)
            value = own or annotated(parameter, default, key, code, closure, self.machine)
            name = index if signature and index < len(signature) else parameter.arg
            if own is None and entries and all(one.how.static.has(name, signature) is False for one in entries):
                plain = default is None and parameter is not code.node.args.vararg
                value = _tracer(value, plain, key, min(of_argument(one.how.how) for one in entries))
            state.variables[parameter.arg] = self.machine.claiming.given(parameter, value, frame)
        _, end = run_body(code, frame, self.machine)
        frame.state = frame.state if end is None else end
        for (target, name), value in frame.state.outer.items():
            # Nobody knows whether it was called.
            target.state.variables[name] = joined(target.state.variables.get(name), value) or value
            self.machine.journal.lasting = False
            if target.module is not closure.module:
                self.machine.upset()
        if owner is not None and end is not None:
            self._keep(frame, owner)

    def _own(self, code: Code, owner: Definition | None, index: int) -> Value | None:
        """What the first parameter of a method is."""
        if owner is None or index > 0 or isinstance(code.node, ast.Lambda):
            return None
        decorators = {one.id for one in code.node.decorator_list if isinstance(one, ast.Name)}
        if decorators & _FREE:
            return None
        return Class(owner) if decorators & _OF_CLASS else typical(owner, ("self", owner), self.machine)

    def _keep(self, frame: Frame, owner: Definition) -> None:
        """Note what a method leaves in its object."""
        for one in alternatives(frame.own_object()):
            if isinstance(one, Instance):
                self.machine.keep(owner, one.items)


def _is_void(function: Function) -> bool:
    """Whether a function was defined by a run that was given up: another run has defined it again."""
    around = function.closure
    while isinstance(around, Frame):
        if around.given_up:
            return True
        around = around.enclosing
    return False


def _tracer(value: Value, plain: bool, key: Hashable, traced: Tracing) -> Value:
    """A parameter of a function that JAX runs with tracers: what is not annotated is one too, or holds such."""
    if isinstance(value, Array):
        return replace(value, traced=traced)
    arrays = isinstance(value, Unknown | Host)
    return Array(None, key, traced=traced) if arrays and plain else value
