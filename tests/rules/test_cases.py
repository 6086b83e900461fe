"""Every `cases.md` holds: findings are exactly the marked ones, fixes give exactly the shown text and check clean."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardlint.check import Snapshot, check
from shardlint.fixes.edits import apply
from shardlint.fixes.repair import repairs
from shardlint.model import Target
from shardlint.records.cases import Case, parse_cases
from shardlint.records.catalogue import Catalogue
from shardlint.text import Text

RECORDS = Path(__file__).parents[2] / "records"


def _cases() -> list[pytest.param]:
    return [
        pytest.param(page.parent.name, case, id=f"{page.parent.name}: {case.title}")
        for page in sorted(RECORDS.glob("*/cases.md"))
        for case in parse_cases(page.read_text(encoding="utf-8"), str(page))
    ]


def _snapshot(rule: str, case: Case, source: str, catalogue: Catalogue) -> Snapshot:
    version = case.jax or catalogue.jax_versions[-1]
    ignored = catalogue.opt_in - {mark.rule for mark in case.marks} - {rule}
    return Snapshot("program.py", Text(source), Target((version,), True, "the case"), catalogue, ignored)


@pytest.mark.parametrize(("rule", "case"), _cases())
def test_findings_are_the_marked_ones(rule: str, case: Case, catalogue: Catalogue) -> None:
    """A program has a finding on every marked line, over the marked columns, of the marked severity, and no other."""
    snapshot = _snapshot(rule, case, case.program, catalogue)
    found = {}
    for finding in check(snapshot).findings:
        line, column = snapshot.text.position(finding.location.span.start)
        _, end = snapshot.text.position(finding.location.span.end)
        found[line + 1, finding.rule] = (finding.severity, (column, end))
    wanted = {(mark.line, mark.rule): mark for mark in case.marks}
    assert found.keys() == wanted.keys()
    for key, mark in wanted.items():
        severity, columns = found[key]
        assert severity == mark.severity, key
        assert mark.columns in (None, columns), key


@pytest.mark.parametrize(("rule", "case"), [one for one in _cases() if one.values[1].fixes])
def test_fixes_give_the_shown_programs(rule: str, case: Case, catalogue: Catalogue) -> None:
    """Every shown repair is offered under its title, gives the shown text to the letter, and the result checks clean."""
    snapshot = _snapshot(rule, case, case.program, catalogue)
    offered: dict[str, set[str]] = {}
    for finding in check(snapshot).findings:
        for fix in repairs(snapshot, finding):
            offered.setdefault(fix.title, set()).add(apply(case.program, fix.edits))
    for fixed in case.fixes:
        assert fixed.title in offered
        assert any(_bare(text) == fixed.source for text in offered[fixed.title]), "\n".join(offered[fixed.title])
        assert check(_snapshot(rule, case, fixed.source, catalogue)).findings == ()


def _bare(source: str) -> str:
    """A repaired program as the page shows it: the marks, which are comments of the page, are gone."""
    from shardlint.records.cases import strip_marks

    return strip_marks(source)
