"""Functions of functions: transformations of JAX, decorators, and calls that the library makes."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce as reduce_

from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Constant,
    Devices,
    Foreign,
    Host,
    Mapping,
    Partial,
    Sequence,
    Symbol,
    Transformed,
    Value,
)
from shardlint.placement.effects.arrays import alike, like
from shardlint.placement.effects.choices import donated, untouched
from shardlint.placement.iteration import element, items_of
from shardlint.placement.lattice import map_leaves, one_of
from shardlint.placement.machine import Arguments, item_of
from shardlint.placement.operators import combined
from shardlint.placement.site import Site
from shardlint.placement.tracing import Tracing
from shardlint.placement.transformed import moved

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
        static = untouched(name, site)
        return Transformed(
            name, function, None if output == none else output, None if put == none else put, static, donated(site)
        )

    return apply


def _mesh_in_force(site: Site) -> Value:
    state = site.frame.state
    return UNKNOWN if state.mesh is None else Devices(state.mesh, None, state.mesh_trace)


def gradient(site: Site) -> Value:
    """`jax.grad` and `jax.value_and_grad`: of the first argument if nothing else is told."""
    function = site.arguments.get(0, "fun")
    if function is None:
        return Partial(Symbol(site.name), (), tuple(site.arguments.keywords.items()))
    which, aux = site.arguments.get(1, "argnums"), site.arguments.get(2, "has_aux")
    name = site.name.rpartition(".")[2]
    if site.arguments.open or which not in (None, Constant(0)) or aux not in (None, Constant(False), Constant(True)):
        return Transformed("gradients", function, static=untouched("grad", site))
    if name == "grad" and site.arguments.get(None, "allow_int") == Constant(True) and aux in (None, Constant(False)):
        return Transformed("grad_of_any", function, static=untouched("grad", site))
    how = "grad_and_aux" if name == "grad" and aux == Constant(True) else name
    return Transformed(how, function, static=untouched("grad", site))


def jvp(site: Site) -> Value:
    """The function's value at `primals`, and the tangent of that."""
    primals, tangents = site.argument(1, "primals"), site.argument(2, "tangents")
    if not isinstance(primals, Sequence) or len(site.arguments.values()) > 3:
        return UNKNOWN
    out = moved(_called("forward", site.argument(0, "fun"), primals.items, site), [primals, tangents], site)
    return Sequence((out, alike(out, site)))


def vjp(site: Site) -> Value:
    """The function's value, and a function from its cotangents to the gradients of the arguments."""
    if site.arguments.open or site.arguments.keywords:
        return UNKNOWN
    function, *primals = site.arguments.positional
    out = _called("forward", function, tuple(primals), site)
    return Sequence((out, Partial(Symbol("jax.vjp.pullback"), (Sequence(tuple(primals)),), ())))


def pullback(site: Site) -> Value:
    """Gradients are where the arguments are, unless these are in different places."""
    primals = site.argument(0)
    return moved(alike(primals, site), [primals], site)


def linearize(site: Site) -> Value:
    """The function's value, and a function from tangents to the tangent of that."""
    if site.arguments.open or site.arguments.keywords:
        return UNKNOWN
    function, *primals = site.arguments.positional
    out = _called("forward", function, tuple(primals), site)
    return Sequence((out, Partial(Symbol("jax.linearize.pushforward"), (out,), ())))


def cond(site: Site) -> Value:
    """`jax.lax.cond`: what either branch makes of the operands."""
    choice, *functions = [site.argument(0, "pred"), site.argument(1, "true_fun"), site.argument(2, "false_fun")]
    return _branches(choice, functions, site.arguments.positional[3:], site)


def switch(site: Site) -> Value:
    """`jax.lax.switch`: what any of the branches makes of the operands."""
    functions = items_of(site.argument(1, "branches"))
    return _branches(site.argument(0, "index"), list(functions or ()), site.arguments.positional[2:], site)


def _branches(choice: Value, functions: list[Value], operands: tuple[Value, ...], site: Site) -> Value:
    if site.arguments.open or not functions or "operand" in site.arguments.keywords:
        return UNKNOWN
    ends = [_called("jit", function, operands, site) for function in functions]
    return moved(reduce_(lambda one, other: _either(one, other, site), ends), [choice, *operands], site)


def _either(one: Value, other: Value, site: Site) -> Value:
    """What comes out of two branches, which give trees of the same form."""
    match one, other:
        case Sequence(items), Sequence(others) if len(items) == len(others):
            return Sequence(tuple(_either(a, b, site) for a, b in zip(items, others, strict=True)))
        case Mapping(items, None), Mapping(others, None) if dict(items).keys() == dict(others).keys():
            made = dict(others)
            return Mapping(tuple((key, _either(item, made[key], site)) for key, item in items))
        case Array(count=count), Array(count=other_count):
            return combined([one, other] if count == other_count else [Array(None, None)], site.node, site.frame)
        case _:
            return one_of([one, other])


def map_rows(site: Site) -> Value:
    """`jax.lax.map`: a function on the rows of an array."""
    rows = site.argument(1, "xs")
    return moved(_called("checkpoint", site.argument(0, "f"), (rows,), site), [rows], site)


def callback(site: Site) -> Value:
    """`jax.pure_callback` and its like: the function gets arrays of JAX that are no tracers, wherever that is called (run on 0.4.30 and
    0.10.2). Their devices are not known here.
    """
    frame, silent = site.frame, site.name == "jax.debug.callback"
    around, entry = frame.traced, frame.entry

    def handed(leaf: Value) -> Value:
        return Array(None, frame.fresh(site.node)) if isinstance(leaf, Array | Host | Foreign) else leaf

    given = tuple([map_leaves(value, handed) for value in site.arguments.positional[1 if silent else 2 :]])
    frame.traced, frame.entry = Tracing.NO, None
    site.machine.call(site.argument(0, "callback"), Arguments(given, open=True), site.node, frame)
    frame.traced, frame.entry = around, entry
    return Constant(None) if silent else like(site)


def shapes_of_results(site: Site) -> Value:
    """`jax.eval_shape`: a description in each array's place."""
    function, *operands = [site.argument(0, "fun"), *site.arguments.positional[1:]]
    result = _called("jit", function, tuple(operands), site)
    description = Partial(Symbol("jax.ShapeDtypeStruct"), (), ())
    return map_leaves(result, lambda leaf: description if isinstance(leaf, Array) else UNKNOWN)


def _called(how: str, function: Value, operands: tuple[Value, ...], site: Site) -> Value:
    return site.machine.call(Transformed(how, function), Arguments(operands), site.node, site.frame)


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
    return folded(function, values, site.arguments.get(2), site)


def folded(function: Value, values: Value, first: Value | None, site: Site) -> Value:
    """A function of two over the items of a container, from the first one on."""
    items = items_of(values)
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
