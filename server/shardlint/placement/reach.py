"""Which functions of a module can matter to its hand-offs: a look at names alone, before anything is run.

A function matters if it mentions a name by which something is handed over, or the name of anything that matters: a function, a
class, or an attribute or global variable that such a thing was assigned to. One that fills an attribute or global variable that is
read there matters too, and where a class has such an attribute, one that makes objects of it. Names of objects nobody knows are
compared by their last part, so that more may matter than does, but not less.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from shardlint.placement.modules import Module, Modules, Reach, imported, origin
from shardlint.placement.outline import Part
from shardlint.syntax.claims import Function

_NOTHING = Reach(frozenset(), frozenset(), anything=False)


@dataclass(eq=False)
class Reaches:
    """What matters in a module, by what matters in those that it imports.

    `matters` is asked about dotted names as the outline of a module has them, `builtins.name` for one that is not imported, and `meets`
    about those of modules that import several libraries, by the names of these. `wanted` gives the functions of a module that matter
    whatever they mention.
    """

    modules: Modules
    matters: Callable[[str, Module], bool]
    meets: Callable[[str, frozenset[str]], bool]
    wanted: Callable[[Module], frozenset[Function]]

    def of(self, module: Module) -> Reach:
        """What matters in a module, with all that it imports from the workspace looked at: in rounds, as imports may be circular."""
        known = self.modules.reaches
        together = {module: list(imported(module, self.modules))}
        stack = list(together[module])
        while stack:
            one = stack.pop()
            if one not in together and one not in known:
                together[one] = list(imported(one, self.modules))
                stack += together[one]
        found = dict.fromkeys(together, _NOTHING)
        waiting = dict.fromkeys(reversed(together))
        while waiting:
            one = next(iter(waiting))
            del waiting[one]
            new = self._once(one, together[one], found)
            if new.names != found[one].names:
                waiting.update(dict.fromkeys(other for other in together if one in together[other]))
            found[one] = new
        known.update({one: reach for one, reach in found.items() if one is not module})
        return found[module]

    def _once(self, module: Module, near: list[Module], found: dict[Module, Reach]) -> Reach:
        def names_of(other: Module) -> frozenset[str]:
            return (self.modules.reaches.get(other) or found.get(other, _NOTHING)).names

        methods = frozenset[str]().union(*(names_of(other) for other in near if other is not module))

        libraries = frozenset(full.partition(".")[0] for full in module.outline.imports.values())

        @cache
        def matters(name: str) -> bool:
            if self.meets(name, libraries):
                return True
            if name.startswith("?."):
                return name[2:] in methods or self.matters(name, module)
            if "." not in name:
                return self.matters(f"builtins.{name}", module)
            lies = origin(name, self.modules) if near else None
            if lies is None or lies[0] is module:
                return self.matters(name, module)
            first = lies[1].partition(".")[0]
            return first in names_of(lies[0])

        parts = tuple(module.outline.parts)
        seeds = {name for part in parts for name in part.mentions if matters(name)}
        made = _closed(parts, seeds, self.wanted(module))
        given_on = {name for name, target in module.outline.imports.items() if target in seeds or matters(target)}
        return Reach(made.functions, made.names | given_on, made.anything)


def _closed(parts: tuple[Part, ...], seeds: set[str], wanted: frozenset[Function]) -> Reach:
    """All that leads to the seeds and to the functions that are wanted."""
    mentioning: dict[str, list[Part]] = {}
    filling: dict[str, list[Part]] = {}
    for part in parts:
        for name in part.mentions:
            mentioning.setdefault(_last(name), []).append(part)
        for name in part.fills:
            filling.setdefault(name, []).append(part)
    leading: set[Part] = set()
    feeding: set[Part] = set()
    named = set(seeds)
    stack = [part for name in seeds for part in mentioning[_last(name)] if name in part.mentions]
    stack += [part for part in parts if part.node in wanted] if wanted else []
    while stack:
        part = stack.pop()
        if part in leading:
            continue
        leading.add(part)
        if part.parent is not None:
            stack.append(part.parent)
        for name in (*part.names, *part.fills):
            if name not in named:
                named.add(name)
                stack.extend(mentioning.get(name, ()))
        for name in part.mentions:
            feeding.update(filling.get(_last(name), ()))
    stack = list(feeding)
    while stack:
        part = stack.pop()
        more = [] if part.parent is None else [part.parent]
        if isinstance(part.node, ast.ClassDef):
            more += mentioning.get(part.node.name, ())
        new = [one for one in more if one not in feeding]
        feeding.update(new)
        stack += new
    functions = frozenset(
        part.node
        for part in leading | feeding
        if isinstance(part.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    )
    return Reach(functions, frozenset(named - seeds), bool(seeds))


def _last(name: str) -> str:
    return name.rpartition(".")[2]
