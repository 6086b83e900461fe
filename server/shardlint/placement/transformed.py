"""Calling what `jax.jit` and its like made of a function."""

from __future__ import annotations

from dataclasses import replace

from shardlint.placement.computations import computed_together
from shardlint.placement.counts import ANY, ONE
from shardlint.placement.devices import Destination, array_at, destination, unless_held
from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Constant,
    Foreign,
    Function,
    Host,
    Mapping,
    OneOf,
    Sequence,
    Transformed,
    Value,
)
from shardlint.placement.external import ask_about
from shardlint.placement.frame import Code, Frame
from shardlint.placement.giving import donate, used
from shardlint.placement.lattice import each, leaves, map_leaves
from shardlint.placement.machine import Arguments, Machine, item_of
from shardlint.placement.nature import Nature
from shardlint.placement.natures import HOLDERS
from shardlint.placement.operators import combined
from shardlint.placement.rows import Effect
from shardlint.placement.site import Site
from shardlint.placement.trace import Trace
from shardlint.placement.tracing import RECORDING, Tracing, of_argument
from shardlint.syntax.tree import Node, Place


def call_transformed(function: Transformed, arguments: Arguments, node: Node, frame: Frame, machine: Machine) -> Value:
    """Run the function with tracers, and put what it gives where the transformation says.

    What `jit`, `pmap` and `shard_map` make is compiled as a whole, so that its results are in one place. The others call their
    function as it stands, operation by operation.
    """
    site = Site(
        machine, frame, node, f"jax.{function.how}", Effect(function.how, entered=function.how == "pjit"), arguments
    )
    used(arguments.values(), f"jax.{function.how}", node, frame, machine)
    if function.how in ("jit", "pjit") and function.input is None:
        where = None if function.output is None else destination(function.output, site)
        computed_together(arguments.values(), node, frame, machine, where and where.count)
    inside = _as_tracers(arguments, function, site)
    around, entry = frame.traced, frame.entry
    frame.traced, frame.entry = traced_inside(function.how, around), entry or came_in(function, frame.place(node))
    result = machine.call(function.function, inside, node, frame)
    frame.traced, frame.entry = around, entry
    donate(function, positional_names(function.function), arguments, frame, machine)
    first = item_of(arguments.get(0))
    given = list(arguments.values())
    match function.how:
        case "body":
            return result
        case "pmap" | "pmap-stacked":
            return _mapped(result, function.output, site)
        case "jit" | "pjit" | "shard-map" if function.output is not None:
            return unless_held(given, _put_out(result, function.output, site), site)
        case "jit" | "pjit" | "shard-map":
            return _together(concrete(result, site))
        case "grad":
            return moved(concrete(first, site), given, site)
        case "grad_of_any":
            whole = isinstance(first, Array) and first.nature.dtype in _WHOLE
            return (
                Host(nature=Nature("float0", trace=site.step(None, "the gradient of integers is of the dtype float0")))
                if whole
                else UNKNOWN
            )
        case "grad_and_aux":
            aux = result.items[1] if isinstance(result, Sequence) and len(result.items) == 2 else UNKNOWN
            return Sequence((moved(concrete(first, site), given, site), concrete(aux, site)))
        case "value_and_grad":
            return Sequence((concrete(result, site), moved(concrete(first, site), given, site)))
        case "jacfwd" | "jacrev" | "hessian" if isinstance(first, Array) and isinstance(result, Array):
            return moved(concrete(combined([first, result], node, frame), site), given, site)
        case "vmap" | "forward" | "checkpoint" | "remat" | "named_call" | "vectorize" if frame.state.mesh is not None:
            return map_leaves(result, lambda _leaf: Array(None, frame.fresh(node), traced=frame.traced))
        case "vmap" | "forward" | "checkpoint" | "remat" | "named_call" | "vectorize":
            return concrete(result, site)
        case _:
            return UNKNOWN


def moved(value: Value, operands: list[Value], site: Site) -> Value:
    """`value` without what is said of its arrays on one device where operands are on several, which may have drawn them along."""
    many = any(
        isinstance(leaf, Array) and site.frame.count(leaf) != ONE for operand in operands for leaf in leaves(operand)
    )

    def told(leaf: Value) -> Value:
        return replace(leaf, count=None, device=None) if isinstance(leaf, Array) and leaf.count == ONE else leaf

    return map_leaves(value, told) if many else value


def _mapped(result: Value, devices: Value | None, site: Site) -> Value:
    """What `pmap` gives: an array on all devices, or on those that it was told to use."""
    where = Destination(ANY) if devices is None else destination(devices, site) or Destination(ANY)
    stacked = site.effect.name == "pmap-stacked"
    return map_leaves(result, lambda _leaf: replace(array_at(where, site), stacked=stacked))


def _put_out(result: Value, output: Value, site: Site) -> Value:
    """The result of a function whose outputs are put on `output`, a sharding or a tree of them."""
    match output:
        case Sequence(wanted):
            items = result.items if isinstance(result, Sequence) else (UNKNOWN,) * len(wanted)
            if len(items) != len(wanted):
                return UNKNOWN
            put = tuple(_put_out(item, where, site) for item, where in zip(items, wanted, strict=True))
            return _together(Sequence(put))
        case Mapping(wanted, None):
            given = dict(result.items) if isinstance(result, Mapping) else {}
            pairs = tuple((key, _put_out(given.get(key, UNKNOWN), where, site)) for key, where in wanted)
            return _together(Mapping(pairs))
        case _:
            pass

    def on(choice: Value) -> Value:
        where = destination(choice, site)
        if where is None:
            ask_about(choice, site.machine)
            return _together(concrete(result, site))
        return map_leaves(result, lambda _leaf: array_at(where, site))

    return each(output, on)


