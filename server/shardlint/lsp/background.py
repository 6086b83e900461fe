"""Questions that take long, asked on a thread so that nobody at the editor waits for them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

logger = logging.getLogger(__name__)

Meanings = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Job:
    question: Callable[[], Meanings]
    then: Callable[[Meanings], None]


class Background:
    """Asks one question at a time. All methods are for the event loop.

    The thread does not keep the process from ending.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, _Job] = {}
        self._is_busy = False

    def ask(self, key: str, question: Callable[[], Meanings], then: Callable[[Meanings], None]) -> None:
        """Call `question` on a thread, and then `then` with its answers on the event loop.

        While a question waits for its turn, a later one of the same key takes its place. Of one that raises nobody hears but
        the log.
        """
        self._waiting[key] = _Job(question, then)
        if not self._is_busy:
            self._next()

    def drop(self, key: str) -> None:
        """Do not ask the question of this key that still waits, if there is one."""
        self._waiting.pop(key, None)

    def _next(self) -> None:
        self._is_busy = bool(self._waiting)
        if self._is_busy:
            job = self._waiting.pop(next(iter(self._waiting)))
            threading.Thread(target=self._run, args=(job, asyncio.get_running_loop()), daemon=True).start()

    def _run(self, job: _Job, loop: asyncio.AbstractEventLoop) -> None:
        answers: Meanings | None = None
        try:
            answers = job.question()
        except Exception:
            logger.exception("a question in the background failed")
        with contextlib.suppress(RuntimeError):  # the loop has ended, and nobody wants to know any more
            loop.call_soon_threadsafe(self._done, job, answers)

    def _done(self, job: _Job, answers: Meanings | None) -> None:
        self._next()
        if answers is not None:
            job.then(answers)
