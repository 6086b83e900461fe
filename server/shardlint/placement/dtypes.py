"""Which dtype the arrays have that a call or an operation gives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from shardlint.placement.domain import Array, Constant, Symbol, Value
from shardlint.placement.lattice import leaves, map_leaves
from shardlint.placement.nature import DTYPE_MODULES, KEY, PLAIN, Nature
from shardlint.placement.site import Site


def typed(made: Value, site: Site) -> Value:
    """What a call gives, with the dtype that the call says or keeps."""
    row = site.machine.table.dtypes.get(site.name)
    told = site.arguments.get(None if row is None else row.argument, "dtype")
    if told is not None and told != Constant(None):
        return with_nature(made, _told(named(told), site))
    if row is None:
        return made
    if row.gives is not None:
        return with_nature(made, _told(row.gives, site))
    return with_nature(
        made, common(site.arguments.values() if site.owner is None else (site.owner,)) if row.keeps else PLAIN
    )


def _told(dtype: str | None, site: Site) -> Nature:
    if dtype is None:
        return PLAIN
    words = "makes a typed key" if dtype == KEY else f"gives it the dtype {dtype}"
    return Nature(dtype, trace=site.step(None, f"{site.short} {words}"))


def with_nature(made: Value, nature: Nature) -> Value:
    """The arrays in `made` with this dtype, if it is known."""
    if nature.dtype is None:
        return made

    def of(leaf: Value) -> Value:
        return replace(leaf, nature=replace(nature, meshed=leaf.nature.meshed)) if isinstance(leaf, Array) else leaf

    return map_leaves(made, of)


def named(value: Value) -> str | None:
    """The name of a dtype that is given as a string or as a class of NumPy or JAX."""
    match value:
        case Constant(str() as name):
            return name
        case Symbol(name) if name.rpartition(".")[0] in DTYPE_MODULES:
            return name.rpartition(".")[2]
        case _:
            return None


def common(values: Iterable[Value]) -> Nature:
    """The dtype that all arrays in `values` have."""
    found = {kept(leaf) for value in values for leaf in leaves(value) if isinstance(leaf, Array)}
    return found.pop() if len(found) == 1 else PLAIN


def kept(array: Array) -> Nature:
    """What an array has that is made of this one and has its dtype: it is another array, and there."""
    return Nature(array.nature.dtype, trace=array.nature.trace) if array.nature is not PLAIN else PLAIN
