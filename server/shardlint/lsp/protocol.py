"""The rules of life of an LSP connection that pygls leaves out.

pygls structures each JSON object as it is parsed, so a request with bad parameters is lost before its id is known, and it
knows no states. Here a message stays plain JSON until its place in the life of the connection is checked: requests before
`initialize` are answered ServerNotInitialized, requests after `shutdown` and a second `initialize` InvalidRequest, bad
parameters InvalidParams; notifications out of turn are dropped, as LSP asks.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, cast

import cattrs
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcParseError,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol, lsp_method

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

logger = logging.getLogger(__name__)

Json = dict[str, Any]


class LifecycleProtocol(LanguageServerProtocol):
    """pygls' protocol with the states of a connection: created, initialized, shut down."""

    def __init__(self, server: LanguageServer, converter: cattrs.Converter) -> None:
        super().__init__(server, converter)
        self._initialized = False
        # The session keeps the documents: pygls' own store takes a form feed for the end of a line, and editors do not.
        for method in (
            types.TEXT_DOCUMENT_DID_OPEN,
            types.TEXT_DOCUMENT_DID_CHANGE,
            types.TEXT_DOCUMENT_DID_CLOSE,
        ):
            del self.fm.builtin_features[method]  # pyright: ignore[reportUnknownMemberType]

    @property
    def exit_code(self) -> int:
        """What the process has to end with: 0 if the client sent `shutdown` first, else 1."""
        return 0 if self._shutdown else 1

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        result = yield from super().lsp_initialize(params)
        self._initialized = True
        return result

    def structure_message(self, data: Json) -> Any:
        """The JSON object itself; pygls calls this for every object in a message, innermost first."""
        return data

    def handle_message(self, message: object) -> None:
        """Answer or drop one decoded message."""
        if not isinstance(message, dict):
            self._refuse(None, JsonRpcInvalidRequest("a message must be one JSON object"))
            return
        data = cast("Json", message)
        if data.get("jsonrpc") != self.VERSION:
            self._refuse(data.get("id"), JsonRpcInvalidRequest('a message must have "jsonrpc": "2.0"'))
        elif "method" not in data:
            self._handle_answer(data)
        elif "id" in data:
            self._handle_call(data)
        else:
            self._handle_news(data)

    def refuse_unreadable(self) -> None:
        """Answer a body that is not JSON. Nobody knows which message it was, so the answer has no id."""
        self._refuse(None, JsonRpcParseError("the body of the message is not JSON"))

    def _handle_call(self, data: Json) -> None:
        try:
            method = data["method"]
            if not isinstance(data["id"], int | str) or not isinstance(method, str):
                raise JsonRpcInvalidRequest("id must be a number or a string, method a string")
            if self._shutdown:
                raise JsonRpcInvalidRequest(f"{method} came after shutdown: only exit may follow")
            if not self._initialized and method != types.INITIALIZE:
                raise JsonRpcServerNotInitialized(f"{method} came before initialize")
            if self._initialized and method == types.INITIALIZE:
                raise JsonRpcInvalidRequest("initialize came twice on one connection")
            request = self._structure(data, method)
        except JsonRpcException as error:
            self._refuse(data["id"], error)
            return
        super().handle_message(request)

    def _handle_news(self, data: Json) -> None:
        method = data["method"]
        if method != types.EXIT and (self._shutdown or not self._initialized):
            return
        try:
            notification = self._structure(data, method)
        except JsonRpcMethodNotFound:
            return
        except JsonRpcException as error:
            logger.error("dropped a notification: %s", error)
            return
        super().handle_message(notification)

    def _handle_answer(self, data: Json) -> None:
        try:
            answer = cast("Any", super().structure_message(data))
        except JsonRpcException as error:
            logger.error("dropped an answer of the client: %s", error)
            return
        super().handle_message(answer)

    def _structure(self, data: Json, method: object) -> Any:
        """The message as its lsprotocol class. Raises JsonRpcMethodNotFound or JsonRpcInvalidParams."""
        if not isinstance(method, str):
            raise JsonRpcMethodNotFound.of(str(method))
        if method != types.CANCEL_REQUEST:
            self._get_handler(method)  # raises JsonRpcMethodNotFound
        message_type = cast("type[Any]", self.get_message_type(method))  # every method with a handler is LSP's own
        try:
            return self._converter.structure(data, message_type)
        except Exception as error:  # cattrs raises whatever the wrong value made a converter raise
            reasons = "; ".join(cattrs.transform_error(error, path="message"))
            raise JsonRpcInvalidParams(f"{method}: {reasons}") from error

    def _refuse(self, msg_id: object, error: JsonRpcException) -> None:
        known_id = msg_id if isinstance(msg_id, int | str) else None
        # Not through lsprotocol's classes: they leave out an id that is null, and JSON-RPC wants to see it.
        self._send_data(
            {"jsonrpc": self.VERSION, "id": known_id, "error": {"code": error.code, "message": error.message}}
        )
