"""Claims that the code contradicts, as findings."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from shardlint.model import Finding, Location, Step
from shardlint.placement.claiming import SAID, WrongClaim
from shardlint.placement.domain import Host
from shardlint.records.checks import WRONG_PLACEMENT_CLAIM
from shardlint.rules.beliefs import phrase
from shardlint.rules.sources import Sources
from shardlint.syntax.claims import Function
from shardlint.syntax.tree import Place
from shardlint.text import Span


def findings(wrong: Iterable[WrongClaim], sources: Sources) -> tuple[Finding, ...]:
    """One finding for each claim of the checked file, or of another to which its calls lead; the shortest way tells the story."""
    best: dict[tuple[str, str, Span], Finding] = {}
    for one in wrong:
        made = _finding(one, sources)
        known = best.get(made.identity) if made is not None else None
        if made is not None and (known is None or len(made.steps) < len(known.steps)):
            best[made.identity] = made
    return tuple(best.values())


def _finding(one: WrongClaim, sources: Sources) -> Finding | None:
    steps = one.trace.steps()
    here = [place for place, _ in steps if sources.is_here(place)]
    at_home = sources.is_here(one.place)
    if not (at_home or here):
        return None
    module = sources.module(one.place)
    span = one.claim.span if one.claim.span is not None else _name_span(one.place, sources)
    by = "The comment" if one.claim.span is not None else one.claim.by
    return Finding(
        rule=WRONG_PLACEMENT_CLAIM.name,
        severity=WRONG_PLACEMENT_CLAIM.severity,
        location=Location(module.path, span),
        message=f"{by} says that {_subject(one.place)} is {SAID[one.claim.word]}, but it is {_is(one)}.",
        steps=tuple(Step(sources.location(place), text) for place, text in steps),
        consumer="",
        calls=() if at_home else tuple(sources.location(place) for place in here[-1:]),
    )


def _is(one: WrongClaim) -> str:
    return "a NumPy array or a number" if isinstance(one.value, Host) else phrase(one.value)


def _subject(place: Place) -> str:
    node = place.node
    if isinstance(node, Function):
        return f"what `{node.name}` returns"
    return f"`{node.arg if isinstance(node, ast.arg) else ast.unparse(node)}`"


def _name_span(place: Place, sources: Sources) -> Span:
    """The name of a function or parameter, or the whole target."""
    span, node = sources.tree(place).span(place), place.node
    if isinstance(node, ast.arg):
        return Span(span.start, span.start + len(node.arg))
    if isinstance(node, Function):
        start = sources.tree(place).text.source.find(node.name, span.start)
        return Span(start, start + len(node.name))
    return span
