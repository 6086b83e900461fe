"""What is believed of names, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby

from shardlint.model import Belief, Way
from shardlint.report.entry import Sources, place
from shardlint.report.excerpt import cells, excerpt, harmless
from shardlint.report.json import located
from shardlint.report.paint import Paint, Role

_LINE_LIMIT = 120
_NEVER = "never reached"


def as_json(beliefs: Sequence[Belief], sources: Sources) -> str:
    """A list of objects, one for each name in each context. Positions are as in the JSON of findings."""
    made = [
        {
            **located(one.location, sources),
            "name": one.name,
            "function": None if one.way is None else one.way.function,
            "called_from": None if one.way is None or one.way.call is None else located(one.way.call, sources),
            "given": {} if one.way is None else dict(one.way.given),
            "reached": bool(one.words),
            "believed": list(one.words),
            "steps": [{**located(step.location, sources), "message": step.text} for step in one.steps],
        }
        for one in beliefs
    ]
    return json.dumps(made, indent=2) + "\n"


def as_text(beliefs: Sequence[Belief], sources: Sources, paint: Paint) -> str:
    """The line, then every context with the names in it, what each is, and how that is known."""
    return "".join(f"{line}\n" for line in _lines(beliefs, sources, paint))


def _lines(beliefs: Sequence[Belief], sources: Sources, paint: Paint) -> Iterator[str]:
    first = beliefs[0].location
    text = sources.get(first.path)
    if text is not None:
        shown = excerpt(text, first.span, _LINE_LIMIT)
        yield paint(f"{shown.line:>5} | ", Role.QUIET) + shown.text
    column = max(cells(harmless(one.name)) for one in beliefs)
    for (way, reached), group in groupby(beliefs, key=lambda one: (one.way, bool(one.words))):
        yield ""
        yield from _context(way, sources, paint, reached=reached)
        for one in group:
            name = harmless(one.name)
            words = " or ".join(map(harmless, one.words)) or _NEVER
            yield f"  {paint(name, Role.RULE)}{' ' * (column - cells(name))}  {words}"
            places = [place(sources, step.location) for step in one.steps]
            width = max(map(cells, places), default=0)
            for step, where in zip(one.steps, places, strict=True):
                yield f"      {paint(where, Role.PLACE)}{' ' * (width - cells(where))}  {harmless(step.text)}"


def _context(way: Way | None, sources: Sources, paint: Paint, *, reached: bool) -> Iterator[str]:
    if not reached:
        yield "nowhere in what was followed:"
    elif way is None:
        yield "in the module:"
    else:
        how = "called from outside" if way.call is None else f"called at {paint(place(sources, way.call), Role.PLACE)}"
        given = ", ".join(f"{name}: {words}" for name, words in way.given)
        yield f"in {harmless(way.function)}, {how}{f' with {harmless(given)}' if given else ''}:"
