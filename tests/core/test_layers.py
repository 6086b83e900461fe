"""The architecture's invariants: who may import whom, who may do I/O, what a command loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "server" / "shardlint"

LAYERS = (
    "text",
    "model",
    "files",
    "config",
    "requirements",
    "environment",
    "records",
    "syntax",
    "placement",
    "rules",
    "fixes",
    "check",
    "inference",
    "verify",
    "explain",
    "workspace",
    "selection",
    "project",
    "report",
    "lsp",
    "cli",
)
"""From the ground up: a module imports only from its own layer and from those before it. `check` is the core's face, which
`fixes` needs to prove a repair, so these two share a floor. `cli` comes last as it prints reports and starts the server."""

EDGES = ("report", "cli", "lsp")
CORE = ("text", "model", "syntax", "placement", "rules", "fixes", "check")
CORE_MAY_NOT = frozenset(
    {"os", "io", "pathlib", "subprocess", "socket", "tempfile", "shutil", "requests", "urllib", "sys"}
)


def _modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.name not in ("__init__.py", "__main__.py"))


def _layer(path: Path) -> str:
    name = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return name.partition("_")[0] if name not in LAYERS else name


def _imports(path: Path) -> set[str]:
    """The absolute names of all modules that a file imports anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def _floor(layer: str) -> int:
    return LAYERS.index("check" if layer == "fixes" else layer)


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down(path: Path) -> None:
    """A module imports only from its own floor and from those below; the edges do not know each other's insides."""
    own = _layer(path)
    for name in _imports(path):
        if name.startswith("shardlint.") and name != "shardlint.__version__":
            other = name.split(".")[1].partition("_")[0]
            if other not in LAYERS or other == own:
                continue
            assert _floor(other) <= _floor(own), f"{own} imports {name}"
            if own in EDGES and other in EDGES and (own, other) not in {("cli", "report"), ("cli", "lsp")}:
                pytest.fail(f"{own} imports {name}")


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_server_knows_the_protocol(path: Path) -> None:
    """Only lsp/ imports pygls or lsprotocol."""
    speaks = {name.partition(".")[0] for name in _imports(path)} & {"pygls", "lsprotocol"}
    assert not speaks or _layer(path) == "lsp"


@pytest.mark.parametrize(
    "path", [p for p in _modules() if _layer(p) in CORE], ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_the_core_does_no_io(path: Path) -> None:
    """The core imports nothing with which it could reach files, processes or the network."""
    assert not {name.partition(".")[0] for name in _imports(path)} & CORE_MAY_NOT
    called = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & {"open", "print", "input", "exec", "eval", "__import__"}


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_swallows_every_exception_in_silence(path: Path) -> None:
    """No handler catches everything and does nothing."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ExceptHandler) and (
            node.type is None or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException"))
        ):
            assert not all(isinstance(statement, ast.Pass) for statement in node.body), f"{path}:{node.lineno}"


def test_the_core_loads_no_heavy_library() -> None:
    """Checking a text loads neither jedi nor pydantic nor pygls."""
    program = (
        "import sys; from shardlint.check import check, Snapshot; from shardlint.records.catalogue import load;"
        "from shardlint.model import Target; from shardlint.text import Text;"
        "check(Snapshot('a.py', Text('import jax'), Target(('0.10.2',), True, 'x'), load()));"
        "print([name for name in ('jedi', 'parso', 'pydantic', 'pygls', 'lsprotocol', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
