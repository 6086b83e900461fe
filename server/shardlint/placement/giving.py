"""Arrays whose memory the program gives up, by `delete` or to a function that it donates them to; and capsules that were taken.

Only the variable that is named where that happens is followed. Donation may not happen, where no result fits into the memory or, on a
CPU, where a view of it lives (run on 0.4.30 and 0.10.2).
"""

from __future__ import annotations

import ast
from dataclasses import replace

from shardlint.placement.domain import Array, Capsule, OneOf, Transformed, Value
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import each, leaves, map_leaves
from shardlint.placement.machine import Arguments
from shardlint.placement.nature import Gone, Nature
from shardlint.placement.trace import Trace


def give_up(subject: ast.expr, gone: Gone, frame: Frame, evidence: Trace | None = None) -> None:
    """Note of the arrays that a variable of the frame holds whether they are gone."""
    if isinstance(subject, ast.Name) and subject.id in frame.state.variables:
        held = frame.state.variables[subject.id]
        if any(isinstance(leaf, Array) for leaf in leaves(held)):
            frame.state.variables[subject.id] = map_leaves(held, lambda leaf: _marked(leaf, gone, evidence))


def _marked(leaf: Value, gone: Gone, evidence: Trace | None) -> Value:
    return replace(leaf, nature=Nature(leaf.nature.dtype, gone, evidence)) if isinstance(leaf, Array) else leaf


def use_up(subject: ast.expr | None, frame: Frame) -> None:
    """Note of the capsules that a variable of the frame holds that they have been taken: each can be taken once."""
    if isinstance(subject, ast.Name) and isinstance(frame.state.variables.get(subject.id), Capsule | OneOf):
        held = frame.state.variables[subject.id]
        frame.state.variables[subject.id] = each(
            held, lambda one: replace(one, used=True) if isinstance(one, Capsule) else one
        )


def donate(function: Transformed, signature: tuple[str, ...] | None, arguments: Arguments, frame: Frame) -> None:
    """What a call leaves of the variables that it names at donated positions."""
    if arguments.node is None or frame.traced:
        return
    evidence = Trace(frame.place(arguments.node), "donated to the function here")
    for place, node in enumerate(arguments.node.args):
        if isinstance(node, ast.Starred):
            break
        if function.donated.has(place, signature):
            give_up(node, Gone.MAYBE, frame, evidence)
    for keyword in arguments.node.keywords:
        if keyword.arg is not None and function.donated.has(keyword.arg, signature):
            give_up(keyword.value, Gone.MAYBE, frame, evidence)
