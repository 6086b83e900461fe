"""The core as the language server sees it: four functions, so that a test can put others in their place.

Nothing here imports the core before it is first asked for something: a client's `initialize` does not wait for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shardlint.check import Report, Snapshot
    from shardlint.model import Finding, Fix, Problem, Target
    from shardlint.records.catalogue import Catalogue


@dataclass(frozen=True, slots=True)
class Project:
    """What is in force for the files of one folder, and what of it could not be used."""

    target: Target
    catalogue: Catalogue
    ignored: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Engine:
    """`project` takes the folder of a file."""

    check: Callable[[Snapshot], Report]
    repairs: Callable[[Snapshot, Finding], tuple[Fix, ...]]
    fix_all: Callable[[Snapshot], tuple[str, tuple[Fix, ...]]]
    project: Callable[[Path], Project]


def core() -> Engine:
    """The real thing."""
    return Engine(_check, _repairs, _fix_all, _project)


def _check(snapshot: Snapshot) -> Report:
    from shardlint.check import check

    return check(snapshot)


def _repairs(snapshot: Snapshot, finding: Finding) -> tuple[Fix, ...]:
    from shardlint.fixes.repair import repairs

    return repairs(snapshot, finding)


def _fix_all(snapshot: Snapshot) -> tuple[str, tuple[Fix, ...]]:
    from shardlint.fixes.repair import fix_all

    return fix_all(snapshot)


def _project(folder: Path) -> Project:
    from shardlint.project import scope_of
    from shardlint.records.catalogue import load

    scope, problems = scope_of(folder, load(), os.environ)
    return Project(scope.target, scope.catalogue, scope.ignored, problems)
