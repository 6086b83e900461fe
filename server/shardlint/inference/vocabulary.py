"""The dotted names that the tables speak of: where the search for a name's meaning ends."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from shardlint.placement import tables
from shardlint.placement.paths import name_of
from shardlint.placement.table import Table


@dataclass(frozen=True)
class Vocabulary:
    """A table seen as a set of names: `names` are those that it holds and the modules and classes in which they lie."""

    table: Table
    names: frozenset[str]

    def knows(self, name: str) -> bool:
        """Whether the table says something of `name`, under an alias too, or of something in it; of a path, of its first call."""
        name = name_of(name)
        canonical = self.table.canonical(name)
        return name in self.names or canonical in self.names or self.table.effect(canonical) is not None

    @property
    def digest(self) -> str:
        """A text that differs for vocabularies that know different names."""
        words = (*sorted(self.names), *map(repr, sorted(self.table.aliases.items())), *self._namespaces)
        return hashlib.sha256("\n".join(words).encode()).hexdigest()

    @property
    def _namespaces(self) -> tuple[str, ...]:
        return tuple(prefix for prefix, _ in self.table.namespaces)


def load() -> Vocabulary:
    """The vocabulary of the tables that come with the package."""
    known = tables.load()
    held = (
        *(known.effects, known.consumers, known.timeline, known.attributes, known.classes),
        *(known.aliases, known.aliases.values()),
    )
    return Vocabulary(known, frozenset(_with_prefixes(name for names in held for name in names)))


def _with_prefixes(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        parts = name.split(".")
        yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))
