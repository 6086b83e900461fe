"""Servers to talk to: as an editor does, through pytest-lsp, or in raw messages."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import pytest_lsp
from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features

REAL = (sys.executable, "-m", "shardlint", "server")
FAKE = (sys.executable, str(Path(__file__).with_name("fake_server.py")))
PATIENCE = 20.0
"""Seconds after which an answer that a test waits for is taken for lost."""


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the servers keep, they keep for these tests alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


class Wire:
    """A server process that is spoken to in raw messages."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    def send_body(self, body: bytes) -> None:
        assert self._process.stdin
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def send(self, method: str, params: object = None, **rest: object) -> None:
        """A request where `id=` is given, else a notification."""
        self.send_body(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **rest}).encode())

    def hang_up(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()

    async def receive(self) -> dict[str, Any]:
        async def message() -> dict[str, Any]:
            assert self._process.stdout
            length = 0
            while (line := await self._process.stdout.readline()).strip():
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            return json.loads(await self._process.stdout.readexactly(length))

        return await asyncio.wait_for(message(), PATIENCE)

    async def answer(self, request_id: object) -> dict[str, Any]:
        """The answer to a request; what else arrives meanwhile is passed over."""
        while (message := await self.receive()).get("id", "none") != request_id or "method" in message:
            pass
        return message

    def refuse(self, request_id: object) -> None:
        """An error in answer to a request of the server."""
        error = {"code": -32601, "message": "no such method"}
        self.send_body(json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}).encode())

    async def ask(self, method: str, params: object, request_id: int | str) -> dict[str, Any]:
        self.send(method, params, id=request_id)
        return await self.answer(request_id)

    async def initialize(self, capabilities: dict[str, Any] | None = None) -> dict[str, Any]:
        params = {"processId": None, "rootUri": None, "capabilities": capabilities or {}}
        result = await self.ask("initialize", params, "initialize")
        self.send("initialized", {})
        return result

    def open(self, text: str, uri: str = "untitled:one", version: int = 1, language: str = "python") -> None:
        item = {"uri": uri, "languageId": language, "version": version, "text": text}
        self.send("textDocument/didOpen", {"textDocument": item})

    def replace(self, text: str, version: int, uri: str = "untitled:one") -> None:
        document = {"uri": uri, "version": version}
        self.send("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def save(self, uri: str) -> None:
        self.send("textDocument/didSave", {"textDocument": {"uri": uri}})

    async def message(self, method: str) -> Any:
        """The next message of a method; what else arrives meanwhile is passed over."""
        while (message := await self.receive()).get("method") != method:
            pass
        return message

    async def published(self, uri: str, version: int) -> list[str]:
        """The rules that the next publication for that version of a document names, in order."""
        while True:
            params = (await self.message("textDocument/publishDiagnostics"))["params"]
            if (params["uri"], params["version"]) == (uri, version):
                return [item["code"] for item in params["diagnostics"]]

    async def shows(self, uri: str, version: int, rules: list[str]) -> None:
        """Wait until a publication for that version of a document names just these rules; fails if none comes in time."""
        while await self.published(uri, version) != rules:
            continue

    async def hover(self, line: int, character: int, uri: str = "untitled:one", request_id: int | str = "h") -> Any:
        """The whole answer to a hover request."""
        where = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        return await self.ask("textDocument/hover", where, request_id)

    async def exit_code(self) -> int:
        return await asyncio.wait_for(self._process.wait(), PATIENCE)

    async def stop(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
            await self._process.wait()


EDITORS = {"neovim": 4, "visual-studio-code": 2, "emacs": 1}
"""The recorded editors, and what `😀` counts for each: they take columns in UTF-8, UTF-16 and UTF-32 units."""


class Editor:
    """A recorded editor connected to a server. What a test opens in it is closed after the test."""

    def __init__(self, client: LanguageClient, name: str, root: str) -> None:
        self.client = client
        self.emoji = EDITORS[name]
        self.uri = f"{root}/module.py"
        self._opened: set[str] = set()

    @property
    def capabilities(self) -> types.ClientCapabilities:
        assert self.client.capabilities
        return self.client.capabilities

    def open(self, text: str, uri: str | None = None, version: int = 1, language: str = "python") -> None:
        item = types.TextDocumentItem(uri if uri is not None else self.uri, language, version, text)
        self._opened.add(item.uri)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, version: int, *changes: types.TextDocumentContentChangeEvent, uri: str | None = None) -> None:
        identifier = types.VersionedTextDocumentIdentifier(version, uri or self.uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, changes))

    def replace(self, version: int, text: str, uri: str | None = None) -> None:
        self.change(version, types.TextDocumentContentChangeWholeDocument(text), uri=uri)

    def close(self, uri: str | None = None) -> None:
        identifier = types.TextDocumentIdentifier(uri if uri is not None else self.uri)
        self._opened.discard(identifier.uri)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))

    async def publication(self) -> types.PublishDiagnosticsParams:
        """The next diagnostics that the server publishes; none is passed over, however close they come."""
        return await asyncio.wait_for(self.client.publications.get(), PATIENCE)

    async def published(self, version: int | None = 1, uri: str | None = None) -> list[types.Diagnostic]:
        """The diagnostics published for that version of the document (None: those that take all back)."""
        while True:
            params = await self.publication()
            if (params.uri, params.version) == (uri or self.uri, version):
                return list(params.diagnostics)

    async def hover(self, line: int, column: int, uri: str | None = None) -> types.Hover | None:
        identifier = types.TextDocumentIdentifier(uri if uri is not None else self.uri)
        params = types.HoverParams(identifier, types.Position(line, column))
        return await asyncio.wait_for(self.client.text_document_hover_async(params), PATIENCE)

    async def actions(
        self, where: types.Range, named: Sequence[types.Diagnostic] = (), only: Any = None, uri: str | None = None
    ) -> list[types.CodeAction]:
        context = types.CodeActionContext(diagnostics=list(named), only=only)
        identifier = types.TextDocumentIdentifier(uri if uri is not None else self.uri)
        params = types.CodeActionParams(identifier, where, context)
        found = await asyncio.wait_for(self.client.text_document_code_action_async(params), PATIENCE)
        return [action for action in found or () if isinstance(action, types.CodeAction)]

    def column(self, line: str, word: str) -> int:
        """The column of a word in a line as this editor counts it."""
        before = line[: line.index(word)]
        return len(before) + before.count("😀") * (self.emoji - 1)

    def apply(self, text: str, action: types.CodeAction) -> str:
        """`text` after the action's edits of this document, applied from the last to the first."""
        assert action.edit
        edits: Sequence[Any]
        if action.edit.document_changes:
            (change,) = action.edit.document_changes
            assert isinstance(change, types.TextDocumentEdit)
            edits = change.edits
        else:
            edits = (action.edit.changes or {})[self.uri]
        for edit in reversed(edits):
            start, end = self._index(text, edit.range.start), self._index(text, edit.range.end)
            text = text[:start] + edit.new_text + text[end:]
        return text

    def _index(self, text: str, place: types.Position) -> int:
        """A position as an index, counted character by character."""
        lines = text.split("\n")
        index, column = 0, 0
        while column < place.character:
            column += self.emoji if lines[place.line][index] == "😀" else 1
            index += 1
        return sum(len(line) + 1 for line in lines[: place.line]) + index

    async def settle(self) -> None:
        """Close what is open; the answer to a request proves that nothing about it is still on its way."""
        for uri in tuple(self._opened):
            self.close(uri)
        await self.hover(0, 0)
        self.client.messages.clear()
        self.client.diagnostics.clear()
        while not self.client.publications.empty():
            self.client.publications.get_nowait()


