"""What the statements of a module's own text bind its names to.

Only what stands there counts, so that a name is followed even where what it names is no longer installed.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from shardlint.syntax.chunks import cut
from shardlint.syntax.scopes import targets

_WORD = re.compile(r"[^\W\d]\w*")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Imported:
    """A dotted name of another module, as an import spells it; a relative one made absolute."""

    name: str


@dataclass(frozen=True, slots=True)
class Assigned:
    """The value of an expression, or the item at `index` of it."""

    value: ast.expr
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Declared:
    """A value of which the annotation tells more than the expression, if there is one."""

    annotation: ast.expr
    value: ast.expr | None = None


Way = Imported | Assigned | Declared | Definition | None
"""How a name may be bound. None is every way of which nothing can be said, and that it may not be bound at all."""


def bound_in(body: Iterable[ast.stmt], module: str, *, package: bool) -> Mapping[str, frozenset[Way]]:
    """The ways in which a body binds names; `module` is the dotted name of the module in which it stands, `package` tells
    whether that is the text of an `__init__` file. Each star import counts as an import of the name `*`.
    """
    found = _Collector(module, package)
    found.collect(body, sure=True)
    return found.frozen()


def bound_by(source: str, module: str, *, package: bool) -> Mapping[str, frozenset[Way]]:
    """The same of the text of a module; whatever a statement names that cannot be parsed, it may bind."""
    found = _Collector(module, package)
    for body in _statements(source):
        if isinstance(body, str):
            found.unreadable(body)
        else:
            found.collect(body, sure=True)
    return found.frozen()


@dataclass(eq=False)
class _Collector:
    module: str
    package: bool
    ways: defaultdict[str, set[Way]] = field(default_factory=lambda: defaultdict[str, set[Way]](set))

    def frozen(self) -> Mapping[str, frozenset[Way]]:
        return {name: frozenset(ways) for name, ways in self.ways.items()}

    def unreadable(self, source: str) -> None:
        for word in _WORD.findall(source):
            self.ways[word].add(None)

    def collect(self, body: Iterable[ast.stmt], *, sure: bool) -> None:
        """Take in the bindings of a body. `sure` tells that it surely runs to its end."""
        for statement in body:
            for name, way in self._bindings(statement):
                self.ways[name].update((way,) if sure else (way, None))
            for inner, certain in _inner(statement):
                self.collect(inner, sure=sure and certain)

    def _bindings(self, statement: ast.stmt) -> Iterator[tuple[str, Way]]:
        match statement:
            case ast.Import(names=names):
                for alias in names:
                    first = alias.name.partition(".")[0]
                    yield alias.asname or first, Imported(alias.name if alias.asname else first)
            case ast.ImportFrom(names=names):
                module = self._absolute(statement)
                for alias in names:
                    way = None if module is None else Imported(f"{module}.{alias.name}")
                    yield alias.asname or alias.name, way
            case ast.Assign(targets=[*assigned], value=value):
                for target in assigned:
                    yield from assignments(target, value)
            case ast.AnnAssign(target=target, annotation=annotation, value=ast.expr() as value):
                plain = isinstance(value, ast.Name | ast.Attribute)
                way: Way = Assigned(value) if plain else Declared(annotation, value)
                yield from ((name, way) for name in targets(target))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield statement.name, statement
                yield from _globals(statement)
            case ast.For() | ast.AsyncFor() | ast.AugAssign():
                yield from _otherwise((statement.target,))
            case ast.With() | ast.AsyncWith():
                yield from _otherwise(item.optional_vars for item in statement.items)
            case ast.Delete():
                yield from _otherwise(statement.targets)
            case ast.Match():
                yield from _captured(statement)
            case _ if type(statement).__name__ == "TypeAlias":  # Python 3.12
                yield from assignments(getattr(statement, "name"), getattr(statement, "value"))  # noqa: B009
            case _:
                pass

    def _absolute(self, node: ast.ImportFrom) -> str | None:
        """The module that a `from` import names, or None if it goes above the top-level package."""
        if not node.level:
            return node.module
        parts = self.module.split(".")
        kept = len(parts) - node.level + self.package
        base = ".".join(parts[:kept])
        if kept < 1:
            return None
        return f"{base}.{node.module}" if node.module else base


def assignments(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, Way]]:
    """What an assignment binds: a name to the value, the names of a tuple to its items."""
    match target:
        case ast.Name(id=name):
            yield name, Assigned(value)
        case ast.Tuple(elts=elements) | ast.List(elts=elements) if all(isinstance(one, ast.Name) for one in elements):
            for index, name in enumerate(targets(target)):
                yield name, Assigned(value, index)
        case _:
            yield from _otherwise((target,))


def _statements(source: str) -> Iterator[Sequence[ast.stmt] | str]:
    """The statements of a text; where it cannot be parsed as a whole, its parts: statements, or the text of a broken one."""
    whole = _parsed(source)
    if whole is not None:
        yield whole
        return
    for piece in cut(source):
        text = source[piece.start : piece.end]
        body = _parsed(text)
        yield text if body is None else body


def _parsed(source: str) -> Sequence[ast.stmt] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Python thinks of the escapes in somebody's strings is not asked
            return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _inner(statement: ast.stmt) -> Iterator[tuple[Sequence[ast.stmt], bool]]:
    """The bodies in a statement that share its names, each with whether it runs to its end if the statement does."""
    match statement:
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            yield from ((statement.body, True), (statement.orelse, True))
        case ast.Try() | ast.TryStar():
            # A handler that raises leaves no module behind in which the name is bound otherwise.
            certain = all(isinstance(handler.body[-1], ast.Raise) for handler in statement.handlers)
            yield from ((statement.body, certain), (statement.orelse, certain), (statement.finalbody, True))
            yield from ((handler.body, False) for handler in statement.handlers)
        case ast.With() | ast.AsyncWith():
            yield statement.body, True
        case ast.If() | ast.For() | ast.AsyncFor() | ast.While():
            yield from ((statement.body, False), (statement.orelse, False))
        case ast.Match():
            yield from ((case.body, False) for case in statement.cases)
        case _:
            pass


def _otherwise(bound: Iterable[ast.expr | None]) -> Iterator[tuple[str, None]]:
    yield from ((name, None) for target in bound if target is not None for name in targets(target))


def _globals(definition: ast.stmt) -> Iterator[tuple[str, None]]:
    """The module's names that the body of a definition may bind when it runs."""
    for node in ast.walk(definition):
        if isinstance(node, ast.Global):
            yield from ((name, None) for name in node.names)


def _captured(statement: ast.Match) -> Iterator[tuple[str, None]]:
    for case in statement.cases:
        for node in ast.walk(case.pattern):
            if isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
                yield node.name, None
            elif isinstance(node, ast.MatchMapping) and node.rest:
                yield node.rest, None
