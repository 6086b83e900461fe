"""Where the findings of a check are shown, and one finding that was found from several files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from shardlint.model import Finding, Location, Severity
from shardlint.text import Span

_ORDER = {severity: rank for rank, severity in enumerate(Severity)}


def rank(finding: Finding) -> int:
    """How sure and how bad, the worst first."""
    return _ORDER[finding.severity]


def together(first: Finding, second: Finding) -> Finding:
    """One finding that was found twice: the surer way tells the story (the first, of two that are as sure), and all calls that lead
    there are named.
    """
    story = min(first, second, key=rank)
    return replace(story, calls=tuple(dict.fromkeys((*story.calls, *first.calls, *second.calls))))


def here(findings: Iterable[Finding], path: str) -> Iterator[Finding]:
    """The findings whose hand-off stands in a file."""
    return (finding for finding in findings if finding.location.path == path)


def shown(findings: Iterable[Finding], path: str) -> Iterator[tuple[Span, Finding]]:
    """The spans of a file that show a finding: its hand-offs, and the calls that lead to one in another file."""
    for finding in findings:
        yield from ((place.span, finding) for place in places_in(finding, path))


def places_in(finding: Finding, path: str) -> list[Location]:
    """Where a file shows a finding."""
    places = (finding.location,) if finding.location.path == path else finding.calls
    return [place for place in places if place.path == path]
