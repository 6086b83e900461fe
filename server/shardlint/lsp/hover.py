"""Hover: what happens at the hand-off or finding under the cursor. Silent everywhere else."""

from __future__ import annotations

from lsprotocol import types

from shardlint.lsp.convert import offset_of, range_of
from shardlint.lsp.session import Session
from shardlint.lsp.showing import shown
from shardlint.model import Finding, Fix


def hover(session: Session, params: types.HoverParams) -> types.Hover | None:
    # Not at the top: with it comes the core, and `initialize` does not wait for that.
    from shardlint import explain

    checked = session.checked(params.text_document.uri)
    if checked is None:
        return None
    text, unit = checked.document.text, session.client.unit
    markup = explain.MARKDOWN if session.client.hover_kind is types.MarkupKind.Markdown else explain.PLAIN
    session.bring_up_to_date(checked.document.path)
    found = shown(session, checked)
    marks = [explain.Mark(one.span, one.finding, one.texts) for one in found]
    seen_by = {one.finding: one.seen for one in found}

    def repairs(finding: Finding) -> tuple[Fix, ...]:
        return session.repairs(checked, finding, seen_by[finding])

    offset = offset_of(text, params.position, unit)
    answer = explain.hover(checked.snapshot, checked.report, offset, repairs, markup, marks)
    if answer is None:
        return None
    return types.Hover(types.MarkupContent(session.client.hover_kind, answer.text), range_of(text, answer.span, unit))
