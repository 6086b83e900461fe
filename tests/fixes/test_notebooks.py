"""Repairs in notebooks: found in the cells that were joined, written back into the JSON."""

from __future__ import annotations

import json

import pytest

from shardlint.check import Snapshot, check
from shardlint.fixes.edits import OverlapError, edited
from shardlint.fixes.repair import repairs
from shardlint.model import Edit, Target
from shardlint.records.catalogue import load
from shardlint.syntax import notebook
from shardlint.text import Span

IMPORTS = "%pip install jax\nimport jax\nimport numpy as np\nfrom jax.sharding import NamedSharding, PartitionSpec as P"
ARRAY = "!ls\nmesh = jax.make_mesh((8,), ('d',))\nx = jax.device_put(np.arange(16.0), NamedSharding(mesh, P('d')))"
HAND_OFF = "import torch\n\nt = torch.from_dlpack(x)  # hier: \N{SNOWMAN}\n"


def written(
    *sources: str, indent: int | None = 1, lines: bool = True, end: str = "\n", ascii_only: bool = False
) -> str:
    """A notebook of code cells, with a Markdown cell ahead."""
    cells = [{"cell_type": "markdown", "metadata": {}, "source": "# one"}] + [
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": source.splitlines(keepends=True) if lines else source,
        }
        for source in sources
    ]
    data = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(data, indent=indent, ensure_ascii=ascii_only) + end


def repaired(source: str, title: str) -> str | None:
    """The notebook after the repair with this title of its only finding."""
    text = notebook.read(source)
    program = Snapshot("program.ipynb", text, Target(("0.10.2",), True, "the test"), load())
    [finding] = check(program).findings
    fix = next(one for one in repairs(program, finding) if one.title.startswith(title))
    return notebook.rewritten(source, text, edited(text, fix.edits))


@pytest.mark.parametrize(
    "layout",
    [{}, {"indent": 2}, {"indent": None}, {"lines": False}, {"end": ""}, {"ascii_only": True}],
    ids=["as Jupyter", "indented by two", "on one line", "cells as text", "without a last line end", "ASCII"],
)
def test_a_repair_changes_its_cell_alone(layout: dict[str, object]) -> None:
    """Magics, other cells, outputs and the layout of the JSON stay."""
    made = HAND_OFF.replace("from_dlpack(x)", "from_dlpack(jax.device_put(x, jax.local_devices()[0]))")
    before = written(IMPORTS, ARRAY, HAND_OFF, **layout)  # type: ignore[arg-type]
    assert repaired(before, "Move to one device") == written(IMPORTS, ARRAY, made, **layout)  # type: ignore[arg-type]


def test_an_import_goes_to_the_others() -> None:
    """What a repair needs is imported in the cell with the imports, also where these are its last lines."""
    array = "x = jax.device_put(jax.numpy.arange(16.0), jax.sharding.NamedSharding(jax.make_mesh((8,), ('d',)), jax.P('d')))"
    before = written("import jax\nimport torch", array, "t = torch.from_dlpack(x)")
    after = written("import jax\nimport torch\nimport numpy as np", array, "t = torch.from_dlpack(np.array(x))")
    assert repaired(before, "Copy to host memory") == after


def test_a_notebook_of_another_layout_is_left_alone() -> None:
    """Of JSON that a person has laid out only all could be written anew."""
    source = written(IMPORTS, ARRAY, HAND_OFF).replace('"nbformat": 4', '"nbformat":  4')
    assert repaired(source, "Move to one device") is None


def test_comments_that_look_like_magics_are_not_mixed_up() -> None:
    """Where a comment is what a magic became, nobody can tell afterwards which of them it was."""
    source = written(IMPORTS + "\n", ARRAY, "#pip install torch\n%pip install torch\n" + HAND_OFF)
    assert repaired(source, "Move to one device") is None


def test_edits_know_their_cells() -> None:
    """Cells move with what is put before them; no edit may reach from one into the next."""
    text = notebook.join([(0, "import a"), (2, "b = 1"), (3, "c")])
    second = text.cells[1].start
    new = edited(text, [Edit(Span(second, second), "import d\n"), Edit(Span(second, second + 1), "bb")])
    assert new.source == "import a\nimport d\nbb = 1\nc\n"
    assert [new.source[cell.start :].splitlines()[0] for cell in new.cells] == ["import a", "bb = 1", "c"]
    with pytest.raises(OverlapError):
        edited(text, [Edit(Span(second - 2, second + 1), "")])
