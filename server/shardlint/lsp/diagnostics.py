"""What was found in a document, as LSP diagnostics."""

from __future__ import annotations

from lsprotocol import types

from shardlint.lsp.convert import range_of, uri_of
from shardlint.lsp.session import CheckedDocument, Session
from shardlint.model import Finding, Location, Problem, Severity
from shardlint.text import Span

SOURCE = "shardlint"

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFORMATION: types.DiagnosticSeverity.Information,
}
_TAGS = {"deprecated": types.DiagnosticTag.Deprecated, "unnecessary": types.DiagnosticTag.Unnecessary}


def diagnostics(session: Session, checked: CheckedDocument) -> list[types.Diagnostic]:
    """All that there is to show of a document."""
    found = [diagnostic(session, checked, finding) for finding in shown(checked)]
    return found + [_problem(session, checked, problem) for problem in checked.report.problems]


def shown(checked: CheckedDocument) -> list[Finding]:
    """The findings that an editor shows."""
    return [finding for finding in checked.report.findings if finding.severity in _SEVERITIES]


def diagnostic(session: Session, checked: CheckedDocument, finding: Finding) -> types.Diagnostic:
    """One finding in the words and with the fields that the client knows."""
    # Not at the top: with it comes the core, and `initialize` does not wait for that.
    from shardlint.explain import rule_link

    client = session.client
    document = checked.document
    rule = checked.snapshot.catalogue.rules.get(finding.rule)
    link = rule_link(rule) if rule and client.code_description else None
    tags = [_TAGS[tag] for tag in finding.tags if _TAGS.get(tag) in client.diagnostic_tags]
    related = [
        types.DiagnosticRelatedInformation(_location(session, checked, step.location), step.text)
        for step in finding.steps
    ]
    return types.Diagnostic(
        range=range_of(document.text, finding.location.span, client.unit),
        severity=_SEVERITIES[finding.severity],
        code=finding.rule,
        code_description=types.CodeDescription(link) if link else None,
        source=SOURCE,
        message=finding.message,
        tags=tags or None,
        related_information=related if related and client.related_information else None,
        data={"rule": finding.rule, "version": document.version} if client.diagnostic_data else None,
    )


def _problem(session: Session, checked: CheckedDocument, problem: Problem) -> types.Diagnostic:
    """What kept a part of the document from being checked."""
    from shardlint.records.telling import sentence

    span = problem.span or Span(0, 0)
    where = range_of(checked.document.text, span, session.client.unit)
    return types.Diagnostic(where, sentence(problem.message), types.DiagnosticSeverity.Information, source=SOURCE)


def _location(session: Session, checked: CheckedDocument, where: Location) -> types.Location:
    document = checked.document
    if where.path == document.path:
        return types.Location(document.uri, range_of(document.text, where.span, session.client.unit))
    top = types.Position(0, 0)  # the columns of a file that is not open are not known
    return types.Location(uri_of(where.path), types.Range(top, top))
