"""Guards for hand-offs of which nobody knows what comes: what a record's `validationCode` does, ahead of one in a program."""

from __future__ import annotations

import ast

from shardlint.check import Snapshot, analyse
from shardlint.fixes.combine import combined
from shardlint.fixes.fitting import NoFitError
from shardlint.fixes.proof import proven
from shardlint.fixes.repair import module_of, site_of
from shardlint.fixes.rewrite import plan
from shardlint.model import Fix, HandOff, Safety
from shardlint.placement.domain import Array
from shardlint.placement.machine import Event
from shardlint.records.catalogue import Rule
from shardlint.records.examples import split_example
from shardlint.records.template import TemplateError, compile_example
from shardlint.rules.matching import breaking
from shardlint.syntax.tree import Tree

TITLE = "Guard this hand-off: take what is on several devices to one"


def guards(snapshot: Snapshot, hand_off: HandOff) -> tuple[Fix, ...]:
    """A guard for a hand-off that takes an array of which nothing is known, by the rule that one on several devices would break there.
    None if there is no such rule, or no room for it.
    """
    analysis = analyse(snapshot)
    event = next((one for one in analysis.events if _is_at(one, hand_off, analysis.tree)), None)
    rule = None if event is None else breaking(event, snapshot.catalogue, snapshot.target)
    example = None if event is None or rule is None else guard_example(rule, event)
    if event is None or rule is None or example is None:
        return ()
    module = module_of(snapshot, analysis)
    try:
        edits = combined([plan(compile_example(example), site_of(event, module))], module)
    except (TemplateError, NoFitError):
        return ()
    if edits is None or proven(snapshot, analysis, (), edits) is None:
        return ()
    return (Fix(rule.name, TITLE, Safety.MOVES_DATA, edits),)


def _is_at(event: Event, hand_off: HandOff, tree: Tree) -> bool:
    """Whether this is the hand-off, of something that has a name: the guard speaks of it more than once."""
    named = event.operand is not None and isinstance(event.operand.node, ast.Name)
    here = named and event.consumer == hand_off.consumer and event.place.chunk in tree.chunks
    return here and tree.span(event.place) == hand_off.location.span


def guard_example(rule: Rule, event: Event) -> str | None:
    """The example of a repair that a rule's `validationCode` makes: where that is one `if` which gives a name another value, this value on
    that condition. Of what is not surely an array of JAX it is asked first. None for any other code.
    """
    code = rule.record.get("validationCode")
    example = split_example(rule.fixes[0].example) if rule.fixes else None
    if not code or example is None:
        return None
    match ast.parse(code).body:
        case [ast.If(test=test, body=[ast.Assign(targets=[ast.Name(id=name)], value=value)], orelse=[]), *_]:
            pass
        case _:
            return None
    condition = ast.unparse(test)
    if not isinstance(event.value, Array):
        condition = f"isinstance({name}, jax.Array) and {condition}"
    return f"# before\n{example.before}\n# after\n{name} = {ast.unparse(value)} if {condition} else {name}\n{example.before}\n"
