"""The command `check`: the files that were asked for, what is found in them, and the repairs that were asked for."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import click

from shardlint.files import problem, write
from shardlint.model import Problem, Severity, Target
from shardlint.project import Checked, Scope, check_file, folder_of, python_files, repair, repairs_of, scope_of
from shardlint.records.catalogue import Catalogue
from shardlint.report import concise, diff, json, summary, text
from shardlint.report.entry import Entry
from shardlint.report.excerpt import harmless
from shardlint.rules.wording import target_words
from shardlint.terminal import paint_for, progress, width_of
from shardlint.text import Text

CLEAN, FOUND, FAILED = 0, 1, 2
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
    ignored: frozenset[str]


@dataclass
class _Run:
    """What has come of a run so far. A problem is told at once, and once."""

    shipped: Catalogue
    request: Request
    scopes: dict[Path, Scope] = field(default_factory=dict[Path, Scope])
    entries: list[Entry] = field(default_factory=list[Entry])
    texts: dict[str, Text] = field(default_factory=dict[str, Text])
    differences: list[tuple[str, Text, Text]] = field(default_factory=list[tuple[str, Text, Text]])
    repaired: list[int] = field(default_factory=list[int])
    read: int = 0
    told: set[str] = field(default_factory=set[str])

    def tell(self, problem: Problem) -> None:
        sentence = problem.message
        if problem.path and problem.path not in sentence:  # the core speaks of the file that it was given
            sentence = f"{problem.path}: {sentence}"
        if sentence not in self.told:
            self.told.add(sentence)
            tell(sentence)

    def scope(self, folder: Path) -> Scope:
        if folder not in self.scopes:
            request = self.request
            scope, problems = scope_of(folder, self.shipped, os.environ, request.target, request.ignored)
            self.scopes[folder] = scope
            for one in problems:
                self.tell(one)
        return self.scopes[folder]


def run_check(request: Request, shipped: Catalogue) -> int:
    """Check, print, and give the exit code: 0 clean, 1 findings (or changes to make), 2 something could not be used."""
    run = _Run(shipped, request)
    files = _files(run)
    with progress("checking") if len(files) >= _MANY else nullcontext() as shown:
        for done, (path, scope) in enumerate(files.items()):
            if shown:
                shown(harmless(str(path)), done, len(files))
            try:
                _check(run, path, scope)
            except Exception as error:  # noqa: BLE001 (a mistake of ours in one file must not cost the others their check)
                run.tell(_own_mistake(path, error))
    if request.only_show:
        _show_differences(run)
    else:
        _show_findings(run)
    if run.told:
        return FAILED
    return FOUND if (run.differences if request.only_show else run.entries) else CLEAN


def _own_mistake(path: Path, error: Exception) -> Problem:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}:{frame.lineno}"
    clause = f"was not checked, by a mistake in shardlint ({type(error).__name__} at {where}); please report it."
    return problem(path, clause)


def tell(message: str) -> None:
    """Say something on stderr, out of the way of what stdout is read for."""
    click.echo(f"shardlint: {message}", err=True)


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
            tell(problem(given, "holds no Python files, so there is nothing to check.").message)
    return dict(files.values())


def _check(run: _Run, path: Path, scope: Scope) -> None:
    checked = check_file(path, scope)
    if isinstance(checked, Checked) and (run.request.repair or run.request.only_show):
        checked = _repaired(run, checked, scope)
    if isinstance(checked, Problem):
        run.tell(checked)
        return
    run.read += 1
    for one in checked.report.problems:
        run.tell(one)
    findings = [one for one in checked.report.findings if one.severity is not Severity.OFF]
    if findings:
        run.texts[checked.snapshot.path] = checked.source.text
    wanted = run.request.output_format != "concise" and not run.request.only_show
    run.entries += [Entry(one, repairs_of(checked, one) if wanted else ()) for one in findings]


def _repaired(run: _Run, checked: Checked, scope: Scope) -> Checked | Problem:
    """The file after its repair, or as it was where nothing is repaired or only shown."""
    after = repair(checked)
    if not after.fixes:
        return checked
    if run.request.only_show:
        run.differences.append((checked.snapshot.path, checked.source.text, Text(after.text)))
        return checked
    failure = write(checked.source, after.text)
    if failure:
        run.tell(failure)
        return checked
    run.repaired.append(len(after.fixes))
    return check_file(checked.source.path, scope)


def _show_differences(run: _Run) -> None:
    paint = paint_for(sys.stdout, os.environ)
    for path, old, new in run.differences:
        click.echo(diff.render(path, old, new, paint), nl=False, color=True)
    changed = summary.counted(len(run.differences), "file", "files")
    tell(f"--fix would change {changed}." if run.differences else "--fix would change nothing.")


def _show_findings(run: _Run) -> None:
    render: dict[str, Callable[[], str]] = {
        "json": lambda: json.render(run.entries, run.texts),
        "concise": lambda: concise.render(run.entries, run.texts),
        "text": lambda: _text(run),
    }
    click.echo(render[run.request.output_format](), nl=False, color=True)


def _text(run: _Run) -> str:
    paint = paint_for(sys.stdout, os.environ)
    blocks = text.render(run.entries, run.texts, text.Look(paint, width_of(sys.stdout)))
    if not run.read:
        return blocks
    lines = [summary.found(run.entries, run.read)]
    if run.repaired:
        count = summary.counted(sum(run.repaired), "repair", "repairs")
        lines.insert(0, f"{count} made in {summary.counted(len(run.repaired), 'file', 'files')}.")
    lines.append(_targets(tuple(run.scopes.values())))
    hint = "" if run.request.repair else summary.repairable(run.entries)
    return blocks + "".join(f"{line}\n" for line in (*lines, hint) if line)


def _targets(scopes: Sequence[Scope]) -> str:
    """The JAX that counted and how that is known."""
    named = dict.fromkeys(f"{target_words(scope.target)} ({scope.target.origin})" for scope in scopes)
    return f"Checked for {summary.listed(tuple(named))}."
