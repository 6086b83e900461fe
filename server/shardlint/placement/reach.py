"""Which functions of a module can matter to its hand-offs: a look at names alone, before anything is run.

A function matters if it mentions a name by which something is handed over, or the name of anything that matters: a function, a
class, or an attribute or global variable that such a thing was assigned to. One that fills an attribute or global variable that is
read there matters too, and where a class has such an attribute, one that makes objects of it. Names of objects nobody knows are compared by their last part, so that more may matter than does, but not less.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from shardlint.syntax.scopes import FunctionNode
from shardlint.syntax.tree import Tree


@dataclass(eq=False)
class _Part:
    """The module, a function, a class or an assignment: what it mentions, by which `names` others reach it, what it `fills`."""

    node: ast.AST | None
    parent: _Part | None
    names: tuple[str, ...] = ()
    mentions: set[str] = field(default_factory=set[str])
    fills: set[str] = field(default_factory=set[str])


@dataclass(frozen=True, slots=True)
class Reach:
    """The functions that matter, the names by which another module reaches what matters here, and whether anything does."""

    functions: frozenset[FunctionNode]
    names: frozenset[str]
    anything: bool


def reach(tree: Tree, matters: Callable[[str], bool], canonical: Callable[[str], str]) -> Reach:
    """Look at a module.

    `matters` is asked about dotted names: canonical ones where the imports tell what they are, else `?.attribute` for an attribute
    of an object that nobody knows, and `builtins.name` for a name that the module does not import.
    """
    parts, imports = _parts(tree)
    known = {name: canonical(target) for name, target in imports.items()}
    for part in parts:
        part.mentions = {_resolved(name, known) for name in part.mentions}
    return _closed(parts, {name for part in parts for name in part.mentions if matters(_asked(name))})


def _asked(name: str) -> str:
    return name if "." in name else f"builtins.{name}"


def _resolved(name: str, imports: Mapping[str, str]) -> str:
    """A dotted name by its imports; `?.last` for one that begins with an object."""
    first, _, rest = name.partition(".")
    if first in imports:
        return f"{imports[first]}.{rest}" if rest else imports[first]
    if rest:
        return f"?.{name.rpartition('.')[2]}"
    return f"{imports['*'].removesuffix('*')}{name}" if "*" in imports else name


def _closed(parts: list[_Part], seeds: set[str]) -> Reach:
    """All that leads to the seeds."""
    mentioning: dict[str, list[_Part]] = {}
    filling: dict[str, list[_Part]] = {}
    for part in parts:
        for name in part.mentions:
            mentioning.setdefault(_last(name), []).append(part)
        for name in part.fills:
            filling.setdefault(name, []).append(part)
    leading: set[_Part] = set()
    feeding: set[_Part] = set()
    named = set(seeds)
    stack = [part for name in seeds for part in mentioning[_last(name)] if name in part.mentions]
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


def _parts(tree: Tree) -> tuple[list[_Part], dict[str, str]]:
    module = _Part(None, None)
    parts = [module]
    imports: dict[str, str] = {}
    stack: list[tuple[ast.AST, _Part]] = [(one, module) for chunk in tree.chunks for one in chunk.body]
    while stack:
        node, within = stack.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                special = name.startswith("__") and name.endswith("__")
                within = _added(_Part(node, within, () if special else (name,)), parts)
            case ast.Lambda():
                within = _added(_Part(node, within), parts)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
                within = _added(_Part(node, within, (), set(), set(_filled(node, within))), parts)
            case ast.Import() | ast.ImportFrom():
                imports.update(_imported(node))
                within.mentions.update(alias.asname or alias.name for alias in node.names)
                continue
            case ast.Attribute():
                names, inner = _chain(node)
                within.mentions.update(names)
                if inner is not None:
                    stack.append((inner, within))
                continue
            case ast.Name(id=name, ctx=ast.Load()):
                within.mentions.add(name)
                continue
            case ast.Constant(value=str() as text) if text.isidentifier():
                within.mentions.add(f"?.{text}")  # getattr(x, "name")
                continue
            case _:
                pass
        stack.extend((child, within) for child in ast.iter_child_nodes(node))
    return parts, imports


def _added(part: _Part, parts: list[_Part]) -> _Part:
    parts.append(part)
    return part


def _filled(node: ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr, within: _Part) -> Iterator[str]:
    """The attributes that an assignment fills, and the variables that others than its function may see."""
    inside: _Part | None = within
    while inside is not None and not isinstance(inside.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        inside = inside.parent
    stack: list[ast.expr] = list(node.targets) if isinstance(node, ast.Assign) else [node.target]
    while stack:
        target = stack.pop()
        match target:
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                stack.extend(elements)
            case ast.Starred(value=inner) | ast.Subscript(value=inner):
                stack.append(inner)
            case ast.Attribute(attr=name):
                yield name
            case ast.Name(id=name) if inside is None or _is_global(name, inside.node):
                yield name
            case _:
                pass


def _is_global(name: str, function: ast.AST | None) -> bool:
    body = function.body if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) else []
    return any(isinstance(one, ast.Global | ast.Nonlocal) and name in one.names for one in body)


def _chain(node: ast.Attribute) -> tuple[list[str], ast.expr | None]:
    """What a chain of attributes mentions, and what it begins with unless that is a name."""
    attributes = [node.attr]
    owner = node.value
    while isinstance(owner, ast.Attribute):
        attributes.append(owner.attr)
        owner = owner.value
    if isinstance(owner, ast.Name):
        return [owner.id, ".".join((owner.id, *reversed(attributes))), *(f"?.{name}" for name in attributes[1:])], None
    return [f"?.{name}" for name in attributes], owner


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, f"{'.' * node.level}{node.module or ''}.{alias.name}"
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            top = alias.name.partition(".")[0]
            yield top, top
