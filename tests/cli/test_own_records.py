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


SHARDED = """\
import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("d",))
x = jax.device_put(np.arange(8.0), NamedSharding(mesh, P("d")))
np.from_dlpack(x)
"""
TOLD = {
    "slug": "told-by-others",
    "id": "00000000000000ff",
    "errorMessage": "__dlpack__() is only supported for arrays unsharded.",
    "messagePattern": None,
    "errorClass": "ValueError",
    "lineNumber": 1,
    "tags": ["sharding"],
    "exampleFix": "# before\nimport numpy as np\ny = np.from_dlpack(x)\n# after\nimport numpy as np\ny = np.from_dlpack(np.array(x))\n",
}


def others(project: Path, **changes: object) -> None:
    ours = load().rules["sharded-dlpack-export"].record
    (project / "own.json").write_text(json.dumps({**ours, **TOLD, **changes}))
    (project / "pyproject.toml").write_text("[tool.shardlint]\nrecords = ['own.json']\njax-version = '0.10.2'\n")
    (project / "a.py").write_text(SHARDED)


def codes(result: Result) -> list[str]:
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return [entry["code"] for entry in json.loads(result.stdout)]


CHECK = ("check", "--no-jedi", "--output-format", "json")


@pytest.mark.parametrize(
    "same",
    [
        {
            "errorMessage": "the array is at fault",
            "messagePattern": "to_dlpack can only pack a dlpack tensor from an array",
        },
        {"errorMessage": "__dlpack__ only supported for unsharded arrays."},
        {"id": load().rules["sharded-dlpack-export"].record["id"]},
    ],
)
def test_a_shipped_rule_speaks_for_a_record_of_its_error(real_cli: Cli, project: Path, same: dict[str, object]) -> None:
    """Whose message or id is that of a rule is not told twice; its page says which rule it is, and what differs."""
    others(project, **same)
    assert codes(real_cli(*CHECK)) == ["sharded-dlpack-export"]
    page = real_cli("explain", "told-by-others").stdout
    assert "## Found by another rule\n\n`sharded-dlpack-export` finds this error and speaks for this record." in page
    assert "- Here it raises `ValueError`, there `BufferError`.\n" in page
    assert "- Here it comes from `jax/_src/array.py`, line 1, there from `jax/_src/array.py`, line " in page
    assert real_cli("records", "check").stdout.endswith(" (found by sharded-dlpack-export)\n")


def test_a_record_of_another_error_speaks_for_itself(real_cli: Cli, project: Path) -> None:
    """A message of other words is another error; so is the same one at a call that the rule does not look at."""
    others(project, errorMessage="The array is at fault.")
    assert sorted(codes(real_cli(*CHECK))) == ["sharded-dlpack-export", "told-by-others"]
    assert "Found by another rule" not in real_cli("explain", "told-by-others").stdout
    elsewhere = (
        "# before\nimport theirs\ny = theirs.take(x)\n# after\nimport theirs\ny = theirs.take(theirs.gather(x))\n"
    )
    others(project, id=load().rules["sharded-dlpack-export"].record["id"], exampleFix=elsewhere)
    (project / "a.py").write_text(f"import theirs\n{SHARDED}theirs.take(x)\n")
    assert sorted(codes(real_cli(*CHECK))) == ["sharded-dlpack-export", "told-by-others"]
