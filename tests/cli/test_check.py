"""`shardlint check`: what is printed where, exit codes, and each way in which input can be bad."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

import shardlint.project
from shardlint.check import Report, Snapshot
from shardlint.model import Severity

Cli = Callable[..., Result]


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def found(result: Result) -> list[str]:
    """The paths of the findings of a JSON report."""
    return [entry["path"] for entry in json.loads(result.stdout)]


def test_clean_file_exits_zero_and_names_the_target(cli: Cli, project: Path) -> None:
    """A file without findings: exit code 0, and the last line says which JAX counted and why."""
    write(project / "a.py", "x = 1\n")
    result = cli("check", "a.py", "--jax-version", "0.6.2")
    assert result.exit_code == 0
    assert result.stdout == "Nothing found in 1 file.\nChecked for JAX 0.6.2 (--jax-version).\n"
    assert result.stderr == ""


def test_finding_exits_one(cli: Cli, project: Path) -> None:
    """A finding: exit code 1, with place, severity, rule, message, line, step and repair on stdout."""
    write(project / "a.py", "mesh = 1\nbad_dlpack(x)\n")
    result = cli("check", "a.py", "--jax-version", "0.10.2")
    assert result.exit_code == 1
    assert result.stdout == (
        "a.py:2:1: error bad-hand-off\n"
        "  It fails on JAX 0.10.2.\n"
        "\n"
        "    2 | bad_dlpack(x)\n"
        "      | ^^^^^^^^^^^^^\n"
        "\n"
        "  because\n"
        "    a.py:1:1  it begins here\n"
        "              mesh = 1\n"
        "\n"
        "  repair (--fix): Say good instead\n"
        "    2 + good_dlpack(x)\n"
        "\n"
        "1 error in 1 file.\n"
        "Checked for JAX 0.10.2 (--jax-version).\n"
        "--fix repairs it.\n"
    )


def test_current_folder_is_the_default(cli: Cli, project: Path) -> None:
    """Without a path the current folder is checked, and paths are told relative to it."""
    write(project / "sub" / "a.py", "bad_dlpack(x)\n")
    assert found(cli("check", "--output-format", "json")) == [str(Path("sub", "a.py"))]


def test_json_has_every_field(cli: Cli, project: Path) -> None:
    """The JSON report: 1-based lines and columns in code points, exclusive ends, steps and fixes with their edits."""
    write(project / "a.py", "mesh = 1\r\nname = '\U0001f680'; bad_dlpack(x)\r\n")
    result = cli("check", "a.py", "--output-format", "json", "--jax-version", "0.10.2")
    place = {"path": "a.py", "line": 2, "column": 13, "end_line": 2, "end_column": 26}
    step = {"path": "a.py", "line": 1, "column": 1, "end_line": 1, "end_column": 9, "message": "it begins here"}
    edit = {"line": 2, "column": 13, "end_line": 2, "end_column": 16, "text": "good"}
    assert json.loads(result.stdout) == [
        {
            **place,
            "code": "bad-hand-off",
            "severity": "error",
            "message": "It fails on JAX 0.10.2.",
            "steps": [step],
            "calls": [],
            "fixes": [{"title": "Say good instead", "safety": "safe", "edits": [edit]}],
        }
    ]
    assert result.exit_code == 1


def test_json_of_nothing_is_an_empty_list(cli: Cli, project: Path) -> None:
    """A JSON report is a list also where nothing is found."""
    write(project / "a.py", "x = 1\n")
    result = cli("check", "--output-format", "json")
    assert json.loads(result.stdout) == []
    assert result.exit_code == 0


def test_concise_is_one_line_a_finding(cli: Cli, project: Path) -> None:
    """The concise report has one line a finding on stdout, and on stderr the JAX that counted."""
    write(project / "a.py", "bad_dlpack(x)\n  \tcostly_dlpack(y)\n")
    result = cli("check", "--output-format", "concise", "--jax-version", "0.10.2")
    assert result.stdout.splitlines() == [
        "a.py:1:1: error[bad-hand-off] It fails on JAX 0.10.2.",
        "a.py:2:4: warning[costly-hand-off] It fails on JAX 0.10.2.",
    ]
    assert result.stderr == "shardlint: Checked for JAX 0.10.2 (--jax-version).\n"


def test_ignored_rule_is_silent(cli: Cli, project: Path) -> None:
    """--ignore and the setting `ignore` add up."""
    write(project / "a.py", "bad_dlpack(x)\ncostly_dlpack(y)\n")
    write(project / "pyproject.toml", "[tool.shardlint]\nignore = ['costly-hand-off']\n")
    assert found(cli("check", "--output-format", "json")) == ["a.py"]
    assert cli("check", "--ignore", "bad-hand-off").exit_code == 0


@pytest.mark.parametrize(
    "words", [("--ignore", "bad-hand-off, costly-hand-off"), ("--ignore", "costly-hand-off,bad-hand-off,")]
)
def test_several_rules_in_one_ignore(cli: Cli, project: Path, words: tuple[str, ...]) -> None:
    """--ignore takes several rules, with commas between."""
    write(project / "a.py", "bad_dlpack(x)\ncostly_dlpack(y)\n")
    assert cli("check", *words).exit_code == 0


def test_version_beyond_the_tested_ones_is_told(cli: Cli, project: Path) -> None:
    """A --jax-version newer or older than all tested ones is taken, and told as such."""
    write(project / "a.py", "x = 1\n")
    beyond = "than any version that was tested"
    assert f"JAX 0.99 (--jax-version, newer {beyond})." in cli("check", "--jax-version", "0.99").stdout
    assert f"JAX 0.1 (--jax-version, older {beyond})." in cli("check", "--jax-version", "0.1").stdout


def test_one_word_for_each_severity(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last lines count findings by the word that the findings themselves bear."""
    real = shardlint.project.check

    def check(snapshot: Snapshot) -> Report:
        report = real(snapshot)
        return replace(report, findings=tuple(replace(one, severity=Severity.INFORMATION) for one in report.findings))

    monkeypatch.setattr("shardlint.project.check", check)
    write(project / "a.py", "bad_dlpack(x)\nbad_dlpack(y)\n")
    result = cli("check")
    assert "a.py:1:1: information bad-hand-off" in result.stdout
    assert "\n2 information messages in 1 file.\n" in result.stdout


