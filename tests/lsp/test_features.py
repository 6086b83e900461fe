"""Diagnostics, hover and code actions as three recorded editors ask for them, with a core made of words in the text.

Neovim counts columns in UTF-8 bytes, VS Code in UTF-16 units and Emacs in code points: `😀` before a word on its line makes
the three differ.
"""

from __future__ import annotations

from typing import Any

import pytest
from lsprotocol import types

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.filterwarnings("error::pytest_lsp.checks.LspSpecificationWarning"),
]


def cursor(line: int, column: int) -> types.Range:
    return types.Range(types.Position(line, column), types.Position(line, column))


async def test_diagnostic_says_what_the_editor_understands(fake_editor: Any) -> None:
    """A diagnostic has code, source, severity and version; link, data and steps go to editors that announced them."""
    fake_editor.open("SOURCE = 1\nx = BAD\n", version=7)
    (found,) = await fake_editor.published(7)
    assert (found.code, found.source, found.message) == ("fake-rule", "shardlint", "this is bad")
    assert found.severity == types.DiagnosticSeverity.Error
    assert found.range == types.Range(types.Position(1, 4), types.Position(1, 7))
    assert list(found.tags or ()) == [types.DiagnosticTag.Deprecated]
    can = fake_editor.capabilities.text_document.publish_diagnostics
    assert (found.code_description is not None) == bool(can.code_description_support)
    assert (found.data is not None) == bool(can.data_support)
    assert (found.related_information is not None) == bool(can.related_information)
    if found.code_description:
        assert found.code_description.href == "https://example.org/rule"
    for step in found.related_information or ():
        assert step.message == "the source of it"
        assert step.location == types.Location(fake_editor.uri, types.Range(types.Position(0, 0), types.Position(0, 6)))


async def test_steps_keep_their_order(fake_editor: Any) -> None:
    """Related information is in the order of the program, from the source to the hand-off, wherever the lines lie."""
    fake_editor.open("STEP\nBAD\nSOURCE\n")
    (found,) = await fake_editor.published()
    if fake_editor.capabilities.text_document.publish_diagnostics.related_information:
        told = [(step.location.range.start.line, step.message) for step in found.related_information]
        assert told == [(2, "the source of it"), (0, "then this")]


async def test_what_was_not_checked_is_told(fake_editor: Any) -> None:
    """What keeps a part of a document from being checked is a sentence of information at that part, without a code."""
    fake_editor.open("x = 1\nUNREADABLE\nBAD\n")
    finding, problem = await fake_editor.published()
    assert finding.code == "fake-rule"
    assert (problem.code, problem.message) == (None, "This was not checked.")
    assert (problem.range.start.line, problem.severity) == (1, types.DiagnosticSeverity.Information)


async def test_columns_count_what_was_negotiated(fake_editor: Any) -> None:
    """Behind an emoji, diagnostic, hover and code action agree on the editor's columns."""
    text = 'x = "😀", BAD\ny = "😀", LOOK\n'
    width = fake_editor.emoji
    fake_editor.open(text)
    (found,) = await fake_editor.published()
    start = types.Position(0, 5 + width + 3)
    assert found.range == types.Range(start, types.Position(0, start.character + 3))
    fine = await fake_editor.hover(1, start.character)
    assert fine
    assert fine.range == types.Range(types.Position(1, start.character), types.Position(1, start.character + 4))
    assert await fake_editor.hover(1, start.character - 1) is None
    first, *_ = await fake_editor.actions(found.range)
    assert fake_editor.apply(text, first) == text.replace("BAD", "GOOD")


async def test_edits_are_followed(fake_editor: Any) -> None:
    """Incremental changes, each on the text that the one before left, count columns as negotiated; a whole text replaces."""
    width = fake_editor.emoji
    fake_editor.open("a = '😀😀' + x\n")
    assert await fake_editor.published() == []
    here = 5 + 2 * width + 4
    fake_editor.change(
        2,
        types.TextDocumentContentChangePartial(
            types.Range(types.Position(0, here), types.Position(0, here + 1)), "SOURCE"
        ),
        types.TextDocumentContentChangePartial(cursor(1, 0), "b = BAD\n"),
        types.TextDocumentContentChangePartial(cursor(0, here), "BAD + "),
    )
    assert [item.range.start for item in await fake_editor.published(2)] == [
        types.Position(0, here),
        types.Position(1, 4),
    ]
    fake_editor.replace(3, "fine\n")
    assert await fake_editor.published(3) == []


async def test_only_line_ends_end_a_line(fake_editor: Any) -> None:
    """A form feed or a line separator inside a line does not shift the lines below, neither in positions nor in edits."""
    fake_editor.open("a = 1\n\f\nb = '\u2028'\r\nx = 1\n")
    assert await fake_editor.published() == []
    fake_editor.change(
        2,
        types.TextDocumentContentChangePartial(types.Range(types.Position(3, 4), types.Position(3, 5)), "BAD"),
    )
    (found,) = await fake_editor.published(2)
    assert found.range.start == types.Position(3, 4)


