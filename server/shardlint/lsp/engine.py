"""The core as the language server sees it: a few functions, so that a test can put others in their place.

Nothing here imports the core before it is first asked for something: a client's `initialize` does not wait for it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shardlint.check import Report, Snapshot
    from shardlint.inference.door import Inference
    from shardlint.model import Finding, Fix, HandOff, Problem, Target
    from shardlint.records.catalogue import Catalogue
    from shardlint.workspace import Workspaces


logger = logging.getLogger(__name__)


def _never() -> bool:
    return False


def _nothing(names: Collection[str], folders: tuple[Path, ...]) -> Mapping[str, str]:  # noqa: ARG001
    return {}


@dataclass(frozen=True, slots=True)
class Project:
    """What is in force for the files of one folder, and what of it could not be used.

    `root` is the folder of the settings, from which modules of the workspace are looked for as well. `import_folders` are those in
    which modules are looked for that the files import. `outdated` tells whether a file that it was read from is not as it was; the
    question costs a few calls of `stat`. `assume` are the project's claims by qualified name. `ignored` and
    `ignored_in` are as a snapshot has them.
    """

    target: Target
    catalogue: Catalogue
    ignored: frozenset[str] | None = None
    root: Path | None = None
    problems: tuple[Problem, ...] = ()
    import_folders: tuple[Path, ...] = ()
    outdated: Callable[[], bool] = _never
    assume: Mapping[str, str] = field(default_factory=dict[str, str])
    ignored_in: Callable[[str], Collection[str]] | None = None


def _workspaces() -> Workspaces:
    from shardlint.workspace import Workspaces

    return Workspaces()


def _none_from(caller: Snapshot, snapshot: Snapshot, finding: Finding) -> tuple[Fix, ...]:  # noqa: ARG001
    return ()


def _no_reason(snapshot: Snapshot, finding: Finding) -> str:  # noqa: ARG001
    return ""


def _no_guards(snapshot: Snapshot, hand_off: HandOff) -> tuple[Fix, ...]:  # noqa: ARG001
    return ()


@dataclass(frozen=True, slots=True)
class Engine:
    """`project` takes the folder of a file. `watched` gives glob patterns for the files that it reads settings and versions from.
    `workspaces` makes what finds the modules that documents import, for one session. `repairs_found_from` takes the caller, the file
    to repair, and the finding in it. `why_no_repair` gives a clause for a finding without repairs, empty where there is none to give;
    `guards` are for hand-offs without findings.

    `meanings` takes a report's questions and the folders to import from, and may take seconds; it is called on a thread, and
    never twice at once.
    """

    check: Callable[[Snapshot], Report]
    repairs: Callable[[Snapshot, Finding], tuple[Fix, ...]]
    fix_all: Callable[[Snapshot], tuple[str, tuple[Fix, ...]]]
    project: Callable[[Path], Project]
    watched: Callable[[], tuple[str, ...]] = tuple
    meanings: Callable[[Collection[str], tuple[Path, ...]], Mapping[str, str]] = _nothing
    workspaces: Callable[[], Workspaces] = _workspaces
    repairs_found_from: Callable[[Snapshot, Snapshot, Finding], tuple[Fix, ...]] = _none_from
    remembering: Callable[[], Callable[[Snapshot], Report]] | None = None
    why_no_repair: Callable[[Snapshot, Finding], str] = _no_reason
    guards: Callable[[Snapshot, HandOff], tuple[Fix, ...]] = _no_guards

    def checks(self) -> Callable[[Snapshot], Report]:
        """A check for one document, which may remember what it has found out for the next time."""
        return self.check if self.remembering is None else self.remembering()


def core() -> Engine:
    """The real thing."""
    return Engine(
        _check,
        _repairs,
        _fix_all,
        _project,
        _watched,
        _Jedi().meanings,
        repairs_found_from=_repairs_found_from,
        remembering=_remembering,
        why_no_repair=_why_no_repair,
        guards=_guards,
    )


def _check(snapshot: Snapshot) -> Report:
    from shardlint.check import check

    return check(snapshot)


def _remembering() -> Callable[[Snapshot], Report]:
    from functools import partial

    from shardlint.check import Memory, check

    return partial(check, memory=Memory())


def _repairs(snapshot: Snapshot, finding: Finding) -> tuple[Fix, ...]:
    from shardlint.fixes.repair import repairs

    return repairs(snapshot, finding)


def _repairs_found_from(caller: Snapshot, snapshot: Snapshot, finding: Finding) -> tuple[Fix, ...]:
    from shardlint.fixes.elsewhere import repairs_found_from

    return repairs_found_from(caller, snapshot, finding)


def _why_no_repair(snapshot: Snapshot, finding: Finding) -> str:
    from shardlint.fixes.repair import why_none

    return why_none(snapshot, finding)


def _guards(snapshot: Snapshot, hand_off: HandOff) -> tuple[Fix, ...]:
    from shardlint.fixes.guarding import guards

    return guards(snapshot, hand_off)


def _fix_all(snapshot: Snapshot) -> tuple[str, tuple[Fix, ...]]:
    from shardlint.fixes.repair import fix_all

    return fix_all(snapshot)


def _project(folder: Path) -> Project:
    from shardlint.project import scope_of
    from shardlint.project_sources import sources_of
    from shardlint.records.catalogue import load

    sources = sources_of(folder, os.environ)  # before they are read: what changes meanwhile is noticed
    scope, problems = scope_of(folder, load(), os.environ)
    return Project(
        scope.target,
        scope.catalogue,
        scope.ignored,
        scope.settings.root,
        problems,
        scope.import_folders,
        lambda: not sources.unchanged,
        scope.settings.assume,
        scope.ignored_in,
    )


def _watched() -> tuple[str, ...]:
    from shardlint.project_sources import WATCHED

    return WATCHED


class _Jedi:
    """What names of other modules mean. Its process starts with the first question, and is there for the next ones."""

    def __init__(self) -> None:
        self._inference: Inference | None = None
        self._told = 0

    def meanings(self, names: Collection[str], folders: tuple[Path, ...]) -> Mapping[str, str]:
        if self._inference is None:
            from shardlint.inference.door import Inference
            from shardlint.inference.store import cache_folder

            self._inference = Inference(cache_folder(os.environ))
        answers = self._inference.answer(names, folders)
        for problem in self._inference.problems[self._told :]:
            self._told += 1
            logger.warning("%s", problem.message)
        return answers
