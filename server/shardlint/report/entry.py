"""What every report format is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shardlint.model import Finding, Fix, Location
from shardlint.text import Text


@dataclass(frozen=True, slots=True)
class Entry:
    """A finding with its repairs, the best first."""

    finding: Finding
    fixes: tuple[Fix, ...]


Sources = Mapping[str, Text]
"""The texts that findings and steps point into, by the path that they name."""


def start(sources: Sources, location: Location) -> tuple[int, int]:
    """Line and column, both 1-based, the column in code points. The first of the file, if its text is not known."""
    text = sources.get(location.path)
    line, column = text.position(location.span.start) if text else (0, 0)
    return line + 1, column + 1


def place(sources: Sources, location: Location) -> str:
    """`path:line:column`, which terminals and editors make a link of."""
    line, column = start(sources, location)
    return f"{location.path}:{line}:{column}"