async def test_close_takes_the_findings_back(fake_editor: Any) -> None:
    """Closing a document publishes an empty list, and nothing is known of it afterwards."""
    fake_editor.open("BAD")
    assert len(await fake_editor.published()) == 1
    fake_editor.close()
    assert await fake_editor.published(None) == []
    assert await fake_editor.hover(0, 1) is None
    assert await fake_editor.actions(cursor(0, 1)) == []


@pytest.mark.parametrize(
    ("uri", "language"),
    [
        ("file:///project/module.js", "javascript"),
        ("git:/project/module.py?x", "python"),
        ("https://example.org/module.py", "python"),
        ("file://[broken/module.py", "python"),
        ("no uri at all", "python"),
        ("", "python"),
    ],
)
async def test_other_documents_are_left_alone(fake_editor: Any, uri: str, language: str) -> None:
    """Other languages and schemes, and what is no fake_editor.uri, get no findings, no hovers and no actions."""
    fake_editor.open("BAD", uri=uri, language=language)
    assert await fake_editor.hover(0, 1, uri=uri) is None
    assert await fake_editor.actions(cursor(0, 1), uri=uri) == []
    assert uri not in fake_editor.client.diagnostics


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "file:///c%3A/with%20space/m.py", "file:///nowhere/at/all.py"])
async def test_unsaved_and_odd_files_are_checked(fake_editor: Any, uri: str) -> None:
    """Unsaved buffers and files that do not exist on disk are checked by their text, under the URI the editor gave."""
    fake_editor.open("BAD", uri=uri)
    assert len(await fake_editor.published(uri=uri)) == 1


@pytest.mark.parametrize("start", ["", "SLOW\n"], ids=["fast-check", "slow-check"])
async def test_burst_of_edits_ends_with_the_newest_text(fake_editor: Any, start: str) -> None:
    """Of many edits in a row, results come in the order of versions, the last for the last; most are not checked at all."""
    seen: list[tuple[int, int]] = []
    fake_editor.open(start)
    await fake_editor.published()
    for version in range(2, 202):
        fake_editor.change(version, types.TextDocumentContentChangePartial(cursor(0, 0), "BAD\n"))
    while not seen or seen[-1][0] != 201:
        params = await fake_editor.publication()
        seen.append((params.version, len(params.diagnostics)))
    assert all(count == version - 1 for version, count in seen)
    assert [version for version, _ in seen] == sorted({version for version, _ in seen})
    assert len(seen) < 100


async def test_requests_see_the_newest_text(fake_editor: Any) -> None:
    """A hover or an action right behind an edit is about the edited text, whether or not its findings were published."""
    fake_editor.open("BAD")
    fake_editor.replace(2, "LOOK")
    hover = await fake_editor.hover(0, 1)
    assert hover
    assert "fine.word" in hover.contents.value
    assert await fake_editor.actions(cursor(0, 1)) == []


async def test_hover_tells_of_findings_and_hand_offs_alone(fake_editor: Any) -> None:
    """Hover speaks on a finding and on a fine hand-off, in Markdown, and is silent elsewhere."""
    fake_editor.open("SOURCE = 1\nx = BAD\ny = LOOK\n")
    bad = await fake_editor.hover(1, 5)
    assert bad
    assert bad.contents.kind == types.MarkupKind.Markdown
    for part in ("fake-rule", "this is bad", "line 1: the source of it", "Make it good", "Move it", "JAX 0.10.2"):
        assert part in bad.contents.value
    fine = await fake_editor.hover(2, 5)
    assert fine
    assert "The array is on one device." in fine.contents.value
    assert await fake_editor.hover(0, 2) is None
    assert await fake_editor.hover(99, 99) is None


async def test_quick_fixes_carry_their_finding(fake_editor: Any) -> None:
    """Each repair is a quick fix for its diagnostic; only a safe first one is preferred; edits are versioned if possible."""
    text = "a = BAD\n"
    fake_editor.open(text, version=3)
    (found,) = await fake_editor.published(3)
    good, moved = await fake_editor.actions(cursor(0, 5), [found])
    assert (good.title, moved.title) == ("Make it good", "Move it")
    assert {good.kind, moved.kind} == {types.CodeActionKind.QuickFix}
    assert list(good.diagnostics or ()) == [found]
    assert (good.is_preferred, bool(moved.is_preferred)) == (True, False)
    assert fake_editor.apply(text, good) == "a = GOOD\n"
    assert fake_editor.apply(text, moved) == "a = MOVED\n"
    can_version = bool(fake_editor.capabilities.workspace.workspace_edit.document_changes)
    assert (good.edit.document_changes is not None) == can_version
    assert (good.edit.changes is not None) != can_version
    if can_version:
        assert good.edit.document_changes[0].text_document.version == 3


