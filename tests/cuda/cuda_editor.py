"""The quick fixes of programs as an editor gets them: from `shardlint server`, asked for with textDocument/codeAction."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import BaseLanguageClient

PATIENCE = 60.0
"""Seconds after which an answer of the server is taken for lost."""


@dataclass(frozen=True)
class Offer:
    """A quick fix: for a finding of which rule, at which line (1-based), what its title is, and the text that it makes."""

    rule: str
    line: int
    title: str
    text: str


@dataclass(frozen=True)
class Answer:
    """What the server says of one text: the rules of its findings with their lines (1-based), and all quick fixes for them."""

    findings: tuple[tuple[str, int], ...]
    offers: tuple[Offer, ...]


def ask(texts: Mapping[str, str], jax: str, folder: Path) -> dict[str, Answer]:
    """What the server answers for each of the texts, by its name, in a project in `folder` that runs on that version of JAX, with all
    rules.
    """
    settings = f'[tool.shardlint]\njax-version = "{jax}"\nextend-select = ["ALL"]\n'
    (folder / "pyproject.toml").write_text(settings, encoding="utf-8")
    return asyncio.run(_ask(texts, folder))


async def _ask(texts: Mapping[str, str], folder: Path) -> dict[str, Answer]:
    client = BaseLanguageClient("shardlint-cuda-suite", "1")
    published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def _(params: types.PublishDiagnosticsParams) -> None:
        published.put_nowait(params)

    await client.start_io(sys.executable, "-m", "shardlint", "server")
    try:
        literals = types.ClientCodeActionLiteralOptions(
            types.ClientCodeActionKindOptions([types.CodeActionKind.QuickFix])
        )
        actions = types.CodeActionClientCapabilities(code_action_literal_support=literals)
        capabilities = types.ClientCapabilities(text_document=types.TextDocumentClientCapabilities(code_action=actions))
        started = types.InitializeParams(
            capabilities,
            root_uri=folder.as_uri(),
            workspace_folders=[types.WorkspaceFolder(folder.as_uri(), "project")],
        )
        await asyncio.wait_for(client.initialize_async(started), PATIENCE)
        client.initialized(types.InitializedParams())
        answers: dict[str, Answer] = {}
        for number, (name, text) in enumerate(texts.items()):
            answers[name] = await _ask_about(client, published, (folder / f"program_{number}.py").as_uri(), text)
        await asyncio.wait_for(client.shutdown_async(None), PATIENCE)
        client.exit(None)
        return answers
    finally:
        await client.stop()


async def _ask_about(
    client: BaseLanguageClient, published: asyncio.Queue[types.PublishDiagnosticsParams], uri: str, text: str
) -> Answer:
    client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 1, text)))
    while (told := await asyncio.wait_for(published.get(), PATIENCE)).uri != uri or told.version != 1:
        pass
    offers: list[Offer] = []
    for one in told.diagnostics:
        context = types.CodeActionContext([one], only=[types.CodeActionKind.QuickFix])
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), one.range, context)
        found = await asyncio.wait_for(client.text_document_code_action_async(params), PATIENCE)
        for action in found or ():
            if isinstance(action, types.CodeAction) and action.edit is not None:
                edits = (action.edit.changes or {})[uri]
                offers.append(Offer(str(one.code), one.range.start.line + 1, action.title, _applied(text, edits)))
    client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
    return Answer(tuple((str(one.code), one.range.start.line + 1) for one in told.diagnostics), tuple(offers))


def _applied(text: str, edits: Sequence[types.TextEdit]) -> str:
    """The text after edits that do not overlap; the programs hold no characters that count for more than one."""
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
    for edit in sorted(edits, key=lambda one: (one.range.start.line, one.range.start.character), reverse=True):
        start, end = (starts[at.line] + at.character for at in (edit.range.start, edit.range.end))
        text = text[:start] + edit.new_text + text[end:]
    return text
