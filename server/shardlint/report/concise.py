"""Findings one a line, for grep and for editors' error lists."""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.report.entry import Entry, Sources, place
from shardlint.report.excerpt import harmless


def render(entries: Iterable[Entry], sources: Sources) -> str:
    """`path:line:column: severity[rule] message`, line and column 1-based, the column in code points."""
    return "".join(f"{_line(entry, sources)}\n" for entry in entries)


def _line(entry: Entry, sources: Sources) -> str:
    finding = entry.finding
    message = " ".join(finding.message.split())
    return harmless(f"{place(sources, finding.location)}: {finding.severity}[{finding.rule}] {message}")
