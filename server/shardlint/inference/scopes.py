"""What expressions and annotations in other people's modules mean: the paths of `placement.paths` to which they lead.

A path is absolute: it begins with a module's full name. `rest` is what is to be read from the object: the remaining steps.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from shardlint.inference.bindings import Assigned, Declared, Imported, Way
from shardlint.placement.annotations import parts_of, unquoted
from shardlint.placement.paths import CALL, name_of
from shardlint.placement.survey import own_nodes
from shardlint.placement.table import Table

Rest = tuple[str, ...]
_BUILTINS = frozenset(dir(builtins))
_TELL_NOTHING = frozenset({"builtins", "typing", "typing_extensions", "collections"})
_OF_DEVICES = frozenset({"mesh", "sharding", "some-sharding"})
_MAKE_THEM = frozenset({"make-mesh", "mesh-over", "named-sharding", "positional-sharding"})
_MOST_DEPTH = 24
_MOST_NAMES = 64


Finder = Callable[[str], "tuple[Scope, str] | None"]
"""Where a dotted name is bound: the names of its module, and the one among them."""


@dataclass(frozen=True, eq=False)
class Scope:
    """The names of a module, or of a function in it with those of the module `around` it; `known` are names of which the path
    is told, as that of `self`. `own_class` is the path of the class of which the function is a method.
    """

    module: str
    bound: Mapping[str, frozenset[Way]]
    table: Table
    finder: Finder
    package: bool = False
    around: Scope | None = None
    known: Mapping[str, str | None] | None = None
    own_class: str | None = None

    def path(self, node: ast.expr, rest: Rest = (), depth: int = 0) -> str | None:
        """Where an expression leads; None where that is not sure."""
        if depth > _MOST_DEPTH:
            return None
        match node:
            case ast.Name(id=name):
                return self._named(name, rest, depth + 1)
            case ast.Attribute(value=owner, attr=name):
                return self.path(owner, (f".{name}", *rest), depth + 1)
            case ast.Call(func=function):
                return self.unless_one(self.path(function, (CALL, *rest), depth + 1), [node])
            case ast.Subscript(value=owner, slice=ast.Constant(value=int() as index)) if _is_index(index):
                return self.path(owner, (f"[{index}]", *rest), depth + 1)
            case ast.Tuple(elts=items) | ast.List(elts=items) if rest[:1] and rest[0].startswith("["):
                index = int(rest[0][1:-1])
                starred = any(isinstance(item, ast.Starred) for item in items)
                return None if starred or index >= len(items) else self.path(items[index], rest[1:], depth + 1)
            case ast.IfExp(body=one, orelse=other):
                return agreed([self.path(one, rest, depth + 1), self.path(other, rest, depth + 1)])
            case ast.BoolOp(op=ast.Or(), values=values):
                return agreed([self.path(value, rest, depth + 1) for value in values])
            case ast.NamedExpr(value=inner) | ast.Await(value=inner):
                return self.path(inner, rest, depth + 1)
            case ast.Subscript() | ast.BinOp(op=ast.BitOr()) if rest[:1] == (CALL,):
                return self.annotated(node, rest[1:], depth + 1)  # a name for a type
            case _:
                return None

    def annotated(self, annotation: ast.expr | None, rest: Rest = (), depth: int = 0) -> str | None:
        """Where an object leads that is annotated so."""
        if depth > _MOST_DEPTH:
            return None
        match unquoted(annotation):
            case ast.Name() | ast.Attribute() as node:
                name = self.path(node, (), depth + 1)
                if name in ("typing.Self", "typing_extensions.Self"):
                    name = self.own_class
                return self._instance(name, rest)
            case ast.Subscript() as node:
                return self._generic(node, rest, depth + 1)
            case _:
                return None

    def _generic(self, node: ast.Subscript, rest: Rest, depth: int) -> str | None:
        name = self.path(node.value, (), depth)
        row = None if name is None else self.table.classes.get(self.table.canonical(name))
        parts = parts_of(node)
        item = int(rest[0][1:-1]) if rest[:1] and rest[0].startswith("[") else None
        match None if row is None else row.kind:
            case "first":
                return self.annotated(parts[0], rest, depth)
            case "items" if item is not None:
                return self.annotated(parts[0], rest[1:], depth)
            case "tuple" if item is not None and item < len(parts):
                several = isinstance(parts[-1], ast.Constant) and parts[-1].value is ...
                return self.annotated(parts[0 if several else item], rest[1:], depth)
            case "items" | "tuple" | "mapping" | "optional" | "union":
                return None
            case _:
                return self._instance(name, rest)

    def _instance(self, name: str | None, rest: Rest) -> str | None:
        """An object of a class; of Python's own classes and of those that may be anything nothing is told."""
        if name is None or CALL in name:
            return None
        row = self.table.classes.get(self.table.canonical(name))
        silent = name.partition(".")[0] in _TELL_NOTHING if row is None else row.kind == "anything"
        return None if silent else "".join((name, CALL, *rest))

    def _named(self, name: str, rest: Rest, depth: int) -> str | None:
        if self.known is not None and name in self.known:
            path = self.known[name]
            return path and path + "".join(rest)
        if name not in self.bound:
            if self.around is not None:
                return self.around._named(name, rest, depth)
            if "*" in self.bound:
                return "".join((self.module, ".", name, *rest))
            return "".join(("builtins.", name, *rest)) if name in _BUILTINS else None
        return agreed([self.of_way(way, name, rest, depth) for way in self.bound[name]])

    def of_way(self, way: Way, name: str, rest: Rest, depth: int = 0) -> str | None:
        """Where a name leads that is bound so."""
        match way:
            case None:
                return None
            case Imported(module):
                return module + "".join(rest)
            case Assigned(value, index):
                return self.path(value, rest if index is None else (f"[{index}]", *rest), depth + 1)
            case Declared(annotation, value):
                told = self.annotated(annotation, rest, depth + 1)
                if told is None and value is not None:
                    told = self.path(value, rest, depth + 1)
                return self.unless_one(told, [] if value is None else [value])
            case _:
                return "".join((self.module, ".", name, *rest)) if self.around is None else None

    def unless_one(self, path: str | None, made_of: Iterable[ast.expr]) -> str | None:
        """The path, but None if it may lead to a mesh or sharding, and what that is made of may mean one device."""
        if path is None:
            return None
        name = self.table.canonical(name_of(path))
        row, effect = self.table.classes.get(name), self.table.effect(name)
        if row is not None or name in self.table.consumers:
            of_devices = row is not None and row.kind in _OF_DEVICES
        else:
            of_devices = effect is None or effect.name in _MAKE_THEM
        return None if of_devices and any(self.says_one(node) for node in made_of) else path

    def says_one(self, node: ast.expr, looked_at: set[tuple[Scope, str]] | None = None) -> bool:
        """Whether an expression may mean one device: it cuts a list, takes an item of one, or says the number one.

        What the names in it stand for is looked at too, but for those in `looked_at`.
        """
        looked_at = set() if looked_at is None else looked_at
        harmless = _beside_others(node)
        return any(self._part_says_one(part, harmless, looked_at) for part in ast.walk(node))

    def _part_says_one(self, part: ast.AST, harmless: set[ast.AST], looked_at: set[tuple[Scope, str]]) -> bool:
        match part:
            case ast.Slice(upper=ast.Name(id=bound)) if self.known is not None and bound in self.known:
                return False  # whoever calls says how many
            case ast.Slice() | ast.Subscript(slice=ast.Constant(value=int())):
                return True
            case ast.Constant(value=number):
                return type(number) is int and number == 1 and part not in harmless
            case ast.Attribute(attr="SingleDeviceSharding") | ast.Name(id="SingleDeviceSharding"):
                return True
            case ast.Name() | ast.Attribute():
                place = self._place(part)
                if place is None or place in looked_at or len(looked_at) > _MOST_NAMES:
                    return False
                looked_at.add(place)
                scope, name = place
                return any(scope.says_one(value, looked_at) for value in scope.values_of(name))
            case _:
                return False

    def _place(self, node: ast.expr) -> tuple[Scope, str] | None:
        """Where a name is bound to something else than another one, in this module or in the one from which it is imported."""
        behind: list[str] = []
        while isinstance(node, ast.Attribute):
            behind.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        scope: Scope | None = self
        while scope is not None and node.id not in scope.bound:
            scope = scope.around
        ways = frozenset[Way]() if scope is None else scope.bound[node.id]
        imported = [way.name for way in ways if isinstance(way, Imported)]
        if imported:
            return self.finder(".".join((imported[0], *behind)))
        return None if scope is None or behind else (scope, node.id)

    def values_of(self, name: str) -> list[ast.expr]:
        """The expressions that a name bound here may stand for, and those that it returns if it is a function."""
        found: list[ast.expr] = []
        for way in self.bound[name]:
            if isinstance(way, Assigned | Declared) and way.value is not None:
                found.append(way.value)
            elif isinstance(way, ast.FunctionDef | ast.AsyncFunctionDef):
                returned = [node.value for node in own_nodes(way) if isinstance(node, ast.Return)]
                found.extend(value for value in returned if value is not None)
        return found


