"""`shardlint server` as three recorded editors see it: true bugs are found, explained and repaired."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from lsprotocol import types

REMOVED, SHARDED = "removed-to-dlpack", "sharded-dlpack-export"

CAPSULE = """\
import jax
import torch

x = jax.numpy.arange(4)
note = "😀"; t = torch.from_dlpack(jax.dlpack.to_dlpack(x))
"""
MANY = """\
import jax
import torch
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("d",))
x = jax.device_put(jax.numpy.arange(8.0), NamedSharding(mesh, P("d")))
note = "😀"; t = torch.from_dlpack(x)
"""
FINE = """\
import jax
import torch
import torch.utils.dlpack

x = jax.numpy.arange(4)
t = torch.from_dlpack(x)
capsule = torch.utils.dlpack.to_dlpack(t)
plain = len(t)
"""

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.filterwarnings("error::pytest_lsp.checks.LspSpecificationWarning"),
]


def line_with(text: str, word: str) -> int:
    return next(number for number, line in enumerate(text.splitlines()) if word in line)


async def hover_on(editor: Any, text: str, word: str, uri: str | None = None) -> str | None:
    """The text of the hover on the first character of the last line that holds a word."""
    number = line_with(text, word)
    found = await editor.hover(number, editor.column(text.splitlines()[number], word), uri=uri)
    return found.contents.value if found else None


async def test_removed_function_is_found_and_repaired(editor: Any) -> None:
    """`jax.dlpack.to_dlpack` is an error on JAX 0.10.2; the preferred fix hands over the array, and nothing is left to say."""
    editor.open(CAPSULE)
    (found,) = await editor.published()
    line = CAPSULE.splitlines()[4]
    assert (found.code, found.severity) == (REMOVED, types.DiagnosticSeverity.Error)
    assert "0.10.2" in found.message
    assert found.range.start.line == found.range.end.line == 4
    name = editor.column(line, "to_dlpack")
    assert found.range.start.character <= name < found.range.end.character
    assert types.DiagnosticTag.Deprecated in found.tags

    first, *_ = await editor.actions(found.range, [found])
    assert first.is_preferred
    repaired = editor.apply(CAPSULE, first)
    assert repaired == CAPSULE.replace("jax.dlpack.to_dlpack(x)", "x")
    editor.replace(2, repaired)
    assert await editor.published(2) == []


async def test_fix_all_repairs_what_is_safe(editor: Any) -> None:
    """`source.fixAll.shardlint` takes the removed call away and leaves the sharded one, whose repairs cost something."""
    text = CAPSULE + MANY
    editor.open(text)
    assert [item.code for item in await editor.published()] == [REMOVED, SHARDED]
    start = types.Position(0, 0)
    (action,) = await editor.actions(types.Range(start, start), only=["source.fixAll"])
    editor.replace(2, editor.apply(text, action))
    assert [item.code for item in await editor.published(2)] == [SHARDED]


async def test_sharded_hand_off_is_found_and_repaired(editor: Any) -> None:
    """The finding leads back to the line that shards; no repair is preferred, as each costs something; each clears it."""
    editor.open(MANY)
    (found,) = await editor.published()
    assert (found.code, found.severity) == (SHARDED, types.DiagnosticSeverity.Error)
    assert found.range.start.line == 6
    if editor.capabilities.text_document.publish_diagnostics.related_information:
        lines = [step.location.range.start.line for step in found.related_information]
        assert line_with(MANY, "device_put") in lines
        assert {step.location.uri for step in found.related_information} == {editor.uri}

    repairs = await editor.actions(found.range, [found])
    assert any("one device" in action.title for action in repairs)
    assert not any(action.is_preferred for action in repairs)
    for version, action in enumerate(repairs, 2):
        editor.replace(version, editor.apply(MANY, action))
        assert await editor.published(version) == []


async def test_the_message_alone_is_a_sentence(editor: Any, tmp_path: Path) -> None:
    """What an editor shows that has no hovers is whole: every message begins like one, ends in one period, and has one line."""
    record = {
        "id": "00112233aabbccdd",
        "slug": "lib-takes-one",
        "errorMessage": "take() wants one device.",
        "errorClass": "ValueError",
        "exampleFix": "# before\nt = torch.from_numpy(x)\n# after\nt = torch.from_numpy(np.asarray(x))",
        "schemaVersion": 2,
    }
    (tmp_path / "record.json").write_text(json.dumps(record))
    (tmp_path / "pyproject.toml").write_text('[tool.shardlint]\njax-version = "0.10.2"\nrecords = ["record.json"]\n')
    uri = (tmp_path / "a.py").as_uri()
    unsure = MANY.replace("(8,)", "(jax.device_count(),)")
    text = f"{CAPSULE}{MANY}{unsure}u = torch.from_numpy(jax.numpy.zeros(3))\n"
    editor.open(text, uri=uri)
    messages = [item.message for item in await editor.published(uri=uri)]
    assert len(messages) == 4
    for message in messages:
        assert message.endswith(".")
        assert not message.endswith("..")
        assert "\n" not in message
        assert "{" not in message


async def test_link_leads_to_a_page(editor: Any) -> None:
    """A diagnostic's link is a page that exists on this machine and is about the rule."""
    editor.open(CAPSULE)
    (found,) = await editor.published()
    if editor.capabilities.text_document.publish_diagnostics.code_description_support:
        page = Path(url2pathname(urlsplit(found.code_description.href).path)).read_text(encoding="utf-8")
        assert page.startswith(f"# {REMOVED}\n")
        assert "## Repairs" in page


