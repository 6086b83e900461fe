"""Calling a value: library functions by the table, methods by their object, functions of the program by running them."""

from __future__ import annotations

import ast
from dataclasses import replace

from shardlint.placement.addresses import of_temporary
from shardlint.placement.asking import call_asked
from shardlint.placement.builtin_calls import call_builtin
from shardlint.placement.computations import computed_together
from shardlint.placement.counts import ONE
from shardlint.placement.devices import destination
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
    Unknown,
    Value,
    Version,
)
from shardlint.placement.ducks import perhaps_called
from shardlint.placement.effects import EFFECTS
from shardlint.placement.external import called
from shardlint.placement.frame import Frame
from shardlint.placement.giving import used
from shardlint.placement.handoffs import consumer_of, result_of
from shardlint.placement.lattice import alternatives, each, without_none
from shardlint.placement.machine import Arguments, Machine, item_of
from shardlint.placement.meeting import call_seen
from shardlint.placement.methods import container_method
from shardlint.placement.missing import call_missed
from shardlint.placement.natures import computed, library, natured
from shardlint.placement.objects import construct, object_attribute, record_method
from shardlint.placement.operators import combined
from shardlint.placement.processes import called_alone
from shardlint.placement.rows import Effect
from shardlint.placement.sharing import lend
from shardlint.placement.site import Site
from shardlint.placement.telling import proof_of_one
from shardlint.placement.trace import traced
from shardlint.placement.transformed import call_transformed
from shardlint.syntax.tree import Node

_SETTERS = frozenset({"set", "add", "multiply", "divide", "power", "min", "max", "apply", "get", "mul"})
_OF_RECORDS = frozenset({"replace", "_replace", "_asdict"})
_STATELESS = "flax.linen.Module"
"""Modules of which `apply` is `__call__` with parameters given first."""
_READS_DATA = ("jax.numpy.", "jax.lax.", "jax.nn.", "jax.scipy.", "jax.image.", "jax.device_put")
"""Functions that read the data that they are given."""
_NO_DATA = frozenset(
    {"shape", "ndim", "size", "result_type", "zeros_like", "ones_like", "empty_like", "full_like", "iscomplexobj"}
)
"""Those of them that do not."""
_READING = frozenset({"like", "same", "one-shard"})
"""What methods of an array do that need its memory."""
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
                    arguments.node if isinstance(inner, Transformed | Partial) else None,
                    bound=arguments.bound + len(bound),
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
                return natured(made, Site(self._machine, frame, node, name, effect or _NO_EFFECT, arguments))
        if effect is None:
            if name.rpartition(".")[2] in self._machine.table.telling:
                self._machine.ask(name)
            if name in self._machine.claiming.assumed.outside:
                frame.may_raise()
                return self._machine.claiming.external(name, node, frame)
            return called(Symbol(name), arguments, node, frame, self._machine)
        site = Site(self._machine, frame, node, name, effect, arguments)
        if name.startswith(_READS_DATA) and name.rpartition(".")[2] not in _NO_DATA:
            used(arguments.values(), name, node, frame, self._machine)
        if effect.name in _COMPUTING and name.startswith(_COMPUTED_BY):
            converts = name in self._machine.table.making_arrays
            where = destination(item_of(arguments.get(None, "device")), site) if converts else None
            computed_together(arguments.values(), node, frame, self._machine, where and where.count)
        made = natured(EFFECTS[effect.name](site), site)
        lend(made, site)
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
                effect = self._machine.table.effects.get(full, _NO_EFFECT)
                site = Site(self._machine, frame, node, full, effect, arguments, owner)
                if effect.name in _READING and full not in self._machine.table.consumers:
                    used((owner,), full, node, frame, self._machine)
                made = natured(EFFECTS[effect.name](site), site)
                return of_temporary(made, owner, node, frame, self._machine) if effect.name == "address" else made
            case Method(Array() as array, _) if name in _SETTERS:
                return combined([array, *arguments.positional], node, frame)
            case Host() | Foreign():
                return self._of_other_library(owner, name, arguments, node, frame)
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
                return owner if name == "with_memory_kind" else replace(owner, count=owner.count.unshared)
            case Fact(what="sharding") if name == "is_equivalent_to":
                other = arguments.get(0)
                return proof_of_one(owner) if isinstance(other, Sharding) and other.count == ONE else UNKNOWN
            case Unknown() | Instance() if (effect := self._machine.table.effects.get(f"?.{name}")) is not None:
                return EFFECTS[effect.name](Site(self._machine, frame, node, f"?.{name}", effect, arguments, owner))
            case _:
                perhaps_called(Method(owner, name), arguments, node, frame, self._machine)
                result = called(Method(owner, name), arguments, node, frame, self._machine)
                if name in _NEVER_RETURN:
                    frame.state.alive = False
                return Constant(None) if name in _NEVER_RETURN else result

    def _of_other_library(
        self, owner: Host | Foreign, name: str, arguments: Arguments, node: Node, frame: Frame
    ) -> Value:
        """What a method of another library's array gives: an array of the same library, where the table says nothing else."""
        table = self._machine.table
        full = f"{table.array_classes.get(library(owner) or '')}.{name}"
        effect = table.effects.get(full, _NO_EFFECT)
        site = Site(self._machine, frame, node, full, effect, arguments, owner)
        if effect is not _NO_EFFECT and effect.name != "foreign-array":
            return natured(EFFECTS[effect.name](site), site)
        sure = effect is not _NO_EFFECT
        lasting = computed([owner], same_dtype=False, recording=frame.state.recording and sure)
        made = Host(nature=lasting) if isinstance(owner, Host) else Foreign(owner.library, None, lasting, sure)
        return natured(made, site)


_NO_EFFECT = Effect("unknown")
_COMPUTING = frozenset({"like", "like-or-same", "like-each", "from-host"})
_COMPUTED_BY = ("jax.numpy.", "jax.lax.", "jax.nn.")


def _container_method(function: Value) -> Method | None:
    """The method of a container that a value is; with one that may be several containers as its owner."""
    methods = [one for one in alternatives(function) if isinstance(one, Method)]
    owners = [one.owner for one in methods if isinstance(one.owner, Sequence | Mapping | Elements)]
    if not owners or len(owners) < len(alternatives(function)) or len({one.name for one in methods}) > 1:
        return None
    return Method(OneOf(tuple(owners)) if len(owners) > 1 else owners[0], methods[0].name)
