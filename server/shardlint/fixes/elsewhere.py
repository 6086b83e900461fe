"""The repairs of a hand-off that is found from another file: made here, proven here and from there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from shardlint.check import Analysis, Report, Snapshot, analyse
from shardlint.fixes.combine import combined
from shardlint.fixes.edits import apply
from shardlint.fixes.proof import fewer, proven
from shardlint.fixes.repair import fitting, module_of
from shardlint.model import Edit, Finding, Fix
from shardlint.placement.modules import Module, Modules, Reach
from shardlint.syntax.tree import Tree, parse
from shardlint.text import Text


@dataclass(eq=False)
class _Edited:
    """Modules among which the file at a path has another text."""

    modules: Modules
    path: str
    tree: Tree
    reaches: dict[Module, Reach] = field(default_factory=dict[Module, Reach])
    _made: dict[Module, Module] = field(default_factory=dict[Module, Module])

    def find(self, name: str, /) -> Module | None:
        found = self.modules.find(name)
        if found is None or found.path != self.path:
            return found
        return self._made.setdefault(found, Module(found.name, found.path, self.tree, found.is_package))


def repairs_found_from(caller: Snapshot, snapshot: Snapshot, finding: Finding) -> tuple[Fix, ...]:
    """The repairs of a finding of `snapshot`'s file that the check of `caller` makes, best first. Each parses, makes no new finding in
    either file, and `caller` no longer finds this one. None if `caller` was checked with another text of the file.
    """
    far = analyse(caller)
    seen = far.elsewhere.get(snapshot.path)
    if seen is None or seen.tree.text != snapshot.text:
        return ()
    here = Analysis(seen.tree, seen.events, Report((), (), ()))
    return tuple(_proven(caller, far, snapshot, here, finding))


def _proven(caller: Snapshot, far: Analysis, snapshot: Snapshot, here: Analysis, finding: Finding) -> Iterator[Fix]:
    alone = analyse(snapshot)
    module = module_of(snapshot, here)
    seen: list[Sequence[Edit]] = []
    for fix, plan in fitting(snapshot, here, finding, module):
        edits = combined([plan], module)
        if edits is None or edits in seen or proven(snapshot, alone, (), edits) is None:
            continue
        tree = parse(Text(apply(snapshot.text.source, edits)))
        after = analyse(replace(caller, modules=_Edited(caller.modules, snapshot.path, tree)))
        if fewer(far, after, [finding]):
            seen.append(edits)
            yield replace(fix, edits=edits)
