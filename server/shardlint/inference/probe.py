"""jedi's view of some folders: where modules are, what their texts are, and on which files that depends."""

from __future__ import annotations

import os
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import jedi
from jedi.api.environment import InterpreterEnvironment

from shardlint.inference.bindings import Way, bound_by
from shardlint.inference.scopes import Module, Scope
from shardlint.inference.store import Stamp, stamp
from shardlint.inference.vocabulary import Vocabulary

Bound = Mapping[str, frozenset[Way]]
_MOST_MODULES = 256


@dataclass(frozen=True, slots=True)
class Place:
    """A file, and the module that it is or, of a name, in which it lies. There is no file for compiled modules and namespaces."""

    file: str | None
    module: str


class Bindings:
    """What modules bind, read once for as long as their files are as they were."""

    def __init__(self) -> None:
        self._kept: dict[Place, tuple[Bound, Stamp]] = {}

    def of(self, place: Place, package: bool) -> tuple[Bound, Stamp]:
        """What the module at a place binds, and the stamp of its file."""
        if place.file is None:
            return {}, None
        kept = self._kept.get(place)
        if kept is not None and kept[1] == stamp(place.file):
            return kept
        text, found = read(place.file)
        if len(self._kept) >= _MOST_MODULES:
            self._kept.clear()
        self._kept[place] = bound_by(text, place.module, package=package), found
        return self._kept[place]


class Probe:
    """A text with an import and a line for every module and name that may be asked for, and jedi's view of it.

    `seen` is where the files are noted that are looked at, and those in which a module would be found first.
    """

    def __init__(self, roots: Sequence[str], folder: Path, vocabulary: Vocabulary, bindings: Bindings) -> None:
        self.seen: dict[str, Stamp] = {}
        self._roots = roots
        self._vocabulary = vocabulary
        self._bindings = bindings
        self._project: Any = jedi.Project(
            folder, added_sys_path=roots, smart_sys_path=False, load_unsafe_extensions=False
        )
        self._line: dict[str, int] = {}
        self._script: Any = None
        self._sources: dict[Place, tuple[Module, Stamp]] = {}
        self._places: dict[str, Place | None] = {}

    def take_in(self, names: Iterable[str]) -> None:
        """Make names ready to be asked for."""
        known = len(self._line)
        for name in names:
            for prefix in prefixes(name):
                self._line.setdefault(prefix, 2 * len(self._line) + 1)
        if len(self._line) > known:
            text = "".join(f"import {name}\n{name}\n" for name in self._line)
            self._script = jedi.Script(text, project=self._project, environment=InterpreterEnvironment())

    def module(self, name: str) -> Place | None:
        """Where the module is, if there is one of this name."""
        self._look_for(name)
        if name not in self._places:
            found = self._script.goto(self._line[name], len(f"import {name}"), follow_imports=True)
            self._places[name] = only(found)
        return self._places[name]

    def bindings(self, name: str) -> Sequence[Any]:
        """Where the name is bound, as jedi tells it; nowhere if there is none of this name."""
        return self._script.goto(self._line[name] + 1, len(name))

    def source(self, place: Place) -> Module:
        """What the module in which the place is says of its names; nothing where there is no text to read."""
        if place not in self._sources:
            package = Path(place.file or "").stem == "__init__"
            bound, found = self._bindings.of(place, package)
            scope = Scope(place.module, bound, self._vocabulary.table, self.find, package)
            self._sources[place] = Module(scope), found
        module, found = self._sources[place]
        if place.file is not None:
            self.seen[place.file] = found
        return module

    def find(self, name: str) -> tuple[Scope, str] | None:
        """The module in which a dotted name is bound, and its name there; None for one that the table knows, or nobody."""
        parts = name.split(".")
        if len(parts) < 2 or self._vocabulary.knows(name):
            return None
        self.take_in((name,))
        for end in range(1, len(parts)):
            place = self.module(".".join(parts[:end]))
            if place is None:
                return None
            scope = self.source(place).scope
            if parts[end] in scope.bound:
                return (scope, parts[end]) if end == len(parts) - 1 else None
        return None

    def _look_for(self, module: str) -> None:
        """Note the files in which the module would be found first."""
        first = module.partition(".")[0]
        for root in self._roots:
            if module == first or os.path.isdir(os.path.join(root, first)):  # noqa: PTH112,PTH118 - done a thousand times
                path = os.path.join(root, *module.split("."))  # noqa: PTH118
                for file in (f"{path}.py", os.path.join(path, "__init__.py")):  # noqa: PTH118
                    self.seen.setdefault(file, stamp(file))


def prefixes(name: str) -> Iterator[str]:
    """`a`, `a.b` and `a.b.c` of `a.b.c`."""
    parts = name.split(".")
    yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))


def read(file: str) -> tuple[str, Stamp]:
    """The text of a Python file, empty if it cannot be read, and the stamp of what was read."""
    found = stamp(file)  # before the text is read: a change in between makes it look old, which is harmless
    try:
        raw = Path(file).read_bytes()
        encoding, _ = tokenize.detect_encoding(BytesIO(raw).readline)
        return raw.decode(encoding), found
    except (OSError, SyntaxError, LookupError, UnicodeError):
        return "", found


def only(found: Sequence[Any]) -> Place | None:
    """The place of jedi's names if they are in one."""
    places = {Place(None if name.module_path is None else str(name.module_path), name.module_name) for name in found}
    return places.pop() if len(places) == 1 else None
