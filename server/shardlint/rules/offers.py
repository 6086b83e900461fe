"""How a person can tell what the analysis does not know."""

from __future__ import annotations

import ast
from bisect import bisect_right

from shardlint.placement.domain import Array, Unknown
from shardlint.placement.machine import Event
from shardlint.syntax.claims import Function
from shardlint.syntax.scopes import parameters
from shardlint.syntax.tree import Chunk, Place


class Offers:
    """Words the offers for the hand-offs of one module; each chunk is looked through once."""

    def __init__(self) -> None:
        self._functions: dict[Chunk, list[Function]] = {}

    def of(self, event: Event) -> str:
        """A sentence behind what is known of a hand-off, with the comment to write; empty where that would not help."""
        operand = event.operand
        unknown = isinstance(event.value, Unknown) or (isinstance(event.value, Array) and event.count is None)
        if (
            event.row is None
            or event.traced
            or not unknown
            or operand is None
            or not isinstance(operand.node, ast.Name)
        ):
            return ""
        name, function = operand.node.id, self._around(operand)
        if function is not None and any(one.arg == name for one in parameters(function.args)):
            claim, where = f"placement({name})=one-device", f"on the line of `def {function.name}`"
        else:
            claim, where = "placement=one-device", f"where `{name}` is assigned"
        return f"If you know better, write `# shardlint: {claim}` (or `many-devices`, `host`) {where}"

    def _around(self, place: Place) -> Function | None:
        """The innermost function that a place lies in."""
        if place.chunk not in self._functions:
            nodes = (node for statement in place.chunk.body for node in ast.walk(statement))
            functions = [node for node in nodes if isinstance(node, Function)]
            self._functions[place.chunk] = sorted(functions, key=lambda one: one.lineno)
        functions, line = self._functions[place.chunk], place.node.lineno
        for index in range(bisect_right(functions, line, key=lambda one: one.lineno) - 1, -1, -1):
            if (functions[index].end_lineno or 0) >= line:
                return functions[index]
        return None
