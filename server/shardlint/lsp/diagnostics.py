"""What was found in a document, as LSP diagnostics."""

from __future__ import annotations

from lsprotocol import types

from shardlint.lsp.convert import range_of
from shardlint.lsp.session import CheckedDocument, Session
from shardlint.lsp.showing import Shown, location_of, shown
from shardlint.model import Problem, Severity
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
    found = [diagnostic(session, checked, one) for one in shown(session, checked)]
    return found + [_problem(session, checked, problem) for problem in checked.report.problems]


def diagnostic(session: Session, checked: CheckedDocument, one: Shown) -> types.Diagnostic:
    """One finding in the words and with the fields that the client knows."""
    # Not at the top: with it comes the core, and `initialize` does not wait for that.
    from shardlint.explain import rule_link

    client, finding = session.client, one.finding
    document = checked.document
    catalogue = checked.snapshot.catalogue
    rule = catalogue.rules.get(finding.rule)
    link = rule_link(rule, catalogue.docs_url) if rule and client.code_description else None
    tags = [_TAGS[tag] for tag in finding.tags if _TAGS.get(tag) in client.diagnostic_tags]
    related = _related(session, checked, one) if client.related_information else []
    data = {"rule": finding.rule, "version": document.version, "finding": one.identity}
    return types.Diagnostic(
        range=range_of(document.text, one.span, client.unit),
        severity=_SEVERITIES[finding.severity],
        code=finding.rule,
        code_description=types.CodeDescription(link) if link else None,
        source=SOURCE,
        message=_message(checked, one),
        tags=tags or None,
        related_information=related or None,
        data=data if client.diagnostic_data else None,
    )


def _message(checked: CheckedDocument, one: Shown) -> str:
    """The finding's own words; at a call that leads to another file, with the place there."""
    from shardlint.explain import line_in

    finding, path = one.finding, checked.document.path
    if finding.location.path == path:
        return finding.message
    return f"{finding.message.rstrip('.')} (handed over in {line_in(finding.location, one.texts, path)})."


def _related(session: Session, checked: CheckedDocument, one: Shown) -> list[types.DiagnosticRelatedInformation]:
    """The steps that lead to the hand-off, the hand-off itself where it stands in another file, and what else leads to it."""
    from shardlint.records.telling import consumer_words

    finding = one.finding
    told = [(location_of(session, one.texts, step.location), step.text) for step in finding.steps]
    if finding.location.path != checked.document.path:
        clause = f"and is handed over here, to {consumer_words(finding.consumer)}"
        told.append((location_of(session, one.texts, finding.location), clause))
    told += [(call, "this call leads here too") for call in one.calls]
    return [types.DiagnosticRelatedInformation(where, text) for where, text in told]


def _problem(session: Session, checked: CheckedDocument, problem: Problem) -> types.Diagnostic:
    """What kept a part of the document from being checked."""
    from shardlint.records.telling import sentence

    span = problem.span or Span(0, 0)
    where = range_of(checked.document.text, span, session.client.unit)
    return types.Diagnostic(where, sentence(problem.message), types.DiagnosticSeverity.Information, source=SOURCE)
