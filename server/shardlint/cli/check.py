"""The command `check`: the files that were asked for, what is found in them, and the repairs that were asked for."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import click

from shardlint.cli.repairing import as_diff
from shardlint.cli.running import Request, Run
from shardlint.cli.shared import CLEAN, FAILED, FOUND, tell
from shardlint.cli.terminal import paint_for, progress, width_of
from shardlint.config import TABLE
from shardlint.files import problem, write
from shardlint.model import Location, Problem, Severity
from shardlint.project import (
    Checked,
    Scope,
    checked_again,
    folder_of,
    is_left_out,
    python_files,
    repair,
    repairs_of,
)
from shardlint.records.catalogue import Catalogue
from shardlint.records.telling import target_words
from shardlint.report import concise, json, summary, text, unparsed
from shardlint.report.entry import Entry, place
from shardlint.report.excerpt import harmless
from shardlint.selection import no_rule
from shardlint.text import Span

_MANY = 50
"""So many files are worth a progress bar."""


def run_check(request: Request, shipped: Catalogue) -> int:
    """Check, print, and give the exit code: 0 clean, 1 findings (or changes to make), 2 something could not be used.

    Raises `BadParameter` for a rule to select or ignore that is none, neither a shipped one nor one of the projects' own.
    """
    run = Run(shipped, request)
    files = _files(run)
    rules = {name: rule for scope in run.scopes.values() for name, rule in scope.catalogue.rules.items()}
    for flag, name in request.rules.named():
        if clause := no_rule(name, rules):
            raise click.BadParameter(clause, param_hint=f"'{flag}'")
    try:
        _check_all(run, files)
    except KeyboardInterrupt:
        if run.repaired:
            tell(f"interrupted; {summary.repaired(tuple(run.repaired.values()))}")
        raise
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


def _check_all(run: Run, files: Mapping[Path, Scope]) -> None:
    with progress("checking") if len(files) >= _MANY else nullcontext() as shown:
        for done, (path, scope) in enumerate(files.items()):
            if shown:
                shown(harmless(str(path)), done, len(files))
            try:
                _check(run, path, scope)
            except Exception as error:  # noqa: BLE001 (a mistake of ours in one file must not cost the others their check)
                run.tell(_own_mistake(path, error))
    if run.repaired:
        _check_again(run)
    _add_all(run)


def _own_mistake(path: Path, error: Exception) -> Problem:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}:{frame.lineno}"
    clause = f"was not checked, by a mistake in shardlint ({type(error).__name__} at {where}); please report it."
    return problem(path, clause)


def _files(run: Run) -> dict[Path, Scope]:
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


def _check(run: Run, path: Path, scope: Scope) -> None:
    checked = run.checked(path, scope)
    if isinstance(checked, Checked) and (run.request.repair or run.request.only_show):
        checked = _repaired(run, checked, scope)
    if isinstance(checked, Problem):
        run.tell(checked)
        return
    report = checked.report
    run.read += 1
    for one in report.problems:
        run.tell(_placed(one, checked))
    if report.broken:
        repairs = run.repaired.get(checked.snapshot.path, 0)
        run.tell(problem(path, unparsed.sentence(checked.snapshot.text, report.broken, repairs)))
    if report.findings or report.called or report.aside:
        run.kept.append((checked, scope))


def _check_again(run: Run) -> None:
    """Check those files again that were checked with a text of another file that has been repaired since."""
    run.look_anew()
    changed = set(map(os.path.realpath, run.repaired))
    for number, (checked, scope) in enumerate(run.kept):
        if changed.isdisjoint(map(os.path.realpath, checked.report.looked_into)):
            continue
        try:
            again = run.checked(checked.source.path, scope)
        except Exception as error:  # noqa: BLE001 (as above)
            again = _own_mistake(checked.source.path, error)
        if isinstance(again, Problem):
            run.tell(again)
        else:
            run.kept[number] = again, scope


def _add_all(run: Run) -> None:
    """Take in the findings. A function that other files were seen to call is not what anybody may call any more: what is left of it is
    what these lead to.
    """
    called: dict[str, set[int]] = {}
    for checked, _ in run.kept:
        for path, start in checked.report.called:
            called.setdefault(path, set()).add(start)
    aside = {identity for checked, _ in run.kept for identity in checked.report.aside}
    for checked in (checked for checked, _ in run.kept if checked.report.findings):
        known = called.get(checked.snapshot.path)
        try:
            _add(
                run,
                checked if known is None else _confirmed(checked, checked_again(checked, frozenset(known)), aside),
            )
        except Exception as error:  # noqa: BLE001 (as above)
            run.tell(_own_mistake(checked.source.path, error))


def _confirmed(first: Checked, second: Checked, aside: Set[tuple[str, str, Span]]) -> Checked:
    """What is found with the callers known, and what these were seen to lead to without having to do with it."""
    found = second.report.findings
    known = {one.identity for one in found}
    more = tuple(one for one in first.report.findings if one.identity in aside and one.identity not in known)
    return replace(second, report=replace(second.report, findings=(*found, *more)))


def _add(run: Run, checked: Checked) -> None:
    findings = [one for one in checked.report.findings if one.severity is not Severity.OFF]
    if findings:
        run.texts |= {**checked.report.looked_into, checked.snapshot.path: checked.source.text}
    wanted = not run.request.unsafe if run.request.only_show else run.request.output_format != "concise"
    for one in findings:
        here = one.location.path == checked.snapshot.path
        run.add(Entry(one, repairs_of(checked, one) if wanted and here else ()))


def _placed(one: Problem, checked: Checked) -> Problem:
    """A problem that tells its place where the core knows one."""
    if one.span is None:
        return one
    location = Location(checked.snapshot.path, one.span)
    return Problem(one.path, f"{place({location.path: checked.source.text}, location)}: {one.message}")


def _repaired(run: Run, checked: Checked, scope: Scope) -> Checked | Problem:
    """The file after its repair, or as it was where nothing is repaired or only shown."""
    made = repair(checked, unsafe=run.request.unsafe)
    if made.problem is not None:
        run.tell(made.problem)
    if not made.fixes:
        return checked
    if run.request.only_show:
        run.differences.setdefault(Path(os.path.realpath(checked.source.path)), (checked.source, made))
        return checked
    failure = write(checked.source, made.text)
    if failure:
        run.tell(failure)
        return checked
    run.repaired[checked.snapshot.path] = len(made.fixes)
    return run.checked(checked.source.path, scope)


def _show_differences(run: Run) -> None:
    paint, seen = paint_for(sys.stdout, os.environ), sys.stdout.isatty()
    for target, (source, made) in run.differences.items():
        shown = as_diff(source, target, made, paint, harmless if seen else str)
        # Who applies it needs the bytes that are in the file.
        exact = shown.encode(source.encoding.removesuffix("-sig"), "backslashreplace")
        click.echo(shown if seen else exact, nl=False, color=True)
    tell(summary.would_change(len(run.differences), run.entries, unsafe=run.request.unsafe))


def _show_findings(run: Run) -> None:
    render: dict[str, Callable[[], str]] = {
        "json": lambda: json.render(run.entries, run.texts, unsafe=run.request.unsafe),
        "concise": lambda: concise.render(run.entries, run.texts),
        "text": lambda: _text(run),
    }
    click.echo(render[run.request.output_format](), nl=False, color=True)
    if run.request.output_format != "text" and run.repaired:
        tell(summary.repaired(tuple(run.repaired.values())))
    if run.request.output_format == "concise" and run.read:
        tell(_targets(tuple(run.scopes.values())))


def _text(run: Run) -> str:
    paint = paint_for(sys.stdout, os.environ)
    blocks = text.render(run.entries, run.texts, text.Look(paint, width_of(sys.stdout), run.request.unsafe))
    if not run.read:
        return blocks
    lines = [summary.found(run.entries, run.read)]
    if run.repaired:
        lines.insert(0, summary.repaired(tuple(run.repaired.values())))
    lines.append(_targets(tuple(run.scopes.values())))
    hint = summary.needing if run.request.repair else summary.repairable
    lines.append(hint(run.entries, unsafe=run.request.unsafe))
    return blocks + "".join(f"{line}\n" for line in lines if line)


def _targets(scopes: Sequence[Scope]) -> str:
    """The JAX that counted and how that is known."""
    named = dict.fromkeys(f"{target_words(scope.target)} ({scope.target.origin})" for scope in scopes)
    return f"Checked for {summary.listed(tuple(named))}."
