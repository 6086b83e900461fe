"""Findings as JSON: a list of objects. Lines and columns are 1-based, columns count code points, ends are exclusive.

In a notebook `cell` is the index of the cell among all cells (0-based), and lines count within it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from shardlint.model import Fix, Location
from shardlint.report.entry import Entry, Sources
from shardlint.text import Span, Text


def render(entries: Iterable[Entry], sources: Sources, *, unsafe: bool = False) -> str:
    """ASCII alone, so that no terminal or pipe can spoil it. Where `unsafe` repairs are made too, each tells whether it is."""
    return json.dumps([_finding(entry, sources, unsafe=unsafe) for entry in entries], indent=2) + "\n"


def _finding(entry: Entry, sources: Sources, *, unsafe: bool) -> dict[str, Any]:
    finding, text = entry.finding, sources.get(entry.finding.location.path)
    applied = entry.applied(unsafe=unsafe)
    return {
        **located(finding.location, sources),
        "code": finding.rule,
        "severity": str(finding.severity),
        "message": finding.message,
        "steps": [{**located(step.location, sources), "message": step.text} for step in finding.steps],
        "calls": [located(call, sources) for call in finding.calls],
        "fixes": [_fix(fix, text) | ({"applied": fix is applied} if unsafe else {}) for fix in entry.fixes],
    }


def _fix(fix: Fix, text: Text | None) -> dict[str, Any]:
    edits = [{**_range(edit.span, text), "text": edit.text} for edit in fix.edits]
    return {"title": fix.title, "safety": str(fix.safety), "edits": edits}


def located(location: Location, sources: Sources) -> dict[str, Any]:
    """The file and the range of a place."""
    path = location.path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return {"path": path, **_range(location.span, sources.get(location.path))}


def _range(span: Span, text: Text | None) -> dict[str, int]:
    cell, line, column = text.place(span.start) if text else (None, 0, 0)
    _, end_line, end_column = text.place(span.end) if text else (None, 0, 0)
    found = {} if cell is None else {"cell": cell}
    return found | {"line": line + 1, "column": column + 1, "end_line": end_line + 1, "end_column": end_column + 1}
