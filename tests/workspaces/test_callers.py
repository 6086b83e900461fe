"""What the command line makes of functions that other files call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shardlint.cli.commands import run

BRIDGE = """
import jax, torch
from jax.sharding import NamedSharding, PartitionSpec as P

def send(mesh, v):
    return torch.from_dlpack(jax.device_put(v, NamedSharding(mesh, P())))

def make(mode):
    v = jax.numpy.ones(8)
    if mode == "many":
        v = jax.device_put(v, NamedSharding(jax.make_mesh((8,), ("d",)), P()))
        return lambda: torch.from_dlpack(v)
    return lambda: None
"""
CALLER = """
import jax, numpy as np
from jax.sharding import Mesh
from bridge import make, send

send(Mesh(jax.devices()[:{devices}], ("d",)), np.ones(8))
make("one")()
"""


def found(folder: Path, printed: pytest.CaptureFixture[str]) -> list[tuple[str, int]]:
    """The files and lines of the findings."""
    run(["check", str(folder), "--output-format", "json", "--no-jedi", "--jax-version", "0.10.2"])
    return [(Path(row["path"]).name, row["line"]) for row in json.loads(printed.readouterr().out)]


def test_what_callers_give_counts_for_all_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a caller anything may be given to a function; where another file calls it, what that gives."""
    (tmp_path / "bridge.py").write_text(BRIDGE, encoding="utf-8")
    assert found(tmp_path, capsys) == [("bridge.py", 6), ("bridge.py", 12)]
    (tmp_path / "main.py").write_text(CALLER.format(devices=1), encoding="utf-8")
    assert found(tmp_path, capsys) == []
    (tmp_path / "main.py").write_text(CALLER.format(devices=2), encoding="utf-8")
    assert found(tmp_path, capsys) == [("bridge.py", 6)]


STACK = """
import jax, torch

def push(stack, one):
    many = jax.pmap(lambda x: x)(jax.numpy.arange(8.0))
    torch.from_dlpack(many)
    return stack

def spread(x, mesh=None):
    if mesh is None:
        x = jax.pmap(lambda y: y)(x)
    return torch.from_dlpack(x)
"""


def test_what_a_function_makes_itself_is_told_whoever_calls_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The callers have nothing to do with it; they only lead to it, each through another file or not at all."""
    (tmp_path / "stack.py").write_text(STACK, encoding="utf-8")
    (tmp_path / "fill.py").write_text("import jax\nfrom stack import push\n\ndef fill(n):\n    return push([], n)\n")
    (tmp_path / "main.py").write_text("import jax\nfrom fill import fill\n\nfill(jax.numpy.ones(3))\n")
    assert found(tmp_path, capsys) == [("stack.py", 6), ("stack.py", 12)]


@pytest.mark.parametrize(("arguments", "lines"), [("", [6, 12]), (", 'none'", [6])], ids=["so", "otherwise"])
def test_what_callers_lead_to_is_told(
    arguments: str, lines: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a function does on the way that its callers choose counts, and what it does on another does not."""
    (tmp_path / "stack.py").write_text(STACK, encoding="utf-8")
    call = f"import jax\nfrom stack import spread\n\nspread(jax.numpy.ones(8){arguments})\n"
    (tmp_path / "main.py").write_text(call, encoding="utf-8")
    assert found(tmp_path, capsys) == [("stack.py", line) for line in lines]
