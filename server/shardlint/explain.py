"""Rules, findings and hand-offs in words for people: the page of a rule and the text of a hover.

The command line and the language server show the same texts. What happened is told from observations (`records verify`
wrote them) and from nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from shardlint.check import Report, Snapshot
from shardlint.model import Finding, Fix, HandOff, Safety, Step, Target
from shardlint.records.catalogue import Observation, Rule, observation_for, page_path
from shardlint.rules.wording import consumer_words, observed_words, target_words
from shardlint.text import Span

_SAFETY: Mapping[Safety, str] = {
    Safety.SAFE: "safe",
    Safety.COPIES: "copies",
    Safety.MOVES_DATA: "moves data between devices",
    Safety.CHANGES_MEANING: "changes what the program means",
}
_PROTOCOLS = {
    "dlpack": "DLPack",
    "cuda-array-interface": "CUDA array interface",
    "buffer": "buffer protocol",
    "pointer": "raw pointer",
    "numpy": "NumPy conversion",
    "pickle": "pickle",
}
_GENERAL = {"consumer": "the call", "devices": "all its devices", "outcome": "fails", "target": "this JAX"}
"""What the placeholders in a fix's title stand for where there is no finding."""

_MOST_STEPS = 8

_EXPRESSION = r"""
    (?<![\w.])\*{0,2}[A-Za-z_]\w*                   # a name and what follows it, at least one of
    (?: \.[A-Za-z_]\w+                              #   an attribute
      | \((?!s\)) (?:[^()]|\([^()]*\))* \)          #   a call; not the plural of "device(s)"
      | \[[^\]\s]*\] )+                             #   an item
"""
_CODE = re.compile(
    rf"""
    `[^`]*`                                         # marked as code already
    | '{_EXPRESSION}' | {_EXPRESSION}
    | (?<![\w*]) (?: \*{{1,2}}\w+ | _\w+ | \w+_(?!\w) ) # a name that Markdown would take for emphasis
    | <\w[^\s>]*>?                                  # what it would take for HTML
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Markup:
    """How a text is written: as Markdown that also reads well where it is shown raw, or plain."""

    rich: bool

    def strong(self, text: str) -> str:
        return f"**{text}**" if self.rich else text

    def code(self, text: str) -> str:
        if not self.rich:
            return text
        return f"`` {text} ``" if "`" in text else f"`{text}`"

    def prose(self, text: str) -> str:
        """A sentence that may speak of code: the code in it is marked as such."""
        if not self.rich:
            return text
        return _CODE.sub(lambda match: match[0] if match[0].startswith("`") else self.code(match[0]), text)

    def link(self, text: str, url: str) -> str:
        return f"[{text}]({url})" if self.rich else f"{text}: {url}"


MARKDOWN = Markup(rich=True)
PLAIN = Markup(rich=False)


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


def rule_page(rule: Rule, target: Target) -> str:
    """All that is known of a rule, as Markdown: what goes wrong, what was seen, what to do."""
    parts = [f"# {rule.name}", MARKDOWN.prose(rule.summary), _validity(rule, target)]
    if rule.record.get("documentation"):
        parts.append(MARKDOWN.prose(str(rule.record["documentation"])))
    parts += [f"## What happens on {target_words(target)}", _outcomes(rule.observed, target)]
    if rule.observed:
        parts += ["## Seen", _table(rule.observed)]
    if rule.record.get("solutions"):
        parts += ["## What to do", "\n".join(f"- {MARKDOWN.prose(str(item))}" for item in rule.record["solutions"])]
    if rule.fixes:
        parts.append("## Repairs")
    for fix in rule.fixes:
        worked = _versions(item.jax for item in rule.observed if fix.title in item.fixed)
        proof = f" Run on JAX {', '.join(worked)}: equal values." if worked else " Not run yet."
        title = fix.title.format_map(_GENERAL)
        parts.append(f"{MARKDOWN.strong(title)} ({_SAFETY[fix.safety]}).{proof}")
        parts.append(f"```python\n{fix.example.strip()}\n```")
    if rule.record.get("githubUrl"):
        parts.append(f"Where it comes from: <{rule.record['githubUrl']}>")
    return "\n\n".join(parts) + "\n"


def _size(span: Span) -> int:
    return span.end - span.start


def _belongs(finding: Finding, hand_off: HandOff) -> bool:
    inner, outer = finding.location.span, hand_off.location.span
    return finding.consumer == hand_off.consumer and outer.start <= inner.start and inner.end <= outer.end


def _hand_off_text(snapshot: Snapshot, hand_off: HandOff, markup: Markup) -> str:
    protocol = _PROTOCOLS.get(hand_off.protocol, hand_off.protocol)
    name = markup.strong(markup.code(consumer_words(hand_off.consumer).removeprefix("?.")))
    title = f"{name} · {protocol} · {target_words(snapshot.target)}"
    return _joined(title, _sentence(markup.prose(hand_off.status)), _chain(snapshot, hand_off.steps, markup))


def _finding_text(snapshot: Snapshot, finding: Finding, fixes: Sequence[Fix], markup: Markup) -> str:
    target = snapshot.target
    title = f"{markup.strong(finding.rule)} · {finding.severity} on {target_words(target)}"
    if not target.exact:
        title += f" ({target.origin})"
    rule = snapshot.catalogue.rules.get(finding.rule)
    link = rule_link(rule) if rule else None
    return _joined(
        title,
        markup.prose(finding.message),
        _seen(rule, finding, target, markup) if rule else "",
        _chain(snapshot, finding.steps, markup),
        "Repairs:\n" + "\n".join(f"- {markup.prose(fix.title)} · {_SAFETY[fix.safety]}" for fix in fixes)
        if fixes
        else "",
        markup.link(f"About {finding.rule}", link) if link else "",
    )


def _sentence(clause: str) -> str:
    return f"{clause[:1].upper()}{clause[1:]}{'' if clause.endswith('.') else '.'}"


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
    run = observation_for(rule, finding.consumer, target.versions)
    told = "{outcome}" in rule.message
    if run is None:
        return "" if told else f"No run of {markup.code(consumer_words(finding.consumer))} is recorded."
    library = f" and {_library(run)}" if _library(run) else ""
    other = "" if run.jax in target.versions else f"; not run on {target_words(target)}"
    outcome = "" if told else f": it {_outcome(run, markup)}"
    return f"Seen on {run.platform} with JAX {run.jax}{library}{other}{outcome}."


def _library(run: Observation) -> str:
    """The other library and its version, such as "torch 2.13.0"; nothing where the consumer is JAX's own."""
    name = run.consumer.partition(".")[0]
    return f"{name} {run.consumer_version}" if run.consumer_version and name != "jax" else ""


def _outcome(run: Observation, markup: Markup) -> str:
    """A clause: "raises BufferError: ..."."""
    return observed_words(run, markup.code)


def _validity(rule: Rule, target: Target) -> str:
    specifier = SpecifierSet(rule.jax)
    bad = [version for version in target.versions if specifier.contains(version, prereleases=True)]
    if not bad:
        verdict = f"It does not concern {target_words(target)}"
    elif len(bad) == len(target.versions):
        verdict = f"It concerns {target_words(target)}"
    else:
        verdict = f"Of {target_words(target)} it concerns {bad[0]} and what follows"
    return f"Holds on JAX {rule.jax or 'of every version'}. {verdict} ({target.origin})."


def _outcomes(observed: Sequence[Observation], target: Target) -> str:
    """What was seen on the newest version of the target, one line for each outcome."""
    version = target.versions[-1]
    groups: dict[str, list[str]] = {}
    for run in observed:
        if run.jax == version:
            groups.setdefault(_outcome(run, MARKDOWN), []).append(MARKDOWN.code(consumer_words(run.consumer)))
    lines = [f"- {', '.join(dict.fromkeys(consumers))}: {outcome}" for outcome, consumers in groups.items()]
    return "\n".join(lines) or f"Nothing of this was run on JAX {version}."


def _table(observed: Sequence[Observation]) -> str:
    """One row per consumer and outcome, with the versions on which it was seen. Aligned, so that it reads well raw."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for run in observed:
        library = f" ({_library(run)})" if _library(run) else ""
        consumer = MARKDOWN.code(consumer_words(run.consumer)) + library
        groups.setdefault((consumer, run.platform, _outcome(run, MARKDOWN)), []).append(run.jax)
    rows = [("hand-off", "on", "JAX", "outcome")]
    rows += [
        (consumer, platform, ", ".join(_versions(versions)), outcome.replace("|", "\\|"))
        for (consumer, platform, outcome), versions in groups.items()
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    cells = [[*map(str.ljust, row[:3], widths), row[3]] for row in rows]
    cells.insert(1, ["-" * width for width in (*widths, len("outcome"))])
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _versions(versions: Iterable[str]) -> list[str]:
    return sorted(set(versions), key=Version)
