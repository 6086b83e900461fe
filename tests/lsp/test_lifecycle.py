"""The states of a connection, over the server's real stdin and stdout."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

FAKE = (sys.executable, str(Path(__file__).with_name("fake_server.py")))

SERVER_NOT_INITIALIZED, INVALID_REQUEST, INVALID_PARAMS = -32002, -32600, -32602
HOVER = {"textDocument": {"uri": "untitled:one"}, "position": {"line": 0, "character": 0}}

pytestmark = pytest.mark.asyncio


async def test_request_before_initialize_is_refused(start: Any) -> None:
    """A request before `initialize` is answered ServerNotInitialized, and the connection can still be initialized."""
    wire = await start()
    assert (await wire.ask("textDocument/hover", HOVER, 1))["error"]["code"] == SERVER_NOT_INITIALIZED
    assert (await wire.ask("shutdown", None, 2))["error"]["code"] == SERVER_NOT_INITIALIZED
    assert "capabilities" in (await wire.initialize())["result"]


async def test_notification_before_initialize_is_dropped(start: Any) -> None:
    """A document opened before `initialize` is not open."""
    wire = await start(FAKE)
    wire.open("LOOK")
    await wire.initialize()
    assert (await wire.hover(0, 1))["result"] is None
    wire.open("LOOK")
    assert "fine.word" in (await wire.hover(0, 1))["result"]["contents"]["value"]


async def test_second_initialize_is_refused(start: Any) -> None:
    """A second `initialize` is an invalid request and changes nothing."""
    wire = await start()
    await wire.initialize({"general": {"positionEncodings": ["utf-8"]}})
    second = await wire.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 2)
    assert second["error"]["code"] == INVALID_REQUEST
    assert "error" not in await wire.hover(0, 0)


async def test_bad_initialize_can_be_repeated(start: Any) -> None:
    """An `initialize` whose parameters cannot be read does not count as one."""
    wire = await start()
    assert (await wire.ask("initialize", {"capabilities": 3}, 1))["error"]["code"] == INVALID_PARAMS
    assert "capabilities" in (await wire.initialize())["result"]


async def test_requests_after_shutdown_are_refused(start: Any) -> None:
    """After `shutdown`, requests are invalid, notifications are dropped and `exit` ends the process with 0."""
    wire = await start()
    await wire.initialize()
    assert (await wire.ask("shutdown", None, 1)).get("result", "absent") is None
    assert (await wire.hover(0, 0))["error"]["code"] == INVALID_REQUEST
    assert (await wire.ask("shutdown", None, 2))["error"]["code"] == INVALID_REQUEST
    wire.open("BAD")
    wire.send("exit")
    assert await wire.exit_code() == 0


async def test_exit_without_shutdown_ends_with_1(start: Any) -> None:
    """`exit` without `shutdown` before it ends the process with 1."""
    wire = await start()
    await wire.initialize()
    wire.send("exit")
    assert await wire.exit_code() == 1


async def test_exit_before_initialize_ends_with_1(start: Any) -> None:
    """`exit` is obeyed in every state."""
    wire = await start()
    wire.send("exit")
    assert await wire.exit_code() == 1


async def test_lost_client_ends_the_server(start: Any) -> None:
    """The process ends by itself, with 1, when the client hangs up without a word."""
    wire = await start()
    await wire.initialize()
    wire.hang_up()
    assert await wire.exit_code() == 1
