"""Messages that cannot be carried out, in bytes: each is answered with the right code, and the next one is carried out."""

from __future__ import annotations

from typing import Any

import pytest

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603
HOVER = {"textDocument": {"uri": "untitled:one"}, "position": {"line": 0, "character": 0}}

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    "params",
    [
        None,
        {},
        [],
        7,
        {"textDocument": 3, "position": {"line": 0, "character": 0}},
        {"textDocument": {"uri": "untitled:one"}, "position": {"line": "first", "character": 0}},
        {"textDocument": {"uri": "untitled:one"}, "position": {"line": -1, "character": 0}},
        {"textDocument": {"uri": "untitled:one"}, "position": {"line": 2**40, "character": 0}},
    ],
)
async def test_bad_parameters_are_told(wire: Any, params: object) -> None:
    """A request with parameters that cannot be read is answered InvalidParams, naming the method, under its own id."""
    error = (await wire.ask("textDocument/hover", params, "bad"))["error"]
    assert error["code"] == INVALID_PARAMS
    assert "textDocument/hover" in error["message"]
    assert "error" not in await wire.hover(0, 0)


async def test_unknown_methods(wire: Any) -> None:
    """An unknown request is told so, whatever its parameters; an unknown notification is ignored."""
    assert (await wire.ask("no/such", None, 1))["error"]["code"] == METHOD_NOT_FOUND
    assert (await wire.ask("no/such", {"def": 1, "nested": {"jsonrpc": "2.0"}}, 2))["error"]["code"] == METHOD_NOT_FOUND
    wire.send("no/such", {"x": 1})
    wire.send("$/setTrace", {"value": "off"})
    wire.send("$/cancelRequest", {"id": 99})
    assert "error" not in await wire.hover(0, 0)


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe\x00", b"[" * 100_000, b"not json at all"])
async def test_a_body_that_is_not_json(wire: Any, body: bytes) -> None:
    """A body that is not JSON is answered ParseError without an id, and the next message is read."""
    wire.send_body(body)
    assert (await wire.answer(None))["error"]["code"] == PARSE_ERROR
    assert "error" not in await wire.hover(0, 0)


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"null",
        b"17",
        b'"text"',
        b'[{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}]',
        b'{"id": null, "method": "shutdown"}',
        b'{"jsonrpc": "1.0", "method": "shutdown"}',
        b'{"jsonrpc": "2.0", "id": null, "method": "shutdown"}',
        b'{"jsonrpc": "2.0", "id": {}, "method": "shutdown"}',
        b'{"jsonrpc": "2.0", "id": [], "method": ["shutdown"]}',
    ],
)
async def test_json_that_is_no_message(wire: Any, body: bytes) -> None:
    """JSON that is no JSON-RPC 2.0 message is answered InvalidRequest without an id."""
    wire.send_body(body)
    assert (await wire.answer(None))["error"]["code"] == INVALID_REQUEST
    assert "error" not in await wire.hover(0, 0)


@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc": "2.0"}',
        b'{"jsonrpc": "2.0", "id": 5, "result": 1}',
        b'{"jsonrpc": "2.0", "id": [], "result": 1}',
        b'{"jsonrpc": "2.0", "id": 5, "error": 1}',
        b'{"jsonrpc": "2.0", "method": 3}',
        b'{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": 3}',
        b'{"jsonrpc": "2.0", "method": "textDocument/didChange"}',
        b'{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": {}}}',
    ],
)
async def test_messages_that_expect_no_answer(wire: Any, body: bytes) -> None:
    """Answers to nothing and notifications that cannot be read are dropped."""
    wire.send_body(body)
    assert (await wire.ask("textDocument/hover", HOVER, "after"))["result"] is None


async def test_a_failing_core_costs_one_answer(wire: Any) -> None:
    """A defect in the core is answered InternalError and told to the person once; other texts are still answered."""
    wire.open("EXPLODE")
    told = await wire.receive()
    assert told["method"] == "window/showMessage"
    assert "the fake core exploded" in told["params"]["message"]
    for request_id in ("one", "two"):
        assert (await wire.hover(0, 0, request_id=request_id))["error"]["code"] == INTERNAL_ERROR
    wire.open("EXPLODE again", version=2)
    wire.open("LOOK", version=3)
    published = await wire.receive()
    assert (published["method"], published["params"]["version"]) == ("textDocument/publishDiagnostics", 3)
    assert "fine.word" in (await wire.hover(0, 1))["result"]["contents"]["value"]
