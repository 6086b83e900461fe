"""What names mean where a node stands, by the scopes of Python, and how the program would write a library's name there."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from shardlint.fixes.bindings import Binding, Import, by_name, scope_bindings
from shardlint.fixes.surroundings import Surroundings, blocks, path_to
from shardlint.placement.table import Table
from shardlint.syntax.scopes import names_of

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Scope:
    """A scope around a node; the module's has no owner. `immediate` says that the node runs while the scope's body does."""

    owner: ast.AST | None
    immediate: bool
    names: Mapping[str, list[Binding]]


@dataclass(frozen=True)
class Names:
    """The names that are in sight of one node."""

    around: Surroundings

    @property
    def table(self) -> Table:
        return self.around.module.table

    @cached_property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes in which names are looked for, innermost first."""
        found: list[Scope] = []
        immediate = True
        for owner in _owners(self.around.path):
            if isinstance(owner, ast.ClassDef) and found:
                continue  # a class's names are not seen from the functions and classes in it
            found.append(Scope(owner, immediate, by_name(scope_bindings(owner, self.around.chunk, self.table))))
            immediate = immediate and not isinstance(owner, (*_FUNCTIONS, ast.GeneratorExp))
        found.append(Scope(None, immediate, self.around.module.names))
        return tuple(found)

    @property
    def innermost(self) -> Scope:
        return self.scopes[0]

    def meaning(self, node: ast.AST) -> str | None:
        """The canonical name of a dotted expression whose first name only imports bind, all of the same thing."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        items = self.imports_of(node.id) if isinstance(node, ast.Name) else []
        if not items:
            return None
        name = items[0].meaning
        for part in reversed(parts):
            name = self.table.canonical(f"{name}.{part}")
        return name

    def imports_of(self, name: str) -> list[Import]:
        """The imports that alone give `name` its value here; none where anything else might."""
        scope = self.scope_of(name)
        bindings = [] if scope is None else [binding for binding in scope.names[name] if not binding.empty]
        items = [binding.item for binding in bindings if binding.item is not None]
        same = len(items) == len(bindings) and len({item.meaning for item in items}) == 1
        return items if same else []

    def is_bound(self, name: str) -> bool:
        """Whether the file gives the name a value that is in sight: if not, it is Python's own or nothing."""
        return self.scope_of(name) is not None

    def spelled(self, dotted: str, module: str) -> str | None:
        """How the program writes `dotted`, to which an import of `module` leads, or None where none of its imports does."""
        canonical = self.table.canonical(dotted)
        best: tuple[int, str] | None = None
        for scope in self.scopes:
            for name in scope.names:
                for item in self.imports_of(name) if self.scope_of(name) is scope else ():
                    rest = _rest(dotted, canonical, item.meaning)
                    if rest is None or not (rest == "" or _loads(item, module, self.table)):
                        continue
                    if (best is None or len(item.meaning) > best[0]) and self._in_force(item, scope):
                        best = (len(item.meaning), name + rest)
        return None if best is None else best[1]

    def free(self, name: str, meaning: str, at: Scope) -> bool:
        """Whether a new import in the scope `at` may bind `name` to `meaning` without changing what any name means."""
        if any(name in scope.names for scope in self.scopes[: self.scopes.index(at)]):
            return False
        if any(binding.item is None or binding.item.meaning != meaning for binding in at.names.get(name, ())):
            return False
        tree = self.around.tree
        if any(name in tree.text.slice(span) for span in tree.broken):
            return False
        inside = at.owner.body if isinstance(at.owner, ast.FunctionDef | ast.AsyncFunctionDef) else None
        roots = [root for chunk in tree.chunks for root in chunk.body] if inside is None else inside
        return name in at.names or not any(loose(root, name) for root in roots)

    def scope_of(self, name: str) -> Scope | None:
        """The scope whose value a name has here; None if the file gives it none."""
        for scope in self.scopes:
            if isinstance(scope.owner, _FUNCTIONS):
                outer = names_of(scope.owner).outer
                if name in outer and any(isinstance(n, ast.Global) and name in n.names for n in ast.walk(scope.owner)):
                    module = self.scopes[-1]
                    return module if name in module.names else None
            if name in scope.names:
                return scope
        return None

    def _in_force(self, item: Import, scope: Scope) -> bool:
        """Whether the import surely ran before the node does."""
        if scope.immediate and not self._stands_before(item):
            return False
        root = next(root for root in item.alias.chunk.body if path_to(root, item.alias.node))
        path = path_to(root, item.alias.node) or ()
        if scope.owner is None:
            return all(self._surely_runs(*pair) for pair in pairwise(path[1:]))
        end = path.index(scope.owner) + 1 if scope.owner in path else 0
        return end > 0 and all(self._surely_runs(*pair) for pair in pairwise(path[1:end]))

    def _surely_runs(self, child: ast.AST, parent: ast.AST) -> bool:
        """Whether a statement in a block runs if the block's owner does and the node is reached."""
        if isinstance(parent, ast.With | ast.AsyncWith) or (isinstance(parent, ast.Try) and child in parent.body):
            return True
        mine = [block for block in blocks(parent) if child in block]
        return any(part in self.around.path for block in mine for part in block)

    def _stands_before(self, item: Import) -> bool:
        here = self.around.path[0]
        assert isinstance(here, ast.expr | ast.stmt | ast.alias)
        return self.around.tree.span(item.alias).start < self.around.span(here).start