def traced_inside(how: str, around: Tracing) -> Tracing:
    """Whether what a function makes is a tracer where it is run by a transformation in a frame that is `around` it."""
    return max(around, Tracing.SURE if how in RECORDING and around is not Tracing.MAYBE else Tracing.MAYBE)


def came_in(function: Transformed, place: Place) -> Trace | None:
    """How JAX came to run a function with tracers."""
    code = function.function.code if isinstance(function.function, Function) else None
    name = code.name if isinstance(code, Code) else "the function"
    return Trace(place, f"{_NAMES.get(function.how, f'jax.{function.how}')} runs {name} with tracers")


_NAMES = {
    "body": "JAX",
    "forward": "JAX",
    "gradients": "JAX",
    "grad_and_aux": "jax.grad",
    "grad_of_any": "jax.grad",
    "pmap-stacked": "jax.pmap",
    "shard-map": "jax.shard_map",
    "vectorize": "jax.numpy.vectorize",
}


def _as_tracers(arguments: Arguments, function: Transformed, site: Site) -> Arguments:
    """The arguments as a traced function sees them: those from outside of JAX become arrays, where `in_shardings` says."""
    put = function.input
    where = None if put is None else destination(put, site)
    if where is None and put is not None:
        ask_about(put, site.machine)
    one_of_several = bool(site.frame.turn) or isinstance(function.function, OneOf)
    unclear = one_of_several or (site.frame.traced is Tracing.MAYBE and function.how in RECORDING)
    signature = positional_names(function.function)

    def tracer(leaf: Value, traced: Tracing) -> Value:
        match leaf:
            case Array(count=count) if count == ONE and where is not None and where.count != ONE:
                return replace(replace(leaf, count=None) if leaf.committed else array_at(where, site), traced=traced)
            case Array():
                return replace(leaf, traced=max(traced, leaf.traced))
            case Foreign() if leaf.library in HOLDERS:
                return leaf
            case Host() | Foreign() if where is not None:
                return replace(array_at(where, site), traced=traced)
            case Host() | Foreign():
                return Array(ONE if put is None else None, site.frame.fresh(site.node), traced=traced)
            case Constant(int() | float() | complex()) if function.how in RECORDING:
                return Array(ONE if put is None else None, site.frame.fresh(site.node), traced=traced)
            case _:
                return leaf

    def apply(value: Value, key: int | str) -> Value:
        static = function.static.has(key, signature)
        if static:
            return value
        traced = Tracing.MAYBE if static is None or unclear else of_argument(function.how)
        return map_leaves(value, lambda leaf: tracer(leaf, traced))

    return Arguments(
        tuple(apply(value, place) for place, value in enumerate(arguments.positional)),
        {name: apply(value, name) for name, value in arguments.keywords.items()},
        arguments.open,
        None if arguments.rest is None else map_leaves(arguments.rest, lambda leaf: tracer(leaf, Tracing.MAYBE)),
    )


def positional_names(function: Value) -> tuple[str, ...] | None:
    """The names of a function's positional parameters, None where they are not known."""
    code = function.code if isinstance(function, Function) else None
    if not isinstance(code, Code):
        return None
    return tuple([parameter.arg for parameter in (*code.node.args.posonlyargs, *code.node.args.args)])


def concrete(value: Value, site: Site) -> Value:
    """Results of a traced function: concrete arrays, on the mesh in force if they came from no other."""
    return map_leaves(value, lambda leaf: _concrete_leaf(leaf, site))


def _together(value: Value) -> Value:
    """All results of one compiled function are on the same devices: those of the result that is on most."""
    arrays = [
        leaf for leaf in leaves(value) if isinstance(leaf, Array) and leaf.count is not None and leaf.count != ONE
    ]
    if not arrays or isinstance(value, Array):
        return value
    most = arrays[0]

    def apply(leaf: Value) -> Value:
        alone = isinstance(leaf, Array) and leaf.count == ONE
        return replace(leaf, count=most.count, device=None, trace=most.trace) if alone else leaf

    return map_leaves(value, apply)


def _concrete_leaf(leaf: Value, site: Site) -> Value:
    frame = site.frame
    match leaf:
        case Array(count=count) if count == ONE and frame.state.mesh is not None and not frame.traced:
            return Array(frame.state.mesh, leaf.key, trace=frame.state.mesh_trace)
        case Array(count=count, stacked=stacked):
            return replace(leaf, traced=frame.traced, count=ONE if stacked else count, stacked=False)
        case Host() | Constant(int() | float() | complex()) if site.effect.name in _COMPILED:
            return _concrete_leaf(Array(ONE, frame.fresh(site.node), traced=frame.traced), site)
        case Constant():
            return leaf
        case _:
            return UNKNOWN


_WHOLE = frozenset({"int8", "int16", "int32", "uint8", "uint16", "uint32"})
_COMPILED = frozenset({"jit", "pjit", "shard-map"})
