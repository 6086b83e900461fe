"""Devices, meshes and shardings as values, and putting an array on them."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as MappingType
from dataclasses import dataclass, replace
from math import prod

from shardlint.placement.counts import ANY, ONE, WHOLE, Count, Share
from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Constant,
    Device,
    DeviceId,
    Devices,
    Elements,
    Fact,
    Mapping,
    Mesh,
    Sequence,
    Sharding,
    Spec,
    Unknown,
    Value,
)
from shardlint.placement.external import ask_about
from shardlint.placement.lattice import each, leaves, map_leaves
from shardlint.placement.nature import MESH_OF_ONE, Nature
from shardlint.placement.site import Site
from shardlint.placement.state import EVERY_ARRAY
from shardlint.placement.trace import Trace


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a placement goes: how many devices, which one if it is one, the evidence, and whether it surely is by a mesh."""

    count: Count
    device: DeviceId | None = None
    trace: Trace | None = None
    named: bool = False


def destination(value: Value, site: Site) -> Destination | None:
    """The devices that a device, a sharding, a spec, a mesh or a list of devices means; None where that is unknown."""
    match value:
        case Device(id=device, spans=spans, trace=trace):
            return Destination(replace(ONE, spans=spans), device, trace)
        case Sharding(count, device, trace, named):
            return Destination(count, device if count.surely_one else None, trace, named)
        case Devices(count, device, trace):
            return Destination(count, device if count.surely_one else None, trace)
        case Mesh(count, trace):
            return Destination(count, None, trace)
        case Array(count=Count() as count, trace=trace) if trace is not None:
            return Destination(count, None, trace)  # a person has told the number of devices, not whether it is a mesh
        case Spec():
            return _of_spec(value, site)
        case Fact(what="sharding" | "device" | "mesh" as what, count=Count() as count, trace=trace):
            return Destination(count.unshared if what == "mesh" else count, None, trace)
        case Fact(what="device of shard" | "device of local shard"):
            return Destination(ONE)
        case Sequence() | Elements():
            found = as_devices(value)
            return (
                None
                if found is None
                else Destination(found.count, found.first if found.count.surely_one else None, found.trace)
            )
        case _:
            return None


def _of_spec(spec: Spec, site: Site) -> Destination | None:
    """What a spec means: the mesh in force. One that a `with` statement entered gives it a meaning to few functions; to the others
    it is an error, unless a caller has set a mesh.
    """
    state = site.frame.state
    if state.mesh is None and state.entered is not None and not (site.effect.entered or site.frame.traced):
        return None
    count = replace(state.mesh or state.entered or ANY, share=_share(spec, None))
    return Destination(count, None, state.mesh_trace)


def _share(spec: Value, mesh: Mesh | None) -> Share:
    """What each device gets of an array that is put on a mesh by a spec."""
    if not isinstance(spec, Spec):
        return Share.UNTOLD
    if spec.closed and not spec.axes:
        return Share.ALL
    if mesh is None or mesh.axes is None:
        return Share.UNTOLD
    several = [name for name, size in mesh.axes if size is None or size > 1]
    along = [size for name, size in mesh.axes if name in spec.axes]
    if several and spec.axes.issuperset(several):
        return Share.OWN
    return Share.PART if any(size is not None and size > 1 for size in along) else Share.UNTOLD


def placed(value: Value, target: Value | None, site: Site) -> Value:
    """`value` put where `target` says; without a target an array stays and anything else goes to one device."""
    if target is None or target == Constant(None):
        return map_leaves(value, lambda leaf: _unmoved(leaf, site))
    if isinstance(target, Sequence | Mapping) and as_devices(target) is None:
        return _placed_by_leaf(value, target, site)

    def on(choice: Value) -> Value:
        where = destination(choice, site)
        if where is None:
            ask_about(choice, site.machine)
            return map_leaves(value, lambda _leaf: Array(None, site.frame.fresh(site.node), traced=site.frame.traced))
        return map_leaves(value, lambda _leaf: array_at(where, site))

    return each(target, on)


def array_at(where: Destination, site: Site) -> Array:
    """A new array there."""
    trace = None
    if where.count != ONE:
        trace = site.step(where.trace, f"{site.short} puts it on {where.count.words()}")
    made = Array(where.count, site.frame.fresh(site.node), where.device, site.frame.traced, trace, committed=True)
    if not (where.named and where.count == ONE):
        return made
    told = site.step(where.trace, f"{site.short} puts it on a mesh of one device")
    return replace(made, nature=Nature(marks=frozenset({MESH_OF_ONE}), trace=told))