def _owners(path: tuple[ast.AST, ...]) -> Iterator[ast.AST]:
    """The ancestors in whose own scope the node runs, innermost first."""
    for index, (child, parent) in enumerate(pairwise(path)):
        if isinstance(parent, (*_FUNCTIONS, ast.ClassDef)):
            body = [parent.body] if isinstance(parent, ast.Lambda) else parent.body
            if child in body:
                yield parent
        elif isinstance(parent, _COMPREHENSIONS):
            first = parent.generators[0]
            if child is not first or index == 0 or path[index - 1] is not first.iter:
                yield parent


def _rest(dotted: str, canonical: str, meaning: str) -> str | None:
    """What is left to write behind a name of that meaning, or None if it does not lead there."""
    if meaning == canonical:
        return ""
    return next((name[len(meaning) :] for name in (dotted, canonical) if name.startswith(f"{meaning}.")), None)


def _loads(item: Import, module: str, table: Table) -> bool:
    """Whether an import loads `module` or something in it."""
    loaded = (item.module, item.meaning, table.canonical(item.module))
    return any(name == module or name.startswith(f"{module}.") for name in loaded)


def loose(root: ast.AST, name: str, mentions: Callable[[ast.AST, str], bool] | None = None) -> int:
    """How often `name` occurs where no function or class in `root` surely binds it, and how many nodes anywhere in it mention it else."""
    count = 0
    stack = [(root, False, False)]
    while stack:
        node, bound, by_class = stack.pop()
        if not bound and not by_class:
            count += isinstance(node, ast.Name) and node.id == name
            count += isinstance(node, ast.Global | ast.Nonlocal) and name in node.names
        count += mentions is not None and mentions(node, name)
        inside: list[ast.AST] = []
        if isinstance(node, _FUNCTIONS):
            inside = [node.body] if isinstance(node, ast.Lambda) else [*node.body]
            local = bound or name in names_of(node).local
            stack += [(child, local, False) for child in inside]
        elif isinstance(node, ast.ClassDef):
            inside = [*node.body]
            first = _bound_after(node, name)
            stack += [(child, bound, place >= first) for place, child in enumerate(inside)]
        elif isinstance(node, _COMPREHENSIONS):
            inside = [part for part in ast.iter_child_nodes(node) if part is not node.generators[0]]
            inside += [part for part in ast.iter_child_nodes(node.generators[0]) if part is not node.generators[0].iter]
            stack += [(child, bound, False) for child in inside]
            stack.append((node.generators[0].iter, bound, by_class))
            continue
        stack += [(child, bound, by_class) for child in ast.iter_child_nodes(node) if child not in inside]
    return count


def _bound_after(node: ast.ClassDef, name: str) -> int:
    """Behind how many statements of a class its own `name` is what the class's body reads. Functions in it see another one."""
    parts = [part for statement in node.body for part in ast.walk(statement)]
    unsure = any(
        (isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Del))
        or (isinstance(part, ast.Global | ast.Nonlocal) and name in part.names)
        for part in parts
    )
    for place, statement in enumerate(() if unsure else node.body):
        match statement:
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                given = {alias.asname or alias.name.partition(".")[0] for alias in aliases}
            case ast.Assign(targets=[ast.Name(id=target)]):
                given = {target}
            case ast.FunctionDef(name=target) | ast.AsyncFunctionDef(name=target) | ast.ClassDef(name=target):
                given = {target}
            case _:
                continue
        if name in given:
            return place + 1
    return len(node.body)
