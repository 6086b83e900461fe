"""The interpreter put together: the machine that its parts see, for one check of one module."""

from __future__ import annotations

import ast
from collections.abc import Generator, Hashable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

from shardlint.model import Target
from shardlint.placement.answers import meant
from shardlint.placement.calls import Calls
from shardlint.placement.claiming import Assumed, Claiming
from shardlint.placement.definition import Definition
from shardlint.placement.domain import UNKNOWN, Function, Ids, Symbol, Transformed, Value, Version
from shardlint.placement.evaluate import Evaluator
from shardlint.placement.execute import Executor
from shardlint.placement.frame import Code, Frame
from shardlint.placement.functions import CROWDED, Functions
from shardlint.placement.guards import Guards
from shardlint.placement.journal import Entries, Entry, Items, Journal, add_entries
from shardlint.placement.lattice import each
from shardlint.placement.loading import Loading
from shardlint.placement.machine import Arguments, Event
from shardlint.placement.modules import Module, Modules, Watched
from shardlint.placement.outside import Outside, Units
from shardlint.placement.paths import beginnings, name_of
from shardlint.placement.probe import Probe, ProbedEvaluator, ProbedExecutor
from shardlint.placement.table import Table
from shardlint.syntax.scopes import FunctionNode, Names, names_of
from shardlint.syntax.tree import Node, Place

_VERSION_NAMES = frozenset(
    {
        "jax.__version__",
        "jax.__version_info__",
        "jax.version.__version__",
        "jax.version.__version_info__",
        "jaxlib.__version__",
    }
)
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException", "*"})


