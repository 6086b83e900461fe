"""The process that asks jedi what dotted names mean. Nothing that it reads is imported or run by it.

`process` starts it without `site` and without the folders of any environment, so that jedi, which imports compiled
modules, can import those of the standard library alone; `seal` sees to that and to the rest from below.

A request is a line of JSON on stdin: `{"roots": [folder...], "names": [dotted name...]}`. The answer is a line for each
name, in no order: `{"name", "meaning", "seen"}`, or `{"name", "failed"}` with the defect of jedi's as a clause, and
`{"done": true}` at the end. `meaning` is null where the name has no other. `seen` holds the files that the answer depends on,
each with its stamp: size and time of change in nanoseconds, or null for a file that is not there.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import sys
import threading
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import jedi
from jedi import settings
from jedi.api.environment import InterpreterEnvironment

from shardlint.inference.bindings import Module
from shardlint.inference.seal import seal
from shardlint.inference.store import Stamp, stamp
from shardlint.inference.vocabulary import Vocabulary, load

_LONGEST_WAY = 16
"""So many names may one lead through; a name that is made of itself leads through ever more."""


def main(own: Sequence[str], trees: str, spare: str) -> None:
    """Answer requests until stdin ends.

    `own` are the folders, at the end of `sys.path`, that this program comes from. jedi keeps its syntax trees in the folder
    `trees`, and once that has failed in `spare`.
    """
    sys.path[:] = [folder for folder in sys.path if folder not in own]
    settings.cache_directory = Path(trees)
    settings.auto_import_modules = []
    vocabulary = load()
    seal(sys.path, [Path(folder, name) for folder in own for name in ("jedi", "parso", "shardlint")])
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="ascii")
    sys.stdout = sys.stderr  # what a library may print is no answer
    search = Search(Path.cwd(), vocabulary, Path(spare))
    for request in _requests():
        for answer in search.answers(request["roots"], request["names"]):
            _tell(out, answer)
        _tell(out, {"done": True})


@dataclass(frozen=True, slots=True)
class Place:
    """A file, and the module that it is or, of a name, in which it lies. There is no file for compiled modules and namespaces."""

    file: str | None
    module: str


@dataclass(eq=False)
class _Way:
    """How far a name has been followed: the names that it led through, and what was looked at."""

    names: list[str]
    seen: dict[str, Stamp] = field(default_factory=dict[str, Stamp])


class Search:
    """Follows names. `folder` is empty: what jedi takes for the project; `spare` is as in `main`."""

    def __init__(self, folder: Path, vocabulary: Vocabulary, spare: Path) -> None:
        self._folder = folder
        self._vocabulary = vocabulary
        self._trees = settings.cache_directory
        self._spare = spare
        self._tried_again: str | None = None

    def answers(self, roots: Sequence[str], names: Sequence[str]) -> Iterator[dict[str, Any]]:
        """The answer to each of the names, as soon as it is known."""
        ways = {name: _Way([name]) for name in names}
        while ways:
            probe = Probe(roots, [way.names[-1] for way in ways.values()], self._folder)
            for name, way in tuple(ways.items()):
                try:
                    link = _Step(probe, way).link()
                except Exception as error:  # noqa: BLE001 - a defect of jedi's costs one answer
                    if settings.cache_directory != self._spare:
                        settings.cache_directory = self._spare
                        self._tried_again = name
                        break
                    del ways[name]
                    yield {"name": name, "failed": f"{type(error).__name__}: {error}"}
                    continue
                if link is not None and link not in way.names:
                    way.names.append(link)
                    if len(way.names) > _LONGEST_WAY:
                        del way.names[1:]
                    elif not self._vocabulary.knows(link):
                        continue
                del ways[name]
                if name == self._tried_again:
                    # A process that was ended while it wrote left a file behind on which jedi would fail for ever.
                    shutil.rmtree(self._trees, ignore_errors=True)
                yield {"name": name, "meaning": way.names[-1] if len(way.names) > 1 else None, "seen": way.seen}


class Probe:
    """A text with an import and a line for every module and name that may be asked for, and jedi's view of it."""

    def __init__(self, roots: Sequence[str], names: Iterable[str], folder: Path) -> None:
        self.roots = roots
        self._project: Any = jedi.Project(
            folder, added_sys_path=roots, smart_sys_path=False, load_unsafe_extensions=False
        )
        self._line: dict[str, int] = {}
        self._script: Any = None
        self._sources: dict[Place, tuple[Module, Stamp]] = {}
        self.take_in(names)

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
        return _only(self._script.goto(self._line[name], len(f"import {name}"), follow_imports=True))

    def bindings(self, name: str) -> Sequence[Any]:
        """Where the name is bound, as jedi tells it; nowhere if there is none of this name."""
        return self._script.goto(self._line[name] + 1, len(name))

    def source(self, place: Place) -> tuple[Module, Stamp]:
        """The text of the module in which the place is, empty where there is none to read, and the stamp of its file."""
        if place not in self._sources:
            text, found = read(place.file) if place.file else ("", None)
            self._sources[place] = Module(place.module, Path(place.file or "").stem == "__init__", text), found
        return self._sources[place]


