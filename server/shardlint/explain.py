"""What there is to say of a finding or a hand-off under a cursor, and where its rule is explained.

The command line and the language server show the same texts. What happened is told from observations (`records verify`
wrote them) and from nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shardlint.check import Report, Snapshot
from shardlint.model import Finding, Fix, HandOff, Location, Step, Target
from shardlint.records.catalogue import Rule, observation_for, page_path
from shardlint.records.markup import MARKDOWN, PLAIN, Markup
from shardlint.records.rule_page import SAFETY, library_words, rule_page
from shardlint.records.telling import consumer_words, observed_words, sentence, target_words, words_of_jax
from shardlint.rules.places import shown
from shardlint.text import Span, Text

__all__ = ["MARKDOWN", "PLAIN", "Hover", "Mark", "Markup", "hover", "line_in", "rule_link", "rule_page"]

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


@dataclass(frozen=True, slots=True)
class Mark:
    """A span of the file at hand that shows a finding: its hand-off, or a call that leads there. `texts` are those of the files that
    the finding speaks of, by path.
    """

    span: Span
    finding: Finding
    texts: Mapping[str, Text]


def marks(snapshot: Snapshot, report: Report) -> tuple[Mark, ...]:
    """What one check shows in its own file."""
    texts = {**report.looked_into, snapshot.path: snapshot.text}
    return tuple(Mark(span, finding, texts) for span, finding in shown(report.findings, snapshot.path))


def line_in(location: Location, texts: Mapping[str, Text], beside: str, quote: Callable[[str], str] = str) -> str:
    """Where a location is, for a reader of the file `beside`: `line 4`, or `bridge.py line 4` in another file, as it is reached from
    there. Without the file's text its name must do.
    """
    text = texts.get(location.path)
    line = "" if text is None else f"line {text.line_of(location.span.start) + 1}"
    if location.path == beside:
        return line
    return f"{quote(_reached(location.path, beside))} {line}".rstrip()


def _reached(path: str, beside: str) -> str:
    """The path from a file's folder, if that is not longer."""
    if Path(path).is_absolute() != Path(beside).is_absolute():
        return path
    try:
        way = os.path.relpath(path, Path(beside).parent)
    except ValueError:  # on another drive
        return path
    return min(way, path, key=len)


def rule_link(rule: Rule, docs_url: str | None = None) -> str | None:
    """Where the rule is explained: its page, published or on this machine, or for a user's own the line that its record names."""
    if not rule.shipped:
        return rule.record.get("githubUrl")
    return docs_url.replace("{rule}", rule.name) if docs_url else page_path(rule.name).as_uri()


def hover(
    snapshot: Snapshot,
    report: Report,
    offset: int,
    repairs: Callable[[Finding], Sequence[Fix]],
    markup: Markup = MARKDOWN,
    seen: Sequence[Mark] | None = None,
) -> Hover | None:
    """What there is to say at a code-point offset of the snapshot's text: on a finding or a hand-off's name, else None.

    `seen` are the findings to speak of, where the checks of other files found some too.
    """
    seen = marks(snapshot, report) if seen is None else seen
    hand_off = min(
        (item for item in report.hand_offs if item.name.contains(offset)),
        key=lambda item: _size(item.name),
        default=None,
    )
    around = [item for item in seen if item.span.contains(offset)]
    smallest = min((_size(item.span) for item in around), default=0)
    found = [item for item in around if _size(item.span) == smallest]
    if hand_off and not (found and smallest <= _size(hand_off.name)):
        found = [item for item in around if _belongs(item, hand_off)]
        if not found:
            texts = {**report.looked_into, snapshot.path: snapshot.text}
            return Hover(hand_off.name, _hand_off_text(snapshot, hand_off, texts, markup))
    if not found:
        return None
    told = [_finding_text(snapshot, item, repairs(item.finding), markup) for item in found]
    return Hover(found[0].span, ("\n\n---\n\n" if markup.rich else "\n\n").join(told))


def _size(span: Span) -> int:
    return span.end - span.start


def _belongs(mark: Mark, hand_off: HandOff) -> bool:
    inner, outer = mark.span, hand_off.location.span
    return mark.finding.consumer == hand_off.consumer and outer.start <= inner.start and inner.end <= outer.end


def _hand_off_text(snapshot: Snapshot, hand_off: HandOff, texts: Mapping[str, Text], markup: Markup) -> str:
    protocol = _PROTOCOLS.get(hand_off.protocol, hand_off.protocol)
    name = markup.strong(markup.code(consumer_words(hand_off.consumer).removeprefix("?.")))
    title = f"{name} · {protocol} · {target_words(snapshot.target)}"
    chain = _chain(snapshot, hand_off.steps, texts, markup)
    return _joined(title, sentence(markup.prose(hand_off.status)), chain)


def _finding_text(snapshot: Snapshot, mark: Mark, fixes: Sequence[Fix], markup: Markup) -> str:
    finding, target = mark.finding, snapshot.target
    title = f"{markup.strong(finding.rule)} · {finding.severity} on {target_words(target)}"
    if not target.exact:
        title += f" ({target.origin})"
    rule = snapshot.catalogue.rules.get(finding.rule)
    link = rule_link(rule, snapshot.catalogue.docs_url) if rule else None
    return _joined(
        title,
        markup.prose(finding.message, words_of_jax(rule.observed) if rule else None),
        _seen(rule, finding, target, markup) if rule else "",
        _elsewhere(snapshot, mark, markup),
        _chain(snapshot, finding.steps, mark.texts, markup),
        "Repairs:\n" + "\n".join(f"- {markup.prose(fix.title)} · {SAFETY[fix.safety]}" for fix in fixes)
        if fixes
        else "",
        markup.link(f"About {finding.rule}", link) if link else "",
    )


def _elsewhere(snapshot: Snapshot, mark: Mark, markup: Markup) -> str:
    """Where a call leads to, if the hand-off stands in another file."""
    finding = mark.finding
    if finding.location.path == snapshot.path:
        return ""
    where = line_in(finding.location, mark.texts, snapshot.path, markup.code)
    return f"This call leads to the hand-off in {where}, to {consumer_words(finding.consumer, markup.code)}."


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _chain(snapshot: Snapshot, steps: Sequence[Step], texts: Mapping[str, Text], markup: Markup) -> str:
    """The evidence as a numbered list; the middle of a long one is left out."""
    lines = [
        f"{number}. {line_in(step.location, texts, snapshot.path, markup.code)}: {markup.prose(step.text)}"
        for number, step in enumerate(steps, 1)
    ]
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
    outcome = "" if told else f": it {observed_words(run, markup.code, outcomes=rule.outcome)}"
    return f"Seen on {run.platform} with JAX {run.jax}{library}{other}{outcome}."
