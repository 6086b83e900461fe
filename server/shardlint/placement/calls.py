"""Calling a value: library functions by the table, methods by their object, functions of the program by running them."""

from __future__ import annotations

from dataclasses import replace

from shardlint.placement.devices import Destination, array_at, as_devices, destination, is_whole_machine, reshaped
from shardlint.placement.domain import (
    ANY,
    ONE,
    UNKNOWN,
    Array,
    Capsule,
    Constant,
    Devices,
    Elements,
    Fact,
    Foreign,
    Function,
    Host,
    Mapping,
    Method,
    Partial,
    Sequence,
    Symbol,
    Transformed,
    Unknown,
    Value,
    Version,
    each,
    join,
    map_leaves,
    one_of,
    traced,
)
from shardlint.placement.effects import EFFECTS
from shardlint.placement.guards import hasattr_value
from shardlint.placement.handoffs import call_seen, consumer_of, result_of
from shardlint.placement.iteration import element
from shardlint.placement.machine import EVERY_ARRAY, Arguments, Code, Frame, Machine
from shardlint.placement.operators import combined
from shardlint.placement.site import Site
from shardlint.placement.table import Effect
from shardlint.syntax.tree import Node

_TO_HOST = frozenset({"numpy", "item", "tolist", "cpu_numpy"})


