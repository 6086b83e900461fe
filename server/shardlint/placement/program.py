"""The interpreter put together: the hand-offs of one module."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from shardlint.model import Target
from shardlint.placement.calls import Calls
from shardlint.placement.domain import UNKNOWN, Array, Capsule, Foreign, Host, Symbol, Value, Version
from shardlint.placement.evaluate import Evaluator
from shardlint.placement.execute import Executor
from shardlint.placement.functions import Functions
from shardlint.placement.guards import Guards, exists_on_target
from shardlint.placement.machine import Arguments, Code, Event, Frame, State
from shardlint.placement.table import Table
from shardlint.syntax.scopes import FunctionNode, Names, names_of, parameters
from shardlint.syntax.tree import Node, Tree

_VERSION_NAMES = frozenset({"jax.__version__", "jax.__version_info__", "jax.version.__version__", "jaxlib.__version__"})
_ARRAY_TYPES = frozenset({"Array", "ndarray", "Tensor", "DeviceArray"})
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException", "*"})


@dataclass(frozen=True, slots=True)
class Seen:
    """The hand-offs of a module, and the external names of which it would help to know what they mean."""

    events: tuple[Event, ...]
    questions: tuple[str, ...]


def hand_offs(tree: Tree, target: Target, table: Table, answers: Mapping[str, str]) -> Seen:
    """Every hand-off of a module, once for each different thing that reaches it.

    `answers` are the meanings of external names as the imports spell them: what looking into other modules has told.

    The module's body is run first. Then every function is run as somebody from outside would call it: with parameters of
    which only the annotations are known, and what the module has left behind around it.
    """
    program = _Program(table, target, answers)
    module: Frame | None = None
    state = State()
    for chunk in tree.chunks:
        frame = Frame(chunk, None, None, frozenset(), state)
        if module is None:
            module = frame
        module.chunk = chunk
        program.execute(chunk.body, module)
        module.state.alive = True
    if module is not None:
        program.visit(module)
    return Seen(tuple(program.events.values()), tuple(sorted(program.questions)))


@dataclass(eq=False)
class _Program:
    """The machine that the parts of the interpreter see."""

    table: Table
    target: Target
    answers: Mapping[str, str]
    questions: set[str] = field(default_factory=set[str])
    events: dict[Hashable, Event] = field(default_factory=dict[Hashable, Event])

    def __post_init__(self) -> None:
        self._evaluator = Evaluator(self)
        self._executor = Executor(self)
        self._guards = Guards(self)
        self._calls = Calls(self)
        self._functions = Functions(self)
        self._visited: set[Code] = set()
        self._names: dict[FunctionNode, Names] = {}

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

    def run(self, code: Code, closure: Frame, arguments: Arguments, node: Node, frame: Frame, *, traced: bool) -> Value:
        return self._functions.run(code, closure, arguments, node, frame, traced=traced)

    def record(self, event: Event) -> None:
        key = (event.place.node, event.consumer, event.value, event.count, event.handlers, event.version_guarded)
        self.events.setdefault(key, event)

    def ask(self, name: str) -> None:
        parts = name.split(".")
        self.questions.update(".".join(parts[:end]) for end in range(2, len(parts) + 1))

    def names(self, function: FunctionNode) -> Names:
        found = self._names.get(function)
        if found is None:
            found = self._names[function] = names_of(function)
        return found

    def canonical_symbol(self, name: str, node: Node, frame: Frame) -> Value:
        name = self.table.canonical(self.answers.get(name, name))
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
            if isinstance(node, ast.alias) and caught & _IMPORT_ERRORS and exists_on_target(self, name) is not True:
                return UNKNOWN
        return Symbol(name)

    def visit(self, frame: Frame) -> None:
        """Run what `frame` defined, and what that defines, as called from outside."""
        waiting = list(frame.defined)
        while waiting:
            code, closure = waiting.pop(0)
            if code in self._visited:
                continue
            self._visited.add(code)
            inner = self._from_outside(code, closure)
            waiting.extend(inner.defined)

    def _from_outside(self, code: Code, closure: Frame) -> Frame:
        names = self.names(code.node)
        state = State({}, {}, closure.state.mesh, closure.state.mesh_trace, closure.state.default)
        frame = Frame(code.chunk, code, closure, names.local, state, names.outer)
        for index, parameter in enumerate(parameters(code.node.args)):
            state.variables[parameter.arg] = self._annotated(parameter, ("parameter", code.node, index), closure)
        if isinstance(code.node, ast.Lambda):
            self.evaluate(code.node.body, frame)
        else:
            self.execute(code.node.body, frame)
        return frame

    def _annotated(self, parameter: ast.arg, key: Hashable, closure: Frame) -> Value:
        annotation = parameter.annotation
        if annotation is None:
            return UNKNOWN
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                annotation = ast.parse(annotation.value, mode="eval").body
            except (SyntaxError, ValueError, RecursionError):
                return UNKNOWN
        if not isinstance(annotation, ast.Name | ast.Attribute):
            return UNKNOWN
        match self.evaluate(annotation, closure):
            case Symbol("jax.Array" | "chex.Array"):
                return Array(None, key)
            case Symbol("numpy.ndarray"):
                return Host()
            case Symbol("torch.Tensor"):
                return Foreign("torch")
            case Symbol("types.CapsuleType"):
                return Capsule()
            case Symbol(name) if name.rpartition(".")[2] in _ARRAY_TYPES:
                self.ask(name)
                return UNKNOWN
            case _:
                return UNKNOWN
