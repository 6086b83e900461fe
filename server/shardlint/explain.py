"""What there is to say of a finding or a hand-off under a cursor, and where its rule is explained.

The command line and the language server show the same texts. What happened is told from observations (`records verify`
wrote them) and from nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from shardlint.check import Report, Snapshot
from shardlint.model import Finding, Fix, HandOff, Step, Target
from shardlint.records.catalogue import Rule, observation_for, page_path
from shardlint.records.markup import MARKDOWN, PLAIN, Markup
from shardlint.records.rule_page import SAFETY, library_words, rule_page
from shardlint.records.telling import consumer_words, observed_words, sentence, target_words, words_of_jax
from shardlint.text import Span

__all__ = ["MARKDOWN", "PLAIN", "Hover", "Markup", "hover", "rule_link", "rule_page"]

_PROTOCOLS = {
    "dlpack": "DLPack",
    "cuda-array-interface": "CUDA array interface",
    "buffer": "buffer protocol",
    "pointer": "raw pointer",
    "numpy": "NumPy conversion",
    "pickle": "pickle",
}
_MOST_STEPS = 8


@dataclass(frozen=True, slots=True)
class Hover:
    """The text to show for the code in `span`."""

    span: Span
    text: str


def rule_link(rule: Rule) -> str | None:
    """Where the rule is explained: its page on this machine, else the line in JAX that its record names."""
    return page_path(rule.name).as_uri() if rule.shipped else rule.record.get("githubUrl")


def hover(
    snapshot: Snapshot,
    report: Report,
    offset: int,
    repairs: Callable[[Finding], Sequence[Fix]],
    markup: Markup = MARKDOWN,
) -> Hover | None:
    """What there is to say at a code-point offset of the snapshot's text: on a finding or a hand-off's name, else None."""
    hand_off = min(
        (item for item in report.hand_offs if item.name.contains(offset)),
        key=lambda item: _size(item.name),
        default=None,
    )
    around = [item for item in report.findings if item.location.span.contains(offset)]
    smallest = min((_size(item.location.span) for item in around), default=0)
    findings = [item for item in around if _size(item.location.span) == smallest]
    if hand_off and not (findings and smallest <= _size(hand_off.name)):
        findings = [item for item in around if _belongs(item, hand_off)]
        if not findings:
            return Hover(hand_off.name, _hand_off_text(snapshot, hand_off, markup))
    if not findings:
        return None
    texts = [_finding_text(snapshot, item, repairs(item), markup) for item in findings]
    return Hover(findings[0].location.span, ("\n\n---\n\n" if markup.rich else "\n\n").join(texts))


def _size(span: Span) -> int:
    return span.end - span.start


def _belongs(finding: Finding, hand_off: HandOff) -> bool:
    inner, outer = finding.location.span, hand_off.location.span
    return finding.consumer == hand_off.consumer and outer.start <= inner.start and inner.end <= outer.end


def _hand_off_text(snapshot: Snapshot, hand_off: HandOff, markup: Markup) -> str:
    protocol = _PROTOCOLS.get(hand_off.protocol, hand_off.protocol)
    name = markup.strong(markup.code(consumer_words(hand_off.consumer).removeprefix("?.")))
    title = f"{name} · {protocol} · {target_words(snapshot.target)}"
    return _joined(title, sentence(markup.prose(hand_off.status)), _chain(snapshot, hand_off.steps, markup))


def _finding_text(snapshot: Snapshot, finding: Finding, fixes: Sequence[Fix], markup: Markup) -> str:
    target = snapshot.target
    title = f"{markup.strong(finding.rule)} · {finding.severity} on {target_words(target)}"
    if not target.exact:
        title += f" ({target.origin})"
    rule = snapshot.catalogue.rules.get(finding.rule)
    link = rule_link(rule) if rule else None
    return _joined(
        title,
        markup.prose(finding.message, words_of_jax(rule.observed) if rule else None),
        _seen(rule, finding, target, markup) if rule else "",
        _chain(snapshot, finding.steps, markup),
        "Repairs:\n" + "\n".join(f"- {markup.prose(fix.title)} · {SAFETY[fix.safety]}" for fix in fixes)
        if fixes
        else "",
        markup.link(f"About {finding.rule}", link) if link else "",
    )


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _chain(snapshot: Snapshot, steps: Sequence[Step], markup: Markup) -> str:
    """The evidence as a numbered list; the middle of a long one is left out."""
    lines: list[str] = []
    for number, step in enumerate(steps, 1):
        if step.location.path == snapshot.path:
            where = f"line {snapshot.text.line_of(step.location.span.start) + 1}"
        else:
            where = markup.code(step.location.path)
        lines.append(f"{number}. {where}: {markup.prose(step.text)}")
    if len(lines) > _MOST_STEPS:
        half = _MOST_STEPS // 2
        lines[half:-half] = [f"   … {len(lines) - 2 * half} more steps"]
    return "How it gets here:\n" + "\n".join(lines) if lines else ""


def _seen(rule: Rule, finding: Finding, target: Target, markup: Markup) -> str:
    """Where and with what the run nearest to the target was made, and what it showed if the rule's message leaves that out."""
    if rule.check:
        return ""
    run = observation_for(rule, finding.consumer, target.versions)
    told = "{outcome}" in rule.message
    if run is None:
        return "" if told else f"No run of {consumer_words(finding.consumer, markup.code)} is recorded."
    library = f" and {library_words(run)}" if library_words(run) else ""
    other = "" if run.jax in target.versions else f"; not run on {target_words(target)}"
    outcome = "" if told else f": it {observed_words(run, markup.code)}"
    return f"Seen on {run.platform} with JAX {run.jax}{library}{other}{outcome}."
