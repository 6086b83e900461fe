"""The last lines of a check for a person: how much was found and which JAX counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from shardlint.model import Severity
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


def repairable(entries: Sequence[Entry], *, unsafe: bool) -> str:
    """A sentence on what `--fix` would do, and what only `--unsafe-fixes` would; empty if that is nothing. `unsafe` says that it is given."""
    flags = "--fix --unsafe-fixes" if unsafe else "--fix"
    count = sum(entry.applied(unsafe=unsafe) is not None for entry in entries)
    if not count:
        return needing(entries, unsafe=unsafe)
    if count == len(entries):
        return f"{flags} repairs it." if count == 1 else f"{flags} repairs them all."
    return f"{flags} repairs {count} of them{_more(entries, unsafe=unsafe)}."


def would_change(files: int, entries: Sequence[Entry], *, unsafe: bool) -> str:
    """A sentence on what `--fix` would do to so many files."""
    flags = "--fix --unsafe-fixes" if unsafe else "--fix"
    if files:
        return f"{flags} would change {counted(files, 'file', 'files')}{_more(entries, unsafe=unsafe)}."
    return " ".join(filter(None, (f"{flags} would change nothing.", needing(entries, unsafe=unsafe))))


def needing(entries: Sequence[Entry], *, unsafe: bool) -> str:
    """A sentence on the repairs that `--unsafe-fixes` would add, empty if there are none."""
    count = _hidden(entries, unsafe=unsafe)
    return f"{_needs(count, 'repair', 'repairs')}." if count else ""


def _more(entries: Sequence[Entry], *, unsafe: bool) -> str:
    count = _hidden(entries, unsafe=unsafe)
    return f" ({_needs(count, 'more repair', 'more repairs')})" if count else ""


def _hidden(entries: Sequence[Entry], *, unsafe: bool) -> int:
    """How many findings have repairs, but none that is made without being asked for."""
    return 0 if unsafe else sum(bool(entry.fixes) and entry.applied(unsafe=False) is None for entry in entries)


def _needs(count: int, one: str, many: str) -> str:
    return f"{counted(count, one, many)} {'needs' if count == 1 else 'need'} --unsafe-fixes"


def counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))
