"""What creates arrays, computes with them, copies them, or takes them from outside."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from shardlint.placement.counts import ONE
from shardlint.placement.devices import placed, reshaped, spread
from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Capsule,
    Constant,
    Devices,
    Elements,
    Fact,
    Foreign,
    Host,
    Method,
    OneOf,
    Sequence,
    Symbol,
    Unknown,
    Value,
)
from shardlint.placement.external import called
from shardlint.placement.giving import give_up
from shardlint.placement.lattice import (
    alternatives,
    copied,
    deeply_copied,
    each,
    held,
    is_container,
    map_leaves,
    one_of,
)
from shardlint.placement.machine import item_of
from shardlint.placement.nature import Gone
from shardlint.placement.natures import alone, typed
from shardlint.placement.operators import combined
from shardlint.placement.site import Site
from shardlint.placement.tracing import Tracing
from shardlint.placement.transformed import moved


def host(site: Site) -> Value:
    """Host memory; a list of devices put into a NumPy array stays a list of devices."""
    return spread(site) or Host()


def host_made(site: Site) -> Value:
    """An array that NumPy itself makes."""
    told = site.argument(2 if site.name == "numpy.full" else 1, "dtype")
    dtype = told.value if isinstance(told, Constant) and isinstance(told.value, str) else None
    swapped = dtype is not None and dtype.startswith(">") and not dtype.endswith("1")
    words = f"makes a NumPy array of dtype {dtype}" if swapped else "makes a NumPy array"
    return spread(site) or Host(site.step(None, f"{site.name.replace('numpy', 'np', 1)} {words}"), swapped)


def foreign(site: Site) -> Value:
    return Foreign(site.effect.library or "")


def create(site: Site) -> Value:
    """A new array on the default device, on the mesh in force, or where `device` says."""
    target = site.arguments.get(None, "device")
    if target is not None and target != Constant(None):
        return placed(Host(), target, site)
    key = site.frame.fresh(site.node)
    if site.frame.traced:
        return Array(ONE, key, traced=site.frame.traced)
    state = site.frame.state
    if state.mesh is not None:
        return Array(state.mesh, key, trace=site.step(state.mesh_trace, f"{site.short} makes it on that mesh"))
    return Array(ONE, key, state.default)


def like(site: Site) -> Value:
    """On the devices of the operands; without an array among them, a new array."""
    target = site.arguments.get(None, "device")
    if target is not None and target != Constant(None):
        values = site.arguments.positional
        return placed(values[0] if values else Host(), target, site)
    operands = operands_of(site)
    if any(isinstance(choice, Array) for value in operands for choice in alternatives(value)):
        return each(combined(operands, site.node, site.frame), lambda result: kept(result, site))
    if site.arguments.open or any(isinstance(value, Unknown) for value in operands):
        return Array(None, site.frame.fresh(site.node), traced=site.frame.traced)
    return create(site)


def like_or_same(site: Site) -> Value:
    """The same of an operation that gives back its operand where there is nothing to do: with a mesh in force nobody knows."""
    result, operands = like(site), operands_of(site)
    if site.frame.state.mesh is None or site.frame.traced:
        return result
    counts = [site.frame.count(one) for value in operands for one in alternatives(value) if isinstance(one, Array)]
    if not counts or any(count != ONE for count in counts):
        return result
    return Array(None, site.frame.fresh(site.node))


def like_each(site: Site) -> Value:
    """Several such arrays: `jnp.split`."""
    return Elements(like(site), site.machine.new_ids())


def from_host(site: Site) -> Value:
    """A copy of an array is where that is; memory of the host goes to one device, whatever mesh is set."""
    result = like(site)
    return replace(result, count=ONE, trace=None) if _is_new(site) and isinstance(result, Array) else result


def _is_new(site: Site) -> bool:
    target = site.arguments.get(None, "device")
    told = target is not None and target != Constant(None)
    given = site.arguments.get(0, "a")
    return isinstance(given, Host | Foreign) and not told and not site.arguments.open and not site.frame.traced


def same(site: Site) -> Value:
    """The very array that was given."""
    return item_of(site.owner if site.owner is not None else site.arguments.get(0, "x"))


def delete(site: Site) -> Value:
    """The array is there no more."""
    call = site.node
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        give_up(call.func.value, Gone.SURE, site.frame, site.machine, site.step(None, "deleted here"))
    return Constant(None)


def copy(site: Site) -> Value:
    """A copy: another container with the same items, an array on the same devices."""
    return copied(same(site), site.machine.new_ids())


def deep_copy(site: Site) -> Value:
    """The same for all containers inside."""
    return deeply_copied(same(site), site.machine.new_ids)


def import_(site: Site) -> Value:
    """An array from outside is on one device."""
    source = site.arguments.get(0, "external_array")
    target = site.arguments.get(None, "device")
    if target is not None and target != Constant(None):
        return placed(Host(), target, site)
    device = source.device if isinstance(source, Foreign) else None
    return Array(ONE, site.frame.fresh(site.node), device, committed=True)


def one_shard(site: Site) -> Value:
    owner = site.owner
    known = site.frame.count(owner) if isinstance(owner, Array) else None
    trace = owner.trace if isinstance(owner, Array) else None
    if trace is not None:
        trace = site.step(trace, f"{site.short} takes what one device has of it")
    made = Array(ONE, site.frame.fresh(site.node), trace=trace, committed=True, shard_of=known)
    return alone(made) if isinstance(site.argument(0, "index"), Constant) else made


def holder(site: Site) -> Value:
    """An object that holds an array and is none."""
    return Foreign(site.effect.gives or "")


def some_array(site: Site) -> Value:
    """An array of which nothing else is known."""
    return Array(None, site.frame.fresh(site.node), traced=site.frame.traced)


def cast(site: Site) -> Value:
    """`x.astype(jnp.bfloat16)` of who knows what: of what has such a method, arrays of JAX and of NumPy take a dtype by JAX's name."""
    dtype, owner = site.arguments.get(0, "dtype"), site.owner
    told = isinstance(dtype, Symbol) and dtype.name.startswith("jax.numpy.")
    if not told or type(owner) is not Unknown:  # of what can be asked about more can be known
        method = Method(UNKNOWN if owner is None else owner, site.name.rpartition(".")[2])
        return called(method, site.arguments, site.node, site.frame, site.machine)
    traced = Tracing.MAYBE if site.frame.traced else Tracing.NO
    return typed(one_of([Array(None, site.frame.fresh(site.node), traced=traced), Host()]), site)


