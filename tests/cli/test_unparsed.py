"""Files that do not parse, in part or whole: what is told of that, and what is still found and repaired."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from shardlint.report.unparsed import sentence
from shardlint.text import Cell, Span, Text

Cli = Callable[..., Result]

REMOVED = "import jax\nimport torch\nx = jax.numpy.ones(3)\nt = torch.from_dlpack(jax.dlpack.to_dlpack(x))\n"
REPAIRED = REMOVED.replace("jax.dlpack.to_dlpack(x)", "x")


def test_it_is_told_once_and_the_findings_stay(cli: Cli, project: Path) -> None:
    """One sentence a file, on stderr, with line and number of the broken parts; exit code 2; all else is found."""
    (project / "a.py").write_text("bad_dlpack(x)\n! one\nbad_dlpack(x)\n! two\nx\n! three\n")
    (project / "b.py").write_text("bad_dlpack(x)\n! one\n")
    result = cli("check", "--output-format", "json")
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "shardlint: a.py: line 2 and 2 more places do not parse and were not checked.",
        "shardlint: b.py: line 2 does not parse and was not checked.",
    ]
    assert [(entry["path"], entry["line"]) for entry in json.loads(result.stdout)] == [
        ("a.py", 1),
        ("a.py", 3),
        ("b.py", 1),
    ]


def test_a_repair_says_that_it_was_made_elsewhere(cli: Cli, project: Path) -> None:
    """--fix repairs what is outside of the broken part, and says so."""
    (project / "a.py").write_text("bad_dlpack(x)\n! one\nbad_dlpack(x)\n")
    (project / "b.py").write_text("! one\ncostly_dlpack(x)\n")
    result = cli("check", "--fix")
    assert (project / "a.py").read_text() == "good_dlpack(x)\n! one\ngood_dlpack(x)\n"
    assert result.stderr.splitlines() == [
        "shardlint: a.py: line 2 does not parse and was not checked; 2 repairs were made elsewhere in the file.",
        "shardlint: b.py: line 1 does not parse and was not checked.",
    ]
    assert result.exit_code == 2


def test_a_diff_is_made_of_the_rest(cli: Cli, project: Path) -> None:
    """--diff shows the repairs outside of the broken part, and tells of that with exit code 2."""
    (project / "a.py").write_text("bad_dlpack(x)\n! one\n")
    result = cli("check", "--diff")
    assert "+good_dlpack(x)" in result.stdout
    assert "a.py: line 2 does not parse and was not checked." in result.stderr
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("broken", "where"),
    [
        ("def f(:\n    return 1\n", "line 5 does"),
        ("def f(a, b:\n    return 1\n", "lines 5 to 6 do"),
        ("if x\n    y = 1\n", "line 5 does"),
        ("class A:\nclass B: pass\n", "line 5 does"),
        ("x = 1\n  y = 2\n", "line 6 does"),
        ("def f():\n\tif x:\n        return 1\n", "line 7 does"),
        ("try:\n    x\n", "line 6 does"),
        ("x = (1,\n", "line 5 does"),
        ("x = 'abc\n", "line 5 does"),
        ("print 'a'\n", "line 5 does"),
        ("f(a=1, 2)\n", "line 5 does"),
        ("<<<<<<< HEAD\ny = 1\n=======\ny = 2\n>>>>>>> other\n", "line 5 and 2 more places do"),
    ],
)
def test_every_way_to_be_broken(real_cli: Cli, project: Path, broken: str, where: str) -> None:
    """Whatever it is that does not parse is told, in a file with hand-offs, and beside it they are found and repaired."""
    (project / "a.py").write_text(REMOVED + broken)
    result = real_cli("check", "--output-format", "concise", "--jax-version", "0.10.2")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"shardlint: a.py: {where} not parse")
    assert "a.py:4:23: error[removed-to-dlpack]" in result.stdout
    real_cli("check", "--fix", "--jax-version", "0.10.2")
    assert (project / "a.py").read_text() == REPAIRED + broken


@pytest.mark.parametrize("name", ["a.py", "notes.md"])
def test_a_file_without_any_hand_off_is_told_too(real_cli: Cli, project: Path, name: str) -> None:
    """A file that holds nothing for shardlint is not called clean where it does not parse."""
    (project / name).write_text("x = 1\n\nSome *text* here.\n")
    result = real_cli("check", name)
    assert result.exit_code == 2
    assert result.stderr == f"shardlint: {name}: line 3 does not parse and was not checked.\n"


def test_grammar_newer_than_this_python_is_no_error(real_cli: Cli, project: Path) -> None:
    """What only a newer Python parses is checked and not called broken."""
    newer = "type X = int\ndef f[T](x: T) -> T: return x\ns = f'{'a'}'\n"
    (project / "a.py").write_text(newer)
    (project / "b.py").write_text(newer + REMOVED)
    result = real_cli("check", "--jax-version", "0.10.2", "--output-format", "concise")
    assert "b.py:7:23: error[removed-to-dlpack]" in result.stdout
    assert "does not parse" not in result.stderr
    assert result.exit_code == 1


def test_a_broken_cell_of_a_notebook_is_told_with_its_number(real_cli: Cli, project: Path) -> None:
    """In a notebook the cell is told, counted from 1 as by the findings, and the line in it; magics are no error."""
    sources = ["%time x = 1\n!ls", "y = 1\nz = (", REMOVED]
    cells = [{"cell_type": "code", "source": source} for source in sources]
    (project / "a.ipynb").write_text(json.dumps({"nbformat": 4, "cells": cells}))
    result = real_cli("check", "--output-format", "concise", "--jax-version", "0.10.2")
    assert "shardlint: a.ipynb: line 2 of cell 2 does not parse and was not checked.\n" in result.stderr
    assert "a.ipynb:cell 3:4:23: error[removed-to-dlpack]" in result.stdout


SOURCE = "a\nb\n\n  c\nd\n"


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (("b",), "line 2 does not parse and was"),
        (("b\n\n  c",), "lines 2 to 4 do not parse and were"),
        (("b", "c"), "lines 2 to 4 do not parse and were"),
        (("c", "a"), "line 1 and 1 more place do not parse and were"),
        (("\n  c\n",), "line 4 does not parse and was"),
    ],
)
def test_parts_are_told_by_their_lines(parts: tuple[str, ...], words: str) -> None:
    """Parts in any order, with or without white space around: the lines of the first count, and neighbours are one."""
    spans = [Span(SOURCE.index(part), SOURCE.index(part) + len(part)) for part in parts]
    assert sentence(Text(SOURCE), spans, 0) == f"{words} not checked."


def test_parts_in_two_cells_are_two() -> None:
    """What is broken at the end of one cell and at the start of the next are two parts."""
    text = Text("a\nb\n", (Cell(0, 0), Cell(1, 2)))
    assert sentence(text, [Span(0, 1), Span(2, 3)], 0).startswith("line 1 of cell 1 and 1 more place do not parse")
