"""What calling a function of JAX or of a neighbour does to placement. `EFFECTS` gives each name of api.toml its meaning."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as MappingType
from dataclasses import replace

from shardlint.placement.devices import DEVICE_EFFECTS, Destination, array_at, destination, placed, spread
from shardlint.placement.domain import (
    ANY,
    ONE,
    UNKNOWN,
    Array,
    Capsule,
    Constant,
    Device,
    Elements,
    Fact,
    Foreign,
    Host,
    Partial,
    Spec,
    Symbol,
    Transformed,
    Value,
    Version,
    leaves,
    map_leaves,
    one_of,
)
from shardlint.placement.machine import Arguments, item_of
from shardlint.placement.operators import combined
from shardlint.placement.site import Site


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
        return Array(None, key, traced=True)
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
    operands = [value for argument in site.arguments.values() for value in leaves(argument)]
    if site.owner is not None:
        operands.insert(0, site.owner)
    if any(isinstance(value, Array) for value in operands):
        result = combined(operands, site.node, site.frame)
        if isinstance(result, Array) and result.trace is not None and result.count != ONE:
            return replace(result, trace=site.step(result.trace, f"{site.short} keeps it on the same devices"))
        return result
    if site.arguments.open or any(value == UNKNOWN for value in operands):
        return Array(None, site.frame.fresh(site.node))
    return create(site)


def same(site: Site) -> Value:
    """The very array that was given."""
    return item_of(site.owner if site.owner is not None else site.arguments.get(0, "x"))


def place(site: Site) -> Value:
    row = site.effect
    value = site.owner if site.owner is not None else site.named(row.value)
    target = site.named(row.target)
    return placed(item_of(value), target, site)


def create_sharded(site: Site) -> Value:
    return placed(Host(), site.named(site.effect.target), site)


def place_on_list(site: Site) -> Value:
    where = destination(item_of(site.named(site.effect.target)), site)
    return array_at(where or Destination(ANY), site)


def replicate(site: Site) -> Value:
    value = item_of(site.arguments.get(0, "tree"))
    return map_leaves(value, lambda _leaf: array_at(Destination(ANY), site))


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
        output = site.arguments.get(None, "out_shardings")
        if how == "shard-map":
            output = site.arguments.get(1, "mesh") or UNKNOWN
        if function is None:
            return Partial(Symbol(site.name), (), tuple(site.arguments.keywords.items()))
        return Transformed(name, function, None if output == Constant(None) else output)

    return apply


def partial(site: Site) -> Value:
    if not site.arguments.positional or site.arguments.open:
        return UNKNOWN
    function, *bound = site.arguments.positional
    return Partial(function, tuple(bound), tuple(site.arguments.keywords.items()))


def tree_map(site: Site) -> Value:
    function, tree = item_of(site.arguments.get(0, "f")), item_of(site.arguments.get(1, "tree"))
    others = site.arguments.positional[2:]
    if others:
        return UNKNOWN
    return map_leaves(tree, lambda leaf: site.machine.call(function, Arguments((leaf,)), site.node, site.frame))


def tree_leaves(site: Site) -> Value:
    return Elements(one_of(leaves(item_of(site.arguments.get(0, "tree")))))


EFFECTS: MappingType[str, Callable[[Site], Value]] = {
    **DEVICE_EFFECTS,
    "unknown": unknown,
    "host": host,
    "foreign": foreign,
    "create": create,
    "like": like,
    "same": same,
    "place": place,
    "create-sharded": create_sharded,
    "place-on-list": place_on_list,
    "replicate": replicate,
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
    "shard-map": transform("shard-map"),
    "transform": transform("transform"),
    "partial": partial,
    "tree-map": tree_map,
    "leaves": tree_leaves,
    "spec": lambda _site: Spec(),
}
