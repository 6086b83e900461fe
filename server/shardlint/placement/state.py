"""What holds on one path of the program."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shardlint.placement.counts import Count, Told
from shardlint.placement.domain import DeviceId, Value
from shardlint.placement.trace import Trace

if TYPE_CHECKING:
    from shardlint.placement.frame import Frame

EVERY_ARRAY = "every array"
"""The key of facts that hold for all arrays at once (`jax.device_count() == 1`)."""

THIS_PROCESS = "this process"
"""The key of the fact that only one of the processes of a program is here (`jax.process_index() == 0`)."""

FIRST_DEVICE = DeviceId(0)

IMPOSSIBLE = None
"""The fact of a value that cannot be on this path."""

_MOST_CONDITIONS = 64


@dataclass(frozen=True, slots=True)
class Change:
    """The new content of a container; if it is not `sure`, the container may have the old one."""

    content: Value
    sure: bool


@dataclass(eq=False)
class State:
    """What holds at one point of the program: variables of the frame, what this run has assigned to variables of `outer` frames,
    facts about arrays by key, the `changes` of containers that were there before the run, by their ids, the truth of
    `conditions` that nothing tells, by their text, the `fewest` devices that the machine has, the mesh in force, the mesh that a
    `with` statement `entered` (it gives specs a meaning, no more), and the device on which new arrays are made (None: not known).
    """

    variables: dict[str, Value] = field(default_factory=dict[str, Value])
    outer: dict[tuple[Frame, str], Value] = field(default_factory=dict["tuple[Frame, str]", Value])
    facts: dict[Hashable, Told] = field(default_factory=dict[Hashable, Told])
    changes: dict[Hashable, Change] = field(default_factory=dict[Hashable, Change])
    conditions: dict[str, Value] = field(default_factory=dict[str, Value])
    fewest: int = 1
    mesh: Count | None = None
    mesh_trace: Trace | None = None
    entered: Count | None = None
    default: DeviceId | None = FIRST_DEVICE
    version_guarded: bool = False
    alive: bool = True

    def copy(self) -> State:
        return State(
            dict(self.variables), dict(self.outer), dict(self.facts), dict(self.changes),
            dict(self.conditions), self.fewest, self.mesh, self.mesh_trace, self.entered, self.default, self.version_guarded, self.alive,
        )  # fmt: skip

    def same(self, other: State) -> bool:
        return (
            self.alive == other.alive
            and self.variables == other.variables
            and self.outer == other.outer
            and self.facts == other.facts
            and self.changes == other.changes
            and self.conditions == other.conditions
            and self.mesh == other.mesh
            and self.default == other.default
            and self.version_guarded == other.version_guarded
        )

    def note_condition(self, text: str, truth: Value) -> None:
        """Note how a condition came out; of very many the first are forgotten, as a chain of `elif` may have thousands."""
        if text not in self.conditions:
            self.conditions[text] = truth
            if len(self.conditions) > _MOST_CONDITIONS:
                del self.conditions[next(iter(self.conditions))]

    def forget_conditions(self, name: str, *, only_attributes: bool = False) -> None:
        """Forget the conditions that look at a variable, or only those that look into it, as it may have changed."""
        if self.conditions:
            for text in list(self.conditions):
                root = text[: len(name)] == name and (len(text) == len(name) or not text[len(name)].isidentifier())
                if root and not (only_attributes and text[len(name) : len(name) + 1] in ("", " ")):
                    del self.conditions[text]