def _client() -> LanguageClient:
    """pytest-lsp's client, which keeps every publication, and takes it when a server registers a capability."""
    client = LanguageClient(converter_factory=default_converter)
    client.publications = asyncio.Queue()

    def keep(params: types.PublishDiagnosticsParams) -> None:
        client.diagnostics[params.uri] = params.diagnostics
        client.publications.put_nowait(params)

    kept = {types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: keep, types.CLIENT_REGISTER_CAPABILITY: lambda _: None}
    register_lsp_features(client, {**DEFAULT_CLIENT_FEATURES, **kept})
    return client


async def _connected(client: LanguageClient, name: str, root: str) -> Editor:
    await client.initialize_session(
        types.InitializeParams(
            capabilities=client_capabilities(name), workspace_folders=[types.WorkspaceFolder(root, "project")]
        )
    )
    return Editor(client, name, root)


@pytest_lsp.fixture(scope="module", params=[*EDITORS], config=ClientServerConfig([*FAKE], _client))
async def fake_client(request: pytest.FixtureRequest, lsp_client: LanguageClient) -> AsyncIterator[None]:
    """Each recorded editor, connected to one server with the fake core for all tests of a file."""
    lsp_client.editor = await _connected(lsp_client, request.param, "file:///project")
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(scope="module", params=[*EDITORS], config=ClientServerConfig([*REAL], _client))
async def real_client(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, lsp_client: LanguageClient
) -> AsyncIterator[None]:
    """Each recorded editor, connected to one `shardlint server`, in a project for JAX 0.10.2."""
    root = tmp_path_factory.mktemp("project")
    (root / "pyproject.toml").write_text('[tool.shardlint]\njax-version = "0.10.2"\n')
    lsp_client.editor = await _connected(lsp_client, request.param, root.as_uri())
    yield
    await lsp_client.shutdown_session()


@pytest_asyncio.fixture(loop_scope="module")
async def fake_editor(fake_client: LanguageClient) -> AsyncIterator[Editor]:
    """A recorded editor with nothing open in it, and the fake core behind it."""
    editor = fake_client.editor
    yield editor
    await editor.settle()


@pytest_asyncio.fixture(loop_scope="module")
async def editor(real_client: LanguageClient) -> AsyncIterator[Editor]:
    """A recorded editor with nothing open in it, and shardlint behind it."""
    editor = real_client.editor
    yield editor
    await editor.settle()


Start = Callable[..., Coroutine[Any, Any, Wire]]


@pytest_asyncio.fixture
async def start() -> AsyncIterator[Start]:
    """Starts `shardlint server`, or a process by another command. It is stopped after the test."""
    wires: list[Wire] = []

    async def begin(command: tuple[str, ...] = REAL) -> Wire:
        wires.append(await _started(command))
        return wires[-1]

    yield begin
    for wire in wires:
        await wire.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def wire() -> AsyncIterator[Wire]:
    """An initialized server with the fake core, shared by the tests of a file that leave it as they find it."""
    shared = await _started(FAKE)
    await shared.initialize()
    yield shared
    await shared.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def real() -> AsyncIterator[Wire]:
    """An initialized `shardlint server`, shared in the same way."""
    shared = await _started(REAL)
    await shared.initialize()
    yield shared
    await shared.stop()


async def _started(command: tuple[str, ...]) -> Wire:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, limit=2**26)
    return Wire(process)
