"""What a test tells: which paths exist, how many devices an array has on them, which alternatives of a name remain.

The table of what proves what is FACTS 5: `len(x.sharding.device_set) == 1`, `len(x.devices()) == 1`, `num_devices`, an
`isinstance` of the sharding and `jax.device_count() == 1` prove one device; `is_fully_replicated`, addressability, the local
device count and `hasattr(x, "__dlpack__")` prove nothing and are not followed.
"""

from __future__ import annotations

import ast

from shardlint.placement.domain import (
    ONE,
    UNKNOWN,
    Array,
    Constant,
    Count,
    Devices,
    Fact,
    Foreign,
    Host,
    Sequence,
    Sharding,
    Symbol,
    Unknown,
    Value,
    Version,
    alternatives,
    one_of,
)
from shardlint.placement.machine import EVERY_ARRAY, IMPOSSIBLE, Frame, Machine, merge
from shardlint.placement.operators import compare, count_test

_NEVER_RUN = frozenset({"typing.TYPE_CHECKING"})
_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}


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
                        self.assume(value, truth, frame)
                else:
                    self._one_of_them(values, truth, frame)
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                self._compared(left, operator, right, truth, frame)
            case ast.Call(func=ast.Name(id="isinstance"), args=[subject, kind], keywords=[]):
                self._isinstance(subject, kind, truth, frame)
            case ast.Call(func=ast.Name(id="hasattr"), args=[subject, ast.Constant(value=str(name))], keywords=[]):
                self._hasattr(subject, name, truth, frame)
            case _:
                self._truth(self._machine.evaluate(test, frame), truth, frame)

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
        if ends is not None:
            frame.state = ends

    def _truth(self, value: Value, truth: bool, frame: Frame) -> None:
        choices = alternatives(value)
        if all(isinstance(choice, Constant) and bool(choice.value) != truth for choice in choices) or (
            isinstance(value, Symbol) and value.name in _NEVER_RUN and truth
        ):
            frame.state.alive = False
        elif any(isinstance(choice, Version) for choice in choices):
            frame.state.version_guarded = True

    def _compared(self, left: ast.expr, operator: ast.cmpop, right: ast.expr, truth: bool, frame: Frame) -> None:
        a, b = self._machine.evaluate(left, frame), self._machine.evaluate(right, frame)
        if not frame.state.alive:
            return
        for value, kind, other in ((a, operator, b), (b, _FLIPPED.get(type(operator), type(operator))(), a)):
            facts = [choice for choice in alternatives(value) if isinstance(choice, Fact)]
            if facts and isinstance(other, Constant) and isinstance(other.value, int):
                for fact in facts:
                    self._learn(fact, count_test(fact, kind, other.value, truth), frame, only=len(facts) == 1)
                return
            if facts and isinstance(other, Sharding) and other.count == ONE and isinstance(kind, ast.Eq) and truth:
                for fact in facts:
                    self._learn(fact, ONE, frame, only=len(facts) == 1)
                return
        if b == Constant(None) and isinstance(operator, ast.Is | ast.IsNot):
            self._none_test(left, a, isinstance(operator, ast.Is) == truth, frame)
            return
        self._truth(compare(a, operator, b, self._machine.target), truth, frame)

    def _learn(self, fact: Fact, told: Count | bool | None, frame: Frame, *, only: bool) -> None:
        if isinstance(told, bool):
            return
        known = frame.fact(fact.key)
        if told is not None and isinstance(known, Count):
            told = told.met(known)
        if told is not None and fact.count is not None:
            told = told.met(fact.count)
        if told is IMPOSSIBLE and only and fact.key != EVERY_ARRAY:
            frame.state.alive = False
        elif told is not IMPOSSIBLE or fact.key != EVERY_ARRAY:
            frame.state.facts[fact.key] = told

    def _none_test(self, subject: ast.expr, value: Value, is_none: bool, frame: Frame) -> None:
        choices = alternatives(value)
        kept = [
            choice
            for choice in choices
            if isinstance(choice, Unknown | Symbol) or (choice == Constant(None)) == is_none
        ]
        self._keep(subject, choices, kept, frame)

    def _keep(self, subject: ast.expr, choices: tuple[Value, ...], kept: list[Value], frame: Frame) -> None:
        """Only the alternatives `kept` are left; with none left the path does not exist."""
        if not kept:
            frame.state.alive = False
        elif len(kept) < len(choices) and isinstance(subject, ast.Name):
            frame.state.variables[subject.id] = one_of(kept)

    def _isinstance(self, subject: ast.expr, kind: ast.expr, truth: bool, frame: Frame) -> None:
        value, kinds = self._machine.evaluate(subject, frame), self._machine.evaluate(kind, frame)
        names = {
            k.name
            for k in (kinds.items if isinstance(kinds, Sequence) else alternatives(kinds))
            if isinstance(k, Symbol)
        }
        choices = alternatives(value)
        facts = [choice for choice in choices if isinstance(choice, Fact) and choice.what == "sharding"]
        if facts:
            if truth and names == {"jax.sharding.SingleDeviceSharding"}:
                for fact in facts:
                    self._learn(fact, ONE, frame, only=len(facts) == 1)
            return
        if not names or not isinstance(kinds, Symbol | Sequence):
            return
        kept = [choice for choice in choices if _instance(choice, names) is not (not truth)]
        self._keep(subject, choices, kept, frame)

    def _hasattr(self, subject: ast.expr, name: str, truth: bool, frame: Frame) -> None:
        value = self._machine.evaluate(subject, frame)
        choices = alternatives(value)
        kept = [choice for choice in choices if self._has(choice, name, frame) is not (not truth)]
        self._keep(subject, choices, kept, frame)

    def _has(self, value: Value, name: str, frame: Frame) -> bool | None:
        if isinstance(value, Symbol):
            exists = exists_on_target(self._machine, f"{value.name}.{name}")
            if exists is None:
                frame.state.version_guarded = True
            return exists
        if isinstance(value, Array) and name == "__cuda_array_interface__":
            count = frame.count(value)
            return False if count is not None and count.surely_many else None
        return None


