"""Rules against hand-offs: each event that a rule matches and whose condition holds becomes a finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from packaging.specifiers import SpecifierSet

from shardlint.model import Finding, HandOff, Location, Severity, Step, Target, Verdict
from shardlint.placement.counts import Count
from shardlint.placement.domain import Array
from shardlint.placement.machine import Event
from shardlint.placement.rows import COMMON_PROTOCOLS
from shardlint.placement.table import LEAVING, Table
from shardlint.records.catalogue import Catalogue, Rule
from shardlint.records.telling import consumer_words
from shardlint.rules.conditions import refusals, verdict
from shardlint.rules.offers import Offers
from shardlint.rules.own import Pattern
from shardlint.rules.sources import Sources
from shardlint.rules.wording import devices_words, is_open, message, on_several_devices, status
from shardlint.syntax.tree import Tree
from shardlint.text import Span


@dataclass(frozen=True)
class Found:
    """The findings of one file, sorted by position, then those of others to which calls in it lead; one for each rule and place, the
    surest way in telling the story. `aside` is what else of other files was seen to hold by the way, as they would identify it: what
    they make themselves, whoever calls them, is theirs to tell.
    """

    findings: tuple[Finding, ...]
    aside: frozenset[tuple[str, str, Span]]


def findings(
    events: Sequence[Event],
    sources: Sources,
    target: Target,
    catalogue: Catalogue,
    patterns: Mapping[str, Pattern],
    table: Table,
) -> Found:
    """What rules hold at hand-offs. `patterns` are what the records that have no rule look for, by name."""
    best: dict[tuple[str, str, Span], tuple[int, Finding]] = {}
    aside: set[tuple[str, str, Span]] = set()
    for rule, event, severity, meant, sure in _holding(events, target, catalogue, patterns, table):
        if not sources.is_here(event.place) and not _calls(event, sources):
            aside.add((rule.name, sources.module(event.place).path, shown_span(event, sources.tree(event.place))))
            continue
        removed = table.removed_in(event.consumer) if rule.match.timeline == LEAVING else None
        finding = _finding(rule, event, severity, sources, meant, removed)
        key = finding.identity
        rank = (0 if sure else 1_000) + len(finding.steps)
        if key not in best or rank < best[key][0]:
            best[key] = (rank, finding)
    told = in_order((finding for _, finding in best.values()), sources.main.path)
    return Found(told, frozenset(aside))


def _holding(
    events: Sequence[Event], target: Target, catalogue: Catalogue, patterns: Mapping[str, Pattern], table: Table
) -> Iterator[tuple[Rule, Event, Severity, Target, bool]]:
    """Each rule that holds at an event, with how bad that is there, the part of the target on which it does, and whether that is sure."""
    spoken_for = frozenset(
        name for rule in catalogue.rules.values() if not rule.match.protocols for name in rule.match.names
    )
    by_protocol: dict[str, list[Event]] = {}
    for event in events:
        by_protocol.setdefault(event.protocol, []).append(event)
    for rule in catalogue.rules.values():
        pattern = patterns.get(rule.name)
        looked_at = events if pattern else [e for one in _protocols(rule) for e in by_protocol.get(one, ())]
        concerned = _concerned(rule, target) if looked_at else target
        if not looked_at or not concerned.versions:
            continue
        bound = _version_bound(rule, catalogue)
        for event in looked_at:
            if not (pattern or matches(rule, event)) or _silenced(rule, event, version_bound=bound):
                continue
            if rule.match.timeline not in (None, LEAVING) and event.consumer in spoken_for:
                continue
            meant = _refusing(rule, event, _existing(rule, event, _for_consumer(rule, event, concerned), table))
            if not meant.versions:
                continue
            answer = pattern.verdict(event) if pattern else verdict(rule.when, event)
            if answer not in (Verdict.YES, Verdict.POSSIBLE):
                continue
            sure = answer is Verdict.YES and meant.versions == target.versions
            severity = rule.severity_by.get(event.consumer, rule.severity) if sure else rule.possible
            if severity is not Severity.OFF:
                yield rule, event, severity, meant, sure


def _protocols(rule: Rule) -> tuple[str, ...]:
    """The protocols of the events that a rule looks at."""
    return rule.match.protocols or ("name",)


def in_order(made: Iterable[Finding], here: str) -> tuple[Finding, ...]:
    """Findings by position, those of the file that was checked first."""
    return tuple(sorted(made, key=lambda f: (f.location.path != here, f.location.path, f.location.span, f.rule)))


def matches(rule: Rule, event: Event) -> bool:
    """Whether the rule looks at this kind of hand-off at all."""
    if rule.match.names and event.consumer not in rule.match.names:
        return False
    if not rule.match.protocols:
        return event.protocol == "name" and bool(rule.match.names or rule.match.timeline)
    if event.protocol not in rule.match.protocols or (event.row is None and event.is_hand_off):
        return False
    into_jax = event.row is not None and (event.row.gives == "jax" or event.consumer.startswith("jax."))
    return rule.match.direction != "import" or into_jax


def _silenced(rule: Rule, event: Event, *, version_bound: bool) -> bool:
    """Whether the program deals with the error itself: a handler that names it, or a test of the version around it."""
    if version_bound and event.version_guarded:
        return True
    caught = {name for handlers in event.handlers for name in handlers}
    return "*" in caught or bool(caught & set(rule.handled_by))


def _concerned(rule: Rule, target: Target) -> Target:
    """The part of the target on which the rule holds: what a finding speaks of."""
    if not rule.jax:
        return target
    return replace(target, versions=_within(rule.jax, target.versions))


def _for_consumer(rule: Rule, event: Event, target: Target) -> Target:
    """The part of the target on which the rule holds for this consumer, where that is another than for the rest."""
    specifier = rule.jax_by.get(event.consumer)
    return target if specifier is None else replace(target, versions=_within(specifier, target.versions))


@cache
def _within(specifier: str, versions: tuple[str, ...]) -> tuple[str, ...]:
    """Those of some versions that a PEP 440 specifier names; "" names all."""
    holds = SpecifierSet(specifier)
    return tuple(version for version in versions if holds.contains(version, prereleases=True))


def _existing(rule: Rule, event: Event, target: Target, table: Table) -> Target:
    """The part of the target that has the consumer at all: elsewhere its name fails first, which is another finding. For a rule about
    names that are not there, or not for long, it is the part of which that is so.
    """
    if rule.match.timeline:
        meant = tuple(one for one in target.versions if table.fate_to_come(event.consumer, one) == rule.match.timeline)
        return replace(target, versions=meant)
    if event.protocol in ("name", "guard") or event.consumer not in table.timeline:
        return target
    versions = tuple(version for version in target.versions if table.exists(event.consumer, (version,)) is not False)
    return replace(target, versions=versions)


def _refusing(rule: Rule, event: Event, target: Target) -> Target:
    """The part of the target on which the consumer does not take this dtype, for rules that ask for that."""
    if rule.when.get("dtype") != "refused":
        return target
    among = {version for one in refusals(event) for version in _within(one.jax, target.versions)}
    return replace(target, versions=tuple(version for version in target.versions if version in among))


def _version_bound(rule: Rule, catalogue: Catalogue) -> bool:
    return bool(rule.match.timeline) or _within(rule.jax, catalogue.jax_versions) != catalogue.jax_versions


def _finding(
    rule: Rule, event: Event, severity: Severity, sources: Sources, target: Target, removed: str | None
) -> Finding:
    place = event.place
    tree = sources.tree(place)
    return Finding(
        rule=rule.name,
        severity=severity,
        location=Location(sources.module(place).path, shown_span(event, tree)),
        message=message(rule, event, target, removed),
        steps=tuple(_steps(event, sources)),
        consumer=event.consumer,
        tags=rule.tags,
        calls=() if sources.is_here(place) else _calls(event, sources),
    )


def shown_span(event: Event, tree: Tree) -> Span:
    """What is underlined: the whole hand-off if it stands on one line, else the last name of its consumer."""
    whole = tree.span(event.place)
    if tree.text.line_of(whole.start) == tree.text.line_of(whole.end):
        return whole
    return name_span(event, tree)


def name_span(event: Event, tree: Tree) -> Span:
    """The name of the consumer as the program writes it, without line breaks in it."""
    name = tree.span(event.name)
    if tree.text.line_of(name.start) != tree.text.line_of(name.end):
        attribute = getattr(event.name.node, "attr", "")
        if attribute:
            return Span(name.end - len(attribute), name.end)
        return Span(name.start, tree.text.line_span(tree.text.line_of(name.start)).end)
    return name


def _steps(event: Event, sources: Sources) -> Iterator[Step]:
    if event.trace is None:
        return
    for place, text in event.trace.steps():
        yield Step(sources.location(place), text)


def _calls(event: Event, sources: Sources) -> tuple[Location, ...]:
    """Where the way to a hand-off in another module leaves others: the last place in the module that is checked, and the last call in
    each that lies between; none if the way does not touch the one that is checked.
    """
    if event.trace is None:
        return ()
    left = [place for place, _ in event.trace.steps() if sources.is_here(place)][-1:]
    hands_over = sources.module(event.place)
    between = {id(sources.module(place)): place for place in event.trace.calls() if not sources.is_here(place)}
    between.pop(id(hands_over), None)
    return tuple(map(sources.location, (*left, *between.values()))) if left else ()


def hand_offs(
    events: Iterable[Event], found: Iterable[Finding], sources: Sources, target: Target, catalogue: Catalogue
) -> tuple[HandOff, ...]:
    """Every hand-off of the module once, sorted by position, with what is known of it and the rules that hold there."""
    at: dict[Span, tuple[str, ...]] = {}
    tree, path = sources.main.tree, sources.main.path
    for finding in found:
        if finding.location.path != path:
            continue
        span = finding.location.span
        at[span] = (*at.get(span, ()), finding.rule)
    about_devices = _about_devices(catalogue, target)
    seen: dict[Span, HandOff] = {}
    offers = Offers()
    for event in events:
        if not event.is_hand_off or not sources.is_here(event.place):
            continue
        span = tree.span(event.place)
        if span in seen and not _tells_more(event):
            continue
        name = name_span(event, tree)
        rules = (*at.get(shown_span(event, tree), ()), *at.get(name, ()))
        if event.protocol in COMMON_PROTOCOLS and not rules:
            continue
        known = status(event, _would_break(event, about_devices))
        made = HandOff(
            Location(path, span), name, event.consumer, event.protocol, _told(known, event, offers), tuple(_steps(event, sources)),
            tuple(dict.fromkeys(rules)),
        )  # fmt: skip
        seen[span] = made
    return tuple(seen[span] for span in sorted(seen))


def _about_devices(catalogue: Catalogue, target: Target) -> list[tuple[Rule, Target]]:
    """The rules about arrays on several devices, each with the part of the target that it concerns."""
    placed = (
        (rule, _concerned(rule, target)) for rule in catalogue.rules.values() if rule.when.get("devices") == "many"
    )
    return [(rule, concerned) for rule, concerned in placed if concerned.versions]


def breaking(event: Event, catalogue: Catalogue, target: Target) -> Rule | None:
    """The rule that an array on several devices breaks here, if one may come and the program does not deal with it."""
    broken = _broken(event, _about_devices(catalogue, target))
    return None if broken is None else broken[0]


def _broken(event: Event, rules: Iterable[tuple[Rule, Target]]) -> tuple[Rule, Event, Target] | None:
    if not is_open(event):
        return None
    many = Count(2, None)
    imagined = replace(event, value=Array(many, None), count=many, mixed=False)
    for rule, target in rules:
        if matches(rule, imagined) and verdict(rule.when, imagined) is Verdict.YES:
            return None if _silenced(rule, event, version_bound=False) else (rule, imagined, target)
    return None


def _would_break(event: Event, rules: Iterable[tuple[Rule, Target]]) -> str:
    """What an array on several devices does here, if one may come: as seen, and where the program does not deal with it."""
    broken = _broken(event, rules)
    return "" if broken is None else on_several_devices(*broken)


def _told(known: str, event: Event, offers: Offers) -> str:
    """What is known of a hand-off, and how to tell what is not."""
    return ". ".join(filter(None, (known.rstrip("."), offers.of(event))))


def _tells_more(event: Event) -> bool:
    return event.trace is not None


def title(text: str, event: Event) -> str:
    """A fix's title with its placeholders filled."""
    return text.format(devices=devices_words(event.count), consumer=consumer_words(event.consumer))
