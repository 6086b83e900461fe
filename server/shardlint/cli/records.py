"""The commands on records: those of a person's own, and the proof of the shipped ones."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shardlint.cli.shared import CLEAN, FAILED, FOUND, shipped_catalogue, tell

if TYPE_CHECKING:
    from shardlint.verify import VerifyReport


@click.group()
def records() -> None:
    """Check records, and prove the rules on a real JAX."""


@records.command()
@click.argument("names", metavar="[RULE]...", nargs=-1)
@click.option("--write", is_flag=True, help="Keep what was seen in the rules' observed.json.")
@click.option(
    "--python", type=click.Path(path_type=Path), help="The interpreter whose JAX is used, instead of this one."
)
@click.option(
    "--jax-version",
    metavar="VERSION",
    help="Run on this JAX, in an environment made for it with pip and thrown away. --python says from which interpreter.",
)
@click.option(
    "--rules-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder with the rules' folders, instead of records/ in this checkout of shardlint.",
)
@click.pass_context
def verify(
    ctx: click.Context,
    names: tuple[str, ...],
    write: bool,
    python: Path | None,
    jax_version: str | None,
    rules_dir: Path | None,
) -> None:
    """Run the examples of rules.

    All rules are run, if none is named: on the installed JAX, on forced CPU devices. With --jax-version what the examples use is installed in the versions that are installed here, as pip's own settings say (PIP_EXTRA_INDEX_URL for PyTorch without CUDA). Exit code 0: everything that ran did what its page claims, and observed.json says so; 1: something did not; 2: nothing
    could be run.
    """
    from shardlint.cli.terminal import progress
    from shardlint.environment import version_problem
    from shardlint.verify import compare_observed, packages_used, throwaway, write_observed
    from shardlint.verify import verify as verify_rules
    from shardlint.verify.process import VerifyError

    folder = rules_dir or _records_of_checkout()
    if jax_version and (wrong := version_problem(jax_version)):
        raise click.BadParameter(wrong, param_hint="'--jax-version'")
    try:
        used = packages_used(folder, names) if jax_version else ()
        place = throwaway(jax_version, used, python, tell) if jax_version else nullcontext(python)
        with place as interpreter, progress("running") as shown:
            report = verify_rules(folder, names, interpreter, shown)
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
    ctx.exit(FOUND if report.failed or differences else CLEAN)


@records.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.pass_context
def check(ctx: click.Context, paths: tuple[Path, ...]) -> None:
    """Tell whether records of your own can be used.

    PATHS are files and folders as the setting `records` takes them; those that it names for this folder, if none is given. Exit code 0: all can be used, 2: some cannot.
    """
    from shardlint.config import TABLE, load
    from shardlint.records.own import load_own

    settings, problems = (None, ()) if paths else load(Path())
    if settings and not settings.records and not problems:
        message = f"there are no records to check: give PATHS, or set `records` in {TABLE} of pyproject.toml."
        raise click.UsageError(message)
    own, unusable = load_own(settings.records if settings else paths, taken=shipped_catalogue().rules.keys())
    for problem in (*problems, *unusable):
        tell(problem.message)
    for one in own:
        click.echo(f"{one.name}: {one.summary}")
    ctx.exit(FAILED if problems or unusable else CLEAN)


def _records_of_checkout() -> Path:
    folder = Path(__file__).parents[3] / "records"
    if not any(folder.glob("*/rule.toml")):
        raise click.ClickException(
            "the examples lie in the folder records/ of a checkout of shardlint, and this is an installed copy: "
            "name that folder with --rules-dir."
        )
    return folder


def _show_outcomes(report: VerifyReport) -> None:
    from collections import Counter

    from shardlint.cli.terminal import paint_for
    from shardlint.report.paint import Role
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
