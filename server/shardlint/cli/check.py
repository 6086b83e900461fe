"""The command `check`: the files that were asked for, what is found in them, and the repairs that were asked for."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shardlint.cli.shared import CLEAN, FAILED, FOUND, PATIENCE, tell
from shardlint.cli.terminal import paint_for, progress, width_of
from shardlint.config import TABLE
from shardlint.files import SourceFile, problem, write
from shardlint.model import Location, Problem, Severity, Target
from shardlint.project import (
    Checked,
    Repaired,
    Scope,
    check_file,
    checked_again,
    folder_of,
    is_left_out,
    python_files,
    repair,
    repairs_of,
    scope_of,
)
from shardlint.records.catalogue import Catalogue
from shardlint.records.telling import target_words
from shardlint.report import concise, diff, json, summary, text, unparsed
from shardlint.report.entry import Entry, place, together
from shardlint.report.excerpt import harmless
from shardlint.selection import Asked, no_rule
from shardlint.text import Span, Text
from shardlint.workspace import Workspaces

if TYPE_CHECKING:
    from shardlint.inference.door import Inference

_MANY = 50
"""So many files are worth a progress bar."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a person asked for. Without a `target` each project's own counts."""

    paths: tuple[Path, ...]
    repair: bool
    only_show: bool
    output_format: str
    target: Target | None
    rules: Asked
    jedi: bool


@dataclass
class _Run:
    """What has come of a run so far. A problem is told at once, and once. `called` are the functions that a file called in another
    one, `telling` the files with findings, `aside` what is told of other files by these alone.
    """

    shipped: Catalogue
    request: Request
    scopes: dict[Path, Scope] = field(default_factory=dict[Path, Scope])
    found: dict[tuple[str, str, Span], Entry] = field(default_factory=dict[tuple[str, str, Span], Entry])
    texts: dict[str, Text] = field(default_factory=dict[str, Text])
    differences: list[tuple[SourceFile, Repaired]] = field(default_factory=list[tuple[SourceFile, Repaired]])
    repaired: list[int] = field(default_factory=list[int])
    read: int = 0
    told: set[str] = field(default_factory=set[str])
    inference: Inference | None = None
    spellings: dict[str, str] = field(default_factory=dict[str, str])
    called: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    telling: list[Checked] = field(default_factory=list[Checked])
    aside: set[tuple[str, str, Span]] = field(default_factory=set[tuple[str, str, Span]])

    def __post_init__(self) -> None:
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


def run_check(request: Request, shipped: Catalogue) -> int:
    """Check, print, and give the exit code: 0 clean, 1 findings (or changes to make), 2 something could not be used.

    Raises `BadParameter` for a rule to select or ignore that is none, neither a shipped one nor one of the projects' own.
    """
    run = _Run(shipped, request)
    files = _files(run)
    rules = {name: rule for scope in run.scopes.values() for name, rule in scope.catalogue.rules.items()}
    for flag, name in request.rules.named():
        if clause := no_rule(name, rules):
            raise click.BadParameter(clause, param_hint=f"'{flag}'")
    try:
        _check_all(run, files)
    finally:
        if run.inference is not None:
            run.inference.close()
    for one in run.inference.problems if run.inference is not None else ():
        run.tell(one)
    if request.only_show:
        _show_differences(run)
    else:
        _show_findings(run)
    if run.told:
        return FAILED
    return FOUND if (run.differences if request.only_show else run.entries) else CLEAN


def _check_all(run: _Run, files: Mapping[Path, Scope]) -> None:
    with progress("checking") if len(files) >= _MANY else nullcontext() as shown:
        for done, (path, scope) in enumerate(files.items()):
            if shown:
                shown(harmless(str(path)), done, len(files))
            try:
                _check(run, path, scope)
            except Exception as error:  # noqa: BLE001 (a mistake of ours in one file must not cost the others their check)
                run.tell(_own_mistake(path, error))
    _add_all(run)


def _own_mistake(path: Path, error: Exception) -> Problem:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}:{frame.lineno}"
    clause = f"was not checked, by a mistake in shardlint ({type(error).__name__} at {where}); please report it."
    return problem(path, clause)


def _files(run: _Run) -> dict[Path, Scope]:
    """The files to check in the order of the request, each once."""
    files: dict[str, tuple[Path, Scope]] = {}
    for given in run.request.paths:
        scope = run.scope(folder_of(given))
        found = 0
        for one in python_files(given, scope.settings):
            found += 1
            if isinstance(one, Problem):
                run.tell(one)
            else:
                files.setdefault(os.path.abspath(one), (one, scope))  # noqa: PTH100 (links stay as they are)
        if not found:
            tell(problem(given, _why_nothing(given, scope)).message)
    run.spellings |= {full: str(path) for full, (path, _) in files.items()}
    return dict(files.values())


def _why_nothing(given: Path, scope: Scope) -> str:
    settings = scope.settings
    if settings.exclude and is_left_out(given, settings):
        return f"`exclude` in {TABLE} of {settings.source} leaves nothing of it to check."
    return "holds no Python files to check; hidden folders, environments and build results are passed over."


