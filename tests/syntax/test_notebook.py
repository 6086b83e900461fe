"""Notebooks as one text."""

from __future__ import annotations

import json

import pytest

from shardlint.syntax.notebook import NotebookError, join, read
from shardlint.syntax.tree import parse


def test_cells_follow_each_other() -> None:
    """Code cells are joined in order, markdown is left out, and an offset leads back to cell, line and column."""
    cells = [
        {"cell_type": "code", "source": "a = 1"},
        {"cell_type": "markdown", "source": "# text"},
        {"cell_type": "code", "source": ["b = 2\n", "c = 3"]},
    ]
    text = read(json.dumps({"nbformat": 4, "cells": cells}))
    assert text.source == "a = 1\nb = 2\nc = 3\n"
    assert text.place(text.source.index("c = 3")) == (2, 1, 0)
    assert text.place(2) == (0, 0, 2)


@pytest.mark.parametrize(
    "line", ["%time f()", "!ls -l", "?help", "x?", "files = !ls", "  %matplotlib inline", "x = %sql select"]
)
def test_magics_become_comments_of_the_same_length(line: str) -> None:
    """A magic is no code, and what stands behind it keeps its place."""
    text = join([(0, f"if a:\n    b\n{line}\nc = 1")])
    assert line not in text.source
    assert text.source.index("c = 1") == len(f"if a:\n    b\n{line}\n")


def test_a_cell_in_another_language_is_silent() -> None:
    """A whole-cell magic of another language hides the cell; one that runs Python does not."""
    assert parse(join([(0, "%%bash\nls\nx = 1")])).chunks[0].body == ()
    assert len(parse(join([(0, "%%time\nx = 1")])).chunks[-1].body) == 1


def test_a_broken_cell_silences_itself() -> None:
    """An open bracket at the end of a cell does not swallow the next cell."""
    tree = parse(join([(0, "x = f("), (1, "y = 2")]))
    assert [type(statement).__name__ for chunk in tree.chunks for statement in chunk.body][-1] == "Assign"


@pytest.mark.parametrize("source", ["", "{", "[]", '{"nbformat": 3, "cells": []}', '{"nbformat": 4}', "[" * 100_000])
def test_what_is_no_notebook_is_refused(source: str) -> None:
    """Anything else than nbformat 4 is an error that says so."""
    with pytest.raises(NotebookError):
        read(source)
