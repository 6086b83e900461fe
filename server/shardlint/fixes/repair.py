"""The repairs of a finding: every fix of its rule that fits, checked before it is offered."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from shardlint.check import Analysis, Snapshot, analyse
from shardlint.fixes.combine import apart, combined
from shardlint.fixes.fitting import NoFitError
from shardlint.fixes.intent import Intent
from shardlint.fixes.module import Module
from shardlint.fixes.names import Names
from shardlint.fixes.proof import proven
from shardlint.fixes.rewrite import Plan, Site, plan
from shardlint.fixes.surroundings import Surroundings
from shardlint.fixes.unused import is_exported, removed, uses
from shardlint.model import Edit, Finding, Fix, Safety, Verdict
from shardlint.placement import tables
from shardlint.placement.domain import Capsule
from shardlint.placement.machine import Event
from shardlint.records.catalogue import FixSpec, Rule
from shardlint.records.template import TemplateError, compile_example
from shardlint.rules.conditions import verdict
from shardlint.rules.matching import matches, shown_span, title
from shardlint.rules.places import here
from shardlint.text import Text

_SAFE = frozenset({Safety.SAFE})
_Repair = tuple[Fix, Analysis]


def repairs(snapshot: Snapshot, finding: Finding) -> tuple[Fix, ...]:
    """The repairs of `finding`, best first. Each parses, clears the finding and makes no new one. Of a
    hand-off in another file than the snapshot's there is none here: edits are of that file.
    """
    return tuple(fix for fix, _ in _repairs(snapshot, analyse(snapshot), finding, frozenset(Safety)))


def fix_all(snapshot: Snapshot) -> tuple[str, tuple[Fix, ...]]:
    """The source with every safe repair made, and the repairs in the order in which they were made."""
    text, fixes = fixed(snapshot)
    return text.source, fixes


def fixed(snapshot: Snapshot, wanted: frozenset[Safety] = _SAFE) -> tuple[Text, tuple[Fix, ...]]:
    """The same as a text, which knows the cells of a notebook, with the best repair of the `wanted` safety made of every finding.

    What can be made together is, and the file is checked again, until there is nothing left to make. Each time leaves fewer
    findings, so there is an end. The first so many, for which nothing could be made, are not tried each time.
    """
    done: list[Fix] = []
    analysis, vain = analyse(snapshot), 0
    while True:
        found = [*here(analysis.report.findings, snapshot.path)]
        made = _many(snapshot, analysis, found[vain:], wanted)
        if made is None:
            made, vain = _first(snapshot, analysis, found, min(vain, len(found)), wanted)
        if made is None:
            return snapshot.text, tuple(done)
        fixes, analysis = made
        done += fixes
        snapshot = replace(snapshot, text=analysis.tree.text)


_Made = tuple[list[Fix], Analysis]


def _many(snapshot: Snapshot, analysis: Analysis, found: Sequence[Finding], wanted: frozenset[Safety]) -> _Made | None:
    """The first repair of every finding, as far as these do not meet and hold together. None if that of the first holds only alone."""
    module = module_of(snapshot, analysis)
    chosen: list[tuple[Finding, Fix, Plan]] = []
    for finding in found:
        fix, made = next(_fixes(snapshot, analysis, finding, module, wanted), (None, None))
        if fix is None or made is None:
            continue
        if apart(made, [plan for _, _, plan in chosen]):
            chosen.append((finding, fix, made))
        elif not chosen:
            return None
    while len(chosen) > 1:
        edits = combined([plan for _, _, plan in chosen], module)
        after = None if edits is None else proven(snapshot, analysis, [finding for finding, _, _ in chosen], edits)
        if after is not None:
            return [fix for _, fix, _ in chosen], after
        del chosen[len(chosen) // 2 :]
    return None


def _first(
    snapshot: Snapshot, analysis: Analysis, found: Sequence[Finding], start: int, wanted: frozenset[Safety]
) -> tuple[_Made | None, int]:
    """The first repair of the first finding that has one, and the number of that finding. Those ahead of `start` are tried last."""
    for number in (*range(start, len(found)), *range(start)):
        for fix, after in _repairs(snapshot, analysis, found[number], wanted):
            return ([fix], after), number
    return None, 0


def _repairs(snapshot: Snapshot, analysis: Analysis, finding: Finding, wanted: frozenset[Safety]) -> Iterator[_Repair]:
    """The repairs of the wanted safety, each with the analysis of the text that it makes."""
    module = module_of(snapshot, analysis)
    seen: list[tuple[Edit, ...]] = []
    for fix, made in _fixes(snapshot, analysis, finding, module, wanted):
        edits = combined([made], module)
        if edits is not None and edits not in seen:
            after = proven(snapshot, analysis, [finding], edits)
            if after is not None:
                seen.append(edits)
                yield replace(fix, edits=edits), after


def fitting(snapshot: Snapshot, analysis: Analysis, finding: Finding, module: Module) -> Iterator[tuple[Fix, Plan]]:
    """The repairs of a finding that fit, best first, not yet proven."""
    return _fixes(snapshot, analysis, finding, module, frozenset(Safety))


def module_of(snapshot: Snapshot, analysis: Analysis) -> Module:
    """The file as its repairs see it."""
    is_package = snapshot.path.replace("\\", "/").endswith("__init__.py")
    return Module(analysis.tree, tables.load(), is_package)


def _event(analysis: Analysis, finding: Finding, rule: Rule) -> Event | None:
    return next(
        (
            event
            for event in analysis.events
            if event.consumer == finding.consumer
            and (matches(rule, event) or not rule.shipped)
            and shown_span(event, analysis.tree) == finding.location.span
            and (not finding.steps or event.trace is not None)
        ),
        None,
    )


def _fixes(
    snapshot: Snapshot, analysis: Analysis, finding: Finding, module: Module, wanted: frozenset[Safety]
) -> Iterator[tuple[Fix, Plan]]:
    """The repairs of the wanted safety that fit, not yet proven."""
    rule = snapshot.catalogue.rules.get(finding.rule)
    event = None if rule is None else _event(analysis, finding, rule)
    if rule is None or event is None or finding.location.path != snapshot.path:
        return
    if isinstance(event.place.node, ast.alias):
        found = _without_import(event, module) if Safety.SAFE in wanted else None
        if found is not None:
            name, made = found
            yield Fix(rule.name, f"Remove the import of {name}, which nothing uses", Safety.SAFE, made.edits), made
        return
    site = site_of(event, module)
    sites = [one for one in (site, _where_named(event, site)) if one is not None]
    for spec in rule.fixes:
        meant = (one for one in sites if spec.safety in wanted and _is_for(spec, event, one, analysis))
        made = next((plan for one in meant if isinstance(plan := _plan(spec, one), Plan)), None)
        if made is not None:
            yield Fix(rule.name, title(spec.title, event), spec.safety, made.edits), made


def why_none(snapshot: Snapshot, finding: Finding) -> str:
    """A clause that says why a finding for which there are no repairs has none."""
    rule, analysis = snapshot.catalogue.rules.get(finding.rule), analyse(snapshot)
    event = None if rule is None else _event(analysis, finding, rule)
    if rule is None or event is None or not isinstance(event.place.node, ast.expr):
        return "there is no repair for this"
    site = site_of(event, module_of(snapshot, analysis))
    plans = [_plan(spec, site) for spec in rule.fixes if _is_for(spec, event, site, analysis)]
    if not plans:
        return "what is right here is for a person to decide"
    reasons = [plan for plan in plans if not isinstance(plan, Plan)]
    return reasons[0] if len(reasons) == len(plans) else "what the repair makes would be wrong in another way"


def site_of(event: Event, module: Module) -> Site:
    """Where to repair. The use of a removed name is repaired at the call that it is the function of."""
    chunk, node = event.place.chunk, event.place.node
    assert isinstance(node, ast.expr)
    operand = event.operand.node if event.operand is not None else None
    parent = Surroundings(module, chunk, node).parent
    if event.protocol == "name" and isinstance(parent, ast.Call) and parent.func is node:
        node = parent
    return Site(module, chunk, node, operand if isinstance(operand, ast.expr) else None)


def _where_named(event: Event, site: Site) -> Site | None:
    """Where the capsule that is handed over was made, if it got a name there that is bound once and used here alone."""
    steps = event.trace.steps() if isinstance(event.value, Capsule) and event.trace is not None else []
    operand = site.operand
    if len(steps) != 1 or not isinstance(operand, ast.Name):
        return None
    place, _ = steps[0]
    around = Surroundings(site.module, place.chunk, place.node)
    scope, other = site.names(operand).scope_of(operand.id), Names(around).scope_of(operand.id)
    if scope is None or other is None or scope.owner is not other.owner or not isinstance(place.node, ast.expr):
        return None
    match around.parent:
        case ast.Assign(targets=[ast.Name(id=name)]) if name == operand.id:
            mentions = uses(name, scope.owner, site.module)  # where it is bound, and here
            once = len(scope.names[name]) == 1 and mentions == 2
            return Site(site.module, place.chunk, place.node, place.node) if once else None
        case _:
            return None


_OF_PLACE = frozenset({"consumed-by", "consumer", "not-consumer"})
"""What a fix asks of the place where it would stand."""


def _is_for(spec: FixSpec, event: Event, site: Site, analysis: Analysis) -> bool:
    """Whether a fix is meant for a hand-off of this kind."""
    conditions = {key: wanted for key, wanted in spec.when.items() if key not in _OF_PLACE}
    if verdict(conditions, event) not in (Verdict.YES, Verdict.POSSIBLE):
        return False
    if event.consumer not in spec.when.get("consumer", (event.consumer,)) or event.consumer in spec.when.get(
        "not-consumer", ()
    ):
        return False
    return spec.when.get("consumed-by") != "importer" or _consumed_by_importer(site, analysis)


def _plan(spec: FixSpec, site: Site) -> Plan | str:
    """What a fix makes of a place, or a clause that says why it fits none."""
    try:
        return plan(compile_example(spec.example), site)
    except (TemplateError, NoFitError) as reason:
        return str(reason)


def _consumed_by_importer(site: Site, analysis: Analysis) -> bool:
    """Whether the value goes straight into a hand-off that takes an array as well."""
    return any(
        event.operand is not None
        and event.operand.node is site.node
        and event.row is not None
        and "array" in event.row.takes
        for event in analysis.events
    )


def _without_import(event: Event, module: Module) -> tuple[str, Plan] | None:
    """An import of a removed name goes once nothing uses it any more: its name, and how."""
    alias = event.place.node
    around = Surroundings(module, event.place.chunk, alias)
    for scope in Names(around).scopes:
        bindings = (binding for found in scope.names.values() for binding in found)
        item = next((b.item for b in bindings if b.item is not None and b.item.alias.node is alias), None)
        if (
            item is not None
            and not module.is_package
            and not is_exported(item)
            and not uses(item.name, scope.owner, module)
        ):
            [gone] = removed([item], module.tree)
            return item.name, Plan(gone.edits, Intent(left={gone.statement: gone.left}))
    return None
