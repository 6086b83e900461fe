"""What annotations tell of the objects that they stand at. They are believed, as whoever wrote them knew."""

from __future__ import annotations

import ast
from collections.abc import Hashable

from shardlint.placement.domain import (
    UNKNOWN,
    Class,
    Constant,
    Elements,
    External,
    Mapping,
    Mesh,
    Sequence,
    Sharding,
    Symbol,
    Unknown,
    Value,
)
from shardlint.placement.frame import Code, Frame
from shardlint.placement.instances import WORDS, instance, kind_of
from shardlint.placement.lattice import one_of
from shardlint.placement.machine import Machine
from shardlint.placement.objects import typical
from shardlint.placement.paths import CALL
from shardlint.placement.table import Table
from shardlint.placement.trace import traced
from shardlint.syntax.scopes import FunctionNode, parameters
from shardlint.syntax.tree import Node, Place

_ARRAY_TYPES = frozenset({"Array", "ndarray", "Tensor", "DeviceArray"})
"""An unknown class of such a name is asked for at once."""


def unquoted(annotation: ast.expr | None) -> ast.expr | None:
    """The expression in an annotation that is written as a string."""
    if not isinstance(annotation, ast.Constant) or not isinstance(annotation.value, str):
        return annotation
    try:
        return ast.parse(annotation.value.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def parts_of(annotation: ast.Subscript) -> tuple[ast.expr, ...]:
    """What stands in the brackets of an annotation."""
    inside = annotation.slice
    return tuple(inside.elts) if isinstance(inside, ast.Tuple) else (inside,)


def generic_kind(name: str, table: Table) -> str | None:
    """What the first of the brackets behind this name is to the object: its own type ("first"), that of its items, ..."""
    row = table.classes.get(name)
    return None if row is None else row.kind


def declared(
    annotation: ast.expr | None, key: Hashable, place: Place, frame: Frame, machine: Machine, *, what: str
) -> Value:
    """An object that is annotated so; `key` is its identity if it is an array, `what` the program's name for it."""
    return _Reader(key, place, frame, machine, what).read(annotation)


def annotated(
    parameter: ast.arg, default: Value | None, key: Hashable, code: Code, closure: Frame, machine: Machine
) -> Value:
    """What a parameter with this default, if any, holds when somebody from outside calls the function."""
    place = Place(code.chunk, parameter)
    value = declared(parameter.annotation, key, place, closure, machine, what=parameter.arg)
    if parameter in (code.node.args.vararg, code.node.args.kwarg):
        items = Elements(value) if parameter is code.node.args.vararg else Mapping((), value, machine.new_ids())
        return UNKNOWN if isinstance(value, Unknown) else items
    if default is None:
        return value
    if isinstance(default, type(value)) and isinstance(default, Mesh | Sharding):
        return one_of([default, UNKNOWN])  # it says more than the annotation
    if not isinstance(value, Unknown):
        return one_of([value, default]) if default == Constant(None) else value
    return value if isinstance(default, Constant) else one_of([default, value])


def as_annotated(bound: dict[str, Value], code: Code, closure: Hashable, machine: Machine) -> dict[str, Value]:
    """The arguments of a call, with what the annotations of the parameters say of those of which nothing is known."""
    if UNKNOWN not in bound.values() or not isinstance(closure, Frame):
        return bound
    told = dict(bound)
    for index, parameter in enumerate(parameters(code.node.args)):
        if parameter.annotation is not None and bound.get(parameter.arg) == UNKNOWN:
            key = ("parameter", code.node, index)
            told[parameter.arg] = annotated(parameter, None, key, code, closure, machine)
    return told


def returned_as(code: Code, value: Value, closure: Frame, node: Node, frame: Frame, machine: Machine) -> Value:
    """What a call gives: the annotation of the function tells what its body does not, which may be left out."""
    annotation = None if isinstance(code.node, ast.Lambda) else code.node.returns
    if annotation is None or not (isinstance(value, Unknown) or _is_stub(code.node)):
        return value
    told = declared(annotation, frame.fresh(node), code.place, closure, machine, what=f"what {code.name} returns")
    return value if isinstance(told, Unknown) else told


def _is_stub(node: FunctionNode) -> bool:
    """Whether the body is only said to be somewhere: `...`, behind a text or not."""
    body = [] if isinstance(node, ast.Lambda) else node.body
    return all(
        isinstance(one, ast.Pass) or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)) for one in body
    )


