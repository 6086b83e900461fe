"""Which findings a document shows: those at its own hand-offs, from whichever open file they were found, and its calls that lead to
hand-offs in other files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from lsprotocol import types

from shardlint.lsp.convert import moved, range_of, uri_of
from shardlint.lsp.session import CheckedDocument, Session
from shardlint.model import Finding, Location, Severity
from shardlint.text import Span, Text

HIDDEN = Severity.OFF


@dataclass(frozen=True, slots=True)
class Shown:
    """A finding where a document shows it, at `span` of its text.

    `finding` has the places that it had in `texts`, by path, when it was found by `seen`. `hand_off` is where it stands: the same
    for all that show it. `calls` are the places in other open files that lead here and that its steps do not name.
    """

    span: Span
    finding: Finding
    seen: CheckedDocument
    hand_off: Location
    calls: tuple[types.Location, ...] = ()

    @property
    def texts(self) -> Mapping[str, Text]:
        return self.seen.texts

    @property
    def identity(self) -> str:
        """What all places have in common that show one finding, in whichever file."""
        span = self.hand_off.span
        return f"{self.finding.rule}:{uri_of(self.hand_off.path)}:{span.start}-{span.end}"


def shown(session: Session, checked: CheckedDocument) -> tuple[Shown, ...]:
    """The findings that an editor shows in a document, in its order."""
    # Not at the top: with it comes the core, and `initialize` does not wait for that.
    from shardlint.rules.places import shown as places_of

    path = checked.document.path
    findings = [one for one in checked.report.findings if one.severity is not HIDDEN]
    marks = [
        Shown(span, finding, checked, replace(finding.location, span=_now(session, checked, finding.location)))
        for span, finding in places_of(findings, path)
    ]
    return tuple(sorted(_merged(session, [*marks, *_from_others(session, checked)]), key=_order))


def elsewhere(checked: CheckedDocument) -> frozenset[str]:
    """The other files that a report has something to say of."""
    paths = {place.path for finding in checked.report.findings for place in (finding.location, *finding.calls)}
    return frozenset(paths - {checked.document.path})


def location_of(session: Session, texts: Mapping[str, Text], where: Location) -> types.Location:
    """A place as the client knows it: of an open document by its URI, and moved with what was typed in it meanwhile."""
    document, text = session.document_of(where.path), texts.get(where.path)
    uri = document.uri if document else uri_of(where.path)
    if text is None:
        top = types.Position(0, 0)
        return types.Location(uri, types.Range(top, top))
    span = moved(where.span, text, document.text) if document else None
    if document and span is not None:
        return types.Location(uri, range_of(document.text, span, session.client.unit))
    return types.Location(uri, range_of(text, where.span, session.client.unit))


def _from_others(session: Session, checked: CheckedDocument) -> Iterator[Shown]:
    """The findings that other open documents have at hand-offs of a document, and at its calls that lie on the way to others."""
    from shardlint.rules.places import places_in

    document = checked.document
    for seen in session.last_checked:
        if seen.document.path == document.path:
            continue
        for finding in seen.report.findings:
            text = seen.report.looked_into.get(document.path)
            if finding.severity is HIDDEN or text is None:
                continue
            for place in places_in(finding, document.path):
                span = moved(place.span, text, document.text)
                if span is not None:
                    at = replace(finding.location, span=_now(session, seen, finding.location))
                    yield Shown(span, finding, seen, at)


def _merged(session: Session, found: list[Shown]) -> Iterator[Shown]:
    """One for each hand-off and rule: the surest way tells the story, and the calls of the others are named."""
    from shardlint.rules.places import rank

    alike: dict[tuple[Span, str], list[Shown]] = {}
    for one in found:
        alike.setdefault((one.span, one.identity), []).append(one)
    for same in alike.values():
        story, *rest = sorted(same, key=lambda one: rank(one.finding))
        calls = [location_of(session, one.texts, call) for one in rest for call in one.finding.calls]
        yield replace(story, calls=tuple({(call.uri, call.range.start.line): call for call in calls}.values()))


def _now(session: Session, checked: CheckedDocument, where: Location) -> Span:
    """The span of a hand-off in the file's text of now."""
    document, text = session.document_of(where.path), checked.texts.get(where.path)
    found = moved(where.span, text, document.text) if document and text else None
    return where.span if found is None else found


def _order(one: Shown) -> tuple[Span, str]:
    return one.span, one.finding.rule
