"""In processes of their own: nothing of the workspace runs, nothing is loaded without need, and pipes may break."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = (sys.executable, "-m", "shardlint")


def write(file: Path, content: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    return file


@pytest.fixture
def trapped(tmp_path: Path) -> tuple[Path, Path]:
    """A project in which everything that could be imported or run by mistake leaves a mark, and that mark."""
    project, mark = tmp_path / "project", tmp_path / "mark"
    trap = f"open({str(mark)!r}, 'a').write(__file__)\n"
    names = (
        "jax",
        "torch",
        "numpy",
        "click",
        "rich",
        "packaging",
        "sitecustomize",
        "usercustomize",
        "conftest",
        "setup",
    )
    for name in names:
        write(project / f"{name}.py", f"{trap}import jax\ncapsule = jax.dlpack.to_dlpack(jax.numpy.ones(3))\n")
    environment = project / ".venv"
    write(environment / "pyvenv.cfg", "home = /usr/bin\n")
    write(environment / "bin" / "python", f"#!/bin/sh\necho ran >> {mark}\n").chmod(0o755)
    write(environment / "bin" / "python3", f"#!/bin/sh\necho ran >> {mark}\n").chmod(0o755)
    write(environment / "lib" / "python3.12" / "site-packages" / "trap.pth", f"import os; {trap}")
    write(environment / "lib" / "python3.12" / "site-packages" / "jax" / "__init__.py", trap)
    (environment / "lib" / "python3.12" / "site-packages" / "jax-0.6.2.dist-info").mkdir()
    write(project / "pyproject.toml", "[project]\nname = 'p'\n[tool.shardlint]\npython = '.venv/bin/python'\n")
    return project, mark


def test_nothing_of_the_workspace_runs(trapped: tuple[Path, Path]) -> None:
    """A check of a folder full of traps, in that folder and with its environment active, springs none of them."""
    project, mark = trapped
    environ = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "1",
        "VIRTUAL_ENV": str(project / ".venv"),
        "PATH": f"{project / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
    }
    before = sorted(project.rglob("*"))
    done = subprocess.run([*COMMAND, "check"], cwd=project, env=environ, capture_output=True, text=True, check=False)
    assert "Checked for JAX 0.6.2 (jax 0.6.2 in .venv)." in done.stdout, done.stderr
    assert not mark.exists()
    assert sorted(project.rglob("*")) == before


def test_trap_can_spring(trapped: tuple[Path, Path]) -> None:
    """The traps of the test above work: importing one of them leaves the mark."""
    project, mark = trapped
    subprocess.run([sys.executable, "-c", "import conftest"], cwd=project, capture_output=True, check=False)
    assert mark.exists()


def test_check_loads_only_what_it_needs(tmp_path: Path) -> None:
    """A check whose output is no terminal loads no language server, no jedi, no pydantic, no rich, and no JAX."""
    write(tmp_path / "a.py", "import jax\nprint(jax.numpy.asarray(1))\n")
    unwanted = ("pygls", "lsprotocol", "jedi", "parso", "pydantic", "rich", "jax", "numpy", "torch", "asyncio")
    program = (
        "import sys\nfrom shardlint.cli.commands import run\ncode = run(['check'])\n"
        f"print(code, sorted(set({unwanted!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "0 []", done.stdout + done.stderr


def test_closed_pipe_ends_quietly() -> None:
    """Where nobody reads the output any more, as behind `head`, nothing is said of it."""
    process = subprocess.Popen([*COMMAND, "rules"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout
    process.stdout.close()
    _, errors = process.communicate(timeout=60)
    assert errors == b""


def test_progress_bar_on_a_terminal_only(tmp_path: Path) -> None:
    """A check of many files shows a bar on stderr if that is a terminal, and nothing there if it is not."""
    for number in range(60):
        write(tmp_path / f"m{number}.py", "x = 1\n")
    ours, theirs = pty.openpty()
    environ = {**os.environ, "TERM": "xterm"}
    shown = subprocess.run(
        [*COMMAND, "check"], cwd=tmp_path, env=environ, stdout=subprocess.PIPE, stderr=theirs, check=False
    )
    os.close(theirs)
    assert b"checking" in os.read(ours, 65536)
    os.close(ours)
    piped = subprocess.run([*COMMAND, "check"], cwd=tmp_path, env=environ, capture_output=True, check=False)
    assert piped.stderr == b""
    assert piped.stdout == shown.stdout
    assert piped.stdout.startswith(b"Nothing found in 60 files.")
