"""The commands beside `check`, and how every command ends."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from shardlint import __version__
from shardlint.cli.commands import main, run
from shardlint.model import Finding
from shardlint.records.catalogue import CatalogueError

Cli = Callable[..., Result]


def test_version(cli: Cli) -> None:
    """--version prints name and version."""
    assert cli("--version").stdout == f"shardlint {__version__}\n"


def test_rules_lists_every_rule(cli: Cli) -> None:
    """`rules` prints a line a rule: name, family, severity, JAX versions, how it is repaired, what is wrong."""
    result = cli("rules")
    assert result.exit_code == 0
    assert [line.split(maxsplit=5) for line in result.stdout.splitlines()[1:]] == [
        ["bad-hand-off", "A", "error", ">=0.7", "--fix", "what bad-hand-off warns of"],
        ["costly-hand-off", "B", "warning", ">=0.7", "by", "hand  what costly-hand-off warns of"],
    ]


def test_explain_prints_the_page(cli: Cli) -> None:
    """`explain` prints the rule's page, as Markdown where there is no terminal."""
    result = cli("explain", "bad-hand-off")
    assert result.exit_code == 0
    assert result.stdout.startswith("# bad-hand-off\n")
    assert "Say good instead" in result.stdout


def test_explain_of_no_rule(cli: Cli) -> None:
    """An unknown rule: exit code 2 and the nearest one."""
    result = cli("explain", "bad-handoff")
    assert result.exit_code == 2
    assert "there is no rule 'bad-handoff'; did you mean 'bad-hand-off'?" in result.stderr


def test_records_check(cli: Cli, project: Path) -> None:
    """`records check` tells each file that cannot be used, with exit code 2; the others are listed."""
    (project / "broken.json").write_text("{")
    result = cli("records", "check", "broken.json", "none.json")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert [line.split(": ")[1] for line in result.stderr.splitlines()] == ["broken.json", "none.json"]


def test_verify_tells_what_cannot_be_done(fake_core: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`records verify` on a folder without rules: exit code 2 and one sentence."""
    assert run(["records", "verify", "--rules-dir", str(tmp_path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"shardlint: {tmp_path} holds no rules")
    assert captured.err.count("\n") == 1


def test_missing_catalogue(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a catalogue: exit code 2 and the sentence of the one who looked for it."""

    def missing() -> None:
        raise CatalogueError("It is gone: install again.")

    monkeypatch.setattr("shardlint.records.catalogue.load", missing)
    assert run(["rules"]) == 2
    assert capsys.readouterr().err == "shardlint: It is gone: install again.\n"


@pytest.mark.parametrize(("words", "code"), [(["check", "a.py"], 1), (["check", "none"], 2), (["check", "b.py"], 0)])
def test_exit_code_of_the_console_script(
    fake_core: None, project: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int
) -> None:
    """The console script ends with the exit code of the command."""
    (project / "a.py").write_text("bad_dlpack(x)\n")
    (project / "b.py").write_text("\n")
    monkeypatch.setattr(sys, "argv", ["shardlint", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code


def test_interrupt_ends_quietly(
    fake_core: None, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C ends with exit code 130 and no traceback."""

    def interrupt(checked: object, finding: Finding) -> None:
        raise KeyboardInterrupt

    (project / "a.py").write_text("bad_dlpack(x)\n")
    monkeypatch.setattr("shardlint.cli.check.repairs_of", interrupt)
    assert run(["check"]) == 130
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.strip() == ""
