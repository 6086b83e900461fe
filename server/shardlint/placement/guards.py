"""What a test tells: which paths exist, how many devices an array has on them, which alternatives of a name remain.

The table of what proves what is FACTS 5: `len(x.sharding.device_set) == 1`, `len(x.devices()) == 1`, `num_devices`, an
`isinstance` of the sharding or of the device and `jax.device_count() == 1` prove one device; `is_fully_replicated` tells what each
device has, `is_fully_addressable` and `jax.process_count() == 1` whose devices they are, and `hasattr(x, "__dlpack__")` nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from shardlint.placement.counts import ONE, UNTOLD, Subject, Told
from shardlint.placement.definition import Definition
from shardlint.placement.domain import (
    Array,
    Class,
    Constant,
    Elements,
    Fact,
    Foreign,
    Host,
    Instance,
    Mapping,
    Method,
    OneOf,
    Sequence,
    Sharding,
    Symbol,
    Test,
    Unknown,
    Value,
    Version,
)
from shardlint.placement.facts import exclude, learn
from shardlint.placement.frame import Frame
from shardlint.placement.giving import give_up
from shardlint.placement.lattice import alternatives, each, one_of
from shardlint.placement.machine import Machine
from shardlint.placement.merging import merge
from shardlint.placement.missing import told_of_attribute
from shardlint.placement.names import is_builtin
from shardlint.placement.nature import Gone
from shardlint.placement.natures import READ_ONLY, Data
from shardlint.placement.objects import set_attribute
from shardlint.placement.operators import compare, never_none
from shardlint.placement.sizes import on_one, proven_one
from shardlint.placement.telling import has, proof_of_one, told_if, told_of
from shardlint.placement.testing import asked_for_class, asked_for_interface
from shardlint.placement.tracing import Tracing

_NEVER_RUN = frozenset({"typing.TYPE_CHECKING"})
_SHARDINGS = frozenset({"jax.sharding.NamedSharding", "jax.sharding.SingleDeviceSharding"})
_NAMED = frozenset({"jax.sharding.NamedSharding"})
_SOUND_TYPES = {"sharding": "jax.sharding.SingleDeviceSharding", "device": "jax.Device"}


class Guards:
    """Refines the state of a frame by a test."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def assume(self, test: ast.expr, truth: bool, frame: Frame) -> None:
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.assume(operand, not truth, frame)
            case ast.BoolOp(op=operator, values=values):
                if isinstance(operator, ast.And) == truth:
                    for value in values:
                        if frame.state.alive:
                            self.assume(value, truth, frame)
                else:
                    self._one_of_them(values, truth, frame)
            case ast.Compare(left=left, ops=[(ast.Is() | ast.IsNot()) as operator], comparators=[ast.Constant(None)]):
                value = self._machine.evaluate(left, frame)
                is_none = isinstance(operator, ast.Is) == truth
                self._keep(left, value, lambda choice: _is_none(choice) is not (not is_none), frame)
                self._truth(compare(value, operator, Constant(None), self._machine.target), truth, frame)
            case ast.Call(func=function, args=[subject, kind], keywords=[]) if self._is(function, "isinstance", frame):
                self._isinstance(test, subject, kind, truth, frame)
            case ast.Call(func=ast.Attribute(value=subject, attr="is_deleted"), args=[], keywords=[]) if not truth:
                value = self._machine.evaluate(subject, frame)
                self._keep(subject, value, _may_be_there, frame)
                give_up(subject, Gone.NO, frame, self._machine)
            case ast.Attribute(value=ast.Attribute(value=subject, attr="flags"), attr="writeable") if truth:
                self._keep(subject, self._machine.evaluate(subject, frame), _may_be_written, frame)
            case ast.Call(func=function, args=[subject, ast.Constant(value=str(name))], keywords=[]) if self._is(
                function, "hasattr", frame
            ):
                value = self._machine.evaluate(subject, frame)
                asked_for_interface(self._machine, value, name, test, frame)
                self._keep(subject, value, lambda one: told_if(self._has(one, name, frame), truth) is not None, frame)
                self._truth(each(value, lambda one: self._has(one, name, frame)), truth, frame)
            case _:
                value = self._machine.evaluate(test, frame)
                text = condition_text(test) if isinstance(value, Unknown | Method | Array) else None
                if text is not None:
                    value = frame.state.conditions.get(text, value)
                    frame.state.note_condition(text, Constant(truth))
                self._truth(value, truth, frame)
                self._narrow(test, truth, frame)

    def _is(self, function: ast.expr, name: str, frame: Frame) -> bool:
        return is_builtin(function, name, frame, self._machine)

    def _one_of_them(self, values: list[ast.expr], truth: bool, frame: Frame) -> None:
        """`a or b` is true, `a and b` is false: the paths on which the first that decides is each of them."""
        rest = frame.state
        ends = None
        for value in values:
            frame.state = rest.copy()
            self.assume(value, truth, frame)
            ends = frame.state if ends is None else merge(ends, frame.state)
            frame.state = rest
            self.assume(value, not truth, frame)
            rest = frame.state
            if not rest.alive:
                break
        if ends is not None:
            frame.state = ends

    def _truth(self, value: Value, truth: bool, frame: Frame) -> None:
        if not frame.state.alive:
            return
        choices = alternatives(value)
        told = told_of(value, truth)
        if told is None or (isinstance(value, Symbol) and value.name in _NEVER_RUN and truth):
            frame.state.alive = False
        elif any(isinstance(choice, Version) for choice in choices):
            frame.state.version_guarded = True
        else:
            learn(told, frame)
            if len(choices) > 1:
                exclude(_all_told(choices, truth), frame)

    def _narrow(self, test: ast.expr, truth: bool, frame: Frame) -> None:
        """A name that is tested itself, or compared, keeps the alternatives for which the test comes out so."""
        counted = proven_one(test, truth) if frame.state.alive else None
        if counted is not None:
            self._replace(counted, on_one, frame)
        if isinstance(test, ast.Name):
            value = self._machine.evaluate(test, frame)
            self._keep(test, value, lambda one: told_if(one, truth) is not None, frame)
        elif isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and len(test.ops) == 1:
            value = self._machine.evaluate(test.left, frame)
            if not isinstance(value, OneOf) or not all(isinstance(one, Constant) for one in value.values):
                return
            other = self._machine.evaluate(test.comparators[0], frame)
            target = self._machine.target

            def keeps(one: Value) -> bool:
                answer = compare(one, test.ops[0], other, target)
                return any(told_if(choice, truth) is not None for choice in alternatives(answer))

            self._keep(test.left, value, keeps, frame)

    def _keep(self, subject: ast.expr, value: Value, keeps: Callable[[Value], bool], frame: Frame) -> None:
        """Only the alternatives of `subject` that a test `keeps` are left; with none left the path does not exist."""
        if not frame.state.alive:
            return
        choices = alternatives(value)
        kept = [choice for choice in choices if keeps(choice)]
        while isinstance(subject, ast.NamedExpr):
            subject = subject.target
        if not kept:
            frame.state.alive = False
        elif len(kept) < len(choices) and isinstance(subject, ast.Name):
            frame.state.variables[subject.id] = one_of(kept)
        elif len(kept) < len(choices) and isinstance(subject, ast.Attribute):
            self._keep_attribute(subject, one_of(kept), frame)

    def _keep_attribute(self, subject: ast.Attribute, kept: Value, frame: Frame) -> None:
        owner = self._machine.evaluate(subject.value, frame)
        if isinstance(owner, Instance) and owner.get(subject.attr) is not None:
            set_attribute(owner, subject.attr, kept, subject, subject.value, frame, self._machine)

    def _isinstance(self, test: ast.expr, subject: ast.expr, kind: ast.expr, truth: bool, frame: Frame) -> None:
        value, kinds = self._machine.evaluate(subject, frame), self._machine.evaluate(kind, frame)
        if any(isinstance(choice, Fact) for choice in alternatives(value)):
            asked_for_class(self._machine, value, class_names(kinds) or frozenset(), test, frame)
            self._truth(is_instance(value, kinds), truth, frame)
            return
        names = class_names(kinds)
        if names is None:
            return
        self._keep(subject, value, lambda choice: instance(choice, names) is not (not truth), frame)
        if frame.state.alive and isinstance(subject, ast.Name) and names & _SHARDINGS:
            self._replace(subject, lambda one: _sharding_if(one, names, truth), frame)

    def _replace(self, subject: ast.Name, told: Callable[[Value], Value], frame: Frame) -> None:
        """What a test tells of what a variable holds becomes part of it."""
        value = self._machine.evaluate(subject, frame)
        after = each(value, told)
        if after != value:
            frame.state.variables[subject.id] = after

    def _has(self, value: Value, name: str, frame: Frame) -> Value:
        return has_attribute(value, name, frame, self._machine)