class Calls:
    """Gives the result of a call; every alternative of the function is called."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def call(self, function: Value, arguments: Arguments, node: Node, frame: Frame) -> Value:
        return each(function, lambda choice: self._call(choice, arguments, node, frame))

    def _call(self, function: Value, arguments: Arguments, node: Node, frame: Frame) -> Value:
        match function:
            case Symbol(name):
                return self._symbol(name, arguments, node, frame)
            case Method(owner, name):
                return self._method(owner, name, arguments, node, frame)
            case Function(code, closure) if isinstance(code, Code) and isinstance(closure, Frame):
                return self._machine.run(code, closure, arguments, node, frame, traced=frame.traced)
            case Partial(inner, bound, keywords):
                merged = Arguments(
                    (*bound, *arguments.positional), {**dict(keywords), **arguments.keywords}, arguments.open
                )
                return self.call(inner, merged, node, frame)
            case Transformed():
                return self._transformed(function, arguments, node, frame)
            case _:
                return UNKNOWN

    def _symbol(self, name: str, arguments: Arguments, node: Node, frame: Frame) -> Value:
        call_seen(self._machine, Symbol(name), arguments, node, frame)
        if name.startswith("builtins."):
            return self._builtin(name.removeprefix("builtins."), arguments, node, frame)
        effect = self._machine.table.effect(name)
        found = consumer_of(self._machine, Symbol(name))
        if found is not None and (effect is None or found[0].gives not in ("jax", "capsule")):
            made = result_of(found[0])
            if made is not None:
                return made
        if effect is None:
            if name.rpartition(".")[2] in self._machine.table.telling:
                self._machine.ask(name)
            return UNKNOWN
        return EFFECTS[effect.name](Site(self._machine, frame, node, name, effect, arguments))

    def _method(self, owner: Value, name: str, arguments: Arguments, node: Node, frame: Frame) -> Value:
        call_seen(self._machine, Method(owner, name), arguments, node, frame)
        if name == "__dlpack__":
            return Capsule(
                traced(getattr(owner, "trace", None), frame.place(node), "`__dlpack__()` makes a DLPack capsule")
            )
        match owner:
            case Array():
                full = f"jax.Array.{name}"
                effect = self._machine.table.effects.get(full, Effect("unknown"))
                return EFFECTS[effect.name](Site(self._machine, frame, node, full, effect, arguments, owner))
            case Method(Array() as array, _) if name in (
                "set",
                "add",
                "multiply",
                "divide",
                "power",
                "min",
                "max",
                "apply",
                "get",
            ):
                return combined([array, *arguments.positional], node, frame)
            case Foreign(library):
                return Host() if name in _TO_HOST else Foreign(library)
            case Host():
                return Host()
            case Devices() if name == "reshape":
                return reshaped(owner, arguments.positional)
            case Devices():
                return owner
            case Version(known):
                return Version(known) if name == "split" else Version(known, opaque=True)
            case Mapping():
                return _dict_method(owner, name, arguments)
            case Elements(item) if name in ("values", "items", "keys", "get", "copy", "pop"):
                pairs = Elements(Sequence((UNKNOWN, item)))
                return {"values": owner, "items": pairs, "get": item, "pop": item, "copy": owner}.get(name, UNKNOWN)
            case Transformed() if name == "lower":
                return owner
            case Unknown() | Sequence():
                return UNKNOWN
            case _:
                return UNKNOWN

    def _builtin(self, name: str, arguments: Arguments, node: Node, frame: Frame) -> Value:
        first = arguments.positional[0] if arguments.positional else UNKNOWN
        match name:
            case "len":
                return each(first, _length)
            case "hasattr":
                return hasattr_value(self._machine, arguments.positional)
            case "tuple" | "list" | "sorted" | "reversed":
                return (
                    first
                    if isinstance(first, Sequence | Elements | Version) or as_devices(first)
                    else Elements(element(first, node, frame))
                )
            case "set" | "frozenset" | "iter":
                return Elements(element(first, node, frame))
            case "next":
                return element(first, node, frame) if isinstance(first, Elements | Sequence) else UNKNOWN
            case "int" | "float" | "bool" | "str" | "complex":
                return (
                    Version(first.known, opaque=True)
                    if isinstance(first, Version)
                    else first
                    if isinstance(first, Constant)
                    else Host()
                )
            case "map":
                return self._map(arguments, node, frame)
            case "zip":
                return Elements(Sequence(tuple(element(value, node, frame) for value in arguments.positional)))
            case "enumerate":
                return Elements(Sequence((UNKNOWN, element(first, node, frame))))
            case "dict":
                return (
                    Mapping(tuple(arguments.keywords.items()))
                    if not arguments.positional and not arguments.open
                    else UNKNOWN
                )
            case _:
                return UNKNOWN

    def _map(self, arguments: Arguments, node: Node, frame: Frame) -> Value:
        if len(arguments.positional) != 2:
            return UNKNOWN
        function, values = arguments.positional
        if isinstance(values, Version):
            return values
        return Elements(self.call(function, Arguments((element(values, node, frame),)), node, frame))

    def _transformed(self, function: Transformed, arguments: Arguments, node: Node, frame: Frame) -> Value:
        site = Site(self._machine, frame, node, f"jax.{function.how}", Effect(function.how), arguments)
        inside = _as_tracers(arguments)
        inner = Frame(
            frame.chunk, None, frame, frozenset(), frame.state, handlers=frame.handlers, traced=True, depth=frame.depth
        )
        result = self.call(function.function, inside, node, inner)
        match function.how:
            case "pmap":
                return map_leaves(result, lambda _leaf: array_at(Destination(ANY), site))
            case "jit" | "shard-map" if function.output is not None:
                return _put_out(result, function.output, site)
            case "grad":
                first = arguments.positional[0] if arguments.positional else UNKNOWN
                return map_leaves(first, lambda leaf: _concrete(leaf, frame))
            case "value_and_grad":
                first = arguments.positional[0] if arguments.positional else UNKNOWN
                return Sequence(
                    (
                        map_leaves(result, lambda leaf: _concrete(leaf, frame)),
                        map_leaves(first, lambda leaf: _concrete(leaf, frame)),
                    )
                )
            case "jit" | "vmap" | "checkpoint" | "remat" | "named_call":
                return map_leaves(result, lambda leaf: _concrete(leaf, frame))
            case _:
                return UNKNOWN


def _put_out(result: Value, output: Value, site: Site) -> Value:
    """The result of a function whose outputs are put on `output`, a sharding or a tree of them."""
    if isinstance(output, Sequence):
        items = result.items if isinstance(result, Sequence) else (UNKNOWN,) * len(output.items)
        if len(items) != len(output.items):
            return UNKNOWN
        return Sequence(tuple(_put_out(item, where, site) for item, where in zip(items, output.items, strict=True)))

    def on(choice: Value) -> Value:
        where = destination(choice, site)
        if where is None:
            return map_leaves(result, lambda leaf: _concrete(leaf, site.frame))
        return map_leaves(result, lambda _leaf: array_at(where, site))

    return each(output, on)


def _as_tracers(arguments: Arguments) -> Arguments:
    """The same arguments as a traced function sees them."""

    def apply(leaf: Value) -> Value:
        return replace(leaf, traced=True) if isinstance(leaf, Array) else leaf

    return Arguments(
        tuple(map_leaves(value, apply) for value in arguments.positional),
        {name: map_leaves(value, apply) for name, value in arguments.keywords.items()},
        arguments.open,
    )


def _concrete(leaf: Value, frame: Frame) -> Value:
    """A result of a compiled function: a concrete array, on the mesh in force if it came from no other."""
    if not isinstance(leaf, Array):
        return UNKNOWN if not isinstance(leaf, Constant) else leaf
    if leaf.count == ONE and frame.state.mesh is not None and not frame.traced:
        return Array(frame.state.mesh, leaf.key, None, frame.traced, frame.state.mesh_trace)
    return Array(leaf.count, leaf.key, leaf.device, frame.traced, leaf.trace)


def _length(value: Value) -> Value:
    match value:
        case Fact(what="device_set"):
            return Fact("count", value.key, value.count, value.trace)
        case Sequence(items):
            return Constant(len(items))
        case Mapping(items):
            return Constant(len(items))
        case Devices() if is_whole_machine(value):
            return Fact("count", EVERY_ARRAY)
        case _:
            return UNKNOWN


def _dict_method(owner: Mapping, name: str, arguments: Arguments) -> Value:
    match name:
        case "values":
            return Sequence(tuple(value for _, value in owner.items))
        case "items":
            return Sequence(tuple(Sequence((Constant(key), value)) for key, value in owner.items))
        case "keys":
            return Sequence(tuple(Constant(key) for key, _ in owner.items))
        case "copy":
            return owner
        case "get" | "pop":
            key = arguments.positional[0] if arguments.positional else UNKNOWN
            default = arguments.positional[1] if len(arguments.positional) > 1 else Constant(None)
            if isinstance(key, Constant):
                return next((value for held, value in owner.items if held == key.value), default)
            return join(one_of(value for _, value in owner.items), default)
        case _:
            return UNKNOWN
