"""The files that settle what holds for a folder, its settings and its JAX, and whether they are as they were.

An editor is told of changes in them by a client that watches files, and looks itself before it checks where none does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shardlint.config import FILE_NAME, Settings, load
from shardlint.environment import import_folders, project_folders, version_problem

_NAMES = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "requirements.txt")
"""Files that are looked for beside a `pyproject.toml`, there or not: one that appears is noticed."""
_PATTERNS = ("pylock.*.toml", "requirements*.txt", "requirements/*.txt")
"""Further ones, as glob patterns."""
_ENVIRONMENTS = (".venv/pyvenv.cfg", "venv/pyvenv.cfg")
_PACKAGES = ("site-packages", "dist-packages")
_INSTALLED = "jax-*.dist-info"

WATCHED = tuple(f"**/{name}" for name in (FILE_NAME, *_NAMES, *_PATTERNS))
"""Glob patterns for a client that watches files: every file whose change may give other settings or another JAX."""

Stamp = tuple[int, int] | None
"""The size of a file and the time of its last change in nanoseconds, or None for one that is not there."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Files and folders with the stamps that they had."""

    stamps: Mapping[Path, Stamp] = field(default_factory=dict[Path, Stamp])

    @property
    def unchanged(self) -> bool:
        """Whether all of them are as they were, at the cost of one `stat` for each."""
        return all(_stamp(path) == then for path, then in self.stamps.items())


def sources_of(folder: Path, environ: Mapping[str, str]) -> Sources:
    """The files and folders on which `project.scope_of` depends for `folder`. To be called before that reads them."""
    settings, _ = load(folder)
    return Sources({path: _stamp(path) for path in _places(folder.absolute(), settings, environ)})


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns


def _places(folder: Path, settings: Settings, environ: Mapping[str, str]) -> Iterator[Path]:
    folders = project_folders(folder)
    yield from (one / FILE_NAME for one in folders)
    if settings.source:
        yield settings.source
    for path in settings.records:
        yield from (path, *_matching(path, ("*", "*/*")))
    if settings.jax_version is None or version_problem(settings.jax_version):
        yield from _places_of_versions(folder, settings, environ)


def _places_of_versions(folder: Path, settings: Settings, environ: Mapping[str, str]) -> Iterator[Path]:
    """Where the version of JAX may be named; what is installed or removed changes the folder of the packages."""
    folders = project_folders(folder)
    projects = [one for one in folders if one == folders[-1] or _stamp(one / FILE_NAME)]
    if settings.python:
        yield settings.python
    else:
        yield from (project / name for project in projects for name in _ENVIRONMENTS)
    packages = [path for path in import_folders(folder, settings, environ) if path.name in _PACKAGES]
    yield from packages
    if any(_matching(path, (_INSTALLED,)) for path in packages):
        return  # it counts before anything that names a version
    yield from (project / name for project in projects for name in _NAMES)
    for one in folders:
        yield from _matching(one, (*_NAMES, *_PATTERNS))


def _matching(folder: Path, patterns: Sequence[str]) -> list[Path]:
    found: list[Path] = []
    for pattern in patterns:
        with contextlib.suppress(OSError):  # what may not be looked into has no files for us
            found += sorted(folder.glob(pattern))
    return found
