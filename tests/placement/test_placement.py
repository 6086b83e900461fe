"""The analysis against the programs of this folder's Markdown files, and the files against real JAX."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from shardlint.check import Snapshot, check
from shardlint.model import Target
from shardlint.records.cases import Case, parse_cases
from shardlint.records.catalogue import Catalogue
from shardlint.text import Text
from shardlint.verify.process import Job, run_jobs

HERE = Path(__file__).parent
EXECUTED = (
    "annotations.md", "asking.md", "claims.md", "classes.md", "flow.md", "functions.md", "guards.md", "imports.md", "natures.md",
    "protocols.md", "sources.md", "tracers.md", "memory.md",
)  # fmt: skip


def _cases(*names: str) -> list[pytest.param]:
    pages = [HERE / name for name in names] if names else sorted(HERE.glob("*.md"))
    return [
        pytest.param(case, id=f"{page.stem}: {case.title}")
        for page in pages
        for case in parse_cases(page.read_text(encoding="utf-8"), page.name)
    ]


@pytest.mark.parametrize("case", _cases())
def test_findings_are_the_marked_ones(case: Case, catalogue: Catalogue) -> None:
    """The findings of a program are exactly those that its marks show, with their severity."""
    target = Target((case.jax or "0.10.2",), True, "the case")
    snapshot = Snapshot("program.py", Text(case.program), target, catalogue)
    found = {
        (snapshot.text.position(one.location.span.start)[0] + 1, one.severity, one.rule)
        for one in check(snapshot).findings
    }
    assert found == {(mark.line, mark.severity, mark.rule) for mark in case.marks}


@pytest.mark.jax
def test_marked_lines_raise_and_no_others() -> None:
    """On real JAX with eight devices the marked lines of every program raise, and nothing else does."""
    cases = [parameter.values[0] for parameter in _cases(*EXECUTED)]
    jobs = [
        Job(index, case.program, tuple(mark.line for mark in case.marks), None, None)
        for index, case in enumerate(cases)
    ]
    answers = run_jobs(Path(sys.executable), 8, jobs, 300.0)
    raised = {
        (case.title, line.line, str(line)) if line.line not in marked else (case.title, line.line)
        for case, answer in zip(cases, (answers[job.id] for job in jobs), strict=True)
        for marked in [{mark.line for mark in case.marks}]
        for line in answer.raised
        if not line.lost
    }
    assert all(answer.died is None for answer in answers.values())
    assert raised == {(case.title, mark.line) for case in cases for mark in case.marks}
