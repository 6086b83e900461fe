"""Selecting and ignoring rules as a person does it, with the true rules."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Cli = Callable[..., Result]

CHECK = ("check", "--no-jedi", "--output-format", "json", "--jax-version", "0.10.2")
BOTH = """\
import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("d",))
x = jax.device_put(np.arange(8.0), NamedSharding(mesh, P("d")))
np.from_dlpack(x)
jax.dlpack.to_dlpack(np.zeros(3))
"""
SHARDED, REMOVED = (7, "sharded-dlpack-export"), (8, "removed-to-dlpack")


def found(result: Result) -> list[tuple[int, str]]:
    return [(entry["line"], entry["code"]) for entry in json.loads(result.stdout)]


@pytest.fixture
def both(project: Path) -> Path:
    (project / "a.py").write_text(BOTH)
    return project


def test_flags_choose_rules_by_name_and_family(real_cli: Cli, both: Path) -> None:
    """--select runs nothing else, --ignore takes out of it, --extend-select adds."""
    assert found(real_cli(*CHECK)) == [SHARDED, REMOVED]
    assert found(real_cli(*CHECK, "--select", REMOVED[1])) == [REMOVED]
    assert found(real_cli(*CHECK, "--select", "A")) == [SHARDED]
    assert found(real_cli(*CHECK, "--select", f"A,{REMOVED[1]}", "--ignore", "A")) == [REMOVED]
    assert found(real_cli(*CHECK, "--select", "A", "--extend-select", REMOVED[1])) == [SHARDED, REMOVED]
    assert found(real_cli(*CHECK, "--select", "ALL", "--ignore", f" {SHARDED[1]} ,narrowed-conversion")) == [REMOVED]


@pytest.mark.parametrize("flag", ["--select", "--extend-select", "--ignore"])
def test_a_flag_with_a_wrong_name_is_refused(real_cli: Cli, both: Path, flag: str) -> None:
    """Exit code 2, the flag and the nearest name; an unknown family is told with those there are."""
    result = real_cli(*CHECK, flag, "removed-to-dlpak")
    assert result.exit_code == 2
    assert f"Invalid value for '{flag}': there is no rule 'removed-to-dlpak'; did you mean" in result.stderr
    assert "there is no family 'Z'; known: A" in real_cli(*CHECK, flag, "Z").stderr


def test_settings_choose_too(real_cli: Cli, both: Path) -> None:
    """The keys of the settings do the same, and the flags come before them."""
    (both / "pyproject.toml").write_text(f"[tool.shardlint]\nselect = ['A']\nignore = ['{SHARDED[1]}']\n")
    assert found(real_cli(*CHECK)) == []
    assert found(real_cli(*CHECK, "--extend-select", SHARDED[1])) == [SHARDED]
    assert found(real_cli(*CHECK, "--select", REMOVED[1])) == [REMOVED]
    (both / "pyproject.toml").write_text("[tool.shardlint]\nselect = ['A']\nextend-select = ['removed-to-dlpak']\n")
    result = real_cli(*CHECK)
    assert (found(result), result.exit_code) == ([SHARDED], 2)
    assert "[tool.shardlint] extend-select: there is no rule 'removed-to-dlpak'; did you mean" in result.stderr


def test_files_may_be_left_out_of_a_rule(real_cli: Cli, both: Path) -> None:
    """A finding is not told where its file is left out, also if another file leads there."""
    (both / "pyproject.toml").write_text("[tool.shardlint.per-file-ignores]\n'lib' = ['A']\n")
    (both / "lib").mkdir()
    (both / "lib" / "__init__.py").write_text("")
    (both / "lib" / "hand.py").write_text("import numpy as np\n\ndef over(y):\n    return np.from_dlpack(y)\n")
    (both / "lib" / "b.py").write_text(BOTH)
    (both / "a.py").write_text(f"import lib.hand\n{BOTH}lib.hand.over(x)\n")
    assert found(real_cli(*CHECK)) == [(8, SHARDED[1]), (9, REMOVED[1]), REMOVED]
