"""Several repairs of one file as one set of edits, without the imports that they make needless together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shardlint.fixes.edits import ordered
from shardlint.fixes.intent import merged
from shardlint.fixes.module import Module
from shardlint.fixes.rewrite import Plan, is_exact
from shardlint.fixes.unused import needless, removed
from shardlint.model import Edit


def combined(plans: Sequence[Plan], module: Module) -> tuple[Edit, ...] | None:
    """The edits of all plans, which have no node in common; None where together they are not what they mean to be.

    An import that cannot be taken out, for where it stands, stays.
    """
    edits = ordered(edit for plan in plans for edit in plan.edits)
    intent = merged(plan.intent for plan in plans)
    kept = [*intent.swaps.items(), *((anchor, one) for anchor, made in intent.ahead.items() for one in made)]
    taken = removed(needless([pair for plan in plans for pair in plan.gone], kept), module.tree)
    if taken:
        fewer = ordered([*edits, *(edit for item in taken for edit in item.edits)])
        if is_exact(fewer, replace(intent, left={item.statement: item.left for item in taken}), module.tree):
            return fewer
    return edits if len(plans) == 1 or is_exact(edits, intent, module.tree) else None


def apart(plan: Plan, others: Sequence[Plan]) -> bool:
    """Whether a plan can be combined with others: each changes one expression, and their edits do not meet."""
    if plan.intent.ahead or plan.intent.left:
        return False
    spans = [edit.span for other in others for edit in other.edits]
    return not any(span.start <= edit.span.end and edit.span.start <= span.end for edit in plan.edits for span in spans)
