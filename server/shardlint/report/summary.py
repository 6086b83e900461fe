"""The last lines of a check for a person: how much was found and which JAX counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from shardlint.model import Safety, Severity
from shardlint.report.entry import Entry

_NAMES = {
    Severity.ERROR: ("error", "errors"),
    Severity.WARNING: ("warning", "warnings"),
    Severity.INFORMATION: ("information message", "information messages"),
}


def found(entries: Sequence[Entry], files: int) -> str:
    """A sentence such as "2 errors and 1 warning in 1 of 14 files." `files` is how many were read."""
    if not entries:
        return f"Nothing found in {counted(files, 'file', 'files')}."
    counts = Counter(entry.finding.severity for entry in entries)
    parts = [counted(counts[severity], *names) for severity, names in _NAMES.items() if counts[severity]]
    places = len({entry.finding.location.path for entry in entries})
    of = f"{places} of " if places < files else ""
    return f"{listed(parts)} in {of}{counted(files, 'file', 'files')}."


def repaired(counts: Sequence[int]) -> str:
    """A sentence on the repairs that were made, given how many there were in each file."""
    return f"{counted(sum(counts), 'repair', 'repairs')} made in {counted(len(counts), 'file', 'files')}."


def repairable(entries: Sequence[Entry]) -> str:
    """A sentence on what `--fix` would do, empty if that is nothing."""
    count = sum(any(fix.safety is Safety.SAFE for fix in entry.fixes) for entry in entries)
    if count == len(entries):
        return "--fix repairs it." if count == 1 else "--fix repairs them all." if count else ""
    return f"--fix repairs {count} of them." if count else ""


def counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))
