"""The modules of the workspace, as imports reach them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from shardlint.placement.outline import Outline, outline
from shardlint.placement.survey import Survey, survey
from shardlint.syntax.claims import Claims, claims
from shardlint.syntax.scopes import FunctionNode
from shardlint.syntax.tree import Chunk, Tree

_MOST_HOPS = 8


@dataclass(eq=False)
class Module:
    """A module under its dotted name, with the path that findings in it carry. What a look at its text tells is kept with it, and
    taken over from a version `before` where that is the same.
    """

    name: str
    path: str
    tree: Tree
    is_package: bool = False
    before: Module | None = field(default=None, repr=False)

    def forget(self) -> Module:
        """The module, once it is known what is new in it."""
        _ = self.outline, self.survey
        self.before = None
        return self

    @property
    def package(self) -> str:
        """The package against which its relative imports are meant; empty outside of packages."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    @cached_property
    def outline(self) -> Outline:
        return outline(self.tree, self.package, None if self.before is None else self.before.outline)

    @cached_property
    def knows_jax(self) -> bool:
        """Whether it imports something of JAX itself."""
        return any(name.partition(".")[0] == "jax" for name in self.outline.imports.values())

    @cached_property
    def survey(self) -> Survey:
        return survey(self.tree, None if self.before is None else self.before.survey)

    @cached_property
    def claims(self) -> Claims:
        return claims(self.tree)

    @cached_property
    def chunks(self) -> frozenset[Chunk]:
        return frozenset(self.tree.chunks)


@dataclass(frozen=True, slots=True)
class Reach:
    """The functions that matter, the names by which another module reaches what matters here, and whether anything does."""

    functions: frozenset[FunctionNode]
    names: frozenset[str]
    anything: bool


class Modules(Protocol):
    """Finds modules of the workspace; the same answer for the same name as long as it lasts. `reaches` keeps what was found out
    of them, for one set of rules.
    """

    @property
    def reaches(self) -> dict[Module, Reach]: ...

    def find(self, name: str, /) -> Module | None:
        """The module of this dotted name, None if the workspace has none."""
        ...


@dataclass(frozen=True)
class Own:
    """A workspace without what bears the name of a library that the tables know: there the tables are believed, also in a clone of
    that library.
    """

    modules: Modules
    libraries: frozenset[str]

    @property
    def reaches(self) -> dict[Module, Reach]:
        return self.modules.reaches

    def find(self, name: str, /) -> Module | None:
        """The module of this dotted name, None if the workspace has none."""
        return None if name.partition(".")[0] in self.libraries else self.modules.find(name)


@dataclass(eq=False)
class Watched:
    """Modules that remember what was asked for, and what was found."""

    modules: Modules
    found: dict[str, Module | None] = field(default_factory=dict[str, "Module | None"])

    @property
    def reaches(self) -> dict[Module, Reach]:
        return self.modules.reaches

    def find(self, name: str, /) -> Module | None:
        """The module of this dotted name, None if the workspace has none."""
        if name not in self.found:
            self.found[name] = self.modules.find(name)
        return self.found[name]


class NoModules:
    """A file on its own."""

    def __init__(self) -> None:
        self.reaches: dict[Module, Reach] = {}

    def find(self, _name: str, /) -> Module | None:
        return None


def split(name: str, modules: Modules) -> tuple[Module, str] | None:
    """The module in which a dotted name lies, and the rest of the name in it; None for what is not of the workspace."""
    if modules.find(name.partition(".")[0]) is None:
        return None
    head, rest = name, ""
    while head:
        found = modules.find(head)
        if found is not None:
            return found, rest
        head, _, last = head.rpartition(".")
        rest = f"{last}.{rest}" if rest else last
    return None


def origin(name: str, modules: Modules) -> tuple[Module, str] | None:
    """The same, followed through what modules import from each other only to give it on."""
    found = split(name, modules)
    for _ in range(_MOST_HOPS):
        if found is None:
            return None
        module, rest = found
        first, _, more = rest.partition(".")
        given_on = _given_on(first, module, modules)
        further = None if given_on is None else split(f"{given_on}.{more}" if more else given_on, modules)
        if further is None or further == found:
            return found
        found = further
    return found


def _given_on(name: str, module: Module, modules: Modules) -> str | None:
    """The full name of what a module imports under a name, with all else of another module where it takes everything."""
    known = module.outline
    if name in known.imports or name in known.defines or not name:
        return known.imports.get(name)
    for star in known.stars:
        found = modules.find(star)
        if found is not None and (name in found.outline.defines or name in found.outline.imports):
            return f"{star}.{name}"
    return None


def imported(module: Module, modules: Modules) -> Iterator[Module]:
    """The modules of the workspace that a module imports from, those behind what they give on included."""
    seen: set[Module] = set()
    for target in (*module.outline.imports.values(), *module.outline.stars):
        for found in (split(target, modules), origin(target, modules)):
            if found is not None and found[0] not in seen:
                seen.add(found[0])
                yield found[0]
