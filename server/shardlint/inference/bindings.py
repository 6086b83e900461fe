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
from functools import cached_property

from shardlint.syntax.chunks import cut
from shardlint.syntax.scopes import targets

_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class _Dotted:
    """A dotted name as a statement spells it; with `own` its first part is a name of the module itself."""

    text: str
    own: bool


_Way = _Dotted | None
"""None is anything that has no other name."""


@dataclass(frozen=True)
class Module:
    """The text of a module. `name` is its dotted name, `package` tells whether the text is that of an `__init__` file."""

    name: str
    package: bool
    source: str

    def ways(self, name: str) -> frozenset[str | None]:
        """The dotted names to which `name` may be bound.

        None stands among them for every other way: a definition, a value that is no dotted name, or that nothing may be
        bound at all. There is none where no statement binds the name. What star imports bring is not looked into: each of
        them counts as an import of the name `*`.
        """
        return self._resolved(name, frozenset())

    def _resolved(self, name: str, following: frozenset[str]) -> frozenset[str | None]:
        ways = self._bound.get(name, frozenset[_Way]())
        return frozenset(self._meaning(way, following | {name}) for way in ways)

    def _meaning(self, way: _Way, following: frozenset[str]) -> str | None:
        if way is None or not way.own:
            return way and way.text
        head, dot, rest = way.text.partition(".")
        meanings = frozenset[str | None]() if head in following else self._resolved(head, following)
        if len(meanings) != 1:
            return None
        (meaning,) = meanings
        return meaning and meaning + dot + rest

    @cached_property
    def _bound(self) -> Mapping[str, frozenset[_Way]]:
        found = _Collector(self)
        for body in _statements(self.source):
            if isinstance(body, str):
                found.unreadable(body)
            else:
                found.collect(body, sure=True)
        return {name: frozenset(ways) for name, ways in found.ways.items()}

    def absolute(self, node: ast.ImportFrom) -> str | None:
        """The module that a `from` import names, or None if it goes above the top-level package."""
        if not node.level:
            return node.module
        parts = self.name.split(".")
        kept = len(parts) - node.level + self.package
        base = ".".join(parts[:kept])
        if kept < 1:
            return None
        return f"{base}.{node.module}" if node.module else base


@dataclass(eq=False)
class _Collector:
    module: Module
    ways: defaultdict[str, set[_Way]] = field(default_factory=lambda: defaultdict[str, set[_Way]](set))

    def unreadable(self, source: str) -> None:
        """Whatever a broken statement names, it may bind."""
        for word in _WORD.findall(source):
            self.ways[word].add(None)

    def collect(self, body: Iterable[ast.stmt], *, sure: bool) -> None:
        """Take in the bindings of a body. `sure` tells that it surely runs to its end."""
        for statement in body:
            for name, way in self._bindings(statement):
                self.ways[name].update((way,) if sure else (way, None))
            for inner, certain in _inner(statement):
                self.collect(inner, sure=sure and certain)

    def _bindings(self, statement: ast.stmt) -> Iterator[tuple[str, _Way]]:
        match statement:
            case ast.Import(names=names):
                for alias in names:
                    first = alias.name.partition(".")[0]
                    yield alias.asname or first, _Dotted(alias.name if alias.asname else first, own=False)
            case ast.ImportFrom(names=names):
                module = self.module.absolute(statement)
                for alias in names:
                    way = None if module is None else _Dotted(f"{module}.{alias.name}", own=False)
                    yield alias.asname or alias.name, way
            case ast.Assign(targets=[*assigned], value=value):
                for target in assigned:
                    yield from _assigned(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield from _assigned(target, value)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield statement.name, None
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
                yield from _assigned(getattr(statement, "name"), getattr(statement, "value"))  # noqa: B009
            case _:
                pass


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


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, _Way]]:
    dotted = _dotted(value) if isinstance(target, ast.Name) else None
    yield from ((name, None if dotted is None else _Dotted(dotted, own=True)) for name in targets(target))


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


def _dotted(value: ast.expr) -> str | None:
    match value:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=owner, attr=name):
            before = _dotted(owner)
            return before and f"{before}.{name}"
        case _:
            return None
