"""What calling a function that makes or changes classes gives: dataclasses, named tuples, descriptors."""

from __future__ import annotations

import ast
from collections.abc import Callable
from collections.abc import Mapping as MappingType
from dataclasses import replace

from shardlint.placement.definition import Field
from shardlint.placement.domain import (
    UNKNOWN,
    Class,
    Constant,
    Descriptor,
    Function,
    Instance,
    Mapping,
    Partial,
    Sequence,
    Symbol,
    Value,
)
from shardlint.placement.frame import Code
from shardlint.placement.lattice import alternatives, each, held, map_leaves, one_of
from shardlint.placement.machine import Arguments, item_of
from shardlint.placement.objects import replaced
from shardlint.placement.site import Site


def record(site: Site) -> Value:
    """A decorator that writes the constructor; given options first, it waits for its class."""
    given = site.arguments.get(0)
    if given is None:
        return Partial(Symbol(site.name), (), tuple(site.arguments.keywords.items()))
    for one in alternatives(given):
        if isinstance(one, Class) and one.definition.shape == "plain":
            one.definition.shape = "record"
            one.definition.is_tree = one.definition.is_tree or site.effect.name == "tree-record"
    return given


def tree_class(site: Site) -> Value:
    """A decorator that makes JAX look into the objects of a class."""
    given = item_of(site.arguments.get(0))
    for one in alternatives(given):
        if isinstance(one, Class):
            one.definition.is_tree = True
    return given


def field(site: Site) -> Value:
    return Partial(Symbol("dataclasses.field"), (), tuple(site.arguments.keywords.items()))


def named_tuple(site: Site) -> Value:
    """`collections.namedtuple("Name", fields)`, `typing.NamedTuple("Name", [(field, type)])`."""
    names = _field_names(site.argument(1, "field_names"))
    if names is None or not isinstance(site.node, ast.Call):
        return UNKNOWN
    title = site.argument(0, "typename")
    called = str(title.value) if isinstance(title, Constant) else "namedtuple"
    definition = site.machine.definition(site.node, called, site.frame)
    definition.shape, definition.is_tree = "tuple", True
    definition.own_fields = tuple(Field(name, None) for name in names)
    return Class(definition)


def _field_names(given: Value) -> list[str] | None:
    match given:
        case Constant(str() as text):
            return text.replace(",", " ").split()
        case Sequence(items):
            names = [item.items[0] if isinstance(item, Sequence) and item.items else item for item in items]
            known = [one.value for one in names if isinstance(one, Constant) and isinstance(one.value, str)]
            return known if len(known) == len(names) else None
        case _:
            return None


def replace_fields(site: Site) -> Value:
    """`dataclasses.replace(obj, **changes)`."""

    def of(one: Value) -> Value:
        rest = replace(site.arguments, positional=())
        return replaced(one, rest) if isinstance(one, Instance) else UNKNOWN

    return each(site.argument(0, "obj"), of)


def as_dict(site: Site) -> Value:
    return each(site.argument(0), lambda one: Mapping(one.items) if isinstance(one, Instance) else UNKNOWN)


def as_tuple(site: Site) -> Value:
    return each(site.argument(0), lambda one: Sequence(held(one)) if isinstance(one, Instance) else UNKNOWN)


def computed_attribute(site: Site) -> Value:
    """`functools.cached_property`."""
    return Descriptor("property", site.argument(0, "func"))


def partial_method(site: Site) -> Value:
    return Partial(Symbol("functools.partialmethod"), site.arguments.positional, tuple(site.arguments.keywords.items()))


def parts(site: Site) -> Value:
    """`equinox.partition(tree, which)`: two trees of the same shape; a leaf is in one of them, and None in the other."""
    tree = site.argument(0, "pytree")
    return Sequence((tree, tree))


def united(site: Site) -> Value:
    """`equinox.combine` puts them together again."""
    return site.argument(0)


def replaced_at(site: Site) -> Value:
    """`equinox.tree_at(where, tree, new)`: the tree with other leaves where the function points."""
    match site.argument(0, "where"), site.argument(1, "pytree"):
        case Function(code=Code(node=ast.Lambda(body=ast.Attribute(ast.Name(), name)))), Instance() as tree:
            return replaced(tree, Arguments(keywords={name: site.argument(2, "replace")}))
        case _, tree:
            return map_leaves(tree, lambda leaf: one_of([leaf, UNKNOWN]))


def namespace(site: Site) -> Value:
    """`types.SimpleNamespace(**attributes)`: an object of a class of its own."""
    if not isinstance(site.node, ast.Call):
        return UNKNOWN
    definition = site.machine.definition(site.node, "SimpleNamespace", site.frame)
    return Instance(definition, tuple(site.arguments.keywords.items()), site.machine.new_ids())


def import_module(site: Site) -> Value:
    """`importlib.import_module("name")`: as an `import` of that name."""
    name = site.argument(0, "name")
    if len(site.arguments.values()) != 1 or not isinstance(name, Constant) or not isinstance(name.value, str):
        return UNKNOWN
    return site.machine.imported(Symbol(name.value), site.node, site.frame)


CLASS_EFFECTS: MappingType[str, Callable[[Site], Value]] = {
    "record": record,
    "tree-record": record,
    "tree-class": tree_class,
    "field": field,
    "named-tuple": named_tuple,
    "replace-fields": replace_fields,
    "as-dict": as_dict,
    "as-tuple": as_tuple,
    "computed-attribute": computed_attribute,
    "partial-method": partial_method,
    "namespace": namespace,
    "parts": parts,
    "united": united,
    "replaced-at": replaced_at,
    "import-module": import_module,
}
