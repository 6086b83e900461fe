"""What every report format is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shardlint.model import Finding, Fix, Location, Safety
from shardlint.rules import places
from shardlint.text import Text


@dataclass(frozen=True, slots=True)
class Entry:
    """A finding with its repairs, the best first."""

    finding: Finding
    fixes: tuple[Fix, ...]

    def applied(self, *, unsafe: bool) -> Fix | None:
        """The repair that `--fix` makes: the best safe one, or, where others may be made too, the best."""
        return next((fix for fix in self.fixes if unsafe or fix.safety is Safety.SAFE), None)


def together(one: Entry, other: Entry) -> Entry:
    """One entry for a finding that was found twice: the surer way tells the story, all calls that lead there are named."""
    first, second = sorted((one, other), key=lambda entry: (places.rank(entry.finding), not entry.fixes))
    return Entry(places.together(first.finding, second.finding), first.fixes or second.fixes)


Sources = Mapping[str, Text]
"""The texts that findings and steps point into, by the path that they name."""


def place(sources: Sources, location: Location) -> str:
    """`path:line:column`, which terminals and editors make a link of; in a notebook `path:cell N:line:column`.

    All count from 1, columns in code points. It is the first of the file, if its text is not known.
    """
    text = sources.get(location.path)
    cell, line, column = text.place(location.span.start) if text else (None, 0, 0)
    where = "" if cell is None else f"cell {cell + 1}:"
    return f"{location.path}:{where}{line + 1}:{column + 1}"
