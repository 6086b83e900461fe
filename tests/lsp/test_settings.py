"""Settings and versions that change while documents are open: told by a client that watches files, else noticed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="function")

REMOVED = "removed-to-dlpack"
CAPSULE = "import jax\nimport torch\n\nt = torch.from_dlpack(jax.dlpack.to_dlpack(jax.numpy.arange(4)))\n"
WATCHES = {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}}
OLD = '[tool.shardlint]\njax-version = "0.6.2"\n'
NEW = '[tool.shardlint]\njax-version = "0.10.2"\n'
QUIET = f'[tool.shardlint]\njax-version = "0.10.2"\nignore = ["{REMOVED}"]\n'


def changed(wire: Any, file: Path, kind: int = 2) -> None:
    """What a client that watches files sends; `kind` is 1 for a new file, 2 for a changed and 3 for a deleted one."""
    wire.send("workspace/didChangeWatchedFiles", {"changes": [{"uri": file.as_uri(), "type": kind}]})


async def test_a_client_that_can_is_asked_to_watch(start: Any) -> None:
    """Every file that settings or versions are read from is to be watched, wherever it lies."""
    wire = await start()
    await wire.initialize(WATCHES)
    (registration,) = (await wire.message("client/registerCapability"))["params"]["registrations"]
    assert registration["method"] == "workspace/didChangeWatchedFiles"
    patterns = {watcher["globPattern"] for watcher in registration["registerOptions"]["watchers"]}
    locks = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "requirements*.txt")
    assert patterns >= {f"**/{name}" for name in ("pyproject.toml", *locks)}


async def test_a_client_that_cannot_is_not_asked(start: Any) -> None:
    """Without the capability nothing is registered: the first message is about the first document."""
    wire = await start()
    await wire.initialize()
    wire.open(CAPSULE)
    assert (await wire.receive())["method"] == "textDocument/publishDiagnostics"


async def test_a_client_that_refuses_loses_nothing_else(start: Any) -> None:
    """An error in answer to the registration leaves the server at work."""
    wire = await start()
    await wire.initialize(WATCHES)
    request = await wire.message("client/registerCapability")
    wire.refuse(request["id"])
    wire.open(CAPSULE)
    await wire.shows("untitled:one", 1, [REMOVED])


async def test_watched_files_check_what_is_open(start: Any, tmp_path: Path) -> None:
    """News of a watched file checks every open document again, under its settings of now."""
    settings = tmp_path / "pyproject.toml"
    settings.write_text(NEW)
    one, two = (tmp_path / "one.py").as_uri(), (tmp_path / "two.py").as_uri()
    wire = await start()
    await wire.initialize(WATCHES)
    for uri in (one, two):
        wire.open(CAPSULE, uri)
        await wire.shows(uri, 1, [REMOVED])
    for text, expected in ((QUIET, []), (OLD, []), (NEW, [REMOVED])):
        settings.write_text(text)
        changed(wire, settings)
        await wire.shows(one, 1, expected)
        await wire.shows(two, 1, expected)
    settings.unlink()
    settings.with_name("uv.lock").write_text('[[package]]\nname = "jax"\nversion = "0.6.2"\n')
    changed(wire, settings, 3)
    await wire.shows(one, 1, [])


async def test_rules_are_chosen_by_the_settings(start: Any, tmp_path: Path) -> None:
    """`select` and `per-file-ignores` hold in an editor as on the command line."""
    settings = tmp_path / "pyproject.toml"
    settings.write_text(f'{NEW}[tool.shardlint.per-file-ignores]\n"one.py" = ["{REMOVED}"]\n')
    one, two = (tmp_path / "one.py").as_uri(), (tmp_path / "two.py").as_uri()
    wire = await start()
    await wire.initialize(WATCHES)
    for uri, expected in ((one, []), (two, [REMOVED])):
        wire.open(CAPSULE, uri)
        await wire.shows(uri, 1, expected)
    settings.write_text(f'{NEW}select = ["sharded-dlpack-export"]\n')
    changed(wire, settings)
    await wire.shows(one, 1, [])
    await wire.shows(two, 1, [])


async def test_changed_settings_are_noticed_at_the_next_check(start: Any, tmp_path: Path) -> None:
    """Without watched files the next change of a document shows the settings of now, in the other open documents too."""
    settings = tmp_path / "pyproject.toml"
    settings.write_text(NEW)
    one, two = (tmp_path / "one.py").as_uri(), (tmp_path / "two.py").as_uri()
    wire = await start()
    await wire.initialize()
    for uri in (one, two):
        wire.open(CAPSULE, uri)
        await wire.shows(uri, 1, [REMOVED])
    settings.write_text(QUIET)
    wire.replace(f"{CAPSULE}\n", 2, one)
    await wire.shows(one, 2, [])
    await wire.shows(two, 1, [])
    settings.write_text(NEW)
    wire.replace(CAPSULE, 3, one)
    await wire.shows(one, 3, [REMOVED])


async def test_save_checks_again(start: Any, tmp_path: Path) -> None:
    """Saving a document shows what holds for it now; saving one that is not open is nothing to the server."""
    settings = tmp_path / "pyproject.toml"
    settings.write_text(NEW)
    uri = (tmp_path / "one.py").as_uri()
    wire = await start()
    assert (await wire.initialize())["result"]["capabilities"]["textDocumentSync"]["save"]
    wire.open(CAPSULE, uri)
    await wire.shows(uri, 1, [REMOVED])
    settings.write_text(OLD)
    wire.save((tmp_path / "other.py").as_uri())
    wire.save(uri)
    await wire.shows(uri, 1, [])


async def test_an_upgrade_of_jax_is_noticed(start: Any, tmp_path: Path) -> None:
    """Another JAX in the project's environment is the target from the next change on."""
    (tmp_path / ".git").mkdir()
    packages = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages"
    packages.mkdir(parents=True)
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("")
    (packages / "jax-0.6.2.dist-info").mkdir()
    uri = (tmp_path / "one.py").as_uri()
    wire = await start()
    await wire.initialize()
    wire.open(CAPSULE, uri)
    await wire.shows(uri, 1, [])
    (packages / "jax-0.6.2.dist-info").rename(packages / "jax-0.10.2.dist-info")
    wire.replace(f"{CAPSULE}\n", 2, uri)
    await wire.shows(uri, 2, [REMOVED])


async def test_what_cannot_be_used_is_told_when_it_comes(start: Any, tmp_path: Path) -> None:
    """A wrong key is told once, however often the settings are read, and again when it comes back after it was corrected."""
    settings = tmp_path / "pyproject.toml"
    uri = (tmp_path / "one.py").as_uri()
    wire = await start()
    await wire.initialize()
    settings.write_text(f"{NEW}ignored = []\n")
    wire.open(CAPSULE, uri)
    assert "'ignored'" in (await wire.message("window/showMessage"))["params"]["message"]
    settings.write_text(f"{NEW}ignored = []\nexclude = []\n")
    changed(wire, settings)
    wire.replace("", 2, uri)
    while (message := await wire.receive())["params"].get("version") != 2:
        assert message["method"] == "textDocument/publishDiagnostics"
    settings.write_text(NEW)
    changed(wire, settings)
    await wire.hover(0, 0, uri)
    settings.write_text(f"{NEW}ignored = []\n")
    changed(wire, settings)
    assert "'ignored'" in (await wire.message("window/showMessage"))["params"]["message"]
