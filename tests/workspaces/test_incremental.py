"""Checking again after an edit finds the same as checking from the beginning, and runs less."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from edits import EDITS, START, Files

from shardlint.check import Memory, Report, Snapshot, check
from shardlint.model import Target
from shardlint.placement.functions import Functions
from shardlint.records.catalogue import Catalogue
from shardlint.text import Text
from shardlint.workspace import Workspaces, standing

TARGET = Target(("0.10.2",), True, "the test")
STEPS = 12


class Editor:
    """A workspace whose files are all open."""

    def __init__(self, folder: Path, catalogue: Catalogue) -> None:
        self.folder = folder
        self.catalogue = catalogue
        self.workspaces = Workspaces()
        self.memories: dict[str, Memory] = {}

    def snapshots(self, files: Files) -> dict[str, Snapshot]:
        texts = {self.folder / name: Text(text) for name, text in files.items()}
        for name in START:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if name in files:
                path.write_text(files[name], encoding="utf-8")
            else:
                path.unlink(missing_ok=True)
        self.workspaces.hold(texts)
        made: dict[str, Snapshot] = {}
        for path, text in texts.items():
            place = standing(path, self.folder)
            modules = self.workspaces.at(place.roots, self.catalogue, fresh=True)
            made[path.relative_to(self.folder).as_posix()] = Snapshot(
                str(path), text, TARGET, self.catalogue, modules=modules, module=place.name, is_package=place.is_package
            )
        return made

    def reports(self, files: Files) -> dict[str, Report]:
        return {
            name: check(snapshot, self.memories.setdefault(name, Memory()))
            for name, snapshot in self.snapshots(files).items()
        }


def _told(report: Report) -> tuple[object, ...]:
    looked_into = {path: text.source for path, text in report.looked_into.items()}
    return report.findings, report.problems, report.hand_offs, report.questions, report.broken, looked_into


@pytest.mark.parametrize("seed", range(20))
def test_the_same_as_from_the_beginning(seed: int, tmp_path: Path, catalogue: Catalogue) -> None:
    """After every one of some random edits, what each file's memory leads to is what a fresh check finds."""
    rng, files = random.Random(seed), dict(START)
    editor = Editor(tmp_path, catalogue)
    editor.reports(files)
    for step in range(STEPS):
        edit = rng.choice(EDITS)
        edit(files, rng)
        kept = editor.reports(files)
        fresh = Editor(tmp_path, catalogue).reports(files)
        assert kept.keys() == fresh.keys()
        for name, report in kept.items():
            assert _told(report) == _told(fresh[name]), f"{name} after step {step}, {edit.__name__}"


def test_an_edit_runs_its_function_and_what_depends_on_it(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What does not depend on the edited function is not run again."""
    source = "import torch\n\ndef bridge(x):\n    return torch.from_dlpack(x)\n" + "".join(
        f"\n\ndef user_{number}(x):\n    return bridge(x) if x else other_{number}(x)\n"
        f"\n\ndef other_{number}(x):\n    return torch.from_dlpack(x)\n"
        for number in range(20)
    )
    memory, ran = Memory(), list[str]()
    execute = Functions._execute

    def watched(self: Functions, code: object, *rest: object, **more: object) -> object:
        ran.append(getattr(code, "name", ""))
        return execute(self, code, *rest, **more)  # pyright: ignore

    monkeypatch.setattr(Functions, "_execute", watched)
    first = check(Snapshot("a.py", Text(source), TARGET, catalogue), memory)
    assert len(ran) > 20
    ran.clear()
    edited = source.replace("def other_7(x):\n    return", "def other_7(x):\n    pass\n    return")
    second = check(Snapshot("a.py", Text(edited), TARGET, catalogue), memory)
    assert len(second.hand_offs) == len(first.hand_offs)
    assert set(ran) <= {"bridge", "other_7"}
    ran.clear()
    check(Snapshot("a.py", Text(source.replace("def bridge(x):", "def bridge(x, y=1):")), TARGET, catalogue), memory)
    assert ran.count("bridge") >= 1


def test_what_is_noted_does_not_multiply(catalogue: Catalogue) -> None:
    """Functions that call each other twice make a tree of many thousand calls; what they did is remembered once."""
    depth = 14
    source = "import torch\n\n\nclass Box:\n    def __init__(self, v):\n        self.v = v\n\n\n"
    source += "def f0(x):\n    made = lambda: Box(x)\n    return torch.from_dlpack(made().v)\n"
    source += "".join(
        f"\n\ndef f{number}(x):\n    f{number - 1}(x)\n    return f{number - 1}(x)\n" for number in range(1, depth)
    )
    memory = Memory()
    check(Snapshot("a.py", Text(source), TARGET, catalogue), memory)
    assert memory.analysis.program is not None
    noted = memory.analysis.program.journal.whole().notes
    assert len(noted.defined) + len(noted.kept) < 4 * depth
