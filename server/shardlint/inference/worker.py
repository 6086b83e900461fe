"""The process that asks jedi what paths mean (`placement.paths`). Nothing that it reads is imported or run by it.

`process` starts it without `site` and without the folders of any environment, so that jedi, which imports compiled
modules, can import those of the standard library alone; `seal` sees to that and to the rest from below.

A request is a line of JSON on stdin: `{"roots": [folder...], "names": [path...]}`. The answer is a line for each
name, in no order: `{"name", "meaning", "seen"}`, or `{"name", "failed"}` with the defect of jedi's as a clause, and
`{"done": true}` at the end. `meaning` is null where nothing else leads there. `seen` holds the files that the answer depends on,
each with its stamp: size and time of change in nanoseconds, or null for a file that is not there.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jedi import settings

from shardlint.inference.objects import defined
from shardlint.inference.probe import Bindings, Place, Probe, only
from shardlint.inference.scopes import Rest
from shardlint.inference.seal import seal
from shardlint.inference.store import Stamp
from shardlint.inference.vocabulary import Vocabulary, load
from shardlint.placement.paths import name_of, steps_of

_LONGEST_WAY = 24
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
        self._bindings = Bindings()

    def _probe(self, roots: Sequence[str]) -> Probe:
        return Probe(roots, self._folder, self._vocabulary, self._bindings)

    def answers(self, roots: Sequence[str], names: Sequence[str]) -> Iterator[dict[str, Any]]:
        """The answer to each of the names, as soon as it is known."""
        ways = {name: _Way([name]) for name in names}
        probe = self._probe(roots)
        while ways:
            probe.take_in(name_of(way.names[-1]) for way in ways.values())
            for name, way in tuple(ways.items()):
                try:
                    link = _Step(probe, way).link()
                except Exception as error:  # noqa: BLE001 - a defect of jedi's costs one answer
                    if settings.cache_directory != self._spare:
                        settings.cache_directory = self._spare
                        self._tried_again = name
                        probe = self._probe(roots)
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


class _Step:
    """One step on the way of a name: from the module that it is asked of to the one that this module has it from."""

    def __init__(self, probe: Probe, way: _Way) -> None:
        self._probe = probe
        self._way = way
        probe.seen = way.seen

    def link(self) -> str | None:
        """The path that the last one on the way was made from, or None if it was made from none, or that is not known."""
        path = self._way.names[-1]
        parts = name_of(path).split(".")
        behind = steps_of(path)[len(parts) :]
        if name_of(path) + "".join(behind) != path:
            return None  # it has grown too long to be followed
        for end in range(1, len(parts)):
            owner = ".".join(parts[:end])
            place = self._probe.module(owner)
            if place is None:
                return None
            name, rest = parts[end], (*(f".{part}" for part in parts[end + 1 :]), *behind)
            whole = f"{owner}.{name}"
            ways = self._ways(place, name, rest) - {whole + "".join(rest)}  # a package may import its own module
            if not ways:
                if self._probe.module(whole) is not None:
                    continue
                place = self._stub(place, name) or place
                ways = self._ways(place, name, rest) or self._brought(place, name, rest)
            if len(ways) != 1:
                return None
            (way,) = ways
            return way or self._defined(place, name, rest)
        return None

    def _defined(self, place: Place, name: str, rest: Rest) -> str | None:
        module = self._probe.source(place)
        definition = module.definition(name)
        return None if definition is None else defined(definition, module, rest)

    def _stub(self, place: Place, name: str) -> Place | None:
        """The stub of a module that says nothing of a name itself, nor imports everything from another one."""
        return None if self._ways(place, "*", ()) else only(self._probe.bindings(f"{place.module}.{name}"))

    def _brought(self, place: Place, name: str, rest: Rest) -> frozenset[str | None]:
        """The ways of a name that no statement of the module's file binds: its star imports."""
        brought: set[str | None] = set()
        for star in self._ways(place, "*", ()):
            if star is None:
                return frozenset()
            module = star.removesuffix(".*")
            self._probe.take_in((f"{module}.{name}",))
            if self._probe.module(module) is None:
                return frozenset()  # nobody can tell what it brings
            if self._probe.bindings(f"{module}.{name}"):
                brought.add("".join((module, ".", name, *rest)))
        return frozenset(brought)

    def _ways(self, place: Place, name: str, rest: Rest) -> frozenset[str | None]:
        return self._probe.source(place).ways(name, rest)


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
