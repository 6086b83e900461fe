"""The analysis across modules against the workspaces of `workspaces.md`, and these against real JAX."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from shardlint.check import Snapshot, check
from shardlint.model import Severity, Target
from shardlint.records.catalogue import Catalogue
from shardlint.text import Text
from shardlint.workspace import Workspaces, standing

PAGE = Path(__file__).parent / "workspaces.md"
_BLOCK = re.compile(r"```python\n# (?P<name>\S+)\n(?P<text>.*?)```", re.DOTALL)
_MARK = re.compile(r"# (error|warning|info): \[([\w-]+)\]")

RUNNER = """
import json, runpy, sys
import numpy, torch
seen = []
def watched(function):
    def call(x):
        try:
            return function(x)
        except Exception as error:
            frame = sys._getframe(1)
            seen.append([frame.f_code.co_filename, frame.f_lineno, type(error).__name__])
            return torch.zeros(8) if function is real else None
    return call
real = torch.from_dlpack
torch.from_dlpack, numpy.from_dlpack = watched(real), watched(numpy.from_dlpack)
sys.path.insert(0, sys.argv[1])
runpy.run_path(sys.argv[1] + "/main.py", run_name="__main__")
print(json.dumps(seen))
"""

Found = set[tuple[str, int, str]]
"""File, line from 1, and rule."""


@dataclass(frozen=True)
class Example:
    title: str
    files: dict[str, str]

    @property
    def marked(self) -> dict[tuple[str, int, str], str]:
        """The severity of each finding."""
        return {
            (name, number, found[2]): found[1]
            for name, text in self.files.items()
            for number, line in enumerate(text.splitlines(), 1)
            for found in _MARK.finditer(line)
        }

    def write(self, folder: Path) -> None:
        for name, text in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def _examples() -> list[Example]:
    sections = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    return [
        Example(
            section.partition("\n")[0],
            {one["name"]: f"# {one['name']}\n{one['text']}" for one in _BLOCK.finditer(section)},
        )
        for section in sections
    ]


def found_in(folder: Path, catalogue: Catalogue) -> dict[tuple[str, int, str], Severity]:
    """What checking every file of a folder finds, each finding once."""
    workspaces, found = Workspaces(), dict[tuple[str, int, str], Severity]()
    for path in sorted(folder.rglob("*.py")):
        place = standing(path, folder)
        text = Text(path.read_text(encoding="utf-8"))
        snapshot = Snapshot(
            str(path), text, Target(("0.10.2",), True, "the test"), catalogue,
            modules=workspaces.at(place.roots, catalogue), module=place.name, is_package=place.is_package,
        )  # fmt: skip
        report = check(snapshot)
        texts = {**report.looked_into, str(path): text}
        for one in report.findings:
            line = texts[one.location.path].line_of(one.location.span.start) + 1
            name = Path(one.location.path).relative_to(folder).as_posix()
            found[name, line, one.rule] = min(one.severity, found.get((name, line, one.rule), one.severity))
    return found


@pytest.mark.parametrize("example", _examples(), ids=lambda one: one.title)
def test_findings_are_the_marked_ones(example: Example, tmp_path: Path, catalogue: Catalogue) -> None:
    """Checked file by file, a workspace has exactly the marked findings."""
    example.write(tmp_path)
    assert found_in(tmp_path, catalogue) == example.marked


@pytest.mark.jax
@pytest.mark.parametrize("example", _examples(), ids=lambda one: one.title)
def test_marked_lines_raise_and_no_others(example: Example, tmp_path: Path) -> None:
    """On real JAX with eight devices the hand-offs on the marked lines raise, and no others."""
    example.write(tmp_path)
    flags = "--xla_force_host_platform_device_count=8"
    run = subprocess.run(
        [sys.executable, "-c", RUNNER, str(tmp_path)],
        capture_output=True, text=True, check=False, env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    raised = {(Path(name).relative_to(tmp_path).as_posix(), line) for name, line, _ in json.loads(run.stdout)}
    assert raised == {(name, line) for name, line, _ in example.marked}
