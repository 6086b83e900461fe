"""Which files in a folder are checked, and what is said where none is left."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Cli = Callable[..., Result]


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def found(result: Result) -> list[str]:
    """The paths of the findings of a JSON report."""
    return [entry["path"] for entry in json.loads(result.stdout)]


@pytest.mark.parametrize(
    "hidden",
    [
        ".git/a.py",
        ".venv/a.py",
        ".hidden.py",
        "venv/a.py",
        "__pycache__/a.py",
        "node_modules/a.py",
        "build/a.py",
        "dist/a.py",
        "lib/site-packages/a.py",
        "skipped/a.py",
        "sub/generated/a.py",
        "sub/a_pb2.py",
    ],
)
def test_default_and_configured_excludes(cli: Cli, project: Path, hidden: str) -> None:
    """In a folder: no hidden files, environments, caches, build results, nor what `exclude` names; all else is checked."""
    write(project / "pyproject.toml", "[tool.shardlint]\nexclude = ['skipped', '**/generated/*', '*_pb2.py']\n")
    write(project / "venv" / "pyvenv.cfg", "")
    write(project / "environment" / "b.py", "bad_dlpack(x)\n")
    write(project / hidden, "bad_dlpack(x)\n")
    assert found(cli("check", "--output-format", "json")) == [str(Path("environment", "b.py"))]


def test_installed_package_can_be_given(cli: Cli, project: Path) -> None:
    """A path that itself lies in site-packages is checked: excludes are for what is below a given folder."""
    write(project / ".venv" / "lib" / "site-packages" / "flax" / "a.py", "bad_dlpack(x)\n")
    assert len(found(cli("check", ".venv/lib/site-packages/flax", "--output-format", "json"))) == 1


def test_linked_folders_are_not_followed(cli: Cli, project: Path) -> None:
    """A link to a folder above does not lead round and round; a linked file is checked."""
    write(project / "pkg" / "a.py", "bad_dlpack(x)\n")
    (project / "pkg" / "up").symlink_to(project)
    (project / "pkg" / "link.py").symlink_to("a.py")
    assert found(cli("check", "pkg", "--output-format", "json")) == ["pkg/a.py", "pkg/link.py"]


@pytest.mark.parametrize(
    ("pattern", "kept"),
    [
        ("gen", ["src/generated.py"]),
        ("gen/", ["src/generated.py"]),
        ("./gen/", ["src/gen/deep/a.py", "src/generated.py"]),
        ("src/gen", ["gen/a.py", "src/generated.py"]),
        ("./src/gen/", ["gen/a.py", "src/generated.py"]),
        ("./generated.py", ["gen/a.py", "src/gen/deep/a.py", "src/generated.py"]),
        ("/gen", ["src/gen/deep/a.py", "src/generated.py"]),
        ("src/gen/deep/a.py", ["gen/a.py", "src/generated.py"]),
        ("a.py", ["src/generated.py"]),
        ("gen*", []),
        ("src/*", ["gen/a.py"]),
        ("deep/a.py", ["gen/a.py", "src/gen/deep/a.py", "src/generated.py"]),
    ],
)
def test_patterns(cli: Cli, project: Path, pattern: str, kept: list[str]) -> None:
    """A pattern is a name or a path from the project's root, of a file or of a folder with all that is below it."""
    write(project / "pyproject.toml", f"[tool.shardlint]\nexclude = ['{pattern}']\n")
    for name in ("gen/a.py", "src/gen/deep/a.py", "src/generated.py"):
        write(project / name, "bad_dlpack(x)\n")
    assert sorted(found(cli("check", "--output-format", "json"))) == kept


def test_patterns_hold_below_a_given_folder(cli: Cli, project: Path) -> None:
    """Paths in patterns go from the project's root, also where a folder below is checked, which is not excluded itself."""
    write(project / "pyproject.toml", "[tool.shardlint]\nexclude = ['src', 'src/gen', 'src/one.py']\n")
    for name in ("src/one.py", "src/two.py", "src/gen/a.py", "src/other/gen/a.py"):
        write(project / name, "bad_dlpack(x)\n")
    assert found(cli("check", "src", "--output-format", "json")) == ["src/two.py", "src/other/gen/a.py"]


def test_folder_without_python(cli: Cli, project: Path) -> None:
    """A folder without Python files is told in one sentence and is no failure."""
    write(project / "notes" / "a.txt", "bad_dlpack(x)\n")
    result = cli("check", "notes")
    assert result.exit_code == 0
    assert result.stderr == (
        "shardlint: notes: holds no Python files to check; hidden folders, environments and build results are passed over.\n"
    )
    assert result.stdout == ""


@pytest.mark.parametrize("pattern", ["notes", "*.py", "notes/*"])
def test_exclude_leaves_nothing(cli: Cli, project: Path, pattern: str) -> None:
    """Where it is `exclude` that leaves nothing to check, that is told with the file that it stands in."""
    file = write(project / "pyproject.toml", f"[tool.shardlint]\nexclude = ['{pattern}']\n")
    write(project / "notes" / "a.py", "bad_dlpack(x)\n")
    result = cli("check")
    assert result.exit_code == 0
    assert result.stderr == f"shardlint: .: `exclude` in [tool.shardlint] of {file} leaves nothing of it to check.\n"
    assert result.stdout == ""


def test_exclude_is_not_blamed_for_what_is_passed_over_anyway(cli: Cli, project: Path) -> None:
    """Where `exclude` has patterns but is not the reason, it is not named."""
    write(project / "pyproject.toml", "[tool.shardlint]\nexclude = ['other']\n")
    write(project / "build" / "a.py", "bad_dlpack(x)\n")
    result = cli("check")
    assert "holds no Python files to check; hidden folders, environments and build results" in result.stderr
    assert "exclude" not in result.stderr
