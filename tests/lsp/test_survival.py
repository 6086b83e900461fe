"""What no editor should send and some do: the server answers, keeps its own text in step, and lives on."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")

FAR = 2**31 - 1
URI = "untitled:one"


def change(wire: Any, version: int, *changes: dict[str, Any], uri: str = URI) -> None:
    wire.send("textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": changes})


def span(start: tuple[int, int], end: tuple[int, int]) -> dict[str, Any]:
    return {
        "start": {"line": start[0], "character": start[1]},
        "end": {"line": end[0], "character": end[1]},
    }


async def every_answer(wire: Any, uri: str = URI) -> list[dict[str, Any]]:
    """The answers to a hover at the start and the end of the text and to a code action for all of it."""
    everything = {"textDocument": {"uri": uri}, "range": span((0, 0), (FAR, FAR)), "context": {"diagnostics": []}}
    return [
        await wire.hover(0, 0, uri=uri),
        await wire.hover(FAR, FAR, uri=uri),
        await wire.ask("textDocument/codeAction", everything, "all"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0\0\0",
        "".join(map(chr, range(256))),
        "\ud800 = '\udfff'\n",
        "\ufeffimport jax\n",
        "x = 1\r\ry = 2\n\r\n",
        "import jax\nx = jax.dlpack.to_dlpack(" + "(" * 5_000,
        "x = " + "-" * 20_000 + "1\n",
        "import torch; torch.from_dlpack(x) # " + "\N{GRINNING FACE}" * 300_000,
        "a = [" + "1, " * 200_000 + "]\n",
        "def f(:\n  class\n\t  return ]}\n",
    ],
    ids=[
        "empty",
        "nul",
        "binary",
        "surrogates",
        "bom",
        "carriage-returns",
        "open",
        "deep",
        "long-line",
        "long-list",
        "broken",
    ],
)
async def test_any_text_is_answered(real: Any, text: str) -> None:
    """Whatever the text, the requests about it are answered without an error."""
    real.open(text)
    assert [answer.get("error") for answer in await every_answer(real)] == [None, None, None]


async def test_documents_that_are_not_open(real: Any) -> None:
    """Changes and closes of documents that are not open are dropped, and requests about them answered with nothing."""
    change(real, 2, {"text": "x"}, uri="file:///not/open.py")
    real.send("textDocument/didClose", {"textDocument": {"uri": "file:///not/open.py"}})
    hover, _, actions = await every_answer(real, "file:///not/open.py")
    assert hover["result"] is None
    assert actions["result"] == []


@pytest.mark.parametrize(
    "uri", ["", ":", "file:", "file://", "file:///%00.py", "file://[x/a.py", "%", "untitled:", "\ud800"]
)
async def test_any_uri_is_answered(real: Any, uri: str) -> None:
    """Whatever a document is called, the requests about it are answered without an error."""
    real.open("import torch\n", uri=uri)
    assert [answer.get("error") for answer in await every_answer(real, uri)] == [None, None, None]
