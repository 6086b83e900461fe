"""How a person can tell what the analysis does not know."""

from __future__ import annotations

import ast

from shardlint.placement.domain import Array, Unknown
from shardlint.placement.machine import Event
from shardlint.syntax.claims import Function
from shardlint.syntax.scopes import parameters
from shardlint.syntax.tree import Place


def offer(event: Event) -> str:
    """A sentence behind what is known of a hand-off, with the comment to write; empty where that would not help."""
    operand = None if event.operand is None else event.operand.node
    unknown = isinstance(event.value, Unknown) or (isinstance(event.value, Array) and event.count is None)
    if event.row is None or event.traced or not unknown or event.operand is None or not isinstance(operand, ast.Name):
        return ""
    function = _function_around(event.operand)
    if function is not None and any(one.arg == operand.id for one in parameters(function.args)):
        claim, where = f"placement({operand.id})=one-device", f"on the line of `def {function.name}`"
    else:
        claim, where = "placement=one-device", f"where `{operand.id}` is assigned"
    return f"If you know better, write `# shardlint: {claim}` (or `many-devices`, `host`) {where}"


def _function_around(place: Place) -> Function | None:
    """The innermost function that a place lies in."""
    line = place.node.lineno
    found: Function | None = None
    stack: list[ast.AST] = list(place.chunk.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.stmt):
            if not node.lineno <= line <= (node.end_lineno or node.lineno):
                continue
            found = node if isinstance(node, Function) else found
        stack.extend(one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.expr))
    return found
