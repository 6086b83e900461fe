"""Evidence: the chain of steps from where a value came to be up to where it is handed over."""

from __future__ import annotations

from dataclasses import dataclass

from shardlint.syntax.tree import Place

_LONGEST = 24


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Evidence, newest step first: at `place`, `text` happened to what `before` tells."""

    place: Place
    text: str
    before: Trace | None = None
    length: int = 1

    def then(self, place: Place, text: str) -> Trace:
        """One step more; a repeated or an overlong chain keeps its beginning and its newest step."""
        if self.place.node is place.node and self.text == text:
            return self
        if self.length >= _LONGEST and self.before is not None:
            return Trace(place, text, self.before, self.length)
        return Trace(place, text, self, self.length + 1)

    def steps(self) -> list[tuple[Place, str]]:
        """The steps in program order."""
        found: list[tuple[Place, str]] = []
        current: Trace | None = self
        while current is not None:
            found.append((current.place, current.text))
            current = current.before
        return found[::-1]

    def rebased(self, old: Trace, new: Trace | None) -> Trace | None:
        """The same evidence with its part up to `old` replaced by `new`, or None if `old` is no part of it."""
        newer: list[Trace] = []
        current: Trace | None = self
        while current is not None and current is not old:
            newer.append(current)
            current = current.before
        if current is None:
            return None
        made = new
        for step in reversed(newer):
            made = Trace(step.place, step.text) if made is None else made.then(step.place, step.text)
        return made


def traced(before: Trace | None, place: Place, text: str) -> Trace:
    """One step after `before`, which may be empty."""
    return Trace(place, text) if before is None else before.then(place, text)


def same_evidence(one: Trace | None, other: Trace | None) -> bool:
    """Whether two chains tell the same steps at the same places."""
    while one is not other:
        if one is None or other is None:
            return False
        if one.place.node is not other.place.node or one.text != other.text:
            return False
        one, other = one.before, other.before
    return True
