"""The command line. Each command loads what it needs when it is called: `check` loads no language server."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from shardlint import __version__
from shardlint.cli.records import records
from shardlint.cli.shared import CLEAN, FAILED, rule_called, scope_here, shipped_catalogue, target_of, tell

_INTERRUPTED = 130
_RULES = "RULE[,RULE...]"


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
        return FAILED
    except click.ClickException as error:
        tell(error.format_message())
        return FAILED
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    return code if isinstance(code, int) else CLEAN


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="shardlint %(version)s")
def shardlint() -> None:
    """Find the places where a jax.Array is handed to another library and will fail there, and repair them."""


@shardlint.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--fix", is_flag=True, help="Make the repairs that change neither meaning nor cost.")
@click.option(
    "--diff",
    is_flag=True,
    help="Show what --fix would change, and write nothing. Exit code 0: nothing, 1: something.",
)
@click.option(
    "--unsafe-fixes",
    is_flag=True,
    help="With --fix and --diff: make every repair, also what copies, moves data or changes the meaning. Else: show which these are.",
)
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
@click.option(
    "--select", metavar=_RULES, multiple=True, help="The rules to run, instead of those that the settings select."
)
@click.option("--extend-select", metavar=_RULES, multiple=True, help="Rules to run besides.")
@click.option("--ignore", metavar=_RULES, multiple=True, help="Rules to keep quiet about. Can be given several times.")
@click.option("--no-jedi", is_flag=True, help="Do not look up with jedi what other modules call by another name.")
@click.pass_context
def check(
    ctx: click.Context,
    paths: tuple[Path, ...],
    fix: bool,
    diff: bool,
    unsafe_fixes: bool,
    output_format: str,
    jax_version: str | None,
    select: tuple[str, ...],
    extend_select: tuple[str, ...],
    ignore: tuple[str, ...],
    no_jedi: bool,
) -> None:
    """Check Python files and folders.

    The folder you are in is checked, if none is given. In a folder all .py files and notebooks count, but not what `exclude` in pyproject.toml names; what you give by its name is checked in any case, a file
    of any suffix as Python. The code is only read, never imported or run. Exit code 0: nothing found, 1: something found, 2: something could not be read or used, a statement that does not parse for one.
    """
    from shardlint.cli.check import run_check
    from shardlint.cli.running import Request
    from shardlint.selection import Asked

    if diff and output_format != "text":
        message = f"--diff prints a diff and no findings, so that --output-format {output_format} has nothing to print; leave one out."
        raise click.UsageError(message)
    if unsafe_fixes and not (fix or diff) and output_format == "concise":
        message = "--output-format concise shows no repairs, so that --unsafe-fixes says nothing; add --fix or --diff, or leave one out."
        raise click.UsageError(message)
    shipped = shipped_catalogue()
    request = Request(
        paths=paths or (Path(),),
        repair=fix,
        only_show=diff,
        unsafe=unsafe_fixes,
        output_format=output_format,
        target=target_of(jax_version, shipped),
        rules=Asked(_names(select) if select else None, _names(extend_select), _names(ignore)),
        jedi=not no_jedi,
    )
    ctx.exit(run_check(request, shipped))


def _names(given: Sequence[str]) -> tuple[str, ...]:
    """The names in the values of an option that can be given several times, and holds several at once."""
    return tuple(name for text in given for part in text.split(",") if (name := part.strip()))


@shardlint.command()
@click.argument("rule")
@click.option("--jax-version", metavar="VERSION", help="The JAX to speak of, instead of this folder's own.")
@click.pass_context
def explain(ctx: click.Context, rule: str, jax_version: str | None) -> None:
    """Explain a rule.

    What goes wrong, what was seen when it was run, and what to do. RULE may be a record of your own that the settings of this folder name.
    """
    from shardlint.explain import rule_page

    shipped = shipped_catalogue()
    scope, problems = scope_here(shipped, target_of(jax_version, shipped))
    for problem in problems:
        tell(problem.message)
    page = rule_page(rule_called(rule, scope.catalogue.rules, "RULE"), scope.target)
    if sys.stdout.isatty():
        from shardlint.cli.page import show

        show(page)
    else:
        click.echo(page, nl=False)
    ctx.exit(FAILED if problems else CLEAN)


@shardlint.command("explain-placement")
@click.argument("place", metavar="FILE:LINE[:COLUMN]")
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How it is printed."
)
@click.option(
    "--jax-version", metavar="VERSION", help="The JAX that the code will run on, instead of the project's own."
)
@click.option("--no-jedi", is_flag=True, help="Do not look up with jedi what other modules call by another name.")
@click.pass_context
def explain_placement(
    ctx: click.Context, place: str, output_format: str, jax_version: str | None, no_jedi: bool
) -> None:
    """Explain what is believed of the names on a line.

    Each name of the line, or the one at the column, with where its value lives and the steps that tell so, once for every way into the function that was followed. Lines and columns count from 1; in a notebook write FILE:cell N:LINE. Exit code 0, or 2 where the place or something else of yours could not be used.
    """
    from shardlint.cli.beliefs import run_explain_placement

    shipped = shipped_catalogue()
    target = target_of(jax_version, shipped)
    ctx.exit(run_explain_placement(place, output_format, target, shipped, jedi=not no_jedi))


@shardlint.command()
@click.pass_context
def rules(ctx: click.Context) -> None:
    """List the rules.

    Records of your own that the settings of this folder name are among them.
    """
    from shardlint.model import Safety

    scope, problems = scope_here(shipped_catalogue())
    for problem in problems:
        tell(problem.message)
    listed = [
        (
            rule.name,
            rule.family or "-",
            str(rule.severity) + (" (if selected)" if rule.opt_in else ""),
            rule.jax or "any",
            "--fix" if any(fix.safety is Safety.SAFE for fix in rule.fixes) else "by hand" if rule.fixes else "none",
            rule.summary,
        )
        for rule in scope.catalogue.rules.values()
    ]
    header = ("rule", "family", "severity", "JAX", "repair", "what is wrong")
    if sys.stdout.isatty():
        _show_table(header, listed)
    else:
        widths = [max(len(row[column]) for row in (header, *listed)) for column in range(5)]
        for row in (header, *listed):
            click.echo("  ".join([*map(str.ljust, row[:5], widths), row[5]]))
    ctx.exit(FAILED if problems else CLEAN)


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


shardlint.add_command(records)


def _show_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*header, box=box.SIMPLE_HEAD, header_style="dim", border_style="dim", pad_edge=False)
    table.columns[0].style = "bold"
    for row in rows:
        table.add_row(*map(Text, row))  # a record's words are no markup
    Console().print(table)