def condition_text(test: ast.expr) -> str | None:
    """The text of a condition that stays as it is until a variable or an attribute is assigned: names, attributes and what they
    are compared with. It begins with the variable.
    """
    match test:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=owner, attr=name):
            text = condition_text(owner)
            return None if text is None else f"{text}.{name}"
        case ast.Compare(left=left, ops=[operator], comparators=[ast.Constant(value=constant)]):
            text = condition_text(left)
            return None if text is None else f"{text} {type(operator).__name__} {constant!r}"
        case _:
            return None


def _all_told(choices: tuple[Value, ...], truth: bool) -> dict[Subject, Told]:
    told: dict[Subject, Told] = {}
    for choice in choices:
        if isinstance(choice, Test):
            told.update(choice.true if truth else choice.false)
    return told


def _may_be_there(value: Value) -> bool:
    return not isinstance(value, Array) or value.nature.gone is not Gone.SURE


def _may_be_written(value: Value) -> bool:
    return not isinstance(value, Data) or READ_ONLY not in value.nature.marks


def _is_none(value: Value) -> bool | None:
    if isinstance(value, Constant):
        return value.value is None
    return False if never_none(value) else None


Kinds = frozenset[str | Definition]
"""Classes: others by their canonical names, the program's own by what they are."""


def class_names(kinds: Value) -> Kinds | None:
    """The classes that `isinstance` is given, None unless all of them are known."""
    classes = kinds.items if isinstance(kinds, Sequence) else (kinds,)
    known = [_class(one) for one in classes]
    names = frozenset(one for one in known if one is not None)
    return names if names and None not in known else None


