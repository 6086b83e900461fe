"""`--fix` and `--diff` on notebooks: the code of cells changes, and nothing else of the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Cli = Callable[..., Result]
CHECK = ("check", "--jax-version", "0.10.2", "--no-jedi")
OLD = "t = torch.from_dlpack(jax.dlpack.to_dlpack(x))"
NEW = "t = torch.from_dlpack(x)"


def written(code: str, end: str = "\n") -> str:
    """A notebook as Jupyter writes it, with a picture in its output."""
    sources = ["%matplotlib inline\nimport jax\nimport jax.numpy as jnp\nimport torch\n", "x = jnp.arange(4.0)\n", code]
    cells = [
        {
            "cell_type": "code",
            "execution_count": number,
            "metadata": {"tags": ["\N{SNOWMAN}"]},
            "outputs": [{"output_type": "display_data", "data": {"image/png": "iVBORw0K\n"}, "metadata": {}}],
            "source": source.splitlines(keepends=True),
        }
        for number, source in enumerate(sources, 1)
    ]
    data = {"cells": cells, "metadata": {"kernelspec": {"name": "python3"}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(data, indent=1, ensure_ascii=False) + end


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.ipynb"
    path.write_text(written(OLD), encoding="utf-8")
    return path


def test_fix_rewrites_the_cell_alone(real_cli: Cli, notebook: Path) -> None:
    """Outputs, magics, metadata and the layout stay byte for byte."""
    assert real_cli(*CHECK, "--fix", "a.ipynb").exit_code == 0
    assert notebook.read_text(encoding="utf-8") == written(NEW)


def test_diff_shows_lines_of_the_file(real_cli: Cli, notebook: Path) -> None:
    """What is shown can be applied; nothing is written."""
    result = real_cli(*CHECK, "--diff", "a.ipynb")
    assert result.exit_code == 1
    changed = [line for line in result.stdout.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert changed == [f'-    "{OLD}"', f'+    "{NEW}"']
    assert notebook.read_text(encoding="utf-8") == written(OLD)


def test_a_notebook_laid_out_by_hand_is_left(real_cli: Cli, notebook: Path) -> None:
    """It is told why, and the findings are."""
    by_hand = written(OLD).replace('"nbformat": 4,', '"nbformat":4,')
    notebook.write_text(by_hand, encoding="utf-8")
    result = real_cli(*CHECK, "--fix", "a.ipynb")
    assert "a.ipynb: was not repaired: its JSON is not laid out as Jupyter does it" in result.stderr
    assert "removed-to-dlpack" in result.stdout
    assert notebook.read_text(encoding="utf-8") == by_hand
