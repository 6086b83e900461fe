"""Objects of the program's classes: making them, and reading and setting their attributes."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

from shardlint.placement import external
from shardlint.placement.definition import Definition, Field
from shardlint.placement.domain import (
    UNKNOWN,
    Class,
    Constant,
    Descriptor,
    Elements,
    Function,
    Instance,
    Mapping,
    Member,
    Method,
    Namespace,
    Partial,
    Super,
    Symbol,
    Transformed,
    Value,
)
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import each, joined
from shardlint.placement.machine import Arguments, Machine
from shardlint.placement.storing import change_each
from shardlint.syntax.tree import Node

_FIELD = "dataclasses.field"


def construct(definition: Definition, arguments: Arguments, node: Node, frame: Frame, machine: Machine) -> Value:
    """A new object of the class."""
    machine.journal.look(definition)
    own = definition.find("__init__")
    if definition.shape == "tuple":
        return Instance(definition, tuple(_by_fields(definition.fields(), arguments, node, frame, machine).items()))
    made = Instance(definition, (), machine.new_ids())
    if own is None and definition.shape == "record":
        given = _by_fields(definition.fields(), arguments, node, frame, machine)
        made = Instance(definition, tuple(given.items()), made.ids)
        own, arguments = definition.find("__post_init__"), Arguments()
    if own is None:
        if definition.is_open:
            frame.may_raise()
    else:
        made = _initialised(made, own, arguments, node, frame, machine)
    if isinstance(made, Instance):
        machine.keep(definition, made.items)
    return made


def _initialised(made: Instance, own: Value, arguments: Arguments, node: Node, frame: Frame, machine: Machine) -> Value:
    """The object after its constructor, which works on it where a variable without a name holds it."""
    name = f"new {next(iter(made.ids))}"
    frame.state.variables[name] = made
    machine.call(bound(own, made, node, frame, machine), arguments, node, frame)
    return frame.state.variables.pop(name, made)


def _by_fields(
    fields: list[Field], arguments: Arguments, node: Node, frame: Frame, machine: Machine
) -> dict[str, Value]:
    given = dict(zip((one.name for one in fields), arguments.positional, strict=False))
    given.update({name: value for name, value in arguments.keywords.items() if name not in given})
    unknown = UNKNOWN if arguments.open else None
    return {one.name: given.get(one.name) or unknown or _default(one.default, node, frame, machine) for one in fields}


def _default(value: Value | None, node: Node, frame: Frame, machine: Machine) -> Value:
    match value:
        case Partial(Symbol(name), (), keywords) if name == _FIELD:
            given = dict(keywords)
            if "default_factory" in given:
                return machine.call(given["default_factory"], Arguments(), node, frame)
            return given.get("default", UNKNOWN)
        case _:
            return UNKNOWN if value is None else value


def object_attribute(owner: Instance | Class | Super, name: str, node: Node, frame: Frame, machine: Machine) -> Value:
    """`owner.name`."""
    machine.journal.look(owner.definition)
    match owner:
        case Instance(definition):
            own = owner.get(name)
            if own is not None:
                return own
            found = definition.find(name)
            if found is None:
                return _of_any_object(owner, name)
            return each(found, lambda one: bound(one, owner, node, frame, machine))
        case Class(definition):
            found = definition.find(name)
            if name == "__name__":
                return Constant(definition.name)
            if found is not None and definition.is_enumeration and isinstance(found, Constant):
                return Constant(Member(definition, definition.first_named(found, name)))
            return UNKNOWN if found is None else each(found, lambda one: _of_class(one, owner))
        case Super(definition, instance):
            match instance:
                case Instance(lowest) | Class(lowest):
                    found = lowest.find(name, definition)
                case _:
                    found = None
            if found is None:
                return Method(owner, name)
            return each(found, lambda one: bound(one, instance, node, frame, machine))


def _of_any_object(owner: Instance, name: str) -> Value:
    match name:
        case "__class__":
            return Class(owner.definition)
        case "__dict__":
            return UNKNOWN
        case _:
            return Method(owner, name)


def bound(found: Value, owner: Value, node: Node, frame: Frame, machine: Machine) -> Value:
    """A class attribute as its object gives it out: functions become methods."""
    match found:
        case Function() | Transformed():
            return Partial(found, (owner,), ())
        case Partial(Symbol("functools.partialmethod"), (inner, *given), keywords):
            return Partial(inner, (owner, *given), keywords)
        case Partial(Transformed() | Function()):
            return found
        case Descriptor("static", function):
            return function
        case Descriptor("class", function):
            cls = Class(owner.definition) if isinstance(owner, Instance) else owner
            return Partial(function, (cls,), ())
        case Descriptor("property", function):
            return machine.call(function, Arguments((owner,)), node, frame)
        case Partial(Symbol(name), (), keywords) if name == _FIELD:
            return dict(keywords).get("default", UNKNOWN)
        case _:
            return found


def _of_class(found: Value, owner: Class) -> Value:
    match found:
        case Descriptor("static", function):
            return function
        case Descriptor("class", function):
            return Partial(function, (owner,), ())
        case Descriptor():
            return UNKNOWN
        case _:
            return found


def set_attribute(
    owner: Value, name: str, value: Value, node: Node, target: Node, frame: Frame, machine: Machine
) -> None:
    """`owner.name = value`, where `target` is the expression of the owner."""

    def changed(one: Value) -> Value:
        if not isinstance(one, Instance):
            return one
        return one.having({name: value})

    match owner:
        case Instance(definition) if isinstance(setter := definition.find(name), Descriptor) and setter.setter:
            machine.call(setter.setter, Arguments((owner, value)), node, frame)
        case Namespace(module):
            machine.set_member(module, name, value, frame)
        case Class(definition):
            machine.upset()
            definition.put(name, joined(definition.attributes.get(name), value) or value)
        case _:
            change_each(owner, target, changed, frame)


def current_super(frame: Frame, arguments: Arguments) -> Value:
    """`super()`: the class in whose body the running method stands, and the method's first parameter, unless both are given."""
    match arguments.positional:
        case (Class(definition), owner):
            return Super(definition, owner)
        case _:
            pass
    current: Frame | None = frame
    while current is not None:
        code = current.code
        if code is not None and code.owner is not None:
            return each(current.own_object(), partial(Super, code.owner))
        current = current.enclosing
    return UNKNOWN


