"""One run of the command `check`: what was asked for, what holds where, and what has come of it so far."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from shardlint.cli.shared import PATIENCE, tell
from shardlint.files import SourceFile
from shardlint.model import Location, Problem, Target
from shardlint.project import Checked, Repaired, Scope, check_file, scope_of
from shardlint.records.catalogue import Catalogue
from shardlint.report.entry import Entry, together
from shardlint.selection import Asked
from shardlint.text import Span, Text
from shardlint.workspace import Workspaces

if TYPE_CHECKING:
    from shardlint.inference.door import Inference


@dataclass(frozen=True, slots=True)
class Request:
    """What a person asked for. Without a `target` each project's own counts. `unsafe` says that repairs may cost something."""

    paths: tuple[Path, ...]
    repair: bool
    only_show: bool
    unsafe: bool
    output_format: str
    target: Target | None
    rules: Asked
    jedi: bool


@dataclass
class Run:
    """What has come of a run so far. A problem is told at once, and once. `kept` are the files of which more is to come: those with
    findings, and those that lead into others. `repaired` are the numbers of repairs by file, `differences` what would change, by the
    file itself.
    """

    shipped: Catalogue
    request: Request
    scopes: dict[Path, Scope] = field(default_factory=dict[Path, Scope])
    found: dict[tuple[str, str, Span], Entry] = field(default_factory=dict[tuple[str, str, Span], Entry])
    texts: dict[str, Text] = field(default_factory=dict[str, Text])
    differences: dict[Path, tuple[SourceFile, Repaired]] = field(
        default_factory=dict[Path, tuple[SourceFile, Repaired]]
    )
    repaired: dict[str, int] = field(default_factory=dict[str, int])
    read: int = 0
    told: set[str] = field(default_factory=set[str])
    inference: Inference | None = None
    spellings: dict[str, str] = field(default_factory=dict[str, str])
    kept: list[tuple[Checked, Scope]] = field(default_factory=list[tuple[Checked, Scope]])

    def __post_init__(self) -> None:
        self.look_anew()

    def look_anew(self) -> None:
        """Read the modules of the workspace again, from now on."""
        self.workspaces = Workspaces(self.spelled)

    def spelled(self, path: Path) -> str:
        """A file as the person named it, one that was not named from the current folder."""
        known = self.spellings.get(str(path))
        here = Path.cwd()
        return known or str(path.relative_to(here) if path.is_relative_to(here) else path)

    def tell(self, problem: Problem) -> None:
        sentence = problem.message
        if problem.path and problem.path not in sentence:  # the core speaks of the file that it was given
            sentence = f"{problem.path}: {sentence}"
        if sentence not in self.told:
            self.told.add(sentence)
            tell(sentence)

    def add(self, entry: Entry) -> None:
        """Take in a finding; one that was found from several files is one, as sure as it is on the surest way."""
        known = self.found.get(entry.finding.identity)
        self.found[entry.finding.identity] = entry if known is None else together(known, entry)

    @property
    def entries(self) -> list[Entry]:
        """What was found, in the order of the files and of the places in them."""
        order = {path: number for number, path in enumerate(self.spellings.values())}
        return sorted(self.found.values(), key=lambda one: _position(one.finding.location, order))

    def scope(self, folder: Path) -> Scope:
        if folder not in self.scopes:
            request = self.request
            scope, problems = scope_of(folder, self.shipped, os.environ, request.target, request.rules)
            self.scopes[folder] = scope
            for one in problems:
                self.tell(one)
        return self.scopes[folder]

    def ask(self) -> Inference:
        """What answers questions for the whole run. It is not even loaded for a run without questions."""
        if self.inference is None:
            from shardlint.inference.door import Inference
            from shardlint.inference.store import cache_folder

            self.inference = Inference(cache_folder(os.environ), PATIENCE)
        return self.inference

    def checked(self, path: Path, scope: Scope) -> Checked | Problem:
        return check_file(path, scope, self.workspaces, self.ask if self.request.jedi else None)


def _position(location: Location, order: Mapping[str, int]) -> tuple[int, str, Span]:
    return order.get(location.path, len(order)), location.path, location.span
