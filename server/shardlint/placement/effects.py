"""What calling a function of JAX or of a neighbour does to placement. `EFFECTS` gives each name of api.toml its meaning."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from collections.abc import Mapping as MappingType
from dataclasses import replace

from shardlint.placement.devices import DEVICE_EFFECTS, Destination, array_at, destination, placed, spread
from shardlint.placement.domain import (
    ANY,
    ONE,
    UNKNOWN,
    WHOLE,
    Array,
    Capsule,
    Constant,
    Device,
    Devices,
    Elements,
    Fact,
    Foreign,
    Host,
    Mapping,
    OneOf,
    Partial,
    Sequence,
    Spec,
    Symbol,
    Transformed,
    Unknown,
    Value,
    Version,
)
from shardlint.placement.iteration import element, items_of
from shardlint.placement.lattice import alternatives, copied, each, leaves, map_leaves, one_of
from shardlint.placement.machine import Arguments, item_of
from shardlint.placement.operators import combined
from shardlint.placement.site import Site
from shardlint.placement.subscripts import entry

_MOST_STEPS = 8


def unknown(_site: Site) -> Value:
    return UNKNOWN


def host(site: Site) -> Value:
    """Host memory; a list of devices put into a NumPy array stays a list of devices."""
    return spread(site) or Host()


def foreign(site: Site) -> Value:
    return Foreign(site.effect.library or "")


def create(site: Site) -> Value:
    """A new array on the default device, on the mesh in force, or where `device` says."""
    target = site.arguments.get(None, "device")
    if target is not None and target != Constant(None):
        return placed(Host(), target, site)
    key = site.frame.fresh(site.node)
    if site.frame.traced:
        return Array(ONE, key, traced=True)
    state = site.frame.state
    if state.mesh is not None:
        return Array(state.mesh, key, trace=site.step(state.mesh_trace, f"{site.short} makes it on that mesh"))
    return Array(ONE, key, state.default)


def default_device(site: Site) -> Value:
    """`jax.default_device(d)`, until the `with` statement ends."""
    device = site.argument(0)
    site.frame.state.default = device.id if isinstance(device, Device) else None
    return UNKNOWN


def configure(site: Site) -> Value:
    """`jax.config.update`, of which only the default device matters here."""
    if site.argument(0) == Constant("jax_default_device"):
        device = site.argument(1)
        site.frame.state.default = device.id if isinstance(device, Device) else None
    return UNKNOWN


def like(site: Site) -> Value:
    """On the devices of the operands; without an array among them, a new array."""
    target = site.arguments.get(None, "device")
    if target is not None and target != Constant(None):
        values = site.arguments.positional
        return placed(values[0] if values else Host(), target, site)
    operands = _operands(site)
    if any(isinstance(choice, Array) for value in operands for choice in alternatives(value)):
        return each(combined(operands, site.node, site.frame), lambda result: _stepped(result, site))
    if site.arguments.open or any(isinstance(value, Unknown) for value in operands):
        return Array(None, site.frame.fresh(site.node), traced=site.frame.traced)
    return create(site)


def like_or_same(site: Site) -> Value:
    """The same of an operation that gives back its operand where there is nothing to do: with a mesh in force nobody knows."""
    result, operands = like(site), _operands(site)
    if site.frame.state.mesh is None or site.frame.traced:
        return result
    counts = [site.frame.count(one) for value in operands for one in alternatives(value) if isinstance(one, Array)]
    if not counts or any(count != ONE for count in counts):
        return result
    return Array(None, site.frame.fresh(site.node))


def _operands(site: Site) -> list[Value]:
    """What an operation works on: its arguments, the leaves of those that are trees."""
    given = [*([] if site.owner is None else [site.owner]), *site.arguments.values()]
    trees = (Sequence, Mapping, Elements)
    return [
        part
        for value in given
        for part in (leaves(value) if any(isinstance(one, trees) for one in alternatives(value)) else (value,))
    ]


def _stepped(result: Value, site: Site) -> Value:
    if isinstance(result, Array) and result.trace is not None and result.count != ONE:
        return replace(result, trace=site.step(result.trace, f"{site.short} keeps it on the same devices"))
    return result


def like_each(site: Site) -> Value:
    """Several such arrays: `jnp.split`."""
    return Elements(like(site), site.machine.new_ids())


def from_host(site: Site) -> Value:
    """A copy of an array is where that is; anything else goes to one device, whatever mesh is set."""
    result = like(site)
    return replace(result, count=ONE, trace=None) if _is_new(site) and isinstance(result, Array) else result


def _is_new(site: Site) -> bool:
    target = site.arguments.get(None, "device")
    told = target is not None and target != Constant(None)
    known = all(not isinstance(value, Array | Unknown | OneOf) for value in _operands(site))
    return known and not told and not site.arguments.open and not site.frame.traced


def same(site: Site) -> Value:
    """The very array that was given."""
    return item_of(site.owner if site.owner is not None else site.arguments.get(0, "x"))


def copy(site: Site) -> Value:
    """A copy: another container with the same items, an array on the same devices."""
    return copied(same(site), site.machine.new_ids())


def place(site: Site) -> Value:
    row = site.effect
    value = site.owner if site.owner is not None else site.named(row.value)
    target = site.named(row.target)
    return placed(item_of(value), target, site)


def create_sharded(site: Site) -> Value:
    return placed(Host(), site.named(site.effect.target), site)


def place_on_list(site: Site) -> Value:
    where = destination(item_of(site.named(site.effect.target)), site)
    return _laid_out(array_at(where or Destination(ANY), site), site)


def replicate(site: Site) -> Value:
    value = item_of(site.arguments.get(0, "tree"))
    given = site.arguments.get(1, "devices")
    where = None if given is None else destination(given, site)
    return map_leaves(value, lambda _leaf: _laid_out(array_at(where or Destination(WHOLE), site), site))


def _laid_out(array: Array, site: Site) -> Array:
    """Up to JAX 0.7 `pmap` and its helpers put one slice on each device, and what is computed from that is on one."""
    return replace(array, stacked=site.effect.name.endswith("-stacked"))


def unreplicate(site: Site) -> Value:
    return map_leaves(item_of(site.arguments.get(0, "tree")), lambda _leaf: Array(ONE, site.frame.fresh(site.node)))


def import_(site: Site) -> Value:
    """An array from outside is on one device."""
    source = site.arguments.get(0, "external_array")
    target = site.arguments.get(None, "device")
    if target is not None and target != Constant(None):
        return placed(Host(), target, site)
    device = source.device if isinstance(source, Foreign) else None
    return Array(ONE, site.frame.fresh(site.node), device)


def one_shard(site: Site) -> Value:
    return Array(ONE, site.frame.fresh(site.node))


def capsule(site: Site) -> Value:
    return Capsule(site.step(None, f"{site.short} makes a DLPack capsule"))


def device_set(site: Site) -> Value:
    owner = site.owner
    if not isinstance(owner, Array):
        return UNKNOWN
    return Fact("device_set", owner.key, site.frame.count(owner), owner.trace)


def reduce(site: Site) -> Value:
    """`functools.reduce`: the function over the items."""
    function, values = item_of(site.arguments.get(0)), item_of(site.arguments.get(1))
    first, items = site.arguments.get(2), items_of(values)
    known = items is not None and len(items) <= _MOST_STEPS
    steps = [
        *(() if first is None else (first,)),
        *(items if known and items else [element(values, site.node, site.frame)] * 3),
    ]
    made = steps[0]
    for step in steps[1:]:
        last = site.machine.call(function, Arguments((made, step)), site.node, site.frame)
        made = last if known else one_of([made, last])
    return made


def set_mesh(site: Site) -> Value:
    """The setter form; the context manager form is undone by the `with` statement."""
    mesh = destination(site.argument(0, "mesh"), site)
    state = site.frame.state
    state.mesh = ANY if mesh is None else mesh.count
    state.mesh_trace = site.step(None if mesh is None else mesh.trace, f"{site.short} puts new arrays on the mesh")
    return UNKNOWN


def version(site: Site) -> Value:
    value = item_of(site.arguments.get(0))
    return value if isinstance(value, Version | Constant) else UNKNOWN


def transform(how: str) -> Callable[[Site], Value]:
    """`jax.jit` and its like: a function of a function, or a decorator still waiting for its function."""

    def apply(site: Site) -> Value:
        function = site.arguments.get(0, "fun") or site.arguments.get(None, "f")
        name = site.name.rpartition(".")[2] if how == "transform" else how
        output = site.arguments.get(None, "devices" if how.startswith("pmap") else "out_shardings")
        put = site.arguments.get(None, "in_shardings")
        if how == "shard-map":
            output = site.arguments.get(1, "mesh") or _mesh_in_force(site)
        if function is None:
            return Partial(Symbol(site.name), (), tuple(site.arguments.keywords.items()))
        none = Constant(None)
        return Transformed(name, function, None if output == none else output, None if put == none else put)

    return apply


def _mesh_in_force(site: Site) -> Value:
    state = site.frame.state
    return UNKNOWN if state.mesh is None else Devices(state.mesh, None, state.mesh_trace)


def same_function(site: Site) -> Value:
    """A decorator that leaves placement alone: `functools.cache`."""
    given = site.arguments.get(0, "user_function")
    return Symbol("functools.cache") if given is None or isinstance(given, Constant) else given


def wraps(_site: Site) -> Value:
    """A decorator that was given something to copy names from: it leaves the function alone."""
    return Symbol("functools.cache")


def stop(site: Site) -> Value:
    """A call that does not return."""
    site.frame.may_raise()
    site.frame.state.alive = False
    return UNKNOWN


def loop_carry(site: Site) -> Value:
    """`fori_loop` and `while_loop`: what was put in comes out, on the devices of what the body makes of it."""
    start = item_of(site.arguments.values()[-1] if site.arguments.positional else None)
    if any(isinstance(leaf, Array) and leaf.count not in (None, ONE) for leaf in leaves(start)):
        return map_leaves(
            start, lambda leaf: each(combined([leaf], site.node, site.frame), lambda one: _stepped(one, site))
        )
    return UNKNOWN


def partial(site: Site) -> Value:
    if not site.arguments.positional or site.arguments.open:
        return UNKNOWN
    function, *bound = site.arguments.positional
    return Partial(function, tuple(bound), tuple(site.arguments.keywords.items()))


def tree_map(site: Site) -> Value:
    """`jax.tree.map`: the function on the leaves of the first tree, each with its like in the others."""
    function, tree = item_of(site.arguments.get(0, "f")), item_of(site.arguments.get(1, "tree"))
    others = site.arguments.positional[2:]
    made = _mapped(function, tree, others, site)
    return copied(made, site.machine.new_ids())


def _mapped(function: Value, tree: Value, others: tuple[Value, ...], site: Site) -> Value:
    if isinstance(tree, OneOf) and not others:
        return one_of([_mapped(function, alternative, others, site) for alternative in tree.values])
    match tree:
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


def _under(tree: Value, key: Hashable) -> Value:
    return entry(tree, Constant(key)) if isinstance(tree, Mapping) else UNKNOWN


def tree_leaves(site: Site) -> Value:
    """`jax.tree.leaves`; a dict's leaves are in the order of its keys."""
    tree = item_of(site.arguments.get(0, "tree"))
    known = _ordered_leaves(tree)
    ids = site.machine.new_ids()
    return Elements(one_of(leaves(tree)), ids) if known is None else Sequence(tuple(known), ids)


