"""What all tests share: the catalogue frozen from this checkout's records, and snapshots of small programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from shardlint.check import Snapshot
from shardlint.model import Target
from shardlint.records.catalogue import Catalogue, load
from shardlint.records.freeze import freeze
from shardlint.text import Text

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session", autouse=True)
def _frozen() -> None:
    """The installed catalogue says what `records/` says now."""
    problems = freeze(ROOT / "records", ROOT / "server" / "shardlint" / "records")
    assert not problems, problems


@pytest.fixture(autouse=True)
def _no_active_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment from which the tests are run is none of the projects' that they make up."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def catalogue(_frozen: None) -> Catalogue:
    """The shipped rules."""
    return load()


@pytest.fixture
def snapshot(catalogue: Catalogue) -> Callable[..., Snapshot]:
    """Make a snapshot of a program's text for a JAX version (0.10.2 if not told)."""

    def make(source: str, jax: str = "0.10.2", path: str = "program.py") -> Snapshot:
        return Snapshot(path, Text(source), Target((jax,), True, "the test"), catalogue)

    return make