@dataclass(frozen=True)
class Module:
    """What the text of a module says of its names."""

    scope: Scope

    def ways(self, name: str, rest: Rest = ()) -> frozenset[str | None]:
        """The paths to which `rest` of `name` may lead.

        None stands among them for every other way: a definition, a value that is none, or that nothing may be bound at all.
        There is none where no statement binds the name. What star imports bring is not looked into.
        """
        scope = self.scope
        ways = scope.bound.get(name, frozenset[Way]())
        return frozenset(None if isinstance(way, ast.AST) else scope.of_way(way, name, rest) for way in ways)

    def definition(self, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | None:
        """The definition that the name stands for, if nothing else may be bound to it."""
        ways = self.scope.bound.get(name, frozenset[Way]())
        (way,) = ways if len(ways) == 1 else (None,)
        return way if isinstance(way, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else None


def agreed(paths: list[str | None]) -> str | None:
    """The path, if all lead there."""
    return paths[0] if paths and len(set(paths)) == 1 else None


def _is_index(number: int) -> bool:
    """Whether a path can have an item of this number."""
    return type(number) is int and 0 <= number < 10_000


def _beside_others(node: ast.expr) -> set[ast.AST]:
    """The numbers in an expression that stand beside larger or unknown ones, as in the shape of a mesh, and negative ones."""
    found: set[ast.AST] = set()
    for part in ast.walk(node):
        match part:
            case ast.Tuple(elts=sizes) | ast.List(elts=sizes) | ast.Call(args=sizes):
                known = [one.value for one in sizes if isinstance(one, ast.Constant) and isinstance(one.value, int)]
                if len(sizes) > 1 and (len(known) < len(sizes) or any(size > 1 for size in known)):
                    found.update(sizes)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                found.add(operand)
            case _:
                pass
    return found
