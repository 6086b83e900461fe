"""The language server put together: which message goes to which function."""

from __future__ import annotations

import json
import logging
from functools import partial

from lsprotocol import types
from pygls.exceptions import FeatureRequestError, JsonRpcException, PyglsError
from pygls.lsp.server import LanguageServer

from shardlint import __version__
from shardlint.lsp.client import Client
from shardlint.lsp.code_actions import FIX_ALL, GUARD, QUICK_FIX, code_actions
from shardlint.lsp.engine import Engine
from shardlint.lsp.hover import hover
from shardlint.lsp.protocol import LifecycleProtocol
from shardlint.lsp.publisher import Publisher
from shardlint.lsp.session import Session
from shardlint.model import Problem

logger = logging.getLogger(__name__)

_MODULE = ".py"
_MODULES = f"**/*{_MODULE}"


class ShardlintServer(LanguageServer):
    """A pygls server that speaks of failures once."""

    protocol: LifecycleProtocol  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(self) -> None:
        super().__init__("shardlint", __version__, protocol_cls=LifecycleProtocol)  # pyright: ignore[reportUnknownMemberType]

    def report_server_error(self, error: Exception, source: type[PyglsError] | type[JsonRpcException]) -> None:
        """What pygls calls when something went wrong outside of an answer, or beside one."""
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError):
            self.protocol.refuse_unreadable()
        elif source is not FeatureRequestError:  # a failed request has its answer, and pygls has logged it
            logger.error("%s", error, exc_info=error)

    def tell(self, problem: Problem) -> None:
        """Say to the person at the editor what of theirs cannot be used."""
        self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"shardlint: {problem.message}"))


def build(engine: Engine) -> ShardlintServer:
    """A server that is ready to be started on a connection."""
    server = ShardlintServer()
    session = Session(engine, server.tell)
    publisher = Publisher(session, server.text_document_publish_diagnostics, server.tell)
    actions = types.CodeActionOptions(code_action_kinds=[QUICK_FIX, GUARD, FIX_ALL])
    server.feature(types.INITIALIZE)(partial(_initialize, session))
    server.feature(types.INITIALIZED)(partial(_watch_files, session, server))
    server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(partial(_change_workspace, session, publisher))
    server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(partial(_change_settings, session, publisher))
    server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(partial(_change_files, session, publisher))
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(partial(_open, session, publisher))
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(partial(_change, session, publisher))
    server.feature(types.TEXT_DOCUMENT_DID_SAVE)(partial(_save, session, publisher))
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(partial(_close, session, publisher))
    server.feature(types.TEXT_DOCUMENT_HOVER)(partial(hover, session))
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, actions)(partial(code_actions, session))
    return server


def _initialize(session: Session, params: types.InitializeParams) -> None:
    folders = [folder.uri for folder in params.workspace_folders or ()]
    session.start(Client.of(params.capabilities), folders or ([params.root_uri] if params.root_uri else []))


def _watch_files(session: Session, server: ShardlintServer, _: types.InitializedParams) -> None:
    """Ask a client that can watch files for news of those that settings and versions come from, and of modules."""
    if not session.client.watches_files:
        return
    method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
    watchers = [types.FileSystemWatcher(pattern) for pattern in (*session.engine.watched(), _MODULES)]
    options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
    server.client_register_capability(types.RegistrationParams([types.Registration(method, method, options)]))


def _change_workspace(session: Session, publisher: Publisher, params: types.DidChangeWorkspaceFoldersParams) -> None:
    session.change_workspace(
        added=[folder.uri for folder in params.event.added], removed=[folder.uri for folder in params.event.removed]
    )
    publisher.changed(*session.open_uris)


def _change_settings(session: Session, publisher: Publisher, _: object) -> None:
    session.forget_settings()
    publisher.changed(*session.open_uris)


def _change_files(session: Session, publisher: Publisher, params: types.DidChangeWatchedFilesParams) -> None:
    if not all(change.uri.endswith(_MODULE) for change in params.changes):
        _change_settings(session, publisher, params)
    session.look_again()
    publisher.follow()


def _open(session: Session, publisher: Publisher, params: types.DidOpenTextDocumentParams) -> None:
    if session.open(params.text_document):
        publisher.changed(params.text_document.uri)


def _change(session: Session, publisher: Publisher, params: types.DidChangeTextDocumentParams) -> None:
    document = params.text_document
    if session.change(document.uri, document.version, params.content_changes):
        publisher.changed(document.uri)


def _save(session: Session, publisher: Publisher, params: types.DidSaveTextDocumentParams) -> None:
    session.doubt_meanings()
    session.look_again()
    publisher.follow()
    if session.is_open(params.text_document.uri):
        publisher.changed(params.text_document.uri)


def _close(session: Session, publisher: Publisher, params: types.DidCloseTextDocumentParams) -> None:
    if session.close(params.text_document.uri):
        publisher.closed(params.text_document.uri)
