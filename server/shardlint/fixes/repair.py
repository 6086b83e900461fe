"""The repairs of a finding: every fix of its rule that fits, checked before it is offered."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import replace

from shardlint.check import Analysis, Snapshot, analyse
from shardlint.fixes import imports
from shardlint.fixes.edits import OverlapError, apply
from shardlint.fixes.rewrite import NoFitError, Site, rewrite
from shardlint.fixes.surroundings import Import, Surroundings
from shardlint.model import Finding, Fix, Safety
from shardlint.placement import table
from shardlint.placement.machine import Event
from shardlint.records.catalogue import FixSpec, Rule
from shardlint.records.template import TemplateError, compile_example
from shardlint.rules.matching import matches, shown_span, title
from shardlint.text import Text

_MOST_REPAIRS = 500


def repairs(snapshot: Snapshot, finding: Finding) -> tuple[Fix, ...]:
    """The repairs of `finding`, best first. Each parses, clears the finding and makes no new one. Notebooks have none yet."""
    return _repairs(snapshot, analyse(snapshot), finding)


def fix_all(snapshot: Snapshot) -> tuple[str, tuple[Fix, ...]]:
    """The text with every safe repair made, and the repairs in the order in which they were made.

    One repair is made at a time and the file is checked again, until nothing safe is left: no two can meet.
    """
    done: list[Fix] = []
    for _ in range(_MOST_REPAIRS):
        analysis = analyse(snapshot)
        fix = next(
            (
                fix
                for finding in analysis.report.findings
                for fix in _repairs(snapshot, analysis, finding)
                if fix.safety is Safety.SAFE
            ),
            None,
        )
        if fix is None:
            break
        done.append(fix)
        snapshot = replace(snapshot, text=Text(apply(snapshot.text.source, fix.edits)))
    return snapshot.text.source, tuple(done)


def _repairs(snapshot: Snapshot, analysis: Analysis, finding: Finding) -> tuple[Fix, ...]:
    rule = snapshot.catalogue.rules.get(finding.rule)
    event = None if rule is None else _event(analysis, finding, rule)
    if rule is None or event is None or snapshot.text.cells:
        return ()
    if isinstance(event.place.node, ast.alias):
        fix = _without_import(snapshot, analysis, event, rule)
        return () if fix is None or not _proven(snapshot, analysis, finding, fix) else (fix,)
    site = _site(snapshot, analysis, event)
    found: list[Fix] = []
    for spec in rule.fixes:
        fix = _fix(spec, rule, event, site, analysis)
        if fix is None or any(fix.edits == other.edits for other in found):
            continue
        if _proven(snapshot, analysis, finding, fix):
            found.append(fix)
    return tuple(found)


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


def _site(snapshot: Snapshot, analysis: Analysis, event: Event) -> Site:
    """Where to repair. The use of a removed name is repaired at the call that it is the function of."""
    chunk, node = event.place.chunk, event.place.node
    assert isinstance(node, ast.expr)
    operand = event.operand.node if event.operand is not None else None
    around = Surroundings(analysis.tree, table.load(), chunk, node)
    if event.protocol == "name" and isinstance(around.parent, ast.Call) and around.parent.func is node:
        node = around.parent
    return Site(
        analysis.tree,
        table.load(),
        chunk,
        node,
        operand if isinstance(operand, ast.expr) else None,
        snapshot.path.replace("\\", "/").endswith("__init__.py"),
    )


def _fix(spec: FixSpec, rule: Rule, event: Event, site: Site, analysis: Analysis) -> Fix | None:
    if spec.when.get("consumed-by") == "importer" and not _consumed_by_importer(site, analysis):
        return None
    if event.consumer not in spec.when.get("consumer", (event.consumer,)):
        return None
    try:
        template = compile_example(spec.example)
        edits = rewrite(template, site)
    except (TemplateError, NoFitError):
        return None
    return Fix(rule.name, title(spec.title, event), spec.safety, edits)


def _consumed_by_importer(site: Site, analysis: Analysis) -> bool:
    """Whether the value goes straight into a hand-off that takes an array as well."""
    return any(
        event.operand is not None
        and event.operand.node is site.node
        and event.row is not None
        and "array" in event.row.takes
        for event in analysis.events
    )


def _without_import(snapshot: Snapshot, analysis: Analysis, event: Event, rule: Rule) -> Fix | None:
    """An import of a removed name goes once nothing uses it any more."""
    alias = event.place.node
    around = Surroundings(analysis.tree, table.load(), event.place.chunk, alias)
    item = next((item for item in _all_imports(around) if item.alias.node is alias), None)
    if item is None or imports.uses(analysis.tree, item.name) or snapshot.path.endswith("__init__.py"):
        return None
    edit = imports.removed(item, analysis.tree)
    return Fix(rule.name, f"Remove the import of {item.name}, which nothing uses", Safety.SAFE, (edit,))


def _all_imports(around: Surroundings) -> tuple[Import, ...]:
    return around.imports


def _proven(snapshot: Snapshot, analysis: Analysis, finding: Finding, fix: Fix) -> bool:
    """Whether the repaired text parses as well as before, lacks the finding and has no new one."""
    try:
        text = apply(snapshot.text.source, fix.edits)
    except OverlapError:
        return False
    after = analyse(replace(snapshot, text=Text(text)))
    if len(after.tree.broken) > len(analysis.tree.broken):
        return False
    old = Counter(item.rule for item in analysis.report.findings)
    new = Counter(item.rule for item in after.report.findings)
    return new[finding.rule] < old[finding.rule] and all(new[rule] <= old[rule] for rule in new)