def reduced(site: Site) -> Value:
    """What a number comes to over all that take part is a number, and is known while JAX traces."""
    return UNKNOWN if isinstance(site.argument(0), Constant) else like(site)


def capsule(site: Site) -> Value:
    return Capsule(site.step(None, f"{site.short} makes a DLPack capsule"))


def device_set(site: Site) -> Value:
    owner = site.owner
    if not isinstance(owner, Array):
        return UNKNOWN
    return Fact("device_set", owner.key, site.frame.count(owner), owner.trace)


def platform(site: Site) -> Value:
    """`x.platform()`: the name of what the array's devices are."""
    owner = site.owner
    return Fact("platform", owner.key) if isinstance(owner, Array) else UNKNOWN


def alike(tree: Value, site: Site) -> Value:
    """New arrays on the devices of those in `tree`; of what is none nothing is known."""
    return map_leaves(tree, lambda leaf: each(combined([leaf], site.node, site.frame), lambda one: kept(one, site)))


def alike_first(site: Site) -> Value:
    """New arrays like those of the first argument, where the others are not on more devices."""
    return moved(alike(site.argument(0), site), list(site.arguments.values()[1:]), site)


def alike_and_unknown(site: Site) -> Value:
    """Such arrays, and something besides: the update of an optimizer."""
    return Sequence((alike_first(site), UNKNOWN))


def alike_second(site: Site) -> Value:
    """New arrays like those of the second argument: `jax.lax.associative_scan`."""
    return alike(site.argument(1, "elems"), site)


def method_of_first(site: Site) -> Value:
    """A function of NumPy that calls the method of its name if what it is given has one, as arrays of JAX do."""
    return each(site.argument(0), lambda one: alike(one, site) if isinstance(one, Array) else host(site))


def methods_of_first(site: Site) -> Value:
    """The same where several arrays come out."""
    return each(method_of_first(site), lambda one: Elements(one, site.machine.new_ids()))


def reshape_of_first(site: Site) -> Value:
    """`numpy.reshape`, of devices too."""
    devices = spread(site)
    return reshaped(devices, (site.argument(1, "shape"),)) if isinstance(devices, Devices) else method_of_first(site)


def operands_of(site: Site) -> list[Value]:
    """What an operation works on: its arguments, the leaves of those that are trees."""
    given = [*([] if site.owner is None else [site.owner]), *site.arguments.values()]
    return [part for value in given for part in _parts(value)]


def _parts(value: Value) -> Iterator[Value]:
    """The leaves of a tree; one that may be this or that stays so, as it is the same wherever it is found."""
    if isinstance(value, OneOf) and any(is_container(one) for one in value.values):
        for one in value.values:
            yield from _parts(one)
    elif is_container(value):
        for item in held(value):
            yield from _parts(item)
    else:
        yield value


def kept(result: Value, site: Site) -> Value:
    if isinstance(result, Array) and result.trace is not None and result.count != ONE:
        return replace(result, trace=site.step(result.trace, f"{site.short} keeps it on the same devices"))
    return result
