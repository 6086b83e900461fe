"""The interpreter put together: the hand-offs of one module."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from shardlint.model import Target
from shardlint.placement.annotations import annotated
from shardlint.placement.answers import meant
from shardlint.placement.calls import Calls
from shardlint.placement.domain import (
    UNKNOWN,
    Function,
    Ids,
    Symbol,
    Value,
    Version,
)
from shardlint.placement.evaluate import Evaluator
from shardlint.placement.execute import Executor
from shardlint.placement.frame import Code, Frame
from shardlint.placement.functions import Functions, run_body
from shardlint.placement.guards import Guards
from shardlint.placement.lattice import joined
from shardlint.placement.machine import Arguments, Event
from shardlint.placement.paths import beginnings, name_of
from shardlint.placement.state import State
from shardlint.placement.survey import Survey, survey
from shardlint.placement.table import Table
from shardlint.syntax.scopes import FunctionNode, Names, names_of, parameters
from shardlint.syntax.tree import Node, Tree

_VERSION_NAMES = frozenset({"jax.__version__", "jax.__version_info__", "jax.version.__version__", "jaxlib.__version__"})
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException", "*"})


@dataclass(frozen=True, slots=True)
class Seen:
    """The hand-offs of a module, and the external names of which it would help to know what they mean."""

    events: tuple[Event, ...]
    questions: tuple[str, ...]


def hand_offs(tree: Tree, target: Target, table: Table, answers: Mapping[str, str]) -> Seen:
    """Every hand-off of a module, once for each different thing that reaches it.

    `answers` are the meanings of external names as the imports spell them: what looking into other modules has told.

    The module's body is run first. Then every function that nothing has called is run as somebody from outside would call it:
    with parameters of which only the annotations are known, and what the module has left behind around it.
    """
    program = _Program(table, target, answers, survey(tree))
    module: Frame | None = None
    state = State()
    for chunk in tree.chunks:
        if module is None:
            module = Frame(chunk, None, None, frozenset(), state)
        module.chunk = chunk
        program.execute(chunk.body, module)
        module.state.alive = True
    program.visit()
    return Seen(tuple(program.events.values()), tuple(sorted(program.questions)))


@dataclass(eq=False)
class _Program:
    """The machine that the parts of the interpreter see."""

    table: Table
    target: Target
    answers: Mapping[str, str]
    survey: Survey
    questions: set[str] = field(default_factory=set[str])
    events: dict[Hashable, Event] = field(default_factory=dict[Hashable, Event])

    def __post_init__(self) -> None:
        self._evaluator = Evaluator(self)
        self._executor = Executor(self)
        self._guards = Guards(self)
        self._calls = Calls(self)
        self._functions = Functions(self)
        self._defined: list[Function] = []
        self._traced: set[FunctionNode] = set()
        self._names: dict[FunctionNode, Names] = {}
        self._numbers = count()

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        return self._evaluator.evaluate(node, frame)

    def execute(self, body: Sequence[ast.stmt], frame: Frame) -> None:
        self._executor.execute(body, frame)

    def assume(self, test: ast.expr, truth: bool, frame: Frame) -> None:
        self._guards.assume(test, truth, frame)

    def bind(self, target: ast.expr, value: Value, frame: Frame) -> None:
        self._executor.bind(target, value, frame)

    def call(self, function: Value, arguments: Arguments, node: Node, frame: Frame) -> Value:
        return self._calls.call(function, arguments, node, frame)

    def run(self, function: Function, arguments: Arguments, node: Node, frame: Frame, *, traced: bool) -> Value:
        return self._functions.run(function, arguments, node, frame, traced=traced)

    def define(self, function: Function) -> None:
        self._defined.append(function)

    def traces(self, function: Value) -> None:
        if isinstance(function, Function) and isinstance(function.code, Code):
            self._traced.add(function.code.node)

    def record(self, event: Event) -> None:
        key = (
            event.place.node,
            event.consumer,
            event.value,
            event.count,
            event.handlers,
            event.version_guarded,
            event.mixed,
        )
        self.events.setdefault(key, event)

    def ask(self, name: str) -> None:
        self.questions.update(beginnings(name))

    def meaning(self, path: str, node: Node, frame: Frame) -> Value | None:
        answer = self.answers.get(path)
        return None if answer is None else meant(answer, path, node, frame, self)

    def names(self, function: FunctionNode) -> Names:
        found = self._names.get(function)
        if found is None:
            found = self._names[function] = names_of(function)
        return found

    def steady(self, frame: Frame, name: Hashable) -> bool:
        return frame.enclosing is None and name in self.survey.steady

    def new_ids(self) -> Ids:
        return frozenset((next(self._numbers),))

    def canonical_symbol(self, name: str, node: Node, frame: Frame) -> Value:
        answer = self.answers.get(name)
        if answer is not None and name_of(answer) != answer:
            known = None if name.rpartition(".")[2] in self.survey.assigned else self.meaning(name, node, frame)
            if known is not None:
                return known
            answer = None
        name = self.table.canonical(name if answer is None else answer)
        if name in _VERSION_NAMES:
            return Version(self.target.versions[-1] if self.target.exact and self.target.versions else None)
        if name in self.table.timeline:
            place = frame.place(node)
            self.record(
                Event(
                    place,
                    place,
                    name,
                    "name",
                    None,
                    UNKNOWN,
                    None,
                    Arguments(),
                    None,
                    frame.handlers,
                    frame.state.version_guarded,
                    frame.traced,
                )
            )
            caught = {handler for handlers in frame.handlers for handler in handlers}
            exists = self.table.exists(name, self.target.versions)
            if isinstance(node, ast.alias) and caught & _IMPORT_ERRORS and exists is not True:
                return UNKNOWN
        return Symbol(name)

    def visit(self) -> None:
        """Run the functions that nothing has called, and those that these define: first those whose names nobody reads, as what
        they call needs no run of its own.
        """
        visited: set[FunctionNode] = set()
        for unread in (True, False):
            position = 0
            while position < len(self._defined):
                function = self._defined[position]
                position += 1
                code = function.code
                if not isinstance(code, Code) or code.node in visited or code.node in self._functions.called:
                    continue
                if (unread and code.name in self.survey.read) or self._only_called(function, code):
                    continue
                visited.add(code.node)
                self._from_outside(function, code)

    def _only_called(self, function: Function, code: Code) -> bool:
        """Whether a function is one of a function's own that it only calls: where it does not, nobody does."""
        nested = isinstance(function.closure, Frame) and function.closure.enclosing is not None
        names = self.survey
        return nested and code.name in names.read and code.name not in names.passed and not code.is_method

    def _from_outside(self, function: Function, code: Code) -> None:
        closure = function.closure
        assert isinstance(closure, Frame)
        around = closure.state
        state = State(mesh=around.mesh, mesh_trace=around.mesh_trace, default=around.default)
        traced = code.node in self._traced
        frame = Frame(code.chunk, code, closure, self.names(code.node).local, state, traced=traced)
        defaults = dict(function.defaults)
        for index, parameter in enumerate(parameters(code.node.args)):
            key = ("parameter", code.node, index)
            value = annotated(parameter, defaults.get(parameter.arg), key, code, closure, self)
            state.variables[parameter.arg] = value
        _, end = run_body(code, frame, self)
        frame.state = frame.state if end is None else end
        for (target, name), value in frame.state.outer.items():
            # Nobody knows whether it was called.
            target.state.variables[name] = joined(target.state.variables.get(name), value) or value
