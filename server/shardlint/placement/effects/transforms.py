"""Functions of functions: transformations of JAX, decorators, and calls that the library makes."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.placement.domain import UNKNOWN, Constant, Devices, Partial, Symbol, Transformed, Value
from shardlint.placement.iteration import element, items_of
from shardlint.placement.lattice import one_of
from shardlint.placement.machine import Arguments, item_of
from shardlint.placement.site import Site

_MOST_STEPS = 8


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


def partial(site: Site) -> Value:
    if not site.arguments.positional or site.arguments.open:
        return UNKNOWN
    function, *bound = site.arguments.positional
    return Partial(function, tuple(bound), tuple(site.arguments.keywords.items()))


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