def unless_held(operands: list[Value], made: Value, site: Site) -> Value:
    """`made` of the operands by a function that JAX refuses to run where one of them was put on one device and the result goes to
    more: then nothing is said of that.
    """
    held = [leaf for value in operands for leaf in leaves(value) if isinstance(leaf, Array) and leaf.committed]
    if not any(site.frame.count(leaf) == ONE for leaf in held):
        return made

    def refused(leaf: Value) -> Value:
        gone = isinstance(leaf, Array) and leaf.count != ONE
        return Array(None, site.frame.fresh(site.node), traced=site.frame.traced) if gone else leaf

    return map_leaves(made, refused)


def _unmoved(leaf: Value, site: Site) -> Value:
    if isinstance(leaf, Array):
        return leaf
    if isinstance(leaf, Unknown):
        return Array(None, site.frame.fresh(site.node), traced=site.frame.traced)
    return Array(ONE, site.frame.fresh(site.node), site.frame.state.default, site.frame.traced)


def _placed_by_leaf(value: Value, target: Sequence | Mapping, site: Site) -> Value:
    match value, target:
        case Sequence(items), Sequence(targets) if len(items) == len(targets):
            return Sequence(tuple(placed(item, where, site) for item, where in zip(items, targets, strict=True)))
        case Mapping(items), Mapping(targets):
            wanted = dict(targets)
            return Mapping(tuple((key, placed(item, wanted.get(key, UNKNOWN), site)) for key, item in items))
        case _:
            return map_leaves(value, lambda _leaf: Array(None, site.frame.fresh(site.node)))


def as_devices(value: Value) -> Devices | None:
    """A list, nested list or NumPy array of devices; None if `value` is anything else."""
    match value:
        case Devices():
            return value
        case Sequence(items) if items:
            found = list(leaves(value))
            if found and all(isinstance(leaf, Device) for leaf in found):
                first = found[0]
                return Devices(Count(len(found), len(found)), first.id if isinstance(first, Device) else None)
            if len(items) == 1:
                return as_devices(items[0])
            return None
        case Elements(Device()):
            return Devices(ANY)
        case Elements(item):
            return as_devices(item) if isinstance(item, Elements) else None
        case _:
            return None


def spread(site: Site) -> Value | None:
    """The devices in an argument that NumPy wraps, or None."""
    given = site.argument(0)
    return Devices(ONE, given.id) if isinstance(given, Device) else as_devices(given)


def reshaped(devices: Devices, dimensions: tuple[Value, ...]) -> Devices:
    """`devices.reshape(...)`: literal dimensions tell the number."""
    if len(dimensions) == 1 and isinstance(dimensions[0], Sequence):
        dimensions = dimensions[0].items
    count = _product(dimensions)
    if count is not None:
        return Devices(Count(count, count, spans=devices.count.spans), devices.first, devices.trace)
    known = _at_least(devices.count, dimensions)
    return devices if known is None else replace(devices, count=known)


def method(devices: Devices, name: str, arguments: tuple[Value, ...]) -> Value:
    """What a method of a list or NumPy array of devices gives."""
    if name == "reshape":
        return reshaped(devices, arguments)
    if name in ("item", "pop"):
        return Device(DeviceId(None, None if devices.first is None else devices.first.platform))
    return devices if name in _SAME_DEVICES else UNKNOWN


_SAME_DEVICES = frozenset({"ravel", "flatten", "transpose", "squeeze", "swapaxes", "copy", "tolist", "astype", "view"})


def _at_least(count: Count, dimensions: tuple[Value, ...]) -> Count | None:
    """A count of devices that are in a grid of which some dimensions are told: it is a multiple of them."""
    told = [one.value for one in dimensions if isinstance(one, Constant) and isinstance(one.value, int)]
    fewest = prod(size for size in told if size > 0)
    return count if fewest == 1 else count.met(Count(fewest, None))


def _product(dimensions: tuple[Value, ...]) -> int | None:
    sizes = [d.value for d in dimensions if isinstance(d, Constant) and isinstance(d.value, int)]
    if not dimensions or len(sizes) != len(dimensions) or any(size < 1 for size in sizes):
        return None
    return prod(sizes)


def _shape(value: Value) -> int | None:
    match value:
        case Sequence(items):
            return _product(items)
        case Constant(int()):
            return _product((value,))
        case _:
            return None


def _all_devices(shape: Value) -> bool:
    """Whether the axes of a mesh multiply to the number of devices, by the program's own words."""
    axes = shape.items if isinstance(shape, Sequence) else ()
    others = [axis for axis in axes if axis != Constant(1)]
    return len(others) == 1 and isinstance(others[0], Fact) and others[0].key == EVERY_ARRAY


