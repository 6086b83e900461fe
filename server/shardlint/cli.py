"""The command line. Each command loads what it needs when it is called: `check` loads no language server."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shardlint import __version__

if TYPE_CHECKING:
    from shardlint.model import Target
    from shardlint.records.catalogue import Catalogue, Rule
    from shardlint.verify import VerifyReport

_INTERRUPTED = 130
_FAILED = 2


def main() -> None:
    """The console script `shardlint`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name or an excerpt may hold what the terminal cannot show
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Carry out one command line. Returns the exit code: 0 clean, 1 findings, 2 could not run, 130 interrupted."""
    try:
        code = shardlint.main(list(arguments), "shardlint", standalone_mode=False)
    except click.UsageError as error:
        error.show()
        return _FAILED
    except click.ClickException as error:
        click.echo(f"shardlint: {error.format_message()}", err=True)
        return _FAILED
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    return code if isinstance(code, int) else 0


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="shardlint %(version)s")
def shardlint() -> None:
    """Find the places where a jax.Array is handed to another library and will fail there, and repair them."""


@shardlint.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--fix", is_flag=True, help="Make the repairs that change neither meaning nor cost.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, and write nothing.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "concise", "json"]),
    default="text",
    show_default=True,
    help="How findings are printed.",
)
@click.option(
    "--jax-version", metavar="VERSION", help="The JAX that the code will run on, instead of the project's own."
)
@click.option("--ignore", metavar="RULE", multiple=True, help="A rule to keep quiet about. Can be given several times.")
@click.pass_context
def check(
    ctx: click.Context,
    paths: tuple[Path, ...],
    fix: bool,
    diff: bool,
    output_format: str,
    jax_version: str | None,
    ignore: tuple[str, ...],
) -> None:
    """Check Python files and folders.

    The folder you are in is checked, if none is given. The code is only read, never imported or run. Exit code 0: nothing found, 1: something found, 2: something could not be
    read or used.
    """
    from shardlint.cli_check import Request, run_check

    catalogue = _catalogue()
    for name in ignore:
        _rule(name, catalogue, "--ignore")
    request = Request(
        paths=paths or (Path(),),
        repair=fix,
        only_show=diff,
        output_format=output_format,
        target=_target(jax_version),
        ignored=frozenset(ignore),
    )
    ctx.exit(run_check(request, catalogue))


@shardlint.command()
@click.argument("rule")
@click.option("--jax-version", metavar="VERSION", help="The JAX to speak of, instead of this folder's own.")
def explain(rule: str, jax_version: str | None) -> None:
    """Explain a rule.

    What goes wrong, what was seen when it was run, and what to do.
    """
    from shardlint.explain import rule_page

    catalogue = _catalogue()
    page = rule_page(_rule(rule, catalogue, "RULE"), _target(jax_version) or _here(catalogue))
    if sys.stdout.isatty():
        from shardlint.terminal_page import show

        show(page)
    else:
        click.echo(page, nl=False)


@shardlint.command()
def rules() -> None:
    """List the rules."""
    from shardlint.model import Safety

    listed = [
        (
            rule.name,
            str(rule.severity),
            rule.jax or "any",
            "--fix" if any(fix.safety is Safety.SAFE for fix in rule.fixes) else "by hand" if rule.fixes else "none",
            rule.summary,
        )
        for rule in _catalogue().rules.values()
    ]
    header = ("rule", "severity", "JAX", "repair", "what is wrong")
    if not sys.stdout.isatty():
        widths = [max(len(row[column]) for row in (header, *listed)) for column in range(4)]
        for row in (header, *listed):
            click.echo("  ".join([*map(str.ljust, row[:4], widths), row[4]]))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(*header, box=box.SIMPLE_HEAD, header_style="dim", border_style="dim", pad_edge=False)
    table.columns[0].style = "bold"
    for row in listed:
        table.add_row(*row)
    Console().print(table)


@shardlint.command()
@click.option("--stdio", is_flag=True, hidden=True, help="What editors say by habit; there is no other way.")
@click.pass_context
def server(ctx: click.Context, stdio: bool) -> None:
    """Serve an editor.

    This is the language server; it speaks over standard input and output.
    """
    del stdio
    from shardlint.lsp.main import main as serve

    ctx.exit(serve())


@shardlint.group()
def records() -> None:
    """Check records, and prove the rules on a real JAX."""


@records.command()
@click.argument("names", metavar="[RULE]...", nargs=-1)
@click.option("--write", is_flag=True, help="Keep what was seen in the rules' observed.json.")
@click.option(
    "--python", type=click.Path(path_type=Path), help="The interpreter whose JAX is used, instead of this one."
)
@click.option(
    "--rules-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder with the rules' folders, instead of the one of this checkout.",
)
@click.pass_context
def verify(
    ctx: click.Context, names: tuple[str, ...], write: bool, python: Path | None, rules_dir: Path | None
) -> None:
    """Run the examples of rules.

    All rules are run, if none is named: on the installed JAX, on forced CPU devices. Exit code 0: everything that ran did what its page claims, and observed.json says so; 1: something did not; 2: nothing
    could be run.
    """
    from shardlint.terminal import progress
    from shardlint.verify import compare_observed, write_observed
    from shardlint.verify import verify as verify_rules
    from shardlint.verify_process import VerifyError

    folder = rules_dir or Path(__file__).parents[2] / "records"
    try:
        with progress("running") as shown:
            report = verify_rules(folder, names, python, shown)
        _show_outcomes(report)
        if write:
            changed: tuple[Path, ...] = write_observed(folder, report)
            click.echo("".join(f"wrote {path}\n" for path in changed) or "observed.json is up to date.\n", nl=False)
            differences: tuple[str, ...] = ()
        else:
            differences = compare_observed(folder, report)
            click.echo("".join(f"{sentence}\n" for sentence in differences), nl=False)
    except VerifyError as error:
        raise click.ClickException(str(error)) from None
    ctx.exit(1 if report.failed or differences else 0)


@records.command("check")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.pass_context
def check_records(ctx: click.Context, paths: tuple[Path, ...]) -> None:
    """Tell whether records of your own can be used.

    PATHS are files and folders as the setting `records` takes them. Exit code 0: all can be used, 2: some cannot.
    """
    from shardlint.cli_check import tell
    from shardlint.records.own import load_own

    own, problems = load_own(paths, taken=_catalogue().rules.keys())
    for problem in problems:
        tell(problem.message)
    for one in own:
        click.echo(f"{one.name}: {one.summary}")
    ctx.exit(_FAILED if problems else 0)


def _show_outcomes(report: VerifyReport) -> None:
    from collections import Counter

    from shardlint.report.paint import Role
    from shardlint.terminal import paint_for
    from shardlint.verify import Status

    paint = paint_for(sys.stdout, os.environ)
    roles = {Status.OBSERVED: Role.GOOD, Status.FAILED: Role.ERROR, Status.NOT_OBSERVED: Role.QUIET}
    for outcome in report.outcomes:
        status = paint(f"{outcome.status:<12}", roles[outcome.status])
        fix = f", after {outcome.fix!r}" if outcome.fix else ""
        click.echo(f"{status}  {paint(outcome.rule, Role.RULE)}: {outcome.case}{fix}", color=True)
        if outcome.status is not Status.OBSERVED:
            click.echo(f"              {outcome.detail}")
    counts = Counter(outcome.status for outcome in report.outcomes)
    click.echo(f"JAX {report.jax}: " + ", ".join(f"{counts[status]} {status}" for status in Status) + ".")


def _catalogue() -> Catalogue:
    from shardlint.records.catalogue import CatalogueError, load

    try:
        return load()
    except CatalogueError as error:
        raise click.ClickException(str(error)) from None


def _rule(name: str, catalogue: Catalogue, parameter: str) -> Rule:
    from shardlint.config import nearest

    if name not in catalogue.rules:
        message = f"there is no rule {name!r}; {nearest(name, catalogue.rules)}"
        raise click.BadParameter(message, param_hint=f"'{parameter}'")
    return catalogue.rules[name]


def _target(jax_version: str | None) -> Target | None:
    from shardlint.environment import version_problem
    from shardlint.model import Target

    if jax_version is None:
        return None
    wrong = version_problem(jax_version)
    if wrong:
        raise click.BadParameter(wrong, param_hint="'--jax-version'")
    return Target((jax_version,), exact=True, origin="--jax-version")


def _here(catalogue: Catalogue) -> Target:
    """The target of the folder that the person is in."""
    from shardlint.config import load as load_settings
    from shardlint.environment import find_target

    settings, _ = load_settings(Path())
    return find_target(Path(), settings, catalogue.jax_versions, os.environ)[0]
