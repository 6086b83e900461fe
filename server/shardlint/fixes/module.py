"""One file as the repairs in it see it: its tree, the table of names, and what is asked for at every repair."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from shardlint.fixes.bindings import Binding, by_name, module_bindings
from shardlint.placement.table import Table
from shardlint.syntax.tree import Tree

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, eq=False)
class Module:
    """A file's tree. `is_package` says that others may import any name of it, as they do from `__init__.py`."""

    tree: Tree
    table: Table
    is_package: bool = False

    @cached_property
    def names(self) -> dict[str, list[Binding]]:
        """What gives the module's own names their values."""
        return by_name(module_bindings(self.tree, self.table))

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of the file, in code, strings and comments."""
        return frozenset(_WORD.findall(self.tree.text.source))
