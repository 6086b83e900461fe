"""How sure an answer is of a hand-off that may be one of several."""

from __future__ import annotations

from shardlint.model import Verdict
from shardlint.placement.domain import (
    Foreign,
    Value,
)
from shardlint.placement.lattice import alternatives
from shardlint.placement.machine import Event
from shardlint.placement.natures import library


def sure(event: Event) -> Verdict:
    """Yes if that holds for all alternatives."""
    return Verdict.POSSIBLE if event.varied else Verdict.YES


def one(event: Event) -> Verdict:
    return Verdict.POSSIBLE if event.mixed else Verdict.YES


def among(event: Event, value: Value | None, wanted: object) -> Verdict:
    """Whether a value is an array of one of the wanted libraries; possible where only some of its alternatives are."""
    if value is None or not isinstance(wanted, list | tuple):
        return Verdict.UNKNOWN
    found = {library(one) in wanted and not _vague(one) for one in alternatives(value)}
    if found == {True}:
        return Verdict.POSSIBLE if event.mixed else Verdict.YES
    return Verdict.POSSIBLE if True in found else Verdict.NO


def _vague(value: Value) -> bool:
    """Whether a value of another library may be no array at all."""
    return isinstance(value, Foreign) and not value.sure