def test_same_file_twice_is_checked_once(cli: Cli, project: Path) -> None:
    """A file that is given by itself and lies in a folder that is given is reported once."""
    write(project / "a.py", "bad_dlpack(x)\n")
    assert found(cli("check", "a.py", ".", str(project), "--output-format", "json")) == ["a.py"]


def test_file_given_by_name_is_checked_whatever_it_is_called(cli: Cli, project: Path) -> None:
    """A file is checked when it is named, without a suffix, with another one, and though `exclude` names it."""
    names = ["script", "notes.md", "excluded.py"]
    write(project / "pyproject.toml", "[tool.shardlint]\nexclude = ['excluded.py']\n")
    for name in names:
        write(project / name, "bad_dlpack(x)\n")
    assert found(cli("check", *names, "--output-format", "json")) == names


def test_missing_path(cli: Cli, project: Path) -> None:
    """A path that does not exist: exit code 2, one sentence, and the other paths are still checked."""
    write(project / "a.py", "bad_dlpack(x)\n")
    result = cli("check", "nope.py", "a.py", "--output-format", "json")
    assert result.exit_code == 2
    assert result.stderr == "shardlint: nope.py: does not exist.\n"
    assert found(result) == ["a.py"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"x = 1\n\n\ny = '\xe9'\n", "is not UTF-8 text, as byte 0xe9 in line 4 shows; save it as UTF-8"),
        (b"y = '\xe9'\n", "is not UTF-8 text, as byte 0xe9 in line 1 shows"),
        (b"# coding: ascii\n\n\ny = '\xe9'\n", "is not ASCII text, as byte 0xe9 in line 4 shows; correct the encoding"),
        (b"# coding: klingon\n", "its first lines name 'klingon' as its encoding, by which it cannot be read"),
        (b"# coding: rot13\n", "its first lines name 'rot13' as its encoding, by which it cannot be read"),
        (b"\xef\xbb\xbf# coding: latin-1\n", "its first lines name 'latin-1' as its encoding"),
    ],
)
def test_undecodable_file(cli: Cli, project: Path, content: bytes, sentence: str) -> None:
    """A file that is no text in its encoding: exit code 2, one sentence, and the other files are still checked."""
    write(project / "wrong.py", content)
    write(project / "a.py", "bad_dlpack(x)\n")
    result = cli("check", "--output-format", "json")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"shardlint: wrong.py: {sentence}")
    assert result.stderr.count("\n") == 1
    assert found(result) == ["a.py"]


def test_declared_encoding_is_used(cli: Cli, project: Path) -> None:
    """PEP 263: a file in the encoding that its first line names is read by it."""
    write(project / "a.py", "# coding: latin-1\nname = 'é'; bad_dlpack(x)\n".encode("latin-1"))
    result = cli("check", "--output-format", "json")
    assert [entry["column"] for entry in json.loads(result.stdout)] == [13]


def test_pipe_is_not_read(cli: Cli, project: Path) -> None:
    """A named pipe would wait for its other end: it is told instead."""
    os.mkfifo(project / "pipe.py")
    result = cli("check", "pipe.py")
    assert result.exit_code == 2
    assert result.stderr == "shardlint: pipe.py: cannot be read: it is not a regular file.\n"