class _Step:
    """One step on the way of a name: from the module that it is asked of to the one that this module has it from."""

    def __init__(self, probe: Probe, way: _Way) -> None:
        self._probe = probe
        self._way = way

    def link(self) -> str | None:
        """The name that the last one on the way was made from, or None if it was made from none, or that is not known."""
        parts = self._way.names[-1].split(".")
        for end in range(1, len(parts)):
            owner = ".".join(parts[:end])
            self._look_for(owner)
            place = self._probe.module(owner)
            if place is None:
                return None
            whole = f"{owner}.{parts[end]}"
            ways = self._ways(place, parts[end]) - {whole}  # a package may import its own module
            if not ways:
                self._look_for(whole)
                if self._probe.module(whole) is not None:
                    continue
                ways = self._brought(place, parts[end])
            if len(ways) != 1:
                return None
            (way,) = ways
            return way and ".".join((way, *parts[end + 1 :]))
        return None

    def _brought(self, place: Place, name: str) -> frozenset[str | None]:
        """The ways of a name that no statement of the module's file binds: star imports, or what the module's stub says."""
        stars = self._ways(place, "*")
        if not stars:
            stub = _only(self._probe.bindings(f"{place.module}.{name}"))
            return self._ways(stub, name) if stub is not None else frozenset()
        brought: set[str | None] = set()
        for star in stars:
            if star is None:
                return frozenset()
            module = star.removesuffix(".*")
            self._look_for(module)
            self._probe.take_in((f"{module}.{name}",))
            if self._probe.module(module) is None:
                return frozenset()  # nobody can tell what it brings
            if self._probe.bindings(f"{module}.{name}"):
                brought.add(f"{module}.{name}")
        return frozenset(brought)

    def _ways(self, place: Place, name: str) -> frozenset[str | None]:
        module, found = self._probe.source(place)
        if place.file is not None:
            self._way.seen[place.file] = found
        return module.ways(name)

    def _look_for(self, module: str) -> None:
        """Note the files in which the module would be found first."""
        first = module.partition(".")[0]
        for root in self._probe.roots:
            if module == first or os.path.isdir(os.path.join(root, first)):  # noqa: PTH112,PTH118 - done a thousand times
                path = os.path.join(root, *module.split("."))  # noqa: PTH118
                for file in (f"{path}.py", os.path.join(path, "__init__.py")):  # noqa: PTH118
                    self._way.seen.setdefault(file, stamp(file))


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


def _only(found: Sequence[Any]) -> Place | None:
    """The place of jedi's names if they are in one."""
    places = {Place(None if name.module_path is None else str(name.module_path), name.module_name) for name in found}
    return places.pop() if len(places) == 1 else None


def _requests() -> Iterator[dict[str, Any]]:
    """The requests as they come. When stdin ends, so does the process, whatever jedi is at: nobody waits for it any more."""
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def receive() -> None:
        for line in sys.stdin:
            lines.put(line)
        os._exit(0)

    threading.Thread(target=receive, daemon=True).start()
    while True:
        yield json.loads(lines.get())


def _tell(out: Any, data: dict[str, Any]) -> None:
    out.write(json.dumps(data) + "\n")
    out.flush()
