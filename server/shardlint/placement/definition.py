"""Classes of the program: what their bodies define, and where an attribute is looked up."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from shardlint.placement.domain import UNKNOWN, Class, Symbol, Value, inside
from shardlint.placement.lattice import joined
from shardlint.syntax.tree import Place

_PLAIN_BASES = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"})
_RECORD_BASES = frozenset({"flax.linen.Module", "flax.struct.PyTreeNode", "equinox.Module"})
_TUPLE_BASES = frozenset({"typing.NamedTuple"})
_TREE_BASES = _RECORD_BASES | _TUPLE_BASES | {"flax.nnx.Module"}


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter of a constructor that the class does not write itself; `default` is None where there is none."""

    name: str
    default: Value | None


@dataclass(frozen=True, slots=True)
class Look:
    """A class as it was when it was looked at."""

    bases: tuple[Value, ...]
    attributes: Mapping[str, Value]


@dataclass(eq=False)
class Definition:
    """A class as its body left it.

    `shape` is `plain`, `record` (a dataclass: its constructor takes the fields) or `tuple` (a named one); `is_tree` tells that
    JAX looks into its objects. `held` is what attributes of its objects were seen to hold when nobody was at work on them:
    what a method finds that is called from outside. A `restless` class holds containers that changed; `inside` is what may be found in its
    attributes, as `domain.inside` tells it.
    """

    name: str
    place: Place
    shape: str = "plain"
    is_tree: bool = False
    bases: tuple[Value, ...] = ()
    attributes: dict[str, Value] = field(default_factory=dict[str, Value])
    own_fields: tuple[Field, ...] = ()
    held: dict[str, Value] = field(default_factory=dict[str, Value])
    restless: bool = False
    inside: int = 0
    _look: Look | None = None

    @property
    def look(self) -> Look:
        """The class as its body left it: what changes later is told otherwise."""
        if self._look is None:
            self._look = Look(self.bases, dict(self.attributes))
        return self._look

    def begin(self) -> None:
        """Be as before the body ran."""
        self.shape, self.is_tree, self.restless = "plain", False, False
        self.bases, self.own_fields = (), ()
        self.attributes.clear()
        self.held.clear()
        self.inside = 0
        self._look = None

    def end(self, attributes: Mapping[str, Value], own_fields: tuple[Field, ...]) -> None:
        """Take on what the body has bound."""
        for name, value in attributes.items():
            self.put(name, value)
        self.own_fields = own_fields
        self._look = None

    def put(self, name: str, value: Value) -> None:
        """Give the class an attribute."""
        self.attributes[name] = value
        self.inside |= inside(value)

    def derive(self, bases: tuple[Value, ...]) -> None:
        """Take on what the bases are."""
        self.bases = bases
        names = {one.name for one in bases if isinstance(one, Symbol)}
        parents = [one.definition for one in bases if isinstance(one, Class)]
        if names & _TUPLE_BASES or any(parent.shape == "tuple" for parent in parents):
            self.shape = "tuple"
        elif names & _RECORD_BASES or any(parent.shape == "record" for parent in parents):
            self.shape = "record"
        self.is_tree = bool(names & _TREE_BASES) or any(parent.is_tree for parent in parents)

    def order(self) -> list[Definition]:
        """The class and its bases in the order in which attributes are looked up: one that several share comes after them."""
        found: dict[Definition, None] = {}
        for definition in self._all(()):
            found.pop(definition, None)
            found[definition] = None
        return list(found)

    def _all(self, below: tuple[Definition, ...]) -> Iterator[Definition]:
        if self in below:
            return
        yield self
        for base in self.bases:
            if isinstance(base, Class):
                yield from base.definition._all((*below, self))

    def find(self, name: str, behind: Definition | None = None) -> Value | None:
        """A class attribute, looked up only `behind` a class if that is given; None where no class of the program has it."""
        order = self.order()
        if behind is not None:
            order = order[order.index(behind) + 1 :] if behind in order else []
        return next((one.attributes[name] for one in order if name in one.attributes), None)

    def fields(self) -> list[Field]:
        """The parameters of the constructor that a record or named tuple has without writing one."""
        found: dict[str, Field] = {}
        for definition in reversed(self.order()):
            found.update({one.name: one for one in definition.own_fields})
        return list(found.values())

    @property
    def is_open(self) -> bool:
        """Whether some of its bases are not classes of the program: they may bring attributes of which nothing is known."""
        known = _PLAIN_BASES | _RECORD_BASES | _TUPLE_BASES
        return any(
            not isinstance(base, Class) and not (isinstance(base, Symbol) and base.name in known)
            for definition in self.order()
            for base in definition.bases
        )

    def derives_from(self, prefix: str) -> bool:
        """Whether a class from elsewhere whose name begins so is among its bases."""
        return any(
            isinstance(base, Symbol) and base.name.startswith(prefix) for one in self.order() for base in one.bases
        )

    @property
    def is_enumeration(self) -> bool:
        return self.derives_from("enum.")

    def first_named(self, value: Value, name: str) -> str:
        """The first name of a constant of an enumeration: what gets the same value later is the same constant."""
        return next((one for one, held in self.attributes.items() if held == value), name)

    def keep(self, items: tuple[tuple[str, Value], ...]) -> bool:
        """Note what an object holds when nobody is at work on it; whether that is news."""
        news = False
        for name, value in items:
            old = self.held.get(name)
            new = joined(old, value) or UNKNOWN
            if new != old:
                self.held[name] = new
                news = True
        return news


def fields_of(node: ast.ClassDef, variables: dict[str, Value]) -> tuple[Field, ...]:
    """The annotated variables of a class body, in order."""
    found: dict[str, Field] = {}
    for statement in node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation) if not _is_class_variable(annotation):
                found[name] = Field(name, variables.get(name))
            case _:
                pass
    return tuple(found.values())


def _is_class_variable(annotation: ast.expr) -> bool:
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    name = annotation.attr if isinstance(annotation, ast.Attribute) else getattr(annotation, "id", "")
    return name == "ClassVar"