def _ordered_leaves(tree: Value) -> list[Value] | None:
    match tree:
        case Sequence(items):
            parts = [_ordered_leaves(item) for item in items]
        case Mapping(items, None) if all(isinstance(key, str) for key, _ in items):
            parts = [_ordered_leaves(item) for _, item in sorted(items, key=lambda pair: str(pair[0]))]
        case Elements() | Mapping() | OneOf() | Unknown():
            return None
        case _:
            return [tree]
    known = [part for part in parts if part is not None]
    return [leaf for part in known for leaf in part] if len(known) == len(parts) else None


def tree_flatten(site: Site) -> Value:
    """Leaves and the tree that they came from, which stands for its structure."""
    return Sequence(
        (tree_leaves(site), Partial(Symbol("jax.tree.unflatten"), (item_of(site.arguments.get(0, "tree")),), ()))
    )


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
        case Mapping(held):
            made = {key: _refilled(item, items) for key, item in sorted(held, key=lambda pair: str(pair[0]))}
            return Mapping(tuple((key, made[key]) for key, _ in held))
        case _:
            return items.pop(0)


def scan(site: Site) -> Value:
    """`jax.lax.scan`: carry and outputs on the devices of what goes in, if that is on several."""
    given = [leaf for value in site.arguments.values()[1:] for leaf in leaves(value)]
    many = [leaf for leaf in given if isinstance(leaf, Array) and leaf.count not in (None, ONE)]
    if not many:
        return Sequence((UNKNOWN, UNKNOWN))
    made = _stepped(combined([many[0]], site.node, site.frame), site)
    return Sequence((made, made))


