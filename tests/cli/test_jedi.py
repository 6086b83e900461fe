"""Names that other modules pass on: `check` asks jedi for them, once there are any, and does without where told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from shardlint.inference.door import Inference
from shardlint.model import Problem

Cli = Callable[..., Result]

PASSED_ON = "import jax.numpy as jnp\nfrom {} import to_dlpack\n\ncapsule = to_dlpack(jnp.ones(3))\n"


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def lines(result: Result) -> list[int]:
    return [entry["line"] for entry in json.loads(result.stdout)]


CHECK = ("check", "a.py", "--output-format", "json", "--jax-version", "0.10.2")


INSTALLED = ".venv/lib/python3.12/site-packages"


@pytest.mark.parametrize("place", ["", "src", INSTALLED])
def test_a_name_that_another_module_passes_on(real_cli: Cli, project: Path, place: str) -> None:
    """A removed name is found behind a module of the project and behind a package of its environment."""
    write(project / ".venv" / "pyvenv.cfg", "")
    write(project / place / "lib" / "compat.py", "from jax.dlpack import to_dlpack\n")
    write(project / "a.py", PASSED_ON.format("lib.compat"))
    assert lines(real_cli(*CHECK)) == [2, 4]


MADE = """import jax, numpy as np
from lib import shardings

np.from_dlpack(jax.device_put(np.ones(8), shardings.rows()))
"""


def test_what_another_module_makes(real_cli: Cli, project: Path) -> None:
    """What a function of another module gives is asked for, as in the editor, and not with --no-jedi."""
    library = "import jax\n\ndef rows() -> jax.sharding.NamedSharding: ...\n"
    write(project / ".venv" / "pyvenv.cfg", "")
    write(project / INSTALLED / "lib" / "shardings.py", library)
    write(project / "a.py", MADE)
    assert lines(real_cli(*CHECK)) == [4]
    assert lines(real_cli(*CHECK, "--no-jedi")) == []


def test_without_jedi(real_cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --no-jedi nothing is asked, and the name stays unknown."""

    def refuse(*_: object) -> None:
        raise AssertionError("a question was asked")

    monkeypatch.setattr(Inference, "answer", refuse)
    write(project / ".venv" / "pyvenv.cfg", "")
    write(project / INSTALLED / "lib" / "compat.py", "from jax.dlpack import to_dlpack\n")
    write(project / "a.py", PASSED_ON.format("lib.compat"))
    assert lines(real_cli(*CHECK, "--no-jedi")) == []
    assert real_cli(*CHECK).exit_code == 2


def test_one_jedi_a_run(real_cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All files of a run are answered by one session, and it is ended with the run."""
    closed: list[Inference] = []
    monkeypatch.setattr(Inference, "answer", lambda self, questions, places: {})
    monkeypatch.setattr(Inference, "close", lambda self: closed.append(self))
    for name in ("a.py", "b.py"):
        write(project / name, PASSED_ON.format("lib.compat"))
    assert real_cli("check").exit_code == 0
    assert len(closed) == 1


def test_a_failure_is_told(real_cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where jedi fails that is told once on stderr with exit code 2, and all else is found."""
    problem = Problem(None, "jedi did not say what lib.compat means.")
    monkeypatch.setattr(Inference, "answer", lambda self, questions, places: {})
    monkeypatch.setattr(Inference, "problems", (problem, problem))
    write(project / "a.py", PASSED_ON.format("lib.compat") + "import jax\njax.dlpack.to_dlpack\n")
    result = real_cli(*CHECK)
    assert result.exit_code == 2
    assert result.stderr == f"shardlint: {problem.message}\n"
    assert lines(result) == [6]


@pytest.mark.parametrize(
    ("source", "needed"), [("import jax\njax.numpy.asarray(1)\n", False), (PASSED_ON.format("lib.compat"), True)]
)
def test_nothing_is_loaded_without_a_question(tmp_path: Path, source: str, needed: bool) -> None:
    """A run in which no name is unknown does not even load what would ask."""
    write(tmp_path / "a.py", source)
    program = "import sys\nfrom shardlint.cli.commands import run\nrun(['check'])\nprint('shardlint.inference.door' in sys.modules)"
    environ = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == str(needed), done.stderr