def _instance(value: Value, names: set[str]) -> bool | None:
    """Whether `value` is an instance of one of the classes; None where that is open."""
    match value:
        case Array():
            return True if "jax.Array" in names else False if names <= _HOST_TYPES | {"torch.Tensor"} else None
        case Host():
            return (
                None
                if names & (_HOST_TYPES | {"builtins.object"})
                else False
                if names <= {"jax.Array", "torch.Tensor"}
                else None
            )
        case Foreign(library):
            return True if f"{library}.Tensor" in names else False if names <= _HOST_TYPES | {"jax.Array"} else None
        case Devices():
            return None
        case _:
            return None


_HOST_TYPES = frozenset(
    {"numpy.ndarray", "builtins.int", "builtins.float", "builtins.list", "builtins.dict", "builtins.str"}
)


def exists_on_target(machine: Machine, name: str) -> bool | None:
    """Whether JAX's `name` exists on every (True) or no (False) candidate version; None where that is not known."""
    from packaging.version import Version as PackageVersion

    row = machine.table.timeline.get(machine.table.canonical(name))
    if row is None:
        return None
    truths = {
        (row.added is None or PackageVersion(version) >= PackageVersion(row.added))
        and (row.removed is None or PackageVersion(version) < PackageVersion(row.removed))
        for version in machine.target.versions
    }
    return truths.pop() if len(truths) == 1 else None


def hasattr_value(machine: Machine, arguments: tuple[Value, ...]) -> Value:
    """`hasattr(module, "name")` as a value: a flag that code keeps for later."""
    match arguments:
        case (Symbol(owner), Constant(str() as name)):
            exists = exists_on_target(machine, f"{owner}.{name}")
            return Version(None, opaque=True) if exists is None else Constant(exists)
        case _:
            return UNKNOWN
