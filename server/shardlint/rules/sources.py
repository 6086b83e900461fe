"""Where places lie: a check may look into several modules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from shardlint.model import Location
from shardlint.placement.modules import Module
from shardlint.syntax.tree import Chunk, Place, Tree


@dataclass(frozen=True)
class Sources:
    """The module that is checked and those that it led to."""

    main: Module
    _modules: Mapping[Chunk, Module]

    @staticmethod
    def of(main: Module, modules: Iterable[Module]) -> Sources:
        return Sources(main, {chunk: module for module in modules for chunk in module.tree.chunks})

    def module(self, place: Place) -> Module:
        return self._modules.get(place.chunk, self.main)

    def tree(self, place: Place) -> Tree:
        return self.module(place).tree

    def location(self, place: Place) -> Location:
        """The file of a place and its span there."""
        module = self.module(place)
        return Location(module.path, module.tree.span(place))

    def is_here(self, place: Place) -> bool:
        """Whether a place lies in the module that is checked."""
        return self.module(place) is self.main