@dataclass(eq=False)
class Program:
    """The machine that the parts of the interpreter see."""

    table: Table
    target: Target
    answers: Mapping[str, str]
    main: Module
    modules: Modules
    matters: frozenset[FunctionNode]
    assumed: Assumed
    probe: Probe | None
    called: frozenset[int] = frozenset()
    journal: Journal = field(default_factory=Journal)
    news: dict[Definition, int] = field(default_factory=dict[Definition, int])

    def __post_init__(self) -> None:
        self._evaluator = Evaluator(self) if self.probe is None else ProbedEvaluator(self, self.probe)
        self._executor = Executor(self) if self.probe is None else ProbedExecutor(self, self.probe)
        self.claiming = Claiming(self.assumed, lambda: self.at_home)
        self._guards = Guards(self)
        self._calls = Calls(self)
        self._functions = Functions(self)
        self._watched = Watched(self.modules)
        self._loading = Loading(self, self._watched, self.main)
        self._restless: set[tuple[Frame, Hashable]] = set()
        self._defined: list[Function] = []
        self._definitions: dict[tuple[ast.ClassDef | ast.Call, Frame, str], Definition] = {}
        self._traced: Entries = {}
        self._names: dict[FunctionNode, Names] = {}
        self._numbers = count()
        self._units: Units = {}
        self._upset = False

    def is_like(self, later: Program) -> bool:
        """Whether nothing but the text of functions and statements is another in a later program."""
        mine, other = self.main, later.main
        return (
            self.table is later.table
            and not self._loading.depends_on_main
            and all((later.modules.find(one) is None) == (was is None) for one, was in self._watched.found.items())
            and (mine.name, mine.path, mine.is_package) == (other.name, other.path, other.is_package)
            and self.target == later.target
            and self.answers == later.answers
            and mine.outline.imports == other.outline.imports
            and mine.outline.stars == other.outline.stars
            and mine.survey.assigned == other.survey.assigned
            and not (other.claims.by_node or later.assumed.inside or later.assumed.outside)
        )

    def continue_from(self, before: Program) -> None:
        """Take over what an earlier program has found out."""
        self._numbers, self._names, self._units = before._numbers, before._names, before._units
        self._loading = before._loading.continue_with(self, self._watched, self.main)
        for module in self._loading.modules_kept:
            self.claiming.load(module)
        main, chunks = self._loading.main_frame, self._loading.chunks
        for (node, frame, name), definition in before._definitions.items():
            if frame.module in self._loading.frames and definition.place.chunk in chunks:
                self._definitions[node, frame, name] = definition
                if frame is main:
                    definition.begin()
                else:
                    definition.held.clear()

    def run_all(self) -> None:
        """Run the module, then the functions in it that nothing has called."""
        self._loading.run_main()
        functions = self._functions
        chunks, modules = self._loading.chunks, self._loading.kept
        outside = Outside(
            self,
            self.main,
            chunks,
            modules,
            self._defined,
            functions,
            self._traced,
            self.matters,
            self.called,
            self.news,
            self._units,
        )
        outside.visit()
        self._units = outside.units

    @property
    def loaded(self) -> tuple[Module, ...]:
        """The modules that were looked into."""
        return (self.main, *self._loading.named(sorted(self.journal.whole().loaded)))

    @property
    def called_elsewhere(self) -> tuple[Place, ...]:
        """The functions of other modules that were called."""
        codes = {function.code for function in self._defined if isinstance(function.code, Code)}
        mine = self.main.chunks
        return tuple(code.place for code in codes if code.node in self._functions.called and code.chunk not in mine)

    @property
    def is_crowded(self) -> bool:
        """Whether so many ways to call a function were seen that less was told apart."""
        return any(len(contexts) >= CROWDED for contexts in self._functions.contexts.values())

    @property
    def lasts(self) -> bool:
        """Whether what was found out may be used again."""
        restless = any(definition.restless for definition in self._definitions.values())
        claims = self.assumed.inside or self.assumed.outside or self.main.claims.by_node  # they may stand in any text
        return not claims and not self._upset and not self._restless and not restless and not self.is_crowded

    @contextmanager
    def noting(self, journal: Journal) -> Generator[None]:
        before, self.journal = self.journal, journal
        try:
            yield
        finally:
            self.journal = before

    def upset(self) -> None:
        self._upset = True

    def keep(self, definition: Definition, items: Items) -> None:
        self.journal.notes.kept.setdefault((definition, items))
        for one in definition.order():
            if one.keep(items):
                self.news[one] = self.news.get(one, 0) + 1

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        return self._evaluator.evaluate(node, frame)

    def entered(self, code: Code, frame: Frame) -> None:
        if self.probe is not None:
            self.probe.entered(code, frame)

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
        known = self._definitions.get((node, frame, name))
        if known is None:
            known = self._definitions[node, frame, name] = Definition(name, frame.place(node))
        if known not in frame.definitions:
            frame.definitions.append(known)
        return known

    def define(self, function: Function) -> None:
        self._defined.append(function)
        self.journal.notes.defined.setdefault(function)

    def traces(self, function: Value, how: Transformed, node: Node, frame: Frame) -> None:
        if frame.turn:
            return  # one item of several, of which conditions may leave out some
        if isinstance(function, Function) and isinstance(function.code, Code):
            for entries in (self._traced, self.journal.notes.traced):
                add_entries(entries, {function.code.node: [Entry(how, frame.place(node))]})

    def record(self, event: Event) -> None:
        if not self.at_home:
            return
        key = (
            event.place.node,
            event.protocol,
            event.consumer,
            event.value,
            event.count,
            event.handlers,
            event.version_guarded,
            event.mixed,
        )
        self.journal.notes.events.setdefault(key, event)
        self.journal.entered = self.journal.entered or event.entry is not None

    def ask(self, name: str) -> None:
        self.journal.asked.update(beginnings(name))

    def meaning(self, path: str, node: Node, frame: Frame) -> Value | None:
        answer = self.answers.get(path)
        return None if answer is None else meant(answer, path, node, frame, self)

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
        found = self._watched.find(module)
        if found is not None:
            own = self.module_of(frame)
            names = [name for name in sorted(found.outline.public) if not self._loading.comes_from(own, module, name)]
            return [(name, Symbol(self.table.canonical(self._loading.given_on(f"{module}.{name}")))) for name in names]
        names = self.table.names_in(module, self.target.versions)
        return [(name, self.canonical_symbol(full, node, frame)) for name, full in names.items()]

    def canonical_symbol(self, name: str, node: Node, frame: Frame) -> Value:
        name = self._loading.given_on(name)
        answer = self.answers.get(name)
        if answer is not None and name_of(answer) != answer:
            known = (
                None
                if name.rpartition(".")[2] in self.module_of(frame).survey.assigned
                else self.meaning(name, node, frame)
            )
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
            if caught & _IMPORT_ERRORS and exists is not True and (exists is False or isinstance(node, ast.alias)):
                frame.may_raise()
                frame.state.alive = exists is None
                return UNKNOWN
        return Symbol(name)