EFFECTS: MappingType[str, Callable[[Site], Value]] = {
    **DEVICE_EFFECTS,
    "unknown": unknown,
    "host": host,
    "foreign": foreign,
    "create": create,
    "like": like,
    "like-each": like_each,
    "like-or-same": like_or_same,
    "from-host": from_host,
    "loop-carry": loop_carry,
    "reduce": reduce,
    "same-function": same_function,
    "wraps": wraps,
    "stop": stop,
    "same": same,
    "copy": copy,
    "tree-flatten": tree_flatten,
    "tree-unflatten": tree_unflatten,
    "scan": scan,
    "place": place,
    "create-sharded": create_sharded,
    "place-on-list": place_on_list,
    "place-on-list-stacked": place_on_list,
    "replicate": replicate,
    "replicate-stacked": replicate,
    "unreplicate": unreplicate,
    "import": import_,
    "one-shard": one_shard,
    "capsule": capsule,
    "device-set": device_set,
    "set-mesh": set_mesh,
    "default-device": default_device,
    "configure": configure,
    "version": version,
    "jit": transform("jit"),
    "pmap": transform("pmap"),
    "pmap-stacked": transform("pmap-stacked"),
    "shard-map": transform("shard-map"),
    "transform": transform("transform"),
    "partial": partial,
    "tree-map": tree_map,
    "leaves": tree_leaves,
    "spec": lambda _site: Spec(),
}

TRACING = frozenset({"jit", "pmap", "pmap-stacked", "shard-map", "transform"})
"""The effects whose functions JAX calls with tracers."""
