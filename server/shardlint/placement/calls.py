"""Calling a value: library functions by the table, methods by their object, functions of the program by running them."""

from __future__ import annotations

import ast
from dataclasses import replace

from shardlint.placement.asking import call_asked
from shardlint.placement.builtin_calls import call_builtin
from shardlint.placement.counts import ONE
from shardlint.placement.devices import method as method_of_devices
from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Capsule,
    Class,
    Constant,
    Descriptor,
    Devices,
    Elements,
    Fact,
    Foreign,
    Function,
    Host,
    Instance,
    Mapping,
    Method,
    OneOf,
    Partial,
    Sequence,
    Sharding,
    Symbol,
    Transformed,
    Value,
    Version,
)
from shardlint.placement.dtypes import typed
from shardlint.placement.effects import EFFECTS
from shardlint.placement.external import called
from shardlint.placement.frame import Frame
from shardlint.placement.handoffs import call_seen, consumer_of, result_of
from shardlint.placement.lattice import alternatives, each, without_none
from shardlint.placement.machine import Arguments, Machine, item_of
from shardlint.placement.methods import container_method
from shardlint.placement.missing import call_missed
from shardlint.placement.objects import construct, object_attribute, record_method
from shardlint.placement.operators import combined
from shardlint.placement.processes import called_alone
from shardlint.placement.site import Site
from shardlint.placement.table import Effect
from shardlint.placement.telling import proof_of_one
from shardlint.placement.trace import traced
from shardlint.placement.transformed import call_transformed
from shardlint.syntax.tree import Node

_TO_HOST = frozenset({"numpy", "item", "tolist"})
_SETTERS = frozenset({"set", "add", "multiply", "divide", "power", "min", "max", "apply", "get", "mul"})
_OF_RECORDS = frozenset({"replace", "_replace", "_asdict"})
_STATELESS = "flax.linen.Module"
"""Modules of which `apply` is `__call__` with parameters given first."""
_NEVER_RETURN = frozenset({"skipTest"})


class Calls:
    """Gives the result of a call; every alternative of the function is called."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def call(self, function: Value, arguments: Arguments, node: Node, frame: Frame) -> Value:
        function = without_none(function)
        call_seen(self._machine, function, arguments, node, frame)
        if isinstance(node, ast.Call):
            call_missed(self._machine, function, arguments, node, frame)
            call_asked(self._machine, function, arguments, node, frame)
            called_alone(self._machine, function, arguments, node, frame)
        if not frame.state.alive:
            return UNKNOWN
        method = _container_method(function)
        if method is not None:
            return container_method(method.owner, method.name, arguments, node, frame, self._machine)
        return each(function, lambda choice: self._call(choice, arguments, node, frame))

    def _call(self, function: Value, arguments: Arguments, node: Node, frame: Frame) -> Value:
        match function:
            case Symbol(name):
                return self._symbol(name, arguments, node, frame)
            case Method(owner, name):
                return self._method(owner, name, arguments, node, frame)
            case Function():
                return self._machine.run(function, arguments, node, frame)
            case Partial(inner, bound, keywords):
                merged = Arguments(
                    (*bound, *arguments.positional),
                    {**dict(keywords), **arguments.keywords},
                    arguments.open,
                    arguments.rest,
                )
                return self.call(inner, merged, node, frame)
            case Transformed():
                made = call_transformed(function, arguments, node, frame, self._machine)
                return self._machine.claiming.result(function, made, node, frame)
            case Class(definition):
                return construct(definition, arguments, node, frame, self._machine)
            case Instance() if not isinstance(
                method := object_attribute(function, "__call__", node, frame, self._machine), Method
            ):
                return self.call(method, arguments, node, frame)
            case _:
                return called(function, arguments, node, frame, self._machine)

    def _symbol(self, name: str, arguments: Arguments, node: Node, frame: Frame) -> Value:
        if name.startswith("builtins."):
            return call_builtin(name.removeprefix("builtins."), arguments, node, frame, self._machine)
        effect = self._machine.table.effect(name, self._machine.target.versions)
        found = consumer_of(self._machine, Symbol(name))
        if found is not None:
            made = result_of(found[0])
            if made is not None and (effect is None or found[0].gives not in ("jax", "capsule")):
                return made
        if effect is None:
            if name.rpartition(".")[2] in self._machine.table.telling:
                self._machine.ask(name)
            if name in self._machine.claiming.assumed.outside:
                frame.may_raise()
                return self._machine.claiming.external(name, node, frame)
            return called(Symbol(name), arguments, node, frame, self._machine)
        site = Site(self._machine, frame, node, name, effect, arguments)
        made = typed(EFFECTS[effect.name](site), site)
        if isinstance(made, Transformed):
            self._machine.traces(made.function, made, node, frame)
        elif name.startswith("jax.lax."):
            for value in arguments.values():
                self._machine.traces(value, Transformed("body", value), node, frame)
        return made

    def _method(self, owner: Value, name: str, arguments: Arguments, node: Node, frame: Frame) -> Value:
        if name == "__dlpack__":
            return Capsule(
                traced(getattr(owner, "trace", None), frame.place(node), "`__dlpack__()` makes a DLPack capsule")
            )
        match owner:
            case Array():
                full = f"jax.Array.{name}"
                effect = self._machine.table.effects.get(full, Effect("unknown"))
                site = Site(self._machine, frame, node, full, effect, arguments, owner)
                return typed(EFFECTS[effect.name](site), site)
            case Method(Array() as array, _) if name in _SETTERS:
                return combined([array, *arguments.positional], node, frame)
            case Foreign(library):
                return Host() if name in _TO_HOST else Foreign(library)
            case Host():
                return Host()
            case Devices():
                return method_of_devices(owner, name, arguments.positional)
            case Version(known):
                return Version(known) if name == "split" else Version(known, opaque=True)
            case Descriptor(kind, getter, setter):
                given = item_of(arguments.get(0))
                return Descriptor(kind, given if name == "getter" else getter, given if name == "setter" else setter)
            case Instance() if name in _OF_RECORDS:
                return record_method(owner, name, arguments)
            case Instance(definition) if name == "apply" and definition.derives_from(_STATELESS):
                rest = replace(arguments, positional=arguments.positional[1:])
                return self.call(object_attribute(owner, "__call__", node, frame, self._machine), rest, node, frame)
            case Transformed() if name in ("lower", "compile", "trace"):
                return owner
            case Sharding() if name in ("with_memory_kind", "update", "with_spec"):
                return owner
            case Fact(what="sharding") if name == "is_equivalent_to":
                other = arguments.get(0)
                return proof_of_one(owner) if isinstance(other, Sharding) and other.count == ONE else UNKNOWN
            case _:
                result = called(Method(owner, name), arguments, node, frame, self._machine)
                if name in _NEVER_RETURN:
                    frame.state.alive = False
                return Constant(None) if name in _NEVER_RETURN else result


def _container_method(function: Value) -> Method | None:
    """The method of a container that a value is; with one that may be several containers as its owner."""
    methods = [one for one in alternatives(function) if isinstance(one, Method)]
    owners = [one.owner for one in methods if isinstance(one.owner, Sequence | Mapping | Elements)]
    if not owners or len(owners) < len(alternatives(function)) or len({one.name for one in methods}) > 1:
        return None
    return Method(OneOf(tuple(owners)) if len(owners) > 1 else owners[0], methods[0].name)