def _class(value: Value) -> str | Definition | None:
    match value:
        case Symbol(name):
            return name
        case Class(definition):
            return definition
        case _:
            return None


def is_instance(value: Value, kinds: Value) -> Value:
    """`isinstance(value, kinds)` as a value."""
    names = class_names(kinds)
    answers: list[Value] = []
    for choice in alternatives(value):
        if isinstance(choice, Fact):
            sound = names is not None and names == frozenset({_SOUND_TYPES.get(choice.what, "")})
            if choice.what == "sharding" and names == _NAMED:
                answers.append(Test((), (((choice.key, choice.count), UNTOLD),)))  # of any other kind nothing is known
            else:
                answers.append(proof_of_one(choice) if sound else Unknown())
        else:
            told = None if names is None else instance(choice, names)
            answers.append(Unknown() if told is None else Constant(told))
    return one_of(answers)


def _sharding_if(value: Value, names: Kinds, truth: bool) -> Value:
    """A sharding that is of these classes, or of none of them: what its annotation says holds of the others only."""
    if not isinstance(value, Sharding):
        return value
    if truth:
        return Sharding(ONE, value.device) if names <= {"jax.sharding.SingleDeviceSharding"} else value
    return Unknown() if "jax.sharding.NamedSharding" in names else value


def instance(value: Value, names: Kinds) -> bool | None:
    """Whether `value` is an instance of one of the classes; None where that is open."""
    match value:
        case Instance(definition):
            order = definition.order()
            return True if not names.isdisjoint(order) else None if definition.is_open else False
        case Array(count, traced=traced):
            if "jax.Array" in names or ("jax.core.Tracer" in names and traced >= Tracing.DIFFERENTIATED):
                return True
            concrete = count is not None and not traced
            never = _HOST_TYPES | ({"torch.Tensor", "jax.core.Tracer"} if concrete else {"torch.Tensor"})
            return False if _others(names) <= never else None
        case Mapping():
            return True if "builtins.dict" in names else _none_of(names, _HOST_TYPES | _ARRAYS)
        case Sequence() | Elements():
            return _none_of(names, (_HOST_TYPES | _ARRAYS) - {"builtins.list", "builtins.dict"})
        case Host():
            return False if _others(names) <= {"jax.Array", "torch.Tensor"} else None
        case Foreign(library):
            others = _others(names)
            return True if f"{library}.Tensor" in others else False if others <= _HOST_TYPES | {"jax.Array"} else None
        case _:
            return None


def _others(names: Kinds) -> frozenset[str]:
    """The classes from elsewhere: no array is an object of the program's own."""
    return frozenset(one for one in names if isinstance(one, str))


def _none_of(names: Kinds, excluded: frozenset[str]) -> bool | None:
    """No, where all classes are among those that are excluded."""
    others = _others(names)
    return False if others and others <= excluded else None


_ARRAYS = frozenset({"jax.Array", "torch.Tensor"})
_HOST_TYPES = frozenset(
    {"numpy.ndarray", "builtins.int", "builtins.float", "builtins.list", "builtins.dict", "builtins.str"}
)


def has_attribute(owner: Value, name: str, frame: Frame, machine: Machine) -> Value:
    """`hasattr(owner, name)` as a value."""
    if isinstance(owner, Symbol):
        exists = module_has(owner, name, machine)
        return Version(None, opaque=True) if exists is None else Constant(exists)
    told = told_of_attribute(machine, owner, name)
    return told if told is not None else has(owner, name, frame.count(owner) if isinstance(owner, Array) else None)


def module_has(owner: Value, name: str, machine: Machine) -> bool | None:
    """Whether a module has a name on the target: what the table knows of JAX without a time was always there."""
    if not isinstance(owner, Symbol):
        return None
    full = f"{owner.name}.{name}"
    exists = machine.table.exists(full, machine.target.versions)
    if exists is None and full.startswith("jax.") and machine.table.always_had(full):
        return True
    return exists
