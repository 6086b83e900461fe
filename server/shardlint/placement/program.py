"""The interpreter put together: the hand-offs of one module."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from shardlint.model import Target
from shardlint.placement.calls import Calls
from shardlint.placement.definition import Definition
from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Capsule,
    Class,
    Foreign,
    Function,
    Host,
    Ids,
    Symbol,
    Transformed,
    Value,
    Version,
)
from shardlint.placement.evaluate import Evaluator
from shardlint.placement.execute import Executor
from shardlint.placement.frame import Code, Frame
from shardlint.placement.functions import Functions
from shardlint.placement.guards import Guards
from shardlint.placement.handoffs import TELLING_NAMES
from shardlint.placement.lattice import each
from shardlint.placement.loading import Loading
from shardlint.placement.machine import Arguments, Event
from shardlint.placement.modules import Module, Modules
from shardlint.placement.objects import typical
from shardlint.placement.outside import Entry, Outside
from shardlint.placement.reach import Reaches
from shardlint.placement.table import Table
from shardlint.syntax.scopes import FunctionNode, Names, names_of
from shardlint.syntax.tree import Node

_KNOWN = ("jax.", "jaxlib.")
_VERSION_NAMES = frozenset(
    {
        "jax.__version__",
        "jax.__version_info__",
        "jax.version.__version__",
        "jax.version.__version_info__",
        "jaxlib.__version__",
    }
)
_ARRAY_TYPES = frozenset({"Array", "ndarray", "Tensor", "DeviceArray"})
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException", "*"})


@dataclass(frozen=True, slots=True)
class Seen:
    """The hand-offs of a module and those of others to which its own calls lead, the external names of which it would help to know
    what they mean, and all modules that were looked into.
    """

    events: tuple[Event, ...]
    questions: tuple[str, ...]
    modules: tuple[Module, ...]


def hand_offs(module: Module, modules: Modules, target: Target, table: Table, answers: Mapping[str, str]) -> Seen:
    """Every hand-off of a module, once for each different thing that reaches it.

    `modules` are the workspace around it. `answers` are the meanings of external names as the imports spell them: what looking into
    other packages has told.

    The module's body is run first. Then every function that nothing has called is run as somebody from outside would call it:
    with parameters of which only the annotations are known, and what the module has left behind around it.
    """
    found = Reaches(modules, lambda name: _matters(name, table, answers)).of(module)
    if not found.anything:
        return Seen((), (), (module,))
    program = _Program(table, target, answers, module, modules, found.functions)
    program.run_all()
    return Seen(tuple(program.events.values()), tuple(sorted(program.questions)), program.loaded)


def _matters(name: str, table: Table, answers: Mapping[str, str]) -> bool:
    """Whether something that is called so may be a hand-off, or a name that some JAX does not have."""
    last = name.rpartition(".")[2]
    if name.startswith("?."):
        return last in TELLING_NAMES or f"jax.Array.{last}" in table.consumers
    name = table.canonical(answers.get(name, name))
    if name in table.consumers or name in table.timeline:
        return True
    if name.startswith("builtins."):
        return False
    return last in table.telling and not name.startswith(_KNOWN) and table.effect(name) is None


@dataclass(eq=False)
class _Program:
    """The machine that the parts of the interpreter see."""

    table: Table
    target: Target
    answers: Mapping[str, str]
    main: Module
    modules: Modules
    matters: frozenset[FunctionNode]
    questions: set[str] = field(default_factory=set[str])
    events: dict[Hashable, Event] = field(default_factory=dict[Hashable, Event])

    def __post_init__(self) -> None:
        self._evaluator = Evaluator(self)
        self._executor = Executor(self)
        self._guards = Guards(self)
        self._calls = Calls(self)
        self._functions = Functions(self)
        self._loading = Loading(self, self.modules, self.main, self.table.libraries)
        self._restless: set[tuple[Frame, Hashable]] = set()
        self._defined: list[Function] = []
        self._definitions: dict[tuple[ast.ClassDef | ast.Call, Frame], Definition] = {}
        self._traced: dict[FunctionNode, list[Entry]] = {}
        self._names: dict[FunctionNode, Names] = {}
        self._numbers = count()

    def run_all(self) -> None:
        """Run the module, then the functions in it that nothing has called."""
        self._loading.run_main()
        called = self._functions.called
        Outside(self, self.main, self._defined, called, self._traced, self.matters, self._annotated).visit()

    @property
    def loaded(self) -> tuple[Module, ...]:
        return self._loading.loaded

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

    def run(self, function: Function, arguments: Arguments, node: Node, frame: Frame) -> Value:
        return self._functions.run(function, arguments, node, frame)

    def definition(self, node: ast.ClassDef | ast.Call, name: str, frame: Frame) -> Definition:
        known = self._definitions.get((node, frame))
        if known is None:
            known = self._definitions[node, frame] = Definition(name, frame.place(node))
            frame.definitions.append(known)
        return known

    def define(self, function: Function) -> None:
        self._defined.append(function)

    def traces(self, function: Value, how: Transformed, node: Node, frame: Frame) -> None:
        if isinstance(function, Function) and isinstance(function.code, Code):
            known = self._traced.setdefault(function.code.node, [])
            if all(one.how.how != how.how or one.how.static != how.static for one in known):
                known.append(Entry(how, frame.place(node)))

    def record(self, event: Event) -> None:
        if not self.at_home:
            return
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
        parts = name.split(".")
        self.questions.update(".".join(parts[:end]) for end in range(2, len(parts) + 1))

    def names(self, function: FunctionNode) -> Names:
        found = self._names.get(function)
        if found is None:
            found = self._names[function] = names_of(function)
        return found

    def steady(self, frame: Frame, name: Hashable) -> bool:
        known = frame.enclosing is None and name in self.module_of(frame).survey.steady
        return known and (frame, name) not in self._restless

    def new_ids(self) -> Ids:
        return frozenset((next(self._numbers),))

    @property
    def at_home(self) -> bool:
        return not self._loading.running

    def imported(self, value: Value, node: Node, frame: Frame) -> Value:
        def of(one: Value) -> Value:
            meaning = self._loading.meaning(one.name, node, frame) if isinstance(one, Symbol) else None
            return one if meaning is None else meaning

        return each(value, of)

    def as_of_now(self, value: Value, node: Node, frame: Frame) -> Value:
        changes = isinstance(value, Symbol) and self._loading.changes(value.name)
        return self.imported(value, node, frame) if changes else value

    def member(self, module: str, name: str, node: Node, frame: Frame) -> Value:
        return self._loading.member(module, name, node, frame)

    def set_member(self, module: str, name: str, value: Value, frame: Frame) -> None:
        target = self._loading.frame_of(module)
        if target is not None:
            if self.steady(target, name):
                self._restless.add((target, name))
                self._functions.forget()
            frame.assign(target, name, value)

    def module_of(self, frame: Frame) -> Module:
        return self._loading.module_of(frame)

    def everything(self, module: str, node: ast.alias, frame: Frame) -> Iterable[tuple[str, Value]]:
        found = self.modules.find(module) if module.partition(".")[0] not in self.table.libraries else None
        if found is not None:
            return [(name, Symbol(f"{module}.{name}")) for name in sorted(found.outline.public)]
        names = self.table.names_in(module, self.target.versions)
        return [(name, self.canonical_symbol(full, node, frame)) for name, full in names.items()]

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
            exists = self.table.exists(name, self.target.versions)
            if caught & _IMPORT_ERRORS and exists is not True and (exists is False or isinstance(node, ast.alias)):
                frame.may_raise()
                frame.state.alive = exists is None
                return UNKNOWN
        return Symbol(name)

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
            case Class(definition):
                return typical(definition, key)
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