def _check(run: _Run, path: Path, scope: Scope) -> None:
    checked, before = run.checked(path, scope), len(run.repaired)
    if isinstance(checked, Checked) and (run.request.repair or run.request.only_show):
        checked = _repaired(run, checked, scope)
    if isinstance(checked, Problem):
        run.tell(checked)
        return
    run.read += 1
    for one in checked.report.problems:
        run.tell(_placed(one, checked))
    if checked.report.broken:
        clause = unparsed.sentence(checked.snapshot.text, checked.report.broken, sum(run.repaired[before:]))
        run.tell(problem(path, clause))
    run.called |= checked.report.called
    run.aside |= checked.report.aside
    if checked.report.findings:
        run.telling.append(checked)


def _add_all(run: _Run) -> None:
    """Take in the findings. A function that other files were seen to call is not what anybody may call any more: what is left of it is
    what these lead to.
    """
    by_path: dict[str, set[int]] = {}
    for path, start in run.called:
        by_path.setdefault(path, set()).add(start)
    for checked in run.telling:
        known = by_path.get(checked.snapshot.path)
        try:
            _add(
                run,
                checked if known is None else _confirmed(checked, checked_again(checked, frozenset(known)), run.aside),
            )
        except Exception as error:  # noqa: BLE001 (as above)
            run.tell(_own_mistake(checked.source.path, error))


def _confirmed(first: Checked, second: Checked, aside: Set[tuple[str, str, Span]]) -> Checked:
    """What is found with the callers known, and what these were seen to lead to without having to do with it."""
    found = second.report.findings
    known = {one.identity for one in found}
    more = tuple(one for one in first.report.findings if one.identity in aside and one.identity not in known)
    return replace(second, report=replace(second.report, findings=(*found, *more)))


def _add(run: _Run, checked: Checked) -> None:
    findings = [one for one in checked.report.findings if one.severity is not Severity.OFF]
    if findings:
        run.texts |= {**checked.report.looked_into, checked.snapshot.path: checked.source.text}
    wanted = run.request.output_format != "concise" and not run.request.only_show
    for one in findings:
        here = one.location.path == checked.snapshot.path
        run.add(Entry(one, repairs_of(checked, one) if wanted and here else ()))


def _placed(one: Problem, checked: Checked) -> Problem:
    """A problem that tells its place where the core knows one."""
    if one.span is None:
        return one
    location = Location(checked.snapshot.path, one.span)
    return Problem(one.path, f"{place({location.path: checked.source.text}, location)}: {one.message}")


def _repaired(run: _Run, checked: Checked, scope: Scope) -> Checked | Problem:
    """The file after its repair, or as it was where nothing is repaired or only shown."""
    after = repair(checked)
    if after.problem is not None:
        run.tell(after.problem)
    if not after.fixes:
        return checked
    if run.request.only_show:
        run.differences.append((checked.source, after))
        return checked
    failure = write(checked.source, after.text)
    if failure:
        run.tell(failure)
        return checked
    run.repaired.append(len(after.fixes))
    return run.checked(checked.source.path, scope)


def _show_differences(run: _Run) -> None:
    paint, seen = paint_for(sys.stdout, os.environ), sys.stdout.isatty()
    for source, made in run.differences:
        mark = "\ufeff" if source.encoding == "utf-8-sig" else ""
        shown = diff.render(
            _name_here(source.path), mark + made.before, mark + made.text, paint, harmless if seen else str
        )
        # Who applies it needs the bytes that are in the file.
        exact = shown.encode(source.encoding.removesuffix("-sig"), "backslashreplace")
        click.echo(shown if seen else exact, nl=False, color=True)
    changed = summary.counted(len(run.differences), "file", "files")
    tell(f"--fix would change {changed}." if run.differences else "--fix would change nothing.")


def _name_here(path: Path) -> str:
    """A path as a diff names it, with slashes: from the current folder, for a file elsewhere from the root of all."""
    if path.is_absolute():
        path = path.relative_to(Path.cwd() if path.is_relative_to(Path.cwd()) else path.anchor)
    return path.as_posix()


def _show_findings(run: _Run) -> None:
    render: dict[str, Callable[[], str]] = {
        "json": lambda: json.render(run.entries, run.texts),
        "concise": lambda: concise.render(run.entries, run.texts),
        "text": lambda: _text(run),
    }
    click.echo(render[run.request.output_format](), nl=False, color=True)
    if run.request.output_format != "text" and run.repaired:
        tell(summary.repaired(run.repaired))
    if run.request.output_format == "concise" and run.read:
        tell(_targets(tuple(run.scopes.values())))


def _text(run: _Run) -> str:
    paint = paint_for(sys.stdout, os.environ)
    blocks = text.render(run.entries, run.texts, text.Look(paint, width_of(sys.stdout)))
    if not run.read:
        return blocks
    lines = [summary.found(run.entries, run.read)]
    if run.repaired:
        lines.insert(0, summary.repaired(run.repaired))
    lines.append(_targets(tuple(run.scopes.values())))
    hint = "" if run.request.repair else summary.repairable(run.entries)
    return blocks + "".join(f"{line}\n" for line in (*lines, hint) if line)


def _targets(scopes: Sequence[Scope]) -> str:
    """The JAX that counted and how that is known."""
    named = dict.fromkeys(f"{target_words(scope.target)} ({scope.target.origin})" for scope in scopes)
    return f"Checked for {summary.listed(tuple(named))}."