async def test_a_finding_without_a_repair_says_why(fake_editor: Any) -> None:
    """As an action that cannot be taken, for clients that show such ones; the others get none."""
    fake_editor.open("a = STUCK\n")
    (found,) = await fake_editor.published()
    actions = await fake_editor.actions(cursor(0, 5), [found])
    capabilities = fake_editor.capabilities.text_document.code_action
    if capabilities is None or not capabilities.disabled_support:
        assert actions == []
        return
    (action,) = actions
    assert (action.title, action.disabled.reason) == ("No repair for fake-rule: nobody knows how", "nobody knows how")
    assert (action.kind, action.edit) == (types.CodeActionKind.QuickFix, None)


async def test_hand_offs_without_a_finding_can_be_guarded(fake_editor: Any) -> None:
    """A rewriting at the place itself, for those who ask for any action or for this kind."""
    text = "OPEN LOOK\n"
    fake_editor.open(text)
    await fake_editor.published()
    for only in (None, ["refactor"], ["refactor.rewrite"], ["refactor.rewrite.shardlint"]):
        (action,) = await fake_editor.actions(cursor(0, 1), only=only)
        assert (action.title, action.kind) == ("Guard it", "refactor.rewrite.shardlint")
        assert fake_editor.apply(text, action) == "GUARDED LOOK\n"
    assert await fake_editor.actions(cursor(0, 1), only=["quickfix"]) == []
    assert await fake_editor.actions(cursor(0, 7)) == []


async def test_actions_are_for_the_range_and_the_named_diagnostics(fake_editor: Any) -> None:
    """What overlaps the range counts; if diagnostics are named, only those, known by start and code alone."""
    text = "BAD\nBAD BAD\nfine\n"
    fake_editor.open(text)
    first, second, third = await fake_editor.published()
    everything = types.Range(types.Position(0, 0), types.Position(3, 0))
    assert len(await fake_editor.actions(everything)) == 6
    assert len(await fake_editor.actions(cursor(0, 0))) == 2
    assert len(await fake_editor.actions(cursor(0, 3))) == 2
    assert await fake_editor.actions(cursor(2, 1)) == []
    bare = types.Diagnostic(second.range, "another text", code="fake-rule")
    assert [item.diagnostics for item in await fake_editor.actions(everything, [bare])] == [(second,), (second,)]
    foreign = types.Diagnostic(third.range, "x", code="other-tool")
    assert await fake_editor.actions(everything, [foreign]) == []
    assert len(await fake_editor.actions(everything, [foreign, first])) == 2


async def test_fix_all_comes_only_when_asked_for(fake_editor: Any) -> None:
    """`source.fixAll.shardlint` answers `only` with it or a kind above it, and changes the whole document."""
    text = "😀 BAD\nSOURCE\nBAD\nend\n"
    fake_editor.open(text)
    await fake_editor.published()
    top = cursor(0, 0)
    assert all(
        item.kind == types.CodeActionKind.QuickFix
        for item in await fake_editor.actions(types.Range(top.start, types.Position(3, 0)))
    )
    for kind in ("source", "source.fixAll", "source.fixAll.shardlint"):
        (action,) = await fake_editor.actions(top, only=[kind])
        assert action.kind == "source.fixAll.shardlint"
        assert fake_editor.apply(text, action) == text.replace("BAD", "GOOD")
    for kind in ("refactor", "source.organizeImports", "source.fixAll.other", "quickfix.other", "sour"):
        assert await fake_editor.actions(top, only=[kind]) == []
    assert len(await fake_editor.actions(cursor(2, 1), only=["quickfix"])) == 2


async def test_nothing_to_fix(fake_editor: Any) -> None:
    """A document without safe repairs gets no fix-all action."""
    fake_editor.open("fine")
    await fake_editor.published()
    assert await fake_editor.actions(cursor(0, 0), only=["source.fixAll"]) == []


async def test_settings_change_is_followed(fake_editor: Any) -> None:
    """A change of configuration or of workspace folders checks the open documents again."""
    fake_editor.open("BAD")
    await fake_editor.published()
    fake_editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams({}))
    assert len(await fake_editor.published()) == 1
    event = types.WorkspaceFoldersChangeEvent(added=[types.WorkspaceFolder("file:///other", "other")], removed=[])
    fake_editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
    assert len(await fake_editor.published()) == 1


async def test_unusable_settings_are_told_once(fake_editor: Any) -> None:
    """What cannot be used of a project's settings is shown to the person once for each folder, not at each edit."""
    uri = "file:///misconfigured/a.py"
    fake_editor.open("BAD", uri=uri)
    await fake_editor.published(uri=uri)
    fake_editor.replace(2, "fine", uri=uri)
    await fake_editor.published(2, uri=uri)
    assert [item.message for item in fake_editor.client.messages] == ["shardlint: pyproject.toml: no key 'x'."]
