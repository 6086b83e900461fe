"""`explain-placement`: what is believed of the names on a line, for people and as JSON, and what is said of a bad place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Cli = Callable[..., Result]

BRIDGE = """\
import jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P


def double(x, scale=2):
    y = x * scale
    return y


@jax.jit
def step(z):
    return double(z)


mesh = jax.make_mesh((8,), ("d",))
s = jax.device_put(jnp.zeros(8), NamedSharding(mesh, P("d")))
a = double(s)
b = double(jnp.zeros(3), scale=3)
c = step(s)
"""


@pytest.fixture
def explain(real_cli: Cli, project: Path) -> Callable[..., Result]:
    """Writes the program above as `a.py` and explains a place in it."""
    (project / "a.py").write_text(BRIDGE)
    return lambda place, *more: real_cli("explain-placement", place, "--no-jedi", *more)


def test_every_way_into_a_function(explain: Callable[..., Result]) -> None:
    """Each distinct context has its own values, with the evidence; no hand-off is needed in the file."""
    result = explain("a.py:7")
    assert (result.exit_code, result.stderr) == (0, "")
    assert (
        result.stdout
        == """\
    7 |     return y

in double, called at a.py:17:5 with x: a JAX array on 8 devices, scale: 2:
  y  a JAX array on 8 devices
      a.py:15:8  jax.make_mesh makes a mesh over 8 devices
      a.py:16:5  jax.device_put puts it on 8 devices
      a.py:17:5  passed to `x` of double

in double, called at a.py:18:5 with x: a JAX array on 1 device, scale: 3:
  y  a JAX array on 1 device

in double, called at a.py:12:12 with x: a tracer, which is on no device yet, scale: 2:
  y  a tracer, which is on no device yet
      a.py:15:8   jax.make_mesh makes a mesh over 8 devices
      a.py:16:5   jax.device_put puts it on 8 devices
      a.py:19:5   passed to `z` of step
      a.py:12:12  passed to `x` of double
"""
    )


def test_a_column_chooses_a_name(explain: Callable[..., Result]) -> None:
    """With a column only the names there are told; an assigned name is one too."""
    names = {entry["name"] for entry in json.loads(explain("a.py:6", "--output-format", "json").stdout)}
    assert names == {"y", "x", "scale"}
    assert {entry["name"] for entry in json.loads(explain("a.py:6:9", "--output-format", "json").stdout)} == {"x"}


def test_json_has_every_field(explain: Callable[..., Result]) -> None:
    """Positions count from 1 as in the JSON of findings."""
    first, *_ = json.loads(explain("a.py:6:9", "--output-format", "json").stdout)
    assert first.pop("steps")[-1] == {
        "path": "a.py", "line": 17, "column": 5, "end_line": 17, "end_column": 14, "message": "passed to `x` of double",
    }  # fmt: skip
    assert first == {
        "path": "a.py", "line": 6, "column": 9, "end_line": 6, "end_column": 10,
        "name": "x",
        "function": "double",
        "called_from": {"path": "a.py", "line": 17, "column": 5, "end_line": 17, "end_column": 14},
        "given": {"x": "a JAX array on 8 devices", "scale": "2"},
        "reached": True,
        "believed": ["a JAX array on 8 devices"],
    }  # fmt: skip


def test_the_module_and_parameters(explain: Callable[..., Result]) -> None:
    """Names outside of functions have no context; a parameter can be asked where it is declared."""
    assert "in the module:\n  s  a JAX array on 8 devices\n" in explain("a.py:17:12").stdout
    assert "  x      a JAX array on 8 devices\n" in explain("a.py:5").stdout


def test_a_function_that_nobody_calls(real_cli: Cli, project: Path) -> None:
    """It is followed as somebody from outside would call it, and a claim counts."""
    source = "def f(x, y):  # shardlint: placement(x)=many-devices\n    return x, y\n    z\n"
    (project / "a.py").write_text(source)
    shown = real_cli("explain-placement", "a.py:2").stdout
    assert "in f, called from outside with x: a JAX array on 2 devices or more, y: unknown:" in shown
    assert "  x  a JAX array on 2 devices or more\n      a.py:1:7  said by a comment to be on many devices\n" in shown
    assert "nowhere in what was followed:\n  z  never reached\n" in real_cli("explain-placement", "a.py:3").stdout


def test_a_value_of_another_module(real_cli: Cli, project: Path) -> None:
    """The modules of the project are followed as `check` follows them."""
    (project / "lib.py").write_text("import jax\nmesh = jax.make_mesh((8,), ('d',))\n")
    (project / "a.py").write_text("from lib import mesh\nprint(mesh)\n")
    shown = real_cli("explain-placement", "a.py:2:7").stdout
    assert "  mesh  a mesh over 8 devices\n      lib.py:2:8  jax.make_mesh makes a mesh over 8 devices\n" in shown


def test_a_cell_of_a_notebook(real_cli: Cli, project: Path) -> None:
    """A place in a notebook names the cell as the other reports do, and lines count in it."""
    cells = [
        {"cell_type": "markdown", "source": "text"},
        {"cell_type": "code", "source": "import jax\nmesh = jax.make_mesh((8,), ('d',))"},
        {"cell_type": "code", "source": "mesh"},
    ]
    (project / "a.ipynb").write_text(json.dumps({"nbformat": 4, "cells": cells}))
    shown = real_cli("explain-placement", "a.ipynb:cell 3:1").stdout
    assert "  mesh  a mesh over 8 devices\n      a.ipynb:cell 2:2:8  jax.make_mesh" in shown
    for place, message in (
        ("a.ipynb:1", "a.ipynb is a notebook: write a.ipynb:cell N:LINE, with one of its code cells for N (2, 3)."),
        ("a.ipynb:cell 1:1", "a.ipynb is a notebook: write a.ipynb:cell N:LINE"),
        ("a.ipynb:cell 3:2", "cell 3 of a.ipynb has 1 lines, and no line 2."),
    ):
        result = real_cli("explain-placement", place)
        assert result.exit_code == 2
        assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("a.py", "'a.py' is not FILE:LINE or FILE:LINE:COLUMN, such as app.py:12."),
        ("a.py:0", "a.py has 19 lines, and no line 0."),
        ("a.py:20", "a.py has 19 lines, and no line 20."),
        ("a.py:7:99", "line 7 of a.py has 12 columns, and no column 99."),
        ("a.py:cell 1:7", "a.py is no notebook, and has no cell 1."),
        ("gone.py:7", "gone.py: does not exist."),
    ],
)
def test_a_bad_place(explain: Callable[..., Result], place: str, message: str) -> None:
    """It is told in one sentence, with exit code 2 and nothing on stdout."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "200")
        result = explain(place)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in " ".join(result.stderr.split())


def test_a_line_without_names(explain: Callable[..., Result]) -> None:
    """It is told, and nothing is wrong."""
    result = explain("a.py:3")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "shardlint: a.py:3 has no name to explain.\n")
