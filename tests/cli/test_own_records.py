"""Records of one's own: every command that takes a rule's name knows those that the settings name."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import shardlint
from shardlint.records.catalogue import load

Cli = Callable[..., Result]


@pytest.fixture
def own(project: Path) -> str:
    """A record in the project, named by its settings; gives the name that its rule has."""
    record = {**load().rules["removed-to-dlpack"].record, "slug": "my-own-one"}
    (project / "own.json").write_text(json.dumps(record))
    (project / "pyproject.toml").write_text("[tool.shardlint]\nrecords = ['own.json']\n")
    (project / "sub").mkdir()
    (project / "sub" / "a.py").write_text("x = 1\n")
    return "my-own-one"


def test_rules_lists_them(real_cli: Cli, own: str) -> None:
    """`rules` lists the records of the current folder's settings after the shipped ones."""
    result = real_cli("rules")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()[1:]] == [*load().rules, own]


def test_explain_knows_them(real_cli: Cli, own: str) -> None:
    """`explain` tells of such a record as of a rule."""
    result = real_cli("explain", own)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"# {own}\n")


def test_ignore_knows_them(real_cli: Cli, own: str) -> None:
    """--ignore takes the name of such a record, and tells the nearest for a wrong one."""
    assert real_cli("check", "--ignore", own).exit_code == 0
    assert real_cli("check", "sub/a.py", "--ignore", f"removed-to-dlpack,{own}").exit_code == 0
    result = real_cli("check", "--ignore", own[:-1])
    assert result.exit_code == 2
    assert f"there is no rule {own[:-1]!r}; did you mean {own!r}?" in result.stderr


def test_ignore_knows_those_of_the_checked_project(real_cli: Cli, own: str, project: Path) -> None:
    """It is the settings of what is checked that count, not those of the current folder."""
    (project / "other" / ".git").mkdir(parents=True)
    (project / "other" / "pyproject.toml").write_text("[tool.shardlint]\n")
    (project / "other" / "a.py").write_text("x = 1\n")
    assert real_cli("check", "other", "--ignore", own).exit_code == 2
    assert real_cli("check", "other", "sub", "--ignore", own).exit_code == 0


def test_records_check_takes_the_configured_ones(real_cli: Cli, own: str) -> None:
    """Without PATHS `records check` takes what the settings name."""
    result = real_cli("records", "check")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{own}: ")


def test_records_check_without_any(real_cli: Cli, project: Path) -> None:
    """With neither PATHS nor a setting: exit code 2, and what to do."""
    result = real_cli("records", "check")
    assert result.exit_code == 2
    assert "give PATHS, or set `records` in [tool.shardlint] of pyproject.toml." in result.stderr


@pytest.mark.parametrize("words", [("rules",), ("explain", "removed-to-dlpack"), ("records", "check")])
def test_unusable_ones_are_told(real_cli: Cli, own: str, project: Path, words: tuple[str, ...]) -> None:
    """A record that cannot be used is told in one sentence with exit code 2, and the command does the rest of its work."""
    (project / "pyproject.toml").write_text("[tool.shardlint]\nrecords = ['none.json', 'own.json']\n")
    result = real_cli(*words)
    assert result.exit_code == 2
    assert result.stderr == f"shardlint: {project / 'none.json'}: does not exist.\n"
    assert result.stdout


@pytest.mark.parametrize("words", [("rules",), ("explain", "removed-to-dlpack"), ("records", "check")])
def test_unusable_settings_are_told(real_cli: Cli, project: Path, words: tuple[str, ...]) -> None:
    """The settings are told of by these commands as by `check`."""
    (project / "pyproject.toml").write_text("[tool.shardlint]\nrecord = ['own.json']\n")
    result = real_cli(*words)
    assert result.exit_code == 2
    assert "has no key 'record'; did you mean 'records'?" in result.stderr


def test_verify_outside_of_a_checkout(tmp_path: Path) -> None:
    """An installed copy has no examples to run: exit code 2 and one sentence that says what is needed."""
    installed = tmp_path / "lib" / "site-packages"
    shutil.copytree(Path(shardlint.__file__).parent, installed / "shardlint")
    program = f"import sys; sys.path.insert(0, {str(installed)!r}); from shardlint.cli.commands import main; main()"
    command = [sys.executable, "-c", program, "records", "verify"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        "shardlint: the examples lie in the folder records/ of a checkout of shardlint, and this is an installed copy: "
        "name that folder with --rules-dir.\n"
    )
