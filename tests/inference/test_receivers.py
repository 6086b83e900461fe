"""Programs that hand over what another package says of its objects: found with jedi's answers, and not without them.

The package is `library/shardkit`. Each program is run on real JAX with eight devices too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from shardlint.check import Report, Snapshot, check
from shardlint.inference.door import Inference, settle
from shardlint.records.cases import Case, parse_cases
from shardlint.verify.process import Job, run_jobs

HERE = Path(__file__).parent
LIBRARY = HERE / "library"
GUILTY = ("annotations.md", "returns.md", "attributes.md")
FINE = "lookalikes.md"


def cases_of(*names: str) -> list[Case]:
    return [case for name in names for case in parse_cases((HERE / name).read_text(encoding="utf-8"), name)]


def parameters_of(*names: str) -> list[pytest.param]:
    return [pytest.param(case, id=case.title) for case in cases_of(*names)]


def found(report: Report, snapshot: Snapshot) -> set[tuple[int, str]]:
    position = snapshot.text.position
    return {(position(one.location.span.start)[0] + 1, one.rule) for one in report.findings}


def marked(case: Case) -> set[tuple[int, str]]:
    return {(mark.line, mark.rule) for mark in case.marks}


@pytest.mark.parametrize("case", parameters_of(*GUILTY))
def test_the_guilty_line_is_found_with_answers_only(
    case: Case, snapshot: Callable[[str], Snapshot], inference: Inference
) -> None:
    """The marked lines are found once the package was looked into, with the severity of the mark, and none before."""
    alone = check(snapshot(case.program))
    assert alone.findings == ()
    assert alone.questions
    report, settled = settle(snapshot(case.program), inference, [LIBRARY])
    assert found(report, settled) == marked(case)
    assert {one.severity for one in report.findings} == {mark.severity for mark in case.marks}
    assert all(one.steps for one in report.findings if one.rule != "cross-device-zero-copy")


@pytest.mark.parametrize("case", parameters_of(FINE))
def test_a_look_alike_is_left_alone(case: Case, snapshot: Callable[[str], Snapshot], inference: Inference) -> None:
    """Where the hand-off goes well there is no finding, whatever the answers are."""
    report, _ = settle(snapshot(case.program), inference, [LIBRARY])
    assert report.findings == ()


def test_enough_is_shown() -> None:
    """There are at least forty guilty programs and fifteen fine ones."""
    assert len(cases_of(*GUILTY)) >= 40
    assert len(cases_of(FINE)) >= 15


@pytest.mark.jax
def test_marked_lines_raise_and_no_others() -> None:
    """On real JAX with eight devices the marked lines of every program raise, and nothing else does."""
    cases = cases_of(*GUILTY, FINE)
    first = f"import sys; sys.path.insert(0, {str(LIBRARY)!r}); sys.dont_write_bytecode = True; "
    jobs = [
        Job(index, first + case.program, tuple(mark.line for mark in case.marks), None, None)
        for index, case in enumerate(cases)
    ]
    answers = run_jobs(Path(sys.executable), 8, jobs, 600.0)
    raised = {
        (case.title, line.line)
        if line.line in {mark.line for mark in case.marks}
        else (case.title, line.line, str(line))
        for index, case in enumerate(cases)
        for line in answers[index].raised
        if not line.lost
    }
    assert all(answer.died is None for answer in answers.values())
    assert raised == {(case.title, mark.line) for case in cases for mark in case.marks}
