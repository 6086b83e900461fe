"""The small language of questions: how an object outside of the program is reached.

A path is a dotted name, a module's first, with `()` for what a call gives and `[2]` for an item: `lib.Loader().batch()`,
`lib.make()[1]`. Of a class `X`, `X()` is any instance: answers say `jax.sharding.Mesh()` for "a mesh". Arguments are no part of it.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from functools import lru_cache

CALL = "()"
_STEP = re.compile(r"\.[^\W\d]\w*|\(\)|\[\d{1,4}\]")
_FIRST = re.compile(r"[^\W\d]\w*")
_BEHIND = re.compile(r"[(\[]")
_MOST_STEPS = 12


@lru_cache(4096)
def steps_of(path: str) -> tuple[str, ...]:
    """The parts of a path, `("lib", ".load", "()", "[0]")`; none if it is no path, or too long a one to be followed."""
    first = _FIRST.match(path)
    if first is None:
        return ()
    found, at = [first[0]], first.end()
    while step := _STEP.match(path, at):
        found.append(step[0])
        at = step.end()
    right = at == len(path) and not any(keyword.iskeyword(part.lstrip(".")) for part in found)
    return tuple(found) if right and len(found) <= _MOST_STEPS else ()


def name_of(path: str) -> str:
    """The dotted name with which a path begins."""
    end = _BEHIND.search(path)
    return path if end is None else path[: end.start()]


def beginnings(path: str) -> Iterator[str]:
    """The paths that lead to this one, from the second part on, and itself."""
    parts = steps_of(path)
    yield from ("".join(parts[:end]) for end in range(2, len(parts) + 1))
