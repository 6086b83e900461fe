"""The page of a rule: what goes wrong, what was seen, what to do.

`shardlint explain` shows it for a target; the build writes it, with the examples of `cases.md`, to where a diagnostic's link leads.
What happened is told from observations (`records verify` wrote them) and from nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from shardlint.model import Safety, Severity, Target
from shardlint.records.cases_page import CasesPage, cases_page, values_shown
from shardlint.records.catalogue import FixSpec, Observation, Rule
from shardlint.records.markup import MARKDOWN
from shardlint.records.telling import (
    consumer_words,
    enumeration,
    observed_words,
    sentence,
    target_words,
    version_spans,
)

SAFETY: Mapping[Safety, str] = {
    Safety.SAFE: "safe",
    Safety.COPIES: "copies",
    Safety.MOVES_DATA: "moves data between devices",
    Safety.CHANGES_MEANING: "changes what the program means",
}
_GENERAL = {
    "consumer": "the call",
    "devices": "all its devices",
    "outcome": "fails",
    "target": "this JAX",
    "removed": "a later version",
}
"""What the placeholders in a fix's title stand for where there is no finding."""


def rule_page(rule: Rule, target: Target) -> str:
    """All that is known of a rule but its examples, as Markdown, with what it means for a target."""
    return _page(rule, _parts_of(rule), target)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rule stands among the others: the heading of its family, and the address of that on the page of all rules."""

    family: str
    address: str


def rule_page_with_examples(rule: Rule, versions: Sequence[str], place: Place) -> str:
    """All that is known of a rule, as Markdown, for no target in particular, with what was seen on each of the JAX `versions`."""
    parts = _parts_of(rule)
    examples = f"\n## Examples\n\n{parts.examples}\n" if parts.examples else ""
    return _page(rule, parts, None, versions, place) + examples


def _parts_of(rule: Rule) -> CasesPage:
    # The page of a rule that is not shipped may be anything.
    return cases_page(rule.page) if rule.shipped else CasesPage("", "")


def _page(
    rule: Rule, parts: CasesPage, target: Target | None, versions: Sequence[str] = (), place: Place | None = None
) -> str:
    documentation = MARKDOWN.prose(str(rule.record.get("documentation") or ""))
    verdict = f" {_verdict(rule, target)}" if target else ""
    source = [documentation if parts.introduction else ""]
    if rule.record.get("githubUrl"):
        source.insert(0, f"<{rule.record['githubUrl']}>")
    sections = [
        f"# {rule.name}",
        sentence(MARKDOWN.prose(rule.summary)),
        f"{_validity(rule)}{verdict}",
        f"{_standing(rule)} Family: [{place.family}]({place.address})." if place else "",
        parts.introduction or documentation,
        _section("Found by another rule", [_covering(rule)]),
        _section("What happens", [_what_happens(rule, target), _by_version(rule, versions)]),
        _section(
            "What to do", ["\n".join(f"- {MARKDOWN.prose(str(one))}" for one in rule.record.get("solutions") or ())]
        ),
        _section("Repairs", [_repair(rule, fix) for fix in rule.fixes] or [_by_hand(rule)]),
        _section("Where the error comes from", source),
    ]
    return "\n\n".join(filter(None, sections)) + "\n"


def _section(title: str, parts: Iterable[str]) -> str:
    body = "\n\n".join(filter(None, parts))
    return f"## {title}\n\n{body}" if body else ""


def _standing(rule: Rule) -> str:
    """How bad it is, and whether it is looked for without being asked."""
    bad = f"Severity: {rule.severity}" + (
        f", {rule.possible} where it is not sure" if rule.possible not in (rule.severity, Severity.OFF) else ""
    )
    return f"{bad}. It is looked for only where it is selected." if rule.opt_in else f"{bad}."


def _by_version(rule: Rule, versions: Sequence[str]) -> str:
    """A table of what each consumer did on each version of JAX; nothing where nothing was seen."""
    if not rule.observed or not versions:
        return ""
    columns = _ascending([*versions, *(run.jax for run in rule.observed)])
    lines = [["", *columns], ["---"] * (len(columns) + 1)]
    for consumer, runs in _by(rule.observed, lambda run: run.consumer).items():
        on = _by(runs, lambda run: run.jax)
        cells = [" / ".join(dict.fromkeys(map(_in_short, on.get(version, [])))) or "-" for version in columns]
        lines.append([consumer_words(consumer, MARKDOWN.code), *cells])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _in_short(run: Observation) -> str:
    """What one run showed, in a word or two."""
    if run.exception is not None:
        return MARKDOWN.code(run.exception.rpartition(".")[2]) + (" later" if run.kind == "late-error" else "")
    return run.kind.replace("-", " ")


def _validity(rule: Rule) -> str:
    """On which versions the rule holds, and on which for single consumers."""
    others = "".join(f", for {MARKDOWN.code(name)} {_bounds(jax)}" for name, jax in sorted(rule.jax_by.items()))
    return f"Holds {_bounds(rule.jax)}{others}."


def _bounds(specifier: str) -> str:
    bounds = {one.operator: one.version for one in SpecifierSet(specifier)}
    match sorted(bounds.items()) if len(bounds) == len(SpecifierSet(specifier)) else None:
        case []:
            return "on every version of JAX"
        case [(">=", first)]:
            return f"from JAX {first} on"
        case [("<", end)]:
            return f"before JAX {end}"
        case [("<", end), (">=", first)]:
            return f"from JAX {first} up to, but not in, {end}"
        case _:
            return f"on JAX {specifier}"


def _verdict(rule: Rule, target: Target) -> str:
    """Whether the rule concerns the target, and where the target comes from."""
    specifier = SpecifierSet(rule.jax)
    concerned = [version for version in target.versions if specifier.contains(version, prereleases=True)]
    words = target_words(target)
    if not concerned:
        return f"{words} is not concerned: {_why_not(rule, target)} (target: {target.origin})."
    if len(concerned) == len(target.versions):
        return f"It concerns {words} ({target.origin})."
    return f"Of {words} it concerns {version_spans(concerned, target.versions)} ({target.origin})."


def _why_not(rule: Rule, target: Target) -> str:
    for one in SpecifierSet(rule.jax):
        if one.operator == ">=" and Version(target.versions[-1]) < Version(one.version):
            return f"the rule begins with {one.version}"
        if one.operator == "<" and Version(target.versions[0]) >= Version(one.version):
            return f"the rule ends before {one.version}"
    return f"the rule holds on JAX {rule.jax}"


def _what_happens(rule: Rule, target: Target | None) -> str:
    """Each outcome that was seen, once, with the consumers and the versions of JAX that showed it."""
    listed = _ascending(run.jax for run in rule.observed)
    if not listed:
        return "" if rule.check else "No run of it is recorded yet."
    platforms = sorted({run.platform for run in rule.observed})
    libraries = sorted({library for run in rule.observed if (library := library_words(run))})
    beside = f" and with {enumeration(libraries)}" if libraries else ""
    lines = [f"Seen on {enumeration(platforms)} with JAX {enumeration(listed)}{beside}:", ""]
    newest = target.versions[-1] if target else None
    outcomes = _by(rule.observed, lambda run: observed_words(run, MARKDOWN.code, outcomes=rule.outcome))
    for outcome, runs in sorted(outcomes.items(), key=lambda item: all(run.jax != newest for run in item[1])):
        lines.append(f"- {outcome}")
        spans: dict[str, list[str]] = {}
        for consumer, some in _by(runs, lambda run: _consumer(run, platforms)).items():
            spans.setdefault(version_spans((run.jax for run in some), listed), []).append(consumer)
        lines += [f"  - JAX {span}: {', '.join(consumers)}" for span, consumers in spans.items()]
    if newest and newest not in listed and SpecifierSet(rule.jax).contains(newest, prereleases=True):
        lines += ["", f"JAX {newest} was not run."]
    return "\n".join(lines)


def _by(runs: Iterable[Observation], key: Callable[[Observation], str]) -> dict[str, list[Observation]]:
    groups: dict[str, list[Observation]] = {}
    for run in runs:
        groups.setdefault(key(run), []).append(run)
    return groups


def _consumer(run: Observation, platforms: Sequence[str]) -> str:
    where = f" on {run.platform}" if len(platforms) > 1 else ""
    return consumer_words(run.consumer, MARKDOWN.code) + where


def _repair(rule: Rule, fix: FixSpec) -> str:
    """One repair: its title, its cost, whether it was run and what it gave, and its example."""
    worked = version_spans(
        (run.jax for run in rule.observed if fix.title in run.fixed), (run.jax for run in rule.observed)
    )
    values = values_shown(rule.page, fix.title) if rule.shipped else ()
    shown = f" (in the examples {', '.join(map(MARKDOWN.code, values))})" if values else ""
    proof = (
        f"Run on JAX {worked}: what arrives equals what was handed over, values and dtype{shown}."
        if worked
        else "Not run yet."
    )
    title = MARKDOWN.strong(fix.title.format_map(_GENERAL))
    return f"{title} ({SAFETY[fix.safety]}). {proof}\n\n```python\n{fix.example.strip()}\n```"


def _covering(rule: Rule) -> str:
    """Which shipped rule finds the error that a user's record tells of, and what the record tells in another way."""
    if rule.covered_by is None:
        return ""
    told = "\n".join(f"- {sentence}" for sentence in rule.differences)
    head = f"{MARKDOWN.code(rule.covered_by)} finds this error and speaks for this record."
    return f"{head} What the record tells in another way:\n\n{told}" if told else f"{head} It tells the same."


def _by_hand(rule: Rule) -> str:
    """How to repair what no edit can: the record's own example, which nothing applies."""
    example = str(rule.record.get("exampleFix") or "").strip()
    return (
        f"Nothing is changed for you here: it needs a decision. By hand:\n\n```python\n{example}\n```"
        if example
        else ""
    )


def library_words(run: Observation) -> str:
    """The other library and its version, such as "torch 2.13.0"; nothing where the consumer is JAX's own."""
    name = run.consumer.partition(".")[0]
    return f"{name} {run.consumer_version}" if run.consumer_version and name != "jax" else ""


def _ascending(versions: Iterable[str]) -> list[str]:
    return sorted(set(versions), key=Version)
