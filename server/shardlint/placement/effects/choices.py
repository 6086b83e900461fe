"""What the options of a transformation say of its function's parameters."""

from __future__ import annotations

from collections.abc import Hashable

from shardlint.placement.domain import Constant, Elements, Sequence, Value
from shardlint.placement.site import Site
from shardlint.placement.tracing import AS_IT_COMES, NONE, UNTOLD_CHOICE, Chosen


def chosen(positions: Value | None, names: Value | None = None, *, others: bool = False) -> Chosen:
    """What the values of two options name: an integer or a name, or several of them."""
    numbers, words = _literals(positions, int), _literals(names, str)
    if numbers is None or words is None:
        return UNTOLD_CHOICE
    return Chosen(
        frozenset(one for one in numbers if isinstance(one, int)),
        frozenset(one for one in words if isinstance(one, str)),
        others,
    )


def _literals(value: Value | None, kind: type) -> list[Hashable] | None:
    if value is None or value == Constant(None):
        return []
    items = value.items if isinstance(value, Sequence) else (value,)
    found = [one.value for one in items if isinstance(one, Constant) and isinstance(one.value, kind)]
    return found if len(found) == len(items) else None


def untouched(how: str, site: Site) -> Chosen:
    """The parameters that get what was given, and no tracer of it."""
    given = site.arguments
    if given.open or how in AS_IT_COMES:
        return UNTOLD_CHOICE
    match how:
        case "vmap":
            return _not_mapped(given.get(1, "in_axes"))
        case "grad" | "value_and_grad" | "jacfwd" | "jacrev" | "hessian":
            which = given.get(1, "argnums")
            return chosen(Constant(0) if which is None else which, others=True)
        case "pmap" | "pmap-stacked":
            return chosen(given.get(None, "static_broadcasted_argnums"))
        case "shard-map":
            return NONE
        case _:
            return chosen(given.get(None, "static_argnums"), given.get(None, "static_argnames"))


def _not_mapped(axes: Value | None) -> Chosen:
    match axes:
        case None | Constant(int()):
            return NONE
        case Sequence(items) if not any(isinstance(item, Sequence | Elements) for item in items):
            if all(isinstance(item, Constant) for item in items):
                return Chosen(frozenset(place for place, item in enumerate(items) if item == Constant(None)))
            return UNTOLD_CHOICE
        case _:
            return UNTOLD_CHOICE


def donated(site: Site) -> Chosen:
    """The parameters whose memory the compiled function may use for its results."""
    given = site.arguments
    return (
        UNTOLD_CHOICE if given.open else chosen(given.get(None, "donate_argnums"), given.get(None, "donate_argnames"))
    )
