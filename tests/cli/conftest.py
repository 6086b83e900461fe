"""A core of a few lines in place of the real one: the command line is tested by itself."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner, Result

from shardlint.check import Report, Snapshot
from shardlint.cli.commands import shardlint
from shardlint.model import Edit, Finding, Fix, HandOff, Location, Problem, Safety, Severity, Step
from shardlint.records.catalogue import Catalogue, FixSpec, Match, Rule
from shardlint.text import Span

BAD = re.compile(r"bad_dlpack\((\w*)\)")
COSTLY = re.compile(r"costly_dlpack\((\w*)\)")
UNPARSED = re.compile(r"^!.*$", re.MULTILINE)
JAX_VERSIONS = ("0.4.30", "0.6.2", "0.7.2", "0.10.2")


def rule(name: str, severity: Severity = Severity.ERROR, safety: Safety = Safety.SAFE) -> Rule:
    """A rule whose fields are as short as can be."""
    return Rule(
        name=name,
        summary=f"what {name} warns of",
        family="A",
        jax=">=0.7",
        severity=severity,
        possible=Severity.OFF,
        severity_by={},
        jax_by={},
        message="It fails.",
        match=Match(("dlpack",), "export", ()),
        when={},
        handled_by=(),
        tags=(),
        fixes=(FixSpec("Say good instead", safety, "# before\na\n# after\nb\n", {}),),
        record={},
        page="",
        observed=(),
    )


CATALOGUE = Catalogue(
    {
        "bad-hand-off": rule("bad-hand-off"),
        "costly-hand-off": replace(rule("costly-hand-off", Severity.WARNING, Safety.MOVES_DATA), family="B"),
    },
    JAX_VERSIONS,
)


def check(snapshot: Snapshot) -> Report:
    """Finds `bad_dlpack(...)` and `costly_dlpack(...)`; the step is the first line; `BROKEN` is a problem.

    A line that begins with an exclamation mark does not parse.
    """
    source = snapshot.text.source
    step = Step(Location(snapshot.path, snapshot.text.line_span(0)), "it begins here")
    findings = [
        Finding(
            name,
            severity,
            Location(snapshot.path, Span(*match.span())),
            f"It fails on JAX {snapshot.target.versions[-1]}.",
            (step,),
            "bad",
        )
        for pattern, name, severity in (
            (BAD, "bad-hand-off", Severity.ERROR),
            (COSTLY, "costly-hand-off", Severity.WARNING),
        )
        for match in pattern.finditer(source)
        if name not in snapshot.ignored
    ]
    problems = (Problem(snapshot.path, f"{snapshot.path}: a statement cannot be read."),) if "BROKEN" in source else ()
    hand_offs: tuple[HandOff, ...] = ()
    broken = tuple(Span(*match.span()) for match in UNPARSED.finditer(source))
    return Report(tuple(sorted(findings, key=lambda one: one.location.span)), problems, hand_offs, broken=broken)


def repairs(snapshot: Snapshot, finding: Finding) -> tuple[Fix, ...]:
    """Changes `bad` to `good`, safely, and `costly` to `good`, at a cost."""
    start = finding.location.span.start
    length, safety = (3, Safety.SAFE) if finding.rule == "bad-hand-off" else (6, Safety.MOVES_DATA)
    return (Fix(finding.rule, "Say good instead", safety, (Edit(Span(start, start + length), "good"),)),)


def fix_all(snapshot: Snapshot) -> tuple[str, tuple[Fix, ...]]:
    """Repairs the first safe finding only, so that a file with several must be repaired again."""
    for finding in check(snapshot).findings:
        (fix,) = repairs(snapshot, finding)
        if fix.safety is Safety.SAFE:
            (edit,) = fix.edits
            source = snapshot.text.source
            return source[: edit.span.start] + edit.text + source[edit.span.end :], (fix,)
    return snapshot.text.source, ()


@pytest.fixture
def fake_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the functions above in the place of the core's, and two rules in that of the shipped ones."""
    repair = ModuleType("shardlint.fixes.repair")
    monkeypatch.setattr(repair, "repairs", repairs, raising=False)
    monkeypatch.setattr(repair, "fix_all", fix_all, raising=False)
    monkeypatch.setitem(sys.modules, "shardlint.fixes.repair", repair)
    monkeypatch.setattr("shardlint.project.check", check)
    monkeypatch.setattr("shardlint.records.catalogue.load", lambda: CATALOGUE)
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty project that is the current folder. Nothing above it is looked at."""
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    yield tmp_path / "project"
    for folder, _, _ in os.walk(tmp_path):
        Path(folder).chmod(0o755)


@pytest.fixture
def cli(fake_core: None, project: Path) -> Callable[..., Result]:
    """Runs `shardlint` with the given words, in the project, on the fake core."""
    return invoke


@pytest.fixture
def real_cli(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs `shardlint` with the given words, in the project, as it is. What it keeps, it keeps for the test alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return invoke


def invoke(*words: str) -> Result:
    return CliRunner().invoke(shardlint, list(words), prog_name="shardlint")
