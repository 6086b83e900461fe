"""Which files settle what holds for a folder: a change in any that counts is seen, and of each the watched patterns speak."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

import pytest

from shardlint.project import scope_of
from shardlint.project_sources import WATCHED, sources_of
from shardlint.records.catalogue import Catalogue

PACKAGES = ".venv/lib/python3.12/site-packages"
PROJECT = '[project]\nname = "p"\ndependencies = ["jax=={}"]\n'
LOCK = '[[package]]\nname = "jax"\nversion = "{}"\n'
PYLOCK = '[[packages]]\nname = "jax"\nversion = "{}"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a package in a repository with a project file."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    package = tmp_path / "src" / "package"
    package.mkdir(parents=True)
    return package


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", PROJECT),
        ("pyproject.toml", '[tool.shardlint]\njax-version = "{}"\n'),
        ("src/package/pyproject.toml", '[tool.shardlint]\njax-version = "{}"\n'),
        ("uv.lock", LOCK),
        ("poetry.lock", LOCK),
        ("pdm.lock", LOCK),
        ("pylock.toml", PYLOCK),
        ("pylock.gpu.toml", PYLOCK),
        ("requirements.txt", "jax=={}\n"),
        ("requirements-gpu.txt", "jax=={}\n"),
        ("requirements/base.txt", "jax=={}\n"),
    ],
)
def test_a_file_that_names_the_version_is_a_source(folder: Path, catalogue: Catalogue, name: str, text: str) -> None:
    """Where another version in a file gives another target, the file's change is seen, and a client is asked to watch it."""
    root = folder.parents[1]
    write(root, name, text.format("0.6.2"))
    sources = sources_of(folder, {})
    before = scope_of(folder, catalogue, {})[0].target
    assert sources.unchanged
    write(root, name, text.format("0.10.2"))
    assert scope_of(folder, catalogue, {})[0].target != before
    assert not sources.unchanged
    assert any(fnmatch(f"/{name}", pattern) for pattern in WATCHED)


@pytest.mark.parametrize("name", ["pyproject.toml", "uv.lock", "requirements.txt"])
def test_a_file_that_comes_or_goes_is_seen(folder: Path, name: str) -> None:
    """A usual file that was not there when the settings were read is noticed when it appears, and when it is removed."""
    root = folder.parents[1]
    (root / name).unlink(missing_ok=True)
    absent = sources_of(folder, {})
    write(root, name, "# a comment\n")
    assert not absent.unchanged
    present = sources_of(folder, {})
    assert present.unchanged
    (root / name).unlink()
    assert not present.unchanged


def test_an_environment_that_is_made_is_seen(folder: Path) -> None:
    """A virtual environment beside the project file is noticed when it is made."""
    sources = sources_of(folder, {})
    write(folder.parents[1], ".venv/pyvenv.cfg", "")
    assert not sources.unchanged


@pytest.mark.parametrize("environ", ["", "VIRTUAL_ENV"])
def test_what_is_installed_is_a_source(folder: Path, tmp_path: Path, environ: str) -> None:
    """Another JAX in the environment that counts is seen; lock files do not matter then."""
    place = tmp_path / "elsewhere" if environ else folder.parents[1]
    write(place, ".venv/pyvenv.cfg", "")
    installed = place / PACKAGES / "jax-0.6.2.dist-info"
    installed.mkdir(parents=True)
    sources = sources_of(folder, {environ: str(place / ".venv")} if environ else {})
    write(folder.parents[1], "uv.lock", LOCK.format("0.9.2"))
    assert sources.unchanged
    installed.rename(installed.with_name("jax-0.10.2.dist-info"))
    assert not sources.unchanged


def test_records_of_ones_own_are_sources(folder: Path) -> None:
    """An edit of a record in a folder that the settings name is seen, as are records that come."""
    root = folder.parents[1]
    write(root, "pyproject.toml", '[tool.shardlint]\njax-version = "0.10.2"\nrecords = ["ours"]\n')
    write(root, "ours/one.json", "{}")
    sources = sources_of(folder, {})
    assert sources.unchanged
    write(root, "ours/one.json", '{"slug": "x"}')
    assert not sources.unchanged


def test_a_version_that_is_set_needs_few_sources(folder: Path) -> None:
    """With `jax-version` set, only the settings files are looked at: lock files may change as they like."""
    root = folder.parents[1]
    write(root, "pyproject.toml", '[tool.shardlint]\njax-version = "0.10.2"\n')
    sources = sources_of(folder, {})
    write(root, "uv.lock", LOCK.format("0.6.2"))
    write(root, ".venv/pyvenv.cfg", "")
    assert sources.unchanged
    assert {path.name for path in sources.stamps} == {"pyproject.toml"}
