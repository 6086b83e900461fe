"""A call of a library function, as the effects see it."""

from __future__ import annotations

from dataclasses import dataclass

from shardlint.placement.domain import UNKNOWN, Value
from shardlint.placement.frame import Frame
from shardlint.placement.machine import Arguments, Machine
from shardlint.placement.rows import Argument, Effect
from shardlint.placement.trace import Trace, traced
from shardlint.syntax.tree import Node


@dataclass(frozen=True, slots=True)
class Site:
    """`owner` is the object whose method is called, or None for a plain function."""

    machine: Machine
    frame: Frame
    node: Node
    name: str
    effect: Effect
    arguments: Arguments
    owner: Value | None = None

    @property
    def short(self) -> str:
        """The function's name as people write it."""
        return self.name.replace("jax.numpy.", "jnp.").replace("jax.Array.", "")

    def argument(self, position: int, keyword: str | None = None) -> Value:
        """The argument, or unknown."""
        value = self.arguments.get(position, keyword)
        return UNKNOWN if value is None else value

    def named(self, argument: Argument | None) -> Value | None:
        """The argument that a row of the table names, or None where it is not given."""
        return None if argument is None else self.arguments.get(argument.position, argument.keyword)

    def step(self, before: Trace | None, text: str) -> Trace:
        """The evidence `before` and what this call adds to it."""
        return traced(before, self.frame.place(self.node), text)
