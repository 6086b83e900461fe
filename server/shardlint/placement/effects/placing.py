"""What puts arrays on devices that it is told."""

from __future__ import annotations

from dataclasses import replace

from shardlint.placement.counts import ANY, ONE, WHOLE, Count
from shardlint.placement.devices import Destination, array_at, destination, placed, unless_held
from shardlint.placement.domain import UNKNOWN, Array, Host, Partial, Symbol, Value
from shardlint.placement.lattice import map_leaves
from shardlint.placement.machine import item_of
from shardlint.placement.site import Site


def place(site: Site) -> Value:
    row = site.effect
    value = site.owner if site.owner is not None else site.named(row.value)
    target = site.named(row.target)
    return placed(item_of(value), target, site)


def constrain(site: Site) -> Value:
    """The same, which JAX refuses for an array that was put on one device."""
    return unless_held([item_of(site.named(site.effect.value))], place(site), site)


def abstract(site: Site) -> Value:
    """A `jax.ShapeDtypeStruct`: the place of an array that is yet to come."""
    sharding = site.arguments.get(3, "sharding")
    given = () if sharding is None else (("sharding", sharding),)
    return Partial(Symbol(site.name), (), given)


def restore(site: Site) -> Value:
    """What a checkpoint gives for a tree of such places."""

    def restored(leaf: Value) -> Value:
        match leaf:
            case Partial(Symbol("jax.ShapeDtypeStruct"), (), (("sharding", sharding),)):
                return placed(Host(), sharding, site)
            case Host():
                return leaf
            case _:
                return UNKNOWN

    return map_leaves(item_of(site.named(site.effect.target)), restored)


def place_locally(site: Site) -> Value:
    """What one process has of what is placed: on as many devices at most."""

    def part(leaf: Value) -> Value:
        if not isinstance(leaf, Array) or leaf.count is None or leaf.count == ONE:
            return leaf
        return replace(leaf, count=Count(1, leaf.count.high))

    return map_leaves(place(site), part)


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
