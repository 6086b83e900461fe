"""Quick fixes for the findings at a place, guards for hand-offs without one, and one action that applies every safe fix of a file.

Clients differ in what they send: the cursor, a character, a word or the whole document as range, their diagnostics with or
without `data`, or none. So everything is found anew from the current text, by range, and if the client names diagnostics,
only for those, recognised by start and code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from lsprotocol import types

from shardlint.lsp.client import Client
from shardlint.lsp.convert import range_of, span_of
from shardlint.lsp.diagnostics import diagnostic
from shardlint.lsp.session import CheckedDocument, Document, Session
from shardlint.lsp.showing import Shown, shown
from shardlint.model import Edit, Safety
from shardlint.text import Span

QUICK_FIX = types.CodeActionKind.QuickFix.value
GUARD = f"{types.CodeActionKind.RefactorRewrite.value}.shardlint"
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.shardlint"


def code_actions(session: Session, params: types.CodeActionParams) -> list[types.CodeAction]:
    checked = session.checked(params.text_document.uri)
    if checked is None or not session.client.code_action_literals:
        return []
    session.bring_up_to_date(checked.document.path)
    only = params.context.only
    actions: list[types.CodeAction] = []
    if not only or any(_covers(kind, QUICK_FIX) for kind in only):
        for one in _asked_for(session, checked, params):
            actions += _quick_fixes(session, checked, one)
    if not only or any(kind and _covers(kind, GUARD) for kind in only):
        actions += _guards(session, checked, params)
    # Kate applies every action that it is given, so an action for the whole file is for those who ask for it by kind.
    if any(kind and _covers(kind, FIX_ALL) for kind in only or ()):
        actions += _fix_all(session, checked)
    return actions


def _covers(kind: str, wanted: str) -> bool:
    """Whether a kind that a client asks for includes `wanted`; kinds are trees spelled with dots, "" is the root."""
    kind = str(kind.value) if isinstance(kind, types.CodeActionKind) else kind
    return not kind or wanted == kind or wanted.startswith(f"{kind}.")


def _asked_for(session: Session, checked: CheckedDocument, params: types.CodeActionParams) -> Iterator[Shown]:
    text, unit = checked.document.text, session.client.unit
    asked = span_of(text, params.range, unit)
    named = {(span_of(text, item.range, unit).start, item.code) for item in params.context.diagnostics}
    for one in shown(session, checked):
        span, rule = one.span, one.finding.rule
        if span.start <= asked.end and asked.start <= span.end and (not named or (span.start, rule) in named):
            yield one


def _quick_fixes(session: Session, checked: CheckedDocument, one: Shown) -> Iterator[types.CodeAction]:
    client = session.client
    found = session.repairs(checked, one.finding, one.seen)
    if not found and client.disabled_actions and one.seen is checked:
        reason = session.why_no_repair(checked, one.finding)
        if reason:
            yield types.CodeAction(
                title=f"No repair for {one.finding.rule}: {reason}",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[diagnostic(session, checked, one)],
                disabled=types.CodeActionDisabled(reason),
            )
    for rank, fix in enumerate(found):
        preferred = rank == 0 and fix.safety is Safety.SAFE
        yield types.CodeAction(
            title=fix.title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic(session, checked, one)],
            is_preferred=True if preferred and client.preferred_actions else None,
            edit=_workspace_edit(client, checked.document, fix.edits),
        )


def _guards(session: Session, checked: CheckedDocument, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
    """Guards for the hand-offs at a place that have no finding."""
    asked = span_of(checked.document.text, params.range, session.client.unit)
    for hand_off in checked.report.hand_offs:
        span = hand_off.location.span
        if hand_off.rules or not (span.start <= asked.end and asked.start <= span.end):
            continue
        for fix in session.guards(checked, hand_off):
            edit = _workspace_edit(session.client, checked.document, fix.edits)
            yield types.CodeAction(title=fix.title, kind=GUARD, edit=edit)


def _fix_all(session: Session, checked: CheckedDocument) -> Iterator[types.CodeAction]:
    fixed, fixes = session.engine.fix_all(checked.snapshot)
    old = checked.document.text.source
    if fixed == old:
        return
    many = f"{len(fixes)} safe fixes" if len(fixes) != 1 else "1 safe fix"
    yield types.CodeAction(
        title=f"shardlint: apply {many}",
        kind=FIX_ALL,
        edit=_workspace_edit(session.client, checked.document, [_difference(old, fixed)]),
    )


def _difference(old: str, new: str) -> Edit:
    """One edit that makes `new` of `old` and leaves alone the lines that both begin and end with."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    head = _common(before, after)
    before, after = before[head:], after[head:]
    tail = _common(before[::-1], after[::-1])
    start = len(old) - sum(map(len, before))
    end = len(old) - sum(map(len, before[len(before) - tail :]))
    return Edit(Span(start, end), "".join(after[: len(after) - tail]))


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    """How many lines both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))


def _workspace_edit(client: Client, document: Document, edits: Sequence[Edit]) -> types.WorkspaceEdit:
    changes = [types.TextEdit(range_of(document.text, edit.span, client.unit), edit.text) for edit in edits]
    if not client.document_changes:
        return types.WorkspaceEdit(changes={document.uri: changes})
    versioned = types.OptionalVersionedTextDocumentIdentifier(document.uri, document.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(versioned, changes)])
