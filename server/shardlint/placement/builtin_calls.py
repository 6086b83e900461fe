"""Python's own functions."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import replace

from shardlint.placement.attributes import attribute, length
from shardlint.placement.devices import as_devices, is_whole_machine
from shardlint.placement.domain import (
    UNKNOWN,
    Constant,
    Descriptor,
    Device,
    DeviceId,
    Devices,
    Elements,
    Fact,
    Host,
    Instance,
    Mapping,
    Sequence,
    Test,
    Value,
    Version,
)
from shardlint.placement.frame import Frame
from shardlint.placement.guards import class_names, has_attribute, is_instance
from shardlint.placement.iteration import element, items_of
from shardlint.placement.lattice import alternatives, each, is_container, one_of
from shardlint.placement.machine import Arguments, Machine, item_of
from shardlint.placement.objects import current_super, iterated, set_attribute, special_method
from shardlint.placement.operators import combined
from shardlint.placement.state import EVERY_ARRAY
from shardlint.placement.storing import change_each, removed
from shardlint.placement.telling import junction, negation, told_of, told_of_all
from shardlint.placement.testing import asked_for_class, asked_for_interface
from shardlint.syntax.tree import Node

_LONGEST_RANGE = 6
_ENDS = frozenset({"exit", "quit"})
_NUMBERS = frozenset({"int", "float", "bool", "str", "complex", "repr", "ord", "chr", "format"})
_ITEM_BY_ITEM = frozenset({"list", "tuple", "iter", "set", "frozenset"})
_REORDERED = frozenset({"sorted", "reversed"})


def call_builtin(name: str, arguments: Arguments, node: Node, frame: Frame, machine: Machine) -> Value:
    """The result of `name(...)`."""
    first = item_of(arguments.get(0))
    if name == "bool":
        return each(first, lambda one: negation(negation(one)))
    if name in _NUMBERS:
        return each(first, _number)
    if name in _ENDS:
        frame.may_raise()
        frame.state.alive = False
        return UNKNOWN
    if name in _ITEM_BY_ITEM or name in _REORDERED:
        return _listed(name, arguments, node, frame, machine)
    match name:
        case "len":
            return each(first, _length)
        case "hasattr":
            named = arguments.get(1)
            if not isinstance(named, Constant):
                return UNKNOWN
            asked_for_interface(machine, first, str(named.value), node, frame)
            return each(first, lambda owner: has_attribute(owner, str(named.value), frame, machine))
        case "isinstance":
            kinds = item_of(arguments.get(1))
            asked_for_class(machine, first, class_names(kinds) or frozenset(), node, frame)
            return is_instance(first, kinds)
        case "getattr" if len(arguments.positional) == 2 and isinstance(named := arguments.positional[1], Constant):
            return each(first, lambda owner: attribute(owner, str(named.value), node, frame, machine))
        case "getattr" if len(arguments.positional) == 3:
            return _attribute_or(arguments, node, frame, machine)
        case "next":
            return _next(arguments, node, frame, machine)
        case "map":
            return _map(arguments, node, frame, machine)
        case "filter":
            return Elements(element(item_of(arguments.get(1)), node, frame))
        case "zip":
            columns = [items_of(value) for value in arguments.positional]
            if columns and all(column is not None for column in columns) and not arguments.open:
                known = [column for column in columns if column is not None]
                return Sequence(tuple(Sequence(tuple(row)) for row in zip(*known, strict=False)))
            return Elements(Sequence(tuple(element(value, node, frame) for value in arguments.positional)))
        case "enumerate":
            items = items_of(first)
            if items is not None and len(arguments.values()) == 1:
                return Sequence(tuple(Sequence((Constant(i), item)) for i, item in enumerate(items)))
            return Elements(Sequence((UNKNOWN, element(first, node, frame))))
        case "dict":
            return _dict(arguments, machine)
        case "abs" | "round" | "pow" | "divmod":
            return combined(list(arguments.values()), node, frame)
        case "sum":
            return combined([element(first, node, frame), item_of(arguments.get(1, "start"))], node, frame)
        case "min" | "max":
            return one_of(arguments.positional) if len(arguments.positional) > 1 else element(first, node, frame)
        case "all" | "any":
            return _every(first, name == "any")
        case "range":
            return _range(arguments)
        case "property":
            return Descriptor("property", first)
        case "staticmethod" | "classmethod":
            return Descriptor(name.removesuffix("method"), first)
        case "super":
            return current_super(frame, arguments)
        case "setattr" if isinstance(named := item_of(arguments.get(1)), Constant) and isinstance(node, ast.Call):
            value = item_of(arguments.get(2))
            set_attribute(first, str(named.value), value, node, node.args[0], frame, machine)
            return Constant(None)
        case "vars":
            return UNKNOWN
        case "type" if len(arguments.positional) == 1:
            return each(first, _type)
        case "print" | "id" | "type" | "callable":
            return UNKNOWN
        case _:
            frame.may_raise()
            return UNKNOWN


def _attribute_or(arguments: Arguments, node: Node, frame: Frame, machine: Machine) -> Value:
    """`getattr(owner, name, default)`: the attribute, the default where it surely has none, or either."""
    owner, named, default = arguments.positional
    if not isinstance(named, Constant):
        return UNKNOWN
    name = str(named.value)
    asked_for_interface(machine, owner, name, node, frame)

    def of(one: Value) -> Value:
        answer = has_attribute(one, name, frame, machine)
        if told_of(answer, True) is None:
            return default
        found = attribute(one, name, node, frame, machine)
        return found if told_of(answer, False) is None else one_of([found, default])

    return each(owner, of)


def _type(value: Value) -> Value:
    return replace(value, what="type of sharding") if isinstance(value, Fact) and value.what == "sharding" else UNKNOWN


def _number(value: Value) -> Value:
    if isinstance(value, Version):
        return Version(value.known, opaque=True)
    return value if isinstance(value, Constant) else Host()


def _length(value: Value) -> Value:
    match value:
        case Fact():
            return length(value)
        case Sequence(items):
            return Constant(len(items))
        case Mapping(items, None):
            return Constant(len(items))
        case Instance(definition, items) if definition.shape == "tuple":
            return Constant(len(items))
        case Devices(local=True) if is_whole_machine(value):
            return Fact("local count", EVERY_ARRAY)
        case Devices() if is_whole_machine(value):
            return Fact("count", EVERY_ARRAY)
        case _:
            return UNKNOWN


def _listed(name: str, arguments: Arguments, node: Node, frame: Frame, machine: Machine) -> Value:
    """A list, tuple, set or iterator over the items of something."""
    ids = machine.new_ids()

    def of(value: Value) -> Value:
        if isinstance(value, Version) or as_devices(value) is not None:
            return value
        if isinstance(value, Fact) and value.what in ("device_set", "local") and value.items is None:
            return replace(value, items=Elements(Device(DeviceId(None))))
        if isinstance(value, Fact) and (value.items is None or value.what == "device_set"):
            return value
        value = iterated(value, node, frame, machine)
        items = items_of(value)
        if items is None or name in ("set", "frozenset") or (name == "sorted" and len(items) > 1):
            return Elements(element(value, node, frame), ids)
        return Sequence(items[::-1] if name == "reversed" else items, ids)

    return each(arguments.positional[0], of) if arguments.positional else Sequence((), ids)


def _range(arguments: Arguments) -> Value:
    """A short range is known number by number."""
    numbers = [one.value for one in arguments.positional if isinstance(one, Constant) and isinstance(one.value, int)]
    if not numbers or len(numbers) < len(arguments.positional) or len(numbers) > 3 or numbers[2:] == [0]:
        return Elements(UNKNOWN)
    found = range(*numbers)
    return Sequence(tuple(Constant(number) for number in found)) if len(found) <= _LONGEST_RANGE else Elements(UNKNOWN)


def _every(values: Value, stop: bool) -> Value:
    """`any` (`stop` true) or `all` of some truth values."""
    match values:
        case Sequence(items) if items:
            answer = junction(list(items), stop=stop)
            return answer if isinstance(answer, Test | Constant) else _none_decides(items, stop)
        case Elements(item):
            return _none_decides((item,), stop)
        case _:
            return UNKNOWN


def _none_decides(items: tuple[Value, ...], stop: bool) -> Value:
    """What is told where none of some truth values decides, of which some may tell nothing: one that surely decides is taken to exist."""
    told = told_of_all(items, not stop)
    if told is None:
        return Constant(stop)
    return Test((), tuple(told.items())) if stop else Test(tuple(told.items()), ())


def _next(arguments: Arguments, node: Node, frame: Frame, machine: Machine) -> Value:
    values, default = item_of(arguments.get(0)), arguments.get(1)
    if default is None and not items_of(values):
        frame.may_raise()
    special = special_method(values, "__next__", node, frame, machine)
    if special is not None:
        return machine.call(special, Arguments(), node, frame)
    items = items_of(values)
    if items and isinstance(values, Sequence) and values.ids and not frame.repeats:
        change_each(values, node, lambda one: removed(one, Constant(0)) if is_container(one) else one, frame)
        return items[0]
    item = element(values, node, frame)
    return item if default is None else one_of([item, default])


def _map(arguments: Arguments, node: Node, frame: Frame, machine: Machine) -> Value:
    function, *columns = arguments.positional or (UNKNOWN,)
    if len(columns) == 1 and isinstance(columns[0], Version):
        return columns[0]
    items = tuple(element(values, node, frame) for values in columns)
    return Elements(machine.call(function, Arguments(items), node, frame))


def _dict(arguments: Arguments, machine: Machine) -> Value:
    named = tuple(arguments.keywords.items())
    given = arguments.get(0)
    ids = machine.new_ids()
    match given:
        case None:
            return Mapping(named, UNKNOWN if arguments.open else None, ids)
        case Mapping() if not named:
            return replace(given, ids=ids)
        case Sequence(pairs) if (known := _pairs(pairs)) is not None:
            return Mapping((*known.items(), *named), None, ids)
        case Elements(pairs) if (values := _values(pairs)) is not None:
            return Mapping(named, values, ids)
        case _:
            return Mapping(named, UNKNOWN, ids)


def _values(pairs: Value) -> Value | None:
    """What the second ones of pairs are; None if some are not pairs."""
    found = [one.items[1] for one in alternatives(pairs) if isinstance(one, Sequence) and len(one.items) == 2]
    return one_of(found) if len(found) == len(alternatives(pairs)) else None


def _pairs(pairs: tuple[Value, ...]) -> dict[Hashable, Value] | None:
    """Keys and values, where all are pairs with literal keys."""
    known: dict[Hashable, Value] = {}
    for pair in pairs:
        match pair:
            case Sequence((Constant(key), value)):
                known[key] = value
            case _:
                return None
    return known
