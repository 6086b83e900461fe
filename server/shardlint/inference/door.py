"""What names of other modules mean and objects of theirs are, asked of jedi in a process of its own, and a check that uses it.

Nothing of jedi is loaded here. The answers come from a cache as long as the files they depend on are unchanged; the process
is started for the first question that the cache has no answer to, and is kept for the next ones.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from shardlint.check import Report, Snapshot, check
from shardlint.inference import vocabulary
from shardlint.inference.process import Command, Process, ProcessError, jedi_command
from shardlint.inference.store import Entry, Store, entry_of
from shardlint.model import Problem
from shardlint.placement.paths import name_of, steps_of

BUDGET = 10.0
"""Seconds in which the questions of one file are answered, or not at all."""
_MOST_FAILURES = 3
"""So often a process is started in vain before a session does without."""
_MOST_ROUNDS = 4
"""How often a file is checked again for what the answers bring up."""


class Inference:
    """Answers questions for one session, in an editor or on the command line. Several threads may ask."""

    def __init__(self, cache: Path | None, budget: float = BUDGET, command: Command | None = None) -> None:
        """`cache` is a folder for what may be kept, None to keep nothing; see `inference_store.cache_folder`.

        `budget` is in seconds, for each call of `answer`. `command` takes the place of jedi.
        """
        self._cache = cache and cache.absolute()
        self._budget = budget
        self._command = command or jedi_command(self._cache)
        self._vocabulary = vocabulary.load()
        self._stores: dict[tuple[str, ...], Store] = {}
        self._given_up: set[tuple[tuple[str, ...], str]] = set()
        self._failures = 0
        self._problems: list[Problem] = []
        self._process: Process | None = None
        self._lock = threading.Lock()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """One for each time that jedi failed, in order. They cost findings, and never make wrong ones."""
        return tuple(self._problems)

    def answer(self, questions: Iterable[str], added_paths: Sequence[Path]) -> dict[str, str]:
        """The other path of each of `questions` that has one, as jedi sees it with `added_paths` to import from.

        `added_paths` are the workspace's folders and its environment's `site-packages`, in the order in which Python would
        look there. Nothing in them is run. A question without an answer is left out.
        """
        roots = tuple(str(path.absolute()) for path in added_paths)
        names = sorted(name for name in set(questions) if _can_be_asked(name) and not self._vocabulary.knows(name))
        with self._lock:
            found = self._known(names, roots)
            missing = [name for name in names if name not in found and (roots, name) not in self._given_up]
            if missing and self._failures < _MOST_FAILURES:
                found |= self._asked(missing, roots)
        return {name: entry.meaning for name, entry in found.items() if entry.meaning not in (None, name)}

    def recall(self, questions: Iterable[str], added_paths: Sequence[Path]) -> dict[str, str]:
        """The same from the cache alone, at once."""
        roots = tuple(str(path.absolute()) for path in added_paths)
        found = self._known(set(questions), roots)
        return {name: entry.meaning for name, entry in found.items() if entry.meaning not in (None, name)}

    def close(self) -> None:
        """End jedi's process. A later question starts another."""
        process, self._process = self._process, None
        if process is not None:
            process.close()  # a thread that waits for its answer goes on without

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _store(self, roots: tuple[str, ...]) -> Store:
        if roots not in self._stores:
            self._stores[roots] = Store(self._cache, self._vocabulary.digest, *roots)
        return self._stores[roots]

    def _known(self, names: Iterable[str], roots: tuple[str, ...]) -> dict[str, Entry]:
        store = self._store(roots)
        return {name: entry for name in names if (entry := store.get(name)) is not None}

    def _asked(self, names: Collection[str], roots: tuple[str, ...]) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        failed: list[str] = []
        try:
            if self._process is None:
                self._process = Process(self._command)
            for answer in self._process.ask({"roots": roots, "names": names}, self._budget):
                name: Any = answer.get("name")
                entry = entry_of(answer.get("meaning"), answer.get("seen"))
                if entry is not None and name in names:
                    found[name] = entry
                elif "failed" in answer:
                    failed.append(f"{name} ({answer['failed']})")
        except ProcessError as error:
            self._process = None
            self._failures += 1
            self._problems.append(_problem(f"its process {error}", [name for name in names if name not in found]))
        if failed:
            self._problems.append(_problem("it failed", failed))
        self._given_up.update((roots, name) for name in names if name not in found)
        self._store(roots).add(found)
        return found


def settle(
    snapshot: Snapshot,
    inference: Inference | None,
    added_paths: Sequence[Path] = (),
    check: Callable[[Snapshot], Report] = check,
    *,
    wait: bool = True,
) -> tuple[Report, Snapshot]:
    """Check, have the questions answered, and check again with the answers until there are no new ones.

    The snapshot that comes back holds the answers: what is done with the report later must start from it. Without an
    `inference` this is a plain check. `check` takes the place of the core's. Unless told to `wait`, only what is known
    already is used, so that no process is started; a report that still has questions may then find more when waited for.
    """
    report = check(snapshot)
    if inference is None:
        return report, snapshot
    answer = inference.answer if wait else inference.recall
    for _ in range(_MOST_ROUNDS):
        answers = answer(report.questions, added_paths)
        if answers.items() <= snapshot.answers.items():
            break
        snapshot = replace(snapshot, answers={**snapshot.answers, **answers})
        report = check(snapshot)
    return report, snapshot


def _can_be_asked(path: str) -> bool:
    return bool(steps_of(path)) and "." in name_of(path)


def _problem(what: str, names: Sequence[str]) -> Problem:
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return Problem(
        None,
        f"jedi did not say what {shown} means, because {what}; what is handed over behind that was "
        "not checked: run again, and report it if it stays so.",
    )
