"""Evidence: the chain of steps from where a value came to be up to where it is handed over."""

from __future__ import annotations

from dataclasses import dataclass

from shardlint.syntax.tree import Place

_LONGEST = 24


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Evidence, newest step first: at `place`, `text` happened to what `before` tells; a `call` hands it to a function."""

    place: Place
    text: str
    before: Trace | None = None
    length: int = 1
    call: bool = False

    def then(self, place: Place, text: str, *, call: bool = False) -> Trace:
        """One step more; a repeated or an overlong chain keeps its beginning and its newest step."""
        if self.place.node is place.node and self.text == text:
            return self
        if self.length >= _LONGEST and self.before is not None:
            return Trace(place, text, self.before, self.length, call)
        return Trace(place, text, self, self.length + 1, call)

    def steps(self) -> list[tuple[Place, str]]:
        """The steps in program order."""
        return [(step.place, step.text) for step in self._links()]

    def calls(self) -> list[Place]:
        """The places of the calls among the steps, in program order."""
        return [step.place for step in self._links() if step.call]

    def _links(self) -> list[Trace]:
        found: list[Trace] = []
        current: Trace | None = self
        while current is not None:
            found.append(current)
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
            made = traced(made, step.place, step.text, call=step.call)
        return made


def traced(before: Trace | None, place: Place, text: str, *, call: bool = False) -> Trace:
    """One step after `before`, which may be empty."""
    return Trace(place, text, call=call) if before is None else before.then(place, text, call=call)


def same_evidence(one: Trace | None, other: Trace | None) -> bool:
    """Whether two chains tell the same steps at the same places."""
    while one is not other:
        if one is None or other is None:
            return False
        if one.place.node is not other.place.node or one.text != other.text:
            return False
        one, other = one.before, other.before
    return True
