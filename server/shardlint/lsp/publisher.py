"""When diagnostics are published: soon after a document changed, and not for each change of a burst."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable

from lsprotocol import types

from shardlint.lsp.convert import path_of
from shardlint.lsp.diagnostics import diagnostics
from shardlint.lsp.session import Session
from shardlint.model import Problem

logger = logging.getLogger(__name__)


class Publisher:
    """Publishes what is found in each document, for its newest version only.

    The first change after a pause is checked at once. While changes keep coming faster than `QUIET`, or came while the last
    check ran, they are taken in and only the text they lead to is checked.
    """

    QUIET = 0.004
    """Seconds in which neither a change came nor a check ended, after which a burst is over."""

    def __init__(
        self,
        session: Session,
        publish: Callable[[types.PublishDiagnosticsParams], None],
        tell: Callable[[Problem], None],
    ) -> None:
        self._session = session
        self._publish = publish
        self._tell = tell
        self._waiting: dict[str, asyncio.TimerHandle] = {}
        self._last_busy: dict[str, float] = {}
        self._failures: set[str] = set()

    def changed(self, *uris: str) -> None:
        """Publish soon what is found in the documents. To be called on the event loop."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        for uri in uris:
            in_burst = now - self._last_busy.get(uri, -math.inf) <= self.QUIET or uri in self._waiting
            self._last_busy[uri] = now
            self._cancel(uri)
            self._waiting[uri] = loop.call_later(self.QUIET if in_burst else 0, self._run, uri)

    def closed(self, uri: str) -> None:
        """Take back what was published."""
        self._cancel(uri)
        self._last_busy.pop(uri, None)
        self._publish(types.PublishDiagnosticsParams(uri, []))

    def _cancel(self, uri: str) -> None:
        waiting = self._waiting.pop(uri, None)
        if waiting:
            waiting.cancel()

    def _run(self, uri: str) -> None:
        del self._waiting[uri]
        self._check(uri)
        self._last_busy[uri] = asyncio.get_running_loop().time()

    def _check(self, uri: str) -> None:
        try:
            checked = self._session.checked(uri)
            if checked is None:
                return
            found = diagnostics(self._session, checked)
        except Exception as error:
            kind = f"{uri} {error!r}"
            if kind not in self._failures:  # one bug would be logged at every keystroke
                self._failures.add(kind)
                logger.exception("could not check %s", uri)
                message = f"{path_of(uri)}: could not be checked, which is a defect of shardlint: {error}"
                self._tell(Problem(path_of(uri), message))
            return
        self._publish(types.PublishDiagnosticsParams(uri, found, version=checked.document.version))
