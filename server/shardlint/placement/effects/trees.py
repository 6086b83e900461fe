"""Functions on pytrees."""

from __future__ import annotations

from collections.abc import Hashable

from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Constant,
    Elements,
    Foreign,
    Host,
    Instance,
    Mapping,
    OneOf,
    Partial,
    Sequence,
    Symbol,
    Unknown,
    Value,
)
from shardlint.placement.effects.transforms import folded
from shardlint.placement.lattice import copied, leaves, map_leaves, one_of
from shardlint.placement.machine import Arguments, item_of
from shardlint.placement.site import Site
from shardlint.placement.subscripts import entry


def tree_map(site: Site) -> Value:
    """`jax.tree.map`: the function on the leaves of the first tree, each with its like in the others."""
    function, tree = item_of(site.arguments.get(0, "f")), item_of(site.arguments.get(1, "tree"))
    others = site.arguments.positional[2:]
    made = _mapped(function, tree, others, site)
    return copied(made, site.machine.new_ids())


def tree_map_with_path(site: Site) -> Value:
    """The same for a function that is given the path to the leaf first."""
    function, tree = item_of(site.arguments.get(0, "f")), item_of(site.arguments.get(1, "tree"))
    made = _mapped(Partial(function, (UNKNOWN,), ()), tree, site.arguments.positional[2:], site)
    return copied(made, site.machine.new_ids())


def tree_reduce(site: Site) -> Value:
    """A function of two over the leaves."""
    tree = item_of(site.arguments.get(1, "tree"))
    known = _ordered_leaves(tree)
    values = Elements(one_of(leaves(tree))) if known is None else Sequence(tuple(known))
    return folded(item_of(site.arguments.get(0, "function")), values, site.arguments.get(2, "initializer"), site)


def _mapped(function: Value, tree: Value, others: tuple[Value, ...], site: Site) -> Value:
    if isinstance(tree, OneOf) and not others:
        return one_of([_mapped(function, alternative, others, site) for alternative in tree.values])
    match tree:
        case Instance(definition, items) if definition.is_tree:
            fields = [
                (name, _mapped(function, item, tuple(_attribute(other, name) for other in others), site))
                for name, item in items
            ]
            return Instance(definition, tuple(fields))
        case Sequence(items):
            rows = [_at(other, index) for index in range(len(items)) for other in others]
            width = len(others)
            made = [
                _mapped(function, item, tuple(rows[index * width : (index + 1) * width]), site)
                for index, item in enumerate(items)
            ]
            return Sequence(tuple(made))
        case Mapping(items, rest):
            pairs = [
                (key, _mapped(function, item, tuple(_under(other, key) for other in others), site))
                for key, item in items
            ]
            unknown = (UNKNOWN,) * len(others)
            return Mapping(tuple(pairs), None if rest is None else _mapped(function, rest, unknown, site))
        case Elements(item):
            return Elements(_mapped(function, item, tuple(_at(other, None) for other in others), site))
        case _:
            return site.machine.call(function, Arguments((tree, *others)), site.node, site.frame)


def _at(tree: Value, index: int | None) -> Value:
    match tree:
        case Sequence(items) if index is not None and index < len(items):
            return items[index]
        case Elements(item):
            return item
        case _:
            return UNKNOWN


def _attribute(tree: Value, name: str) -> Value:
    return item_of(tree.get(name)) if isinstance(tree, Instance) else UNKNOWN


def _under(tree: Value, key: Hashable) -> Value:
    return entry(tree, Constant(key)) if isinstance(tree, Mapping) else UNKNOWN


def tree_leaves(site: Site) -> Value:
    """`jax.tree.leaves`; a dict's leaves are in the order of its keys."""
    tree = item_of(site.arguments.get(0, "tree"))
    known = _ordered_leaves(tree)
    ids = site.machine.new_ids()
    return Elements(one_of(leaves(tree)), ids) if known is None else Sequence(tuple(known), ids)


_LEAVES = (Array, Host, Foreign, Constant)


def _ordered_leaves(tree: Value) -> list[Value] | None:
    match tree:
        case Instance(definition, items) if definition.is_tree:
            parts = [_ordered_leaves(item) for _, item in items]
        case Sequence(items):
            parts = [_ordered_leaves(item) for item in items]
        case Mapping(items, None) if all(isinstance(key, str) for key, _ in items):
            parts = [_ordered_leaves(item) for _, item in sorted(items, key=lambda pair: str(pair[0]))]
        case Constant(None):
            return []
        case OneOf(choices) if all(isinstance(one, (*_LEAVES, Unknown)) and one != Constant(None) for one in choices):
            return [tree]  # what may be a leaf is taken for one
        case Elements() | Mapping() | OneOf() | Unknown():
            return None
        case _:
            return [tree]
    known = [part for part in parts if part is not None]
    return [leaf for part in known for leaf in part] if len(known) == len(parts) else None


def tree_flatten(site: Site) -> Value:
    """Leaves and the tree that they came from, which stands for its structure."""
    return Sequence((tree_leaves(site), tree_structure(site)))


def tree_structure(site: Site) -> Value:
    return Partial(Symbol("jax.tree.unflatten"), (item_of(site.arguments.get(0, "tree")),), ())


def tree_unflatten(site: Site) -> Value:
    """A tree with other leaves in it; without its structure, anything that is made of them."""
    structure, given = site.argument(0, "treedef"), item_of(site.arguments.get(1, "leaves"))
    match structure, given:
        case Partial(Symbol("jax.tree.unflatten"), (tree,)), Sequence(items):
            held = _ordered_leaves(tree)
            if held is not None and len(held) == len(items):
                return copied(_refilled(tree, list(items)), site.machine.new_ids())
        case Partial(Symbol("jax.tree.unflatten"), (tree,)), Elements(item):
            return copied(map_leaves(tree, lambda _leaf: item), site.machine.new_ids())
        case _:
            pass
    return UNKNOWN


def _refilled(tree: Value, items: list[Value]) -> Value:
    """The tree with the items, which are taken from the front, as its leaves."""
    match tree:
        case Sequence(held):
            return Sequence(tuple(_refilled(item, items) for item in held))
        case Instance(definition, held):
            return Instance(definition, tuple([(name, _refilled(item, items)) for name, item in held]))
        case Mapping(held):
            made = {key: _refilled(item, items) for key, item in sorted(held, key=lambda pair: str(pair[0]))}
            return Mapping(tuple((key, made[key]) for key, _ in held))
        case Constant(None):
            return tree
        case _:
            return items.pop(0)
