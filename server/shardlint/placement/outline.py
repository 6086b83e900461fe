"""What a look at the names in a module tells: what each of its parts mentions and fills, and what it imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from shardlint.syntax.scopes import absolute
from shardlint.syntax.tree import Chunk, Tree

DONATING = frozenset({"donate_argnums", "donate_argnames"})
"""The keywords of which a part's mentions tell as of attributes: with them a function gives up what it is given."""


@dataclass(eq=False)
class Part:
    """The module, a function, a class or an assignment: what it mentions, by which `names` others reach it, what it `fills`.

    Mentions are dotted names: those of imports where the imports tell what they are, else `?.attribute` for an attribute of an
    object that nobody knows, and a plain name for one that the module does not import.
    """

    node: ast.AST | None
    parent: Part | None
    names: tuple[str, ...] = ()
    mentions: set[str] = field(default_factory=set[str])
    fills: set[str] = field(default_factory=set[str])


@dataclass(frozen=True, slots=True)
class Look:
    """What one chunk tells; the first part stands for the module. `raw` is what each part mentions as it is written there."""

    parts: tuple[Part, ...]
    raw: tuple[frozenset[str], ...]
    imports: Mapping[str, str]
    stars: tuple[str, ...]

    @property
    def top(self) -> frozenset[str]:
        """The names that the chunk binds in the module."""
        module = self.parts[0]
        return frozenset(name for part in self.parts if part.parent is module for name in (*part.names, *part.fills))


@dataclass(frozen=True, slots=True)
class Outline:
    """`imports` are the full names of what is imported anywhere in the module, by the names that it gets; `stars` are the modules of
    which it imports everything, `defines` the names that its own statements bind at its top, and `public` those that another
    module gets that imports everything.
    """

    looks: Mapping[Chunk, Look]
    imports: Mapping[str, str]
    stars: tuple[str, ...]
    defines: frozenset[str]
    public: frozenset[str]

    @property
    def parts(self) -> Iterator[Part]:
        for look in self.looks.values():
            yield from look.parts


def outline(tree: Tree, package: str, before: Outline | None = None) -> Outline:
    """Look at a module; `package` is that against which its relative imports are meant. Only what is new since the outline `before`
    is looked at, which must have been made for the same package and cannot be used any more.
    """
    known: Mapping[Chunk, Look] = {} if before is None else before.looks
    looks = {chunk: known.get(chunk) or _look(chunk, package) for chunk in tree.chunks}
    imports = {name: full for look in looks.values() for name, full in look.imports.items()}
    stars = tuple(star for look in looks.values() for star in look.stars)
    top = frozenset[str]().union(*(look.top for look in looks.values()))
    same = (
        before is not None
        and (before.imports, before.stars) == (imports, stars)
        and (not stars or before.defines == top)
    )
    for chunk, look in looks.items():
        if not (same and chunk in known):
            for part, raw in zip(look.parts, look.raw, strict=True):
                part.mentions = {full for name in raw for full in _resolved(name, imports, stars, top)}
    listed = _listed(tree)
    public = frozenset(name for name in {*top, *imports} if not name.startswith("_")) if listed is None else listed
    return Outline(looks, imports, stars, top, public)


def _listed(tree: Tree) -> frozenset[str] | None:
    """The names of a literal `__all__`; None if there is none."""
    for chunk in tree.chunks:
        for statement in chunk.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=items) | ast.Tuple(elts=items)):
                    return frozenset(
                        one.value for one in items if isinstance(one, ast.Constant) and isinstance(one.value, str)
                    )
                case _:
                    pass
    return None


def _resolved(name: str, imports: Mapping[str, str], stars: tuple[str, ...], top: frozenset[str]) -> Iterator[str]:
    """A dotted name by its imports, each one from which it may be; `?.last` for one that begins with an object."""
    first, _, rest = name.partition(".")
    if first in imports:
        yield f"{imports[first]}.{rest}" if rest else imports[first]
    elif rest:
        yield f"?.{name.rpartition('.')[2]}"
    else:
        yield name
    if first not in imports and first != "?" and first not in top:
        for star in stars:
            yield f"{star}.{name}"


def _look(chunk: Chunk, package: str) -> Look:
    module = Part(None, None)
    parts = [module]
    imports: dict[str, str] = {}
    stars: list[str] = []
    shared: dict[ast.AST | None, frozenset[str]] = {}
    stack: list[tuple[ast.AST, Part]] = [(one, module) for one in chunk.body]
    while stack:
        node, within = stack.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                special = name.startswith("__") and name.endswith("__")
                within = _added(Part(node, within, () if special else (name,)), parts)
            case ast.Lambda():
                within = _added(Part(node, within), parts)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
                within = _added(Part(node, within, (), set(), set(_filled(node, within, shared))), parts)
            case ast.ImportFrom(names=[ast.alias(name="*")]):
                stars.append(absolute(node, package))
                continue
            case ast.Import() | ast.ImportFrom():
                imports.update(_imported(node, package))
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
            case ast.Subscript(slice=index, ctx=ast.Load()) if not _is_literal(index):
                within.mentions.add("?.__getitem__")
            case ast.keyword(arg=str() as name) if name in DONATING:
                within.mentions.add(f"?.{name}")
            case ast.Constant(value=str() as text) if text.isidentifier() or (text[:1] == ">" and text[1:].isalnum()):
                within.mentions.add(f"?.{text}")  # getattr(x, "name"), np.dtype(">f4")
                continue
            case _:
                pass
        stack.extend((child, within) for child in ast.iter_child_nodes(node))
    return Look(tuple(parts), tuple(frozenset(part.mentions) for part in parts), imports, tuple(stars))


def _is_literal(index: ast.expr) -> bool:
    """Whether an index is surely no array."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(isinstance(one, ast.Constant | ast.Slice | ast.UnaryOp | ast.JoinedStr) for one in parts)


def _added(part: Part, parts: list[Part]) -> Part:
    parts.append(part)
    return part


def _filled(
    node: ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr,
    within: Part,
    shared: dict[ast.AST | None, frozenset[str]],
) -> Iterator[str]:
    """The attributes that an assignment fills, and the variables that others than its function may see: those that are `shared`."""
    inside: Part | None = within
    while inside is not None and not isinstance(inside.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        inside = inside.parent
    function = None if inside is None else inside.node
    if function not in shared:
        shared[function] = _declared(function)
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
            case ast.Name(id=name) if function is None or name in shared[function]:
                yield name
            case _:
                pass


def _declared(function: ast.AST | None) -> frozenset[str]:
    """The variables of others that a function says it binds."""
    body = function.body if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) else []
    return frozenset(name for one in body if isinstance(one, ast.Global | ast.Nonlocal) for name in one.names)


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


def _imported(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, str]]:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, f"{absolute(node, package)}.{alias.name}"
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            top = alias.name.partition(".")[0]
            yield top, top
