"""DLPack capsules that were taken: each can be taken once."""

from __future__ import annotations

import ast
from dataclasses import replace

from shardlint.placement.domain import Capsule, OneOf
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import each


def use_up(subject: ast.expr | None, frame: Frame) -> None:
    """Note of the capsules that a variable of the frame holds that they have been taken."""
    if isinstance(subject, ast.Name) and isinstance(frame.state.variables.get(subject.id), Capsule | OneOf):
        held = frame.state.variables[subject.id]
        frame.state.variables[subject.id] = each(
            held, lambda one: replace(one, used=True) if isinstance(one, Capsule) else one
        )
