"""Records that came without a rule: what to look for is read off their `exampleFix`.

The call around what the example changes is the hand-off; the argument that changes, else the first name among its
arguments, is the array. It is looked for with low severity, and only where that argument is proven to be a `jax.Array` (on
many devices, where the record's tags say sharding).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from shardlint.model import Verdict
from shardlint.placement.domain import Array, Constant
from shardlint.placement.machine import Event
from shardlint.placement.rows import Argument, Consumer
from shardlint.placement.table import Table
from shardlint.records.catalogue import Catalogue, Rule
from shardlint.records.template import Template, TemplateError, compile_example
from shardlint.rules.conditions import verdict

_MANY_DEVICES = frozenset({"sharding", "sharded", "multi-device"})


@dataclass(frozen=True, slots=True)
class Pattern:
    """The hand-off of an example: who consumes, at which position, with which keywords (None: any value).

    `absent` are keywords that the example adds: a call that has one is no longer what it warns of.
    """

    consumer: str
    position: int
    keywords: Mapping[str, Constant | None]
    absent: frozenset[str]
    many: bool

    def verdict(self, event: Event) -> Verdict:
        """Whether a hand-off is the one that the record warns of."""
        if event.consumer != self.consumer or not isinstance(event.value, Array):
            return Verdict.NO
        given = event.arguments.keywords
        if self.absent & given.keys():
            return Verdict.NO
        if any(name not in given or value not in (None, given[name]) for name, value in self.keywords.items()):
            return Verdict.NO
        return verdict({"devices": "many"}, event) if self.many else Verdict.YES


def patterns(catalogue: Catalogue, table: Table) -> dict[str, Pattern]:
    """The patterns of all records without a rule, by rule name; one whose example has no such call has none, and neither has one
    whose error a rule finds at that call.
    """
    found = {
        name: _pattern(rule, table) for name, rule in catalogue.rules.items() if not (_has_match(rule) or rule.check)
    }
    return {
        name: pattern
        for name, pattern in found.items()
        if pattern is not None
        and not _is_found(pattern, catalogue.rules.get(catalogue.rules[name].covered_by or ""), table)
    }


def _is_found(pattern: Pattern, covering: Rule | None, table: Table) -> bool:
    """Whether a rule looks at the hand-off that a pattern is about."""
    if covering is None:
        return False
    row = table.consumers.get(pattern.consumer)
    return pattern.consumer in covering.match.names or (row is not None and row.protocol in covering.match.protocols)


def with_consumers(table: Table, wanted: Iterable[Pattern]) -> Table:
    """The table with a row for every consumer that only a pattern knows."""
    rows = {
        pattern.consumer: Consumer(
            pattern.consumer, "own", Argument(pattern.position, None), frozenset({"array"}), "", attribute=False
        )
        for pattern in wanted
        if pattern.consumer not in table.consumers
    }
    return table.with_consumers(rows) if rows else table


def _has_match(rule: Rule) -> bool:
    return bool(rule.match.names or rule.match.protocols or rule.match.timeline)


def _pattern(rule: Rule, table: Table) -> Pattern | None:
    try:
        template = compile_example(rule.fixes[0].example)
    except TemplateError:
        return None
    call = template.call
    name = None if call is None else _dotted(call.func, template, table)
    if call is None or name is None:
        return None
    position = template.position
    if position is None:
        position = next((i for i, argument in enumerate(call.args) if _is_hole(argument, template)), None)
    if position is None:
        return None
    keywords = {
        keyword.arg: Constant(keyword.value.value) if isinstance(keyword.value, ast.Constant) else None
        for keyword in call.keywords
        if keyword.arg is not None
    }
    tags = {str(tag) for tag in rule.record.get("tags") or ()}
    added = frozenset(name for name in template.keywords if name not in keywords)
    return Pattern(name, position, keywords, added, bool(tags & _MANY_DEVICES))


def _is_hole(node: ast.expr, template: Template) -> bool:
    return isinstance(node, ast.Name) and node.id not in template.modules


def _dotted(node: ast.expr, template: Template, table: Table) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in template.modules:
        return None
    return table.canonical(".".join([template.modules[node.id], *reversed(parts)]))
