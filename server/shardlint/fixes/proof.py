"""Whether a repair may be offered: what it makes of the text is checked like any other text."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from shardlint.check import Analysis, Snapshot, analyse
from shardlint.fixes.edits import OverlapError, edited
from shardlint.model import Edit, Finding


def proven(
    snapshot: Snapshot, analysis: Analysis, repaired: Sequence[Finding], edits: Sequence[Edit]
) -> Analysis | None:
    """The analysis of the repaired text, if that compiles as well as before, lacks the findings and has no new one."""
    try:
        text = edited(snapshot.text, edits)
    except OverlapError:
        return None
    if _compiles(snapshot.text.source) and not _compiles(text.source):
        return None
    after = analyse(replace(snapshot, text=text))
    if len(after.tree.broken) > len(analysis.tree.broken):
        return None
    return after if fewer(analysis, after, repaired) else None


def fewer(before: Analysis, after: Analysis, repaired: Sequence[Finding]) -> bool:
    """Whether the findings that were repaired are gone and there is no new one."""
    old = Counter(item.rule for item in before.report.findings)
    new = Counter(item.rule for item in after.report.findings)
    gone = Counter(finding.rule for finding in repaired)
    return all(new[rule] <= old[rule] - gone[rule] for rule in new | gone)


def _compiles(source: str) -> bool:
    """Whether Python takes the text: the parser alone does not see a `__future__` import that comes too late. Runs nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "<repair>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
