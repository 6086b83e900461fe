"""When diagnostics are published: soon after a document changed, and not for each change of a burst."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import Callable, Generator
from functools import partial

from lsprotocol import types

from shardlint.lsp.background import Background, Meanings
from shardlint.lsp.convert import path_of
from shardlint.lsp.diagnostics import diagnostics
from shardlint.lsp.session import CheckedDocument, Session
from shardlint.lsp.showing import elsewhere
from shardlint.model import Problem

logger = logging.getLogger(__name__)


class Publisher:
    """Publishes what is found in each document, for its newest version only.

    The first change after a pause is checked at once. While changes keep coming faster than `QUIET`, or came while the last
    check ran, they are taken in and only the text they lead to is checked. Before a check it is noticed if the settings have
    changed, and then all that is open is checked.

    What leads to a hand-off in another open document is shown there too, and goes there too. A document whose report depends on
    another file is checked again once nothing was typed for `PAUSE`.

    What names of other modules mean is asked for after the publication. If by the answers there is something else to say of a
    version that is still the newest, it is published again.
    """

    QUIET = 0.004
    """Seconds in which neither a change came nor a check ended, after which a burst is over."""
    PAUSE = 0.1
    """Seconds without a change, after which the documents are checked that depend on what was changed."""

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
        self._late: set[str] = set()
        self._shown: dict[str, tuple[int, list[types.Diagnostic]]] = {}
        self._spoken_of: dict[str, frozenset[str]] = {}
        self._last_busy: dict[str, float] = {}
        self._failures: set[str] = set()
        self._background = Background()

    def changed(self, *uris: str) -> None:
        """Publish soon what is found in the documents. To be called on the event loop."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        for uri in uris:
            in_burst = now - self._last_busy.get(uri, -math.inf) <= self.QUIET or uri in self._waiting
            self._last_busy[uri] = now
            self._cancel(uri)
            self._waiting[uri] = loop.call_later(self.QUIET if in_burst else 0, self._run, uri)
        self.follow()

    def follow(self) -> None:
        """Check later what depends on files that have changed. To be called on the event loop."""
        loop = asyncio.get_running_loop()
        for uri in self._session.outdated:
            if uri not in self._waiting or uri in self._late:
                self._cancel(uri)
                self._late.add(uri)
                self._waiting[uri] = loop.call_later(self.PAUSE, self._run, uri)

    def closed(self, uri: str) -> None:
        """Take back what was published of a document, and what was found from it in others."""
        self._cancel(uri)
        self._background.drop(uri)
        self._last_busy.pop(uri, None)
        self._shown.pop(uri, None)
        self._publish(types.PublishDiagnosticsParams(uri, []))
        self._refresh(self._spoken_of.pop(uri, frozenset()))
        self.follow()

    def _cancel(self, uri: str) -> None:
        self._late.discard(uri)
        waiting = self._waiting.pop(uri, None)
        if waiting:
            waiting.cancel()

    def _run(self, uri: str) -> None:
        del self._waiting[uri]
        is_late = uri in self._late
        self._late.discard(uri)
        self._check(uri, only_news=is_late)
        self._last_busy[uri] = asyncio.get_running_loop().time()

    def _check(self, uri: str, *, only_news: bool) -> None:
        with self._told_failures(uri):
            if self._session.notice_settings(uri):
                self.changed(*(other for other in self._session.open_uris if other != uri))
            checked = self._session.checked(uri)
            if checked is not None:
                self._show(checked, only_news=only_news)
                self._ask(checked)

    def _show(self, checked: CheckedDocument, *, only_news: bool) -> None:
        """Publish what is found in a document, and what that changes in others."""
        uri = checked.document.uri
        self._send(checked, only_news=only_news)
        before, now = self._spoken_of.get(uri, frozenset()), elsewhere(checked)
        self._spoken_of[uri] = now
        self._refresh(before | now)

    def _refresh(self, paths: frozenset[str]) -> None:
        """Publish again what is shown in open files, if that is something else now; those that wait for a check get it with that."""
        for path in paths:
            document = self._session.document_of(path)
            checked = self._session.current(document.uri) if document else None
            if checked is not None and checked.document.uri not in self._waiting:
                self._send(checked, only_news=True)

    def _ask(self, checked: CheckedDocument) -> None:
        names = self._session.questions(checked)
        if names:
            question = partial(self._session.engine.meanings, names, checked.import_folders)
            self._background.ask(checked.document.uri, question, partial(self._learn, checked, names))

    def _learn(self, checked: CheckedDocument, names: frozenset[str], meanings: Meanings) -> None:
        with self._told_failures(checked.document.uri):
            again = self._session.learn(checked, names, meanings)
            if again is not None:
                self._show(again, only_news=True)
                self._ask(again)

    def _send(self, checked: CheckedDocument, *, only_news: bool) -> None:
        document = checked.document
        found = diagnostics(self._session, checked)
        if only_news and self._shown.get(document.uri) == (document.version, found):
            return
        self._shown[document.uri] = document.version, found
        self._publish(types.PublishDiagnosticsParams(document.uri, found, version=document.version))

    @contextlib.contextmanager
    def _told_failures(self, uri: str) -> Generator[None]:
        """Tell a defect of ours once: it would be told at every keystroke."""
        try:
            yield
        except Exception as error:
            kind = f"{uri} {error!r}"
            if kind not in self._failures:
                self._failures.add(kind)
                logger.exception("could not check %s", uri)
                message = f"{path_of(uri)}: could not be checked, which is a defect of shardlint: {error}"
                self._tell(Problem(path_of(uri), message))
