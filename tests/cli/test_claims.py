"""Claims of where values live, as a person meets them on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Cli = Callable[..., Result]

CHECK = ("check", "--no-jedi", "--output-format", "json", "--jax-version", "0.10.2")
WRONG = "import jax.numpy as jnp\nx = jnp.zeros(3)  # shardlint: placement=many-devices\n"


def found(result: Result) -> list[tuple[str, int, str]]:
    return [(entry["path"], entry["line"], entry["code"]) for entry in json.loads(result.stdout)]


def test_a_wrong_claim_is_a_rule_like_any_other(real_cli: Cli, project: Path) -> None:
    """It is found in a file without hand-offs, ignored by name in both ways, listed and explained."""
    (project / "a.py").write_text(WRONG)
    result = real_cli(*CHECK)
    assert (found(result), result.exit_code) == ([("a.py", 2, "wrong-placement-claim")], 1)
    assert found(real_cli(*CHECK, "--ignore", "wrong-placement-claim")) == []
    (project / "pyproject.toml").write_text("[tool.shardlint]\nignore = ['wrong-placement-claim']\n")
    result = real_cli(*CHECK)
    assert (found(result), result.exit_code, result.stderr) == ([], 0, "")
    listed = real_cli("rules").stdout.splitlines()
    assert ["wrong-placement-claim", "-", "warning"] in [line.split()[:3] for line in listed]
    assert "# shardlint: placement=WORD" in real_cli("explain", "wrong-placement-claim").stdout


def test_a_misread_comment_is_told_at_its_place(real_cli: Cli, project: Path) -> None:
    """It is something that could not be used: exit code 2."""
    (project / "a.py").write_text("x = 1  # shardlint: placement=on-device\n")
    result = real_cli(*CHECK)
    assert result.exit_code == 2
    assert result.stderr == "shardlint: a.py:1:8: placement cannot be 'on-device'; did you mean 'one-device'?\n"


def test_assume_reaches_the_modules_of_a_project(real_cli: Cli, project: Path) -> None:
    """Functions, their parameters and variables are named as they are imported, also where another module gives them on."""
    package = project / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("from pkg.files import load\n")
    (package / "files.py").write_text(
        "import store\nfrom store import fetch\nWEIGHTS = store.weights()\ndef load(): return store.get()\n"
    )
    (package / "bridge.py").write_text("import numpy as np\ndef export(x):\n    return np.from_dlpack(x)\n")
    (project / "main.py").write_text(
        "import numpy as np\nimport pkg, pkg.files\n"
        "np.from_dlpack(pkg.load())\nnp.from_dlpack(pkg.files.WEIGHTS)\nnp.from_dlpack(pkg.files.fetch())\n"
    )
    assert found(real_cli(*CHECK)) == []
    for name, where in (
        ("pkg.load", ("main.py", 3)),
        ("pkg.files.load", ("main.py", 3)),
        ("pkg.files.WEIGHTS", ("main.py", 4)),
        ("pkg.files.fetch", ("main.py", 5)),
        ("store.fetch", ("main.py", 5)),
        ("pkg.bridge.export.x", ("pkg/bridge.py", 3)),
    ):
        (project / "pyproject.toml").write_text(f"[tool.shardlint.assume]\n'{name}' = 'many-devices'\n")
        assert found(real_cli(*CHECK)) == [(*where, "sharded-dlpack-export")]


def test_assume_finds_a_module_without_hand_offs(real_cli: Cli, project: Path) -> None:
    """A claim on a file that hands nothing over is compared with it all the same."""
    (project / "a.py").write_text("import jax.numpy as jnp\ndef make():\n    return jnp.zeros(3)\n")
    (project / "pyproject.toml").write_text("[tool.shardlint.assume]\n'a.make' = 'many-devices'\n")
    assert found(real_cli(*CHECK)) == [("a.py", 2, "wrong-placement-claim")]


def test_assume_of_a_name_that_a_module_does_not_have(real_cli: Cli, project: Path) -> None:
    """A typing mistake is told once, with the name that may be meant; not where the file does not parse."""
    (project / "a.py").write_text("def make():\n    return 1\n")
    (project / "pyproject.toml").write_text("[tool.shardlint.assume]\n'a.mk' = 'host'\n'a.maker' = 'host'\n")
    result = real_cli(*CHECK)
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "shardlint: a.py: `assume` speaks of a.maker, which this module does not have; did you mean 'make'?",
        "shardlint: a.py: `assume` speaks of a.mk, which this module does not have; did you mean 'make'?",
    ]
    (project / "a.py").write_text("def make(:\n    return 1\n")
    assert "assume" not in real_cli(*CHECK).stderr