def assigned_as(node: ast.AnnAssign, value: Value, frame: Frame, machine: Machine) -> Value:
    """What an annotated variable holds: the annotation tells only what its value does not."""
    if not isinstance(value, Unknown):
        return value
    told = declared(
        node.annotation, frame.fresh(node), frame.place(node), frame, machine, what=ast.unparse(node.target)
    )
    return value if isinstance(value, External) and isinstance(told, Unknown) else told


class _Reader:
    def __init__(self, key: Hashable, place: Place, frame: Frame, machine: Machine, what: str) -> None:
        self._key = key
        self._place = place
        self._frame = frame
        self._machine = machine
        self._what = what

    def read(self, annotation: ast.expr | None) -> Value:
        node = unquoted(annotation)
        match node:
            case ast.Constant(value=None):
                return Constant(None)
            case ast.Name() | ast.Attribute():
                return self._named(node)
            case ast.Subscript():
                return self._subscripted(node)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self._union([left, right])
            case _:
                return UNKNOWN

    def _union(self, members: list[ast.expr]) -> Value:
        """Either of two; where nothing is known of one, of the whole neither, as that may be anything."""
        values = [self.read(member) for member in members]
        return UNKNOWN if any(isinstance(value, Unknown) for value in values) else one_of(values)

    def _named(self, node: ast.expr) -> Value:
        match self._meaning(node):
            case Class(definition):
                return typical(definition, self._key, self._machine)
            case Symbol(name) if not name.startswith("builtins."):
                row = kind_of(name, self._machine) if name in self._machine.table.classes else None
                if row is not None:
                    return self._instance(*row)
                if self._machine.table.effect(name) is not None:
                    return UNKNOWN
                if name.rpartition(".")[2] in _ARRAY_TYPES:
                    self._machine.ask(name + CALL)
                path = name + CALL
                return self._machine.meaning(path, node, self._frame) or External(path)
            case _:
                return UNKNOWN

    def _meaning(self, node: ast.expr) -> Value:
        """What is named; an import that only a type checker sees counts too."""
        found = self._machine.evaluate(node, self._frame)
        imports = self._machine.module_of(self._frame).outline.imports
        if isinstance(found, Unknown) and isinstance(node, ast.Name) and node.id in imports:
            return self._machine.imported(Symbol(imports[node.id]), node, self._frame)
        return found

    def _instance(self, kind: str, library: str) -> Value:
        trace = None
        if kind in WORDS:
            trace = traced(None, self._place, f"{self._what} is a {WORDS[kind]}, by its annotation")
        found = instance(kind, library, self._key, trace)
        return UNKNOWN if found is None else found

    def _subscripted(self, node: ast.Subscript) -> Value:
        match self._machine.evaluate(node.value, self._frame):
            case Symbol(name):
                pass
            case _:
                return UNKNOWN
        parts = parts_of(node)
        match generic_kind(name, self._machine.table):
            case "first":
                return self.read(parts[0])
            case "optional":
                return self._union([parts[0], ast.Constant(None)])
            case "union":
                return self._union(list(parts))
            case "items":
                return Elements(self.read(parts[0]), self._machine.new_ids())
            case "tuple" if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is ...:
                return Elements(self.read(parts[0]))
            case "tuple":
                return Sequence(tuple(self.read(part) for part in parts))
            case "mapping" if len(parts) == 2:
                return Mapping((), self.read(parts[1]), self._machine.new_ids())
            case None:
                return UNKNOWN
            case _:
                return self._named(node.value)
