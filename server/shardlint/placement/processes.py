"""What only one of several processes does. A function that all processes must call together waits for ever where only one calls it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from shardlint.placement.counts import ONE
from shardlint.placement.domain import Symbol, Value
from shardlint.placement.frame import Frame
from shardlint.placement.machine import Arguments, Machine
from shardlint.placement.noting import note
from shardlint.placement.state import THIS_PROCESS


def called_alone(machine: Machine, function: Value, arguments: Arguments, node: ast.Call, frame: Frame) -> None:
    """Note that one process calls what all must call."""
    if isinstance(function, Symbol) and function.name in machine.table.collectives and frame.fact(THIS_PROCESS) == ONE:
        note(machine, frame, "collective", function.name, node, arguments=arguments)


def joined_by_others(machine: Machine, elsewhere: Sequence[ast.stmt], frame: Frame) -> None:
    """Forget that a process is alone where the others, which run the statements `elsewhere`, meet it by such a function too."""
    if frame.state.facts.get(THIS_PROCESS) != ONE:
        return
    last = {name.rpartition(".")[2] for name in machine.table.collectives}
    for statement in elsewhere:
        for part in ast.walk(statement):
            if getattr(part, "attr", getattr(part, "id", None)) in last:
                del frame.state.facts[THIS_PROCESS]
                return