def _devices(site: Site) -> Value:
    platform = site.arguments.get(0, "backend")
    name = platform.value if isinstance(platform, Constant) and isinstance(platform.value, str) else None
    if (
        site.name == "jax.local_devices" or name == "cpu"
    ):  # the CPUs of other processes are none of JAX's unless it is told
        return Devices(WHOLE, DeviceId(0, name), local=site.name == "jax.local_devices")
    return _all(site, DeviceId(0, name))


def _all(site: Site, first: DeviceId) -> Devices:
    """All devices, which are those of all processes."""
    state = site.frame.state
    return Devices(replace(WHOLE, spans=state.processes), first, state.processes_trace)


def _device_count(site: Site) -> Value:
    return Fact(_COUNTED[site.name], EVERY_ARRAY)


_COUNTED = {"jax.device_count": "count", "jax.local_device_count": "local count", "jax.process_count": "process count"}


def _device_grid(site: Site) -> Value:
    given = as_devices(site.argument(1, "devices"))
    count = _shape(site.argument(0, "mesh_shape"))
    over = given or _all(site, DeviceId(0))
    if count is None:
        return over
    return Devices(Count(count, count, spans=over.count.spans), over.first, over.trace)


def _mesh_over(site: Site) -> Value:
    def over(value: Value) -> Value:
        found = as_devices(value)
        count = ANY if found is None else found.count
        trace = _mesh_trace(site, count, None if found is None else found.trace)
        return Mesh(count, trace, _axes(site, None, count))

    return each(site.argument(0, "devices"), over)


def _make_mesh(site: Site) -> Value:
    given = as_devices(site.argument(-1, "devices"))
    shape = site.argument(0, "axis_shapes")
    number = _shape(shape)
    over = given or _all(site, DeviceId(0))
    count = Count(number, number) if number is not None else WHOLE if _all_devices(shape) else ANY
    if given is not None and number is None:
        count = given.count
    count = replace(count, spans=over.count.spans)
    if isinstance(shape, Sequence) and number is None:
        count = _at_least(count, shape.items) or count
    return Mesh(count, _mesh_trace(site, count, over.trace), _axes(site, shape, count))


def _axes(site: Site, shape: Value | None, count: Count) -> tuple[tuple[str, int | None], ...] | None:
    """The axes of a mesh over so many devices, with the sizes that a shape tells."""
    given = site.argument(1, "axis_names")
    named = given.items if isinstance(given, Sequence) else (given,)
    names = [one.value for one in named if isinstance(one, Constant) and isinstance(one.value, str)]
    if not names or len(names) != len(named):
        return None
    told: list[Value] = [*shape.items] if isinstance(shape, Sequence) else []
    sizes = [one.value if isinstance(one, Constant) and isinstance(one.value, int) else None for one in told]
    if len(sizes) != len(names):
        sizes = [count.high if len(names) == 1 and count.low == count.high else None] * len(names)
    return tuple(zip(names, sizes, strict=True))


def _mesh_trace(site: Site, count: Count, before: Trace | None) -> Trace | None:
    if count == ONE:
        return None
    site.frame.state.fewest = max(site.frame.state.fewest, count.low)
    size = "all devices given to it" if count.number == ANY else count.words()
    return site.step(before, f"{site.short} makes a mesh over {size}")


def _named_sharding(site: Site) -> Value:

    def on(mesh: Value) -> Value:
        where = destination(mesh, site)
        if where is None:
            return Sharding(ANY, None, site.step(None, "a NamedSharding over a mesh that is not known here"))
        share = _share(site.argument(1, "spec"), mesh if isinstance(mesh, Mesh) else None)
        return Sharding(replace(where.count, share=share), None, where.trace, named=True)

    return each(site.argument(0, "mesh"), on)


def _single_device_sharding(site: Site) -> Value:
    device = site.argument(0, "device")
    if not isinstance(device, Device):
        return Sharding(ONE)
    return Sharding(replace(ONE, spans=device.spans), device.id, device.trace)


def _positional_sharding(site: Site) -> Value:
    found = as_devices(site.argument(0, "devices"))
    count = ANY if found is None else found.count
    return Sharding(
        count, None, None if count == ONE else site.step(None, f"a PositionalSharding over {count.words()}")
    )


def is_whole_machine(value: Value) -> bool:
    """Whether `value` is the list `jax.devices()` itself, so that its length is the number of devices."""
    return isinstance(value, Devices) and value.count.whole and value.count.number == ANY and value.first == DeviceId(0)


DEVICE_EFFECTS: MappingType[str, Callable[[Site], Value]] = {
    "devices": _devices,
    "device-count": _device_count,
    "device-grid": _device_grid,
    "mesh-over": _mesh_over,
    "make-mesh": _make_mesh,
    "named-sharding": _named_sharding,
    "single-device-sharding": _single_device_sharding,
    "positional-sharding": _positional_sharding,
}