def test_notebook_that_is_none_is_told(cli: Cli, project: Path) -> None:
    """A file that is called a notebook and is none is told in one sentence, not passed over in silence."""
    write(project / "a.ipynb", "{}")
    result = cli("check", "a.ipynb")
    assert result.exit_code == 2
    assert result.stderr == "shardlint: a.ipynb: cannot be read as a notebook: it is not a notebook of nbformat 4.\n"


def test_findings_in_a_notebook(cli: Cli, project: Path) -> None:
    """A finding in a notebook tells its cell: counted from 0 among all cells in JSON, from 1 for people."""
    cells = [
        {"cell_type": "markdown", "source": "# Title"},
        {"cell_type": "code", "source": ["%%time\n", "x = 1\n", "!ls\n", "y = bad_dlpack(x)"]},
    ]
    write(project / "a.ipynb", json.dumps({"nbformat": 4, "cells": cells}))
    (finding,) = json.loads(cli("check", "--output-format", "json").stdout)
    assert (finding["cell"], finding["line"]) == (1, 4)
    assert "a.ipynb:cell 2:4:" in cli("check", "--output-format", "concise").stdout


def test_statement_that_cannot_be_read(cli: Cli, project: Path) -> None:
    """What the core could not read is told on stderr with exit code 2; the file's findings are printed."""
    write(project / "a.py", "BROKEN\nbad_dlpack(x)\n")
    result = cli("check", "--output-format", "json")
    assert result.exit_code == 2
    assert result.stderr == "shardlint: a.py: a statement cannot be read.\n"
    assert found(result) == ["a.py"]


def test_mistake_of_our_own_costs_one_file(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the core fails on a file, that is told in one sentence with exit code 2, and the other files are checked."""
    real = shardlint.project.check

    def check(snapshot: Snapshot) -> Report:
        if snapshot.path == "a.py":
            raise IndexError("no such thing")
        return real(snapshot)

    monkeypatch.setattr("shardlint.project.check", check)
    write(project / "a.py", "bad_dlpack(x)\n")
    write(project / "b.py", "bad_dlpack(x)\n")
    result = cli("check", "--output-format", "json")
    assert result.exit_code == 2
    assert re.fullmatch(
        r"shardlint: a.py: was not checked, by a mistake in shardlint "
        r"\(IndexError at test_check.py:\d+\); please report it.\n",
        result.stderr,
    )
    assert found(result) == ["b.py"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--jax-version", "new"), "'--jax-version': 'new' is not a version; give one such as 0.10.2."),
        (("--ignore", "bad-handoff"), "'--ignore': there is no rule 'bad-handoff'; did you mean 'bad-hand-off'?"),
        (("--output-format", "xml"), "'xml' is not one of"),
        (("--nonsense",), "No such option"),
    ],
)
def test_bad_option(cli: Cli, project: Path, words: tuple[str, ...], sentence: str) -> None:
    """An option that makes no sense: exit code 2 and one sentence that says what would."""
    result = cli("check", *words)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stdout == ""


def test_bad_setting_is_told_once_and_the_others_hold(cli: Cli, project: Path) -> None:
    """A wrong key of the settings: exit code 2, told once for many paths, and the right keys are in force."""
    write(project / "pyproject.toml", "[tool.shardlint]\nexclud = ['a']\nignore = ['costly-hand-off', 'no-such']\n")
    write(project / "one" / "a.py", "bad_dlpack(x)\ncostly_dlpack(x)\n")
    write(project / "two" / "b.py", "bad_dlpack(x)\n")
    result = cli("check", "one", "two", "--output-format", "json")
    table = f"shardlint: {project / 'pyproject.toml'}: [tool.shardlint]"
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        f"{table} has no key 'exclud'; did you mean 'exclude'?",
        f"{table} ignore: there is no rule 'no-such'; known: bad-hand-off, costly-hand-off.",
    ]
    assert found(result) == ["one/a.py", "two/b.py"]


def test_terminal_is_safe_from_the_file(cli: Cli, project: Path) -> None:
    """An escape sequence in a source file does not reach the terminal."""
    write(project / "a.py", "note = '\x1b[31m\u202e'; bad_dlpack(x)\n")
    result = cli("check")
    assert "\x1b" not in result.stdout
    assert "\u202e" not in result.stdout
    assert "\ufffd[31m\ufffd" in result.stdout


def test_words_of_the_prefilter_lose_no_hand_off() -> None:
    """Every hand-off that fails by itself for an array on several devices is spelled with a word that gets a file checked; of the
    others, as `float(x)`, a file that speaks of no such thing knows nothing.
    """
    table = Path(shardlint.project.__file__).with_name("placement") / "handoffs.toml"
    known = tomllib.loads(table.read_text())
    names = {name for row in known["consumer"] if row["protocol"] in known["refusals"] for name in row["names"]}
    assert {name for name in names if not any(word in name for word in shardlint.project.WORDS)} == set()
    assert names