def record_method(owner: Instance, name: str, arguments: Arguments) -> Value:
    """What a dataclass or named tuple has without writing it: another object that differs in some fields, or a dict of them."""
    if name == "_asdict":
        return Mapping(owner.items)
    return replaced(owner, arguments)


def replaced(owner: Instance, arguments: Arguments) -> Instance:
    """The object with other values in some of its fields."""
    changed = {**dict(owner.items), **arguments.keywords}
    if arguments.open:
        changed = {field: joined(value, UNKNOWN) or UNKNOWN for field, value in changed.items()}
    return Instance(owner.definition, tuple(changed.items()))


def special_method(owner: Value, name: str, node: Node, frame: Frame, machine: Machine) -> Value | None:
    """The method `name`, as `__getitem__`, of an object whose class in the program has it; else None."""
    if not isinstance(owner, Instance) or owner.definition.find(name) is None:
        return None
    return object_attribute(owner, name, node, frame, machine)


def iterated(values: Value, node: Node, frame: Frame, machine: Machine) -> Value:
    """What going through `values` goes through: for an object what its `__iter__` gives."""

    def of(value: Value) -> Value:
        method = special_method(value, "__iter__", node, frame, machine)
        made = None if method is None else machine.call(method, Arguments(), node, frame)
        if made is not None and made == value:
            method = special_method(value, "__next__", node, frame, machine)
            return UNKNOWN if method is None else Elements(machine.call(method, Arguments(), node, frame))
        return value if made is None else made

    return each(values, of)


def entered(manager: Value, node: Node, frame: Frame, machine: Machine) -> Value:
    """What `with manager as name` binds: the result of `__enter__`, or what a generator made into a manager yields."""

    def of(value: Value) -> Value:
        if isinstance(value, Elements):
            return value.item
        method = special_method(value, "__enter__", node, frame, machine)
        if method is None:
            return external.entered(value, node, frame, machine)
        return machine.call(method, Arguments(), node, frame)

    return each(manager, of)


def typical(definition: Definition, key: Hashable, machine: Machine) -> Instance:
    """An object of the class as it comes from elsewhere: with what such objects were seen to hold."""
    machine.journal.look_inside(definition)
    held: dict[str, Value] = {}
    for one in definition.order():
        held = {**one.held, **held}
    return Instance(definition, tuple(held.items()), frozenset({key}))


def left(manager: Value, node: Node, frame: Frame, machine: Machine) -> None:
    """The end of `with manager`, not by an exception."""
    method = special_method(manager, "__exit__", node, frame, machine)
    if method is not None:
        machine.call(method, Arguments((Constant(None),) * 3), node, frame)