async def test_hover_explains_a_finding(editor: Any) -> None:
    """Hover on the sharded hand-off tells the rule, the target, the line that shards, and the repairs."""
    editor.open(MANY)
    text = await hover_on(editor, MANY, "from_dlpack")
    assert text
    for part in (SHARDED, "JAX 0.10.2", "line 6", "Move to one device"):
        assert part in text


async def test_hover_on_every_dlpack_call(editor: Any) -> None:
    """Where nothing is wrong, hover on a DLPack call says what it gets, or that it is not JAX's; elsewhere it is silent."""
    editor.open(FINE)
    assert await editor.published() == []
    export = await hover_on(editor, FINE, "from_dlpack")
    assert export
    assert "one device" in export
    foreign = await hover_on(editor, FINE, "to_dlpack")
    assert foreign
    assert "not of JAX" in foreign
    for word in ("import jax", "len(t)", "arange"):
        assert await hover_on(editor, FINE, word) is None


async def test_folders_have_their_own_target(editor: Any, tmp_path: Path) -> None:
    """The same text is fine in a folder for JAX 0.6.2, and hover says so for that version."""
    (tmp_path / "pyproject.toml").write_text('[tool.shardlint]\njax-version = "0.6.2"\n')
    uri = (tmp_path / "old.py").as_uri()
    editor.open(CAPSULE, uri=uri)
    assert await editor.published(uri=uri) == []
    text = await hover_on(editor, CAPSULE, "to_dlpack", uri=uri)
    assert text
    assert "JAX 0.6.2" in text


async def test_broken_statement_silences_itself_alone(editor: Any) -> None:
    """While one statement is being typed, the findings in the others stay where they are."""
    editor.open(CAPSULE)
    (before,) = await editor.published()
    editor.replace(2, CAPSULE + "\n\ndef half(a,\n")
    (after,) = await editor.published(2)
    assert after.range == before.range


async def test_bad_setting_is_told(editor: Any, tmp_path: Path) -> None:
    """A key that does not exist is shown to the person with its file; the rest of the settings stay in force."""
    (tmp_path / "pyproject.toml").write_text('[tool.shardlint]\njax-version = "0.10.2"\njax-verzion = "1"\n')
    uri = (tmp_path / "a.py").as_uri()
    editor.open(CAPSULE, uri=uri)
    assert [item.code for item in await editor.published(uri=uri)] == [REMOVED]
    (message,) = editor.client.messages
    assert "pyproject.toml" in message.message
    assert "jax-verzion" in message.message
