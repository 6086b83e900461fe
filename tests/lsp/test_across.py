"""Findings that lead from one file into another, as they show in both."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

pytestmark = pytest.mark.asyncio(loop_scope="function")

SHARDED = "sharded-dlpack-export"
ABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "workspace": {"workspaceEdit": {"documentChanges": True}, "didChangeWatchedFiles": {"dynamicRegistration": True}},
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "dataSupport": True},
        "hover": {"contentFormat": ["markdown"]},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}},
    },
}
MAIN = """\
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P
from bridge import to_torch

mesh = jax.make_mesh((8,), ("d",))
x = jax.device_put(jnp.zeros(8), NamedSharding(mesh, P("d")))
print("😀", to_torch(x))
"""
FINE_MAIN = MAIN.replace("to_torch(x)", "to_torch(jnp.zeros(8))")
BRIDGE = """\
import torch

def to_torch(array):
    return torch.from_dlpack(array)
"""
FINE_BRIDGE = BRIDGE.replace("torch.from_dlpack(array)", "array.shape")
CALL, HAND_OFF = (7, 12), (3, 11)
"""Line and column, both from 0, of the call and of the hand-off; the emoji counts two."""

Diagnostic = dict[str, Any]


class Project:
    """A folder with `main.py` and `bridge.py`, and what a server has published last of each open document."""

    def __init__(self, wire: Any, folder: Path) -> None:
        self.wire, self.folder = wire, folder
        self.latest: dict[str, list[Diagnostic]] = {}
        self.write("pyproject.toml", '[tool.shardlint]\njax-version = "0.10.2"\n')

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def write(self, name: str, text: str) -> Path:
        (self.folder / name).write_text(text, encoding="utf-8")
        return self.folder / name

    def open(self, name: str, text: str | None = None) -> None:
        """Open a file as it is on disk, or with another text."""
        known = (self.folder / name).read_text(encoding="utf-8") if text is None else text
        self.wire.open(known, self.uri(name))

    def replace(self, name: str, text: str, version: int) -> None:
        self.wire.replace(text, version, self.uri(name))

    def close(self, name: str) -> None:
        self.wire.send("textDocument/didClose", {"textDocument": {"uri": self.uri(name)}})

    def changed(self, name: str, kind: int = 2) -> None:
        """What a client that watches files sends; `kind` is 1 for a new file, 2 for a changed and 3 for a deleted one."""
        self.wire.send("workspace/didChangeWatchedFiles", {"changes": [{"uri": self.uri(name), "type": kind}]})

    async def shows(self, expected: Mapping[str, list[tuple[int, int]]]) -> Mapping[str, list[Diagnostic]]:
        """Wait until the newest publications of these files have a finding at each of these places, and give them."""
        while not all(self._places(name) == places for name, places in expected.items()):
            await self._published()
        return {name: self.latest[name] for name in expected}

    async def severities(self, name: str) -> list[int]:
        """The severities in the next publication about a file that has findings."""
        while await self._published() != name or not self.latest[name]:
            pass
        return [one["severity"] for one in self.latest[name]]

    async def _published(self) -> str:
        params = (await self.wire.message("textDocument/publishDiagnostics"))["params"]
        name = params["uri"].rpartition("/")[2]
        self.latest[name] = params["diagnostics"]
        return name

    def _places(self, name: str) -> list[tuple[int, int]] | None:
        starts = [one["range"]["start"] for one in self.latest.get(name, ())]
        return [(start["line"], start["character"]) for start in starts] if name in self.latest else None

    async def hover(self, name: str, place: tuple[int, int]) -> str | None:
        found = (await self.wire.hover(*place, uri=self.uri(name)))["result"]
        return found and found["contents"]["value"]

    async def actions(self, name: str, place: tuple[int, int]) -> list[Any]:
        where = dict(zip(("line", "character"), place, strict=True))
        params = {
            "textDocument": {"uri": self.uri(name)},
            "range": {"start": where, "end": where},
            "context": {"diagnostics": []},
        }
        return (await self.wire.ask("textDocument/codeAction", params, "actions"))["result"] or []


@pytest_asyncio.fixture
async def project(start: Any, tmp_path: Path) -> Project:
    """A project of two files, of which none is open."""
    wire = await start()
    await wire.initialize(ABILITIES)
    made = Project(wire, tmp_path)
    made.write("main.py", MAIN)
    made.write("bridge.py", BRIDGE)
    return made


async def test_a_call_shows_what_it_leads_to(project: Project) -> None:
    """With the bridge closed, the call shows the finding: the rule, where the hand-off is, and all steps with their lines."""
    project.open("main.py")
    (found,) = (await project.shows({"main.py": [CALL]}))["main.py"]
    assert (found["code"], found["severity"]) == (SHARDED, 1)
    assert found["message"].endswith(" (handed over in bridge.py line 4).")
    steps = [
        (Path(one["location"]["uri"]).name, one["location"]["range"]["start"]["line"], one["message"])
        for one in found["relatedInformation"]
    ]
    assert [step[:2] for step in steps][-3:] == [("main.py", 6), ("main.py", 7), ("bridge.py", 3)]
    assert found["relatedInformation"][-1]["location"]["range"]["start"]["character"] == HAND_OFF[1]
    hover = await project.hover("main.py", (CALL[0], CALL[1] + 2))
    assert hover
    for part in (SHARDED, "`bridge.py` line 4", "line 7"):
        assert part in hover
    assert await project.actions("main.py", CALL) == []


async def test_both_files_show_one_finding(project: Project) -> None:
    """With both open, call and hand-off show the same finding under one id, whichever was opened first."""
    for first, second in (("main.py", "bridge.py"), ("bridge.py", "main.py")):
        project.open(first)
        project.open(second)
        shown = await project.shows({"main.py": [CALL], "bridge.py": [HAND_OFF]})
        (call,), (hand_off,) = shown["main.py"], shown["bridge.py"]
        assert call["data"]["finding"] == hand_off["data"]["finding"]
        assert call["code"] == hand_off["code"]
        assert "handed over" not in hand_off["message"]
        assert {one["location"]["uri"] for one in hand_off["relatedInformation"]} == {project.uri("main.py")}
        hover = await project.hover("bridge.py", (HAND_OFF[0], HAND_OFF[1] + 8))
        assert hover
        assert SHARDED in hover
        assert "`main.py` line 8" in hover
        project.close(first)
        project.close(second)
        await project.shows({"main.py": [], "bridge.py": []})


async def test_a_file_between_shows_it_too(project: Project) -> None:
    """A call on the way, in a file that is neither the first nor the last, shows the same finding, and follows what is typed there."""
    between = "from bridge import to_torch\n\ndef convert(values):\n    return to_torch(values)\n"
    project.write("between.py", between)
    project.open("between.py")
    await project.shows({"between.py": []})
    project.open("main.py", MAIN.replace("bridge import to_torch", "between import convert as to_torch"))
    project.open("bridge.py")
    shown = await project.shows({"main.py": [CALL], "between.py": [(3, 11)], "bridge.py": [HAND_OFF]})
    assert len({one["data"]["finding"] for found in shown.values() for one in found}) == 1
    assert shown["between.py"][0]["message"].endswith("(handed over in bridge.py line 4).")
    project.replace("between.py", f"# one line more\n{between}", 2)
    await project.shows({"between.py": [(4, 11)]})
    project.replace("between.py", between.replace("to_torch(values)", "to_torch(values.addressable_data(0))"), 3)
    await project.shows({"main.py": [], "between.py": [], "bridge.py": []})


async def test_an_edit_of_the_caller_reaches_the_bridge(project: Project) -> None:
    """The finding goes from the bridge when the caller is edited, comes back with it, and goes when the caller is closed."""
    project.open("bridge.py")
    project.open("main.py")
    await project.shows({"main.py": [CALL], "bridge.py": [HAND_OFF]})
    project.replace("main.py", FINE_MAIN, 2)
    await project.shows({"main.py": [], "bridge.py": []})
    assert SHARDED not in (await project.hover("bridge.py", (HAND_OFF[0], HAND_OFF[1] + 8)) or "")
    project.replace("main.py", MAIN, 3)
    await project.shows({"main.py": [CALL], "bridge.py": [HAND_OFF]})
    project.close("main.py")
    await project.shows({"bridge.py": []})


async def test_an_edit_of_the_bridge_reaches_the_caller(project: Project) -> None:
    """Without being saved, what is typed in the bridge takes the finding from the caller and brings it back, where it is now."""
    project.open("main.py")
    project.open("bridge.py")
    await project.shows({"main.py": [CALL], "bridge.py": [HAND_OFF]})
    project.replace("bridge.py", FINE_BRIDGE, 2)
    await project.shows({"main.py": [], "bridge.py": []})
    project.replace("bridge.py", f"# one line more\n{BRIDGE}", 3)
    shown = await project.shows({"main.py": [CALL], "bridge.py": [(HAND_OFF[0] + 1, HAND_OFF[1])]})
    assert shown["main.py"][0]["message"].endswith("bridge.py line 5).")
    assert shown["main.py"][0]["data"]["finding"] == shown["bridge.py"][0]["data"]["finding"]


async def test_typing_elsewhere_moves_the_finding_at_once(project: Project) -> None:
    """The first publication for an edited bridge has the finding at its place of now: it does not vanish and come back."""
    project.open("main.py")
    project.open("bridge.py")
    await project.shows({"main.py": [CALL], "bridge.py": [HAND_OFF]})
    for version, text in enumerate((f"# a\n{BRIDGE}", f"# ab\n{BRIDGE}", f"\n# ab\n{BRIDGE}"), 2):
        project.replace("bridge.py", text, version)
        assert await project.wire.published(project.uri("bridge.py"), version) == [SHARDED]


async def test_what_is_open_comes_before_the_disk(project: Project) -> None:
    """A bridge opened with another text than on disk counts as it is open; once closed, the disk counts again."""
    project.open("main.py")
    await project.shows({"main.py": [CALL]})
    project.open("bridge.py", FINE_BRIDGE)
    await project.shows({"main.py": []})
    project.close("bridge.py")
    await project.shows({"main.py": [CALL]})


async def test_files_that_come_and_go(project: Project) -> None:
    """Told by a client that watches files, a deleted, changed, renamed or new bridge shows in its open caller."""
    wire = project.wire
    (registration,) = (await wire.message("client/registerCapability"))["params"]["registrations"]
    assert "**/*.py" in {watcher["globPattern"] for watcher in registration["registerOptions"]["watchers"]}
    project.open("main.py")
    await project.shows({"main.py": [CALL]})
    (project.folder / "bridge.py").unlink()
    project.changed("bridge.py", 3)
    await project.shows({"main.py": []})
    project.write("bridge.py", BRIDGE)
    project.changed("bridge.py", 1)
    await project.shows({"main.py": [CALL]})
    project.write("bridge.py", FINE_BRIDGE)
    project.changed("bridge.py")
    await project.shows({"main.py": []})
    project.write("other.py", BRIDGE)
    (project.folder / "bridge.py").unlink()
    (project.folder / "other.py").rename(project.folder / "bridge.py")
    project.changed("other.py", 3)
    project.changed("bridge.py", 1)
    await project.shows({"main.py": [CALL]})


async def test_a_save_looks_at_the_disk(project: Project) -> None:
    """Where nobody watches files, the next save of any document notices what another program has written."""
    project.open("main.py")
    await project.shows({"main.py": [CALL]})
    project.write("bridge.py", FINE_BRIDGE)
    project.wire.save(project.uri("main.py"))
    await project.shows({"main.py": []})


async def test_a_new_file_that_is_not_saved_is_found(project: Project) -> None:
    """A module that was missing counts from when it is open, saved or not, until it is closed."""
    (project.folder / "bridge.py").unlink()
    project.open("main.py")
    await project.shows({"main.py": []})
    project.open("bridge.py", BRIDGE)
    await project.shows({"main.py": [CALL], "bridge.py": [HAND_OFF]})
    project.close("bridge.py")
    await project.shows({"main.py": [], "bridge.py": []})


async def test_two_callers_share_one_finding(project: Project) -> None:
    """A hand-off that two open files lead to is shown once, by the surer way, and names the other call; it stays while one is left."""
    project.write("unsure.py", MAIN.replace("jax.make_mesh((8,)", "jax.make_mesh((jax.device_count(),)"))
    project.open("bridge.py")
    project.open("unsure.py")
    assert await project.severities("bridge.py") == [2]
    project.open("main.py")
    assert await project.severities("bridge.py") == [1]
    (found,) = project.latest["bridge.py"]
    assert found["relatedInformation"][-1]["location"]["uri"] == project.uri("unsure.py")
    project.close("main.py")
    assert await project.severities("bridge.py") == [2]


async def test_the_bridge_is_repaired_where_it_stands(project: Project) -> None:
    """The lightbulb on the hand-off offers repairs of the bridge that take the finding from both files; the call has none."""
    project.open("bridge.py")
    project.open("main.py")
    await project.shows({"main.py": [CALL], "bridge.py": [HAND_OFF]})
    assert await project.actions("main.py", CALL) == []
    offered = await project.actions("bridge.py", HAND_OFF)
    assert offered
    for version, action in enumerate(offered, 2):
        (change,) = action["edit"]["documentChanges"]
        assert change["textDocument"]["uri"] == project.uri("bridge.py")
        lines = BRIDGE.splitlines(keepends=True)
        for edit in reversed(change["edits"]):
            start, end = edit["range"]["start"], edit["range"]["end"]
            tail = lines[end["line"]][end["character"] :] if end["line"] < len(lines) else ""
            lines[start["line"] : end["line"] + 1] = [
                lines[start["line"]][: start["character"]] + edit["newText"] + tail
            ]
        project.replace("bridge.py", "".join(lines), 2 * version)
        await project.shows({"main.py": [], "bridge.py": []})
        project.replace("bridge.py", BRIDGE, 2 * version + 1)
        await project.shows({"main.py": [CALL], "bridge.py": [HAND_OFF]})
