"""Values of operators, comparisons and subscripts."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from collections.abc import Mapping as MappingType
from typing import TypeVar

from packaging.version import InvalidVersion
from packaging.version import Version as PackageVersion

from shardlint.model import Target
from shardlint.placement.domain import (
    ANY,
    ONE,
    OPEN,
    UNKNOWN,
    Array,
    Constant,
    Count,
    Device,
    DeviceId,
    Devices,
    Elements,
    Fact,
    Foreign,
    Host,
    Mapping,
    Method,
    Sequence,
    Slice,
    Value,
    Version,
    alternatives,
    one_of,
)
from shardlint.placement.machine import Frame
from shardlint.syntax.tree import Node

_Ordered = TypeVar("_Ordered", float, tuple[int, ...])


def combined(operands: list[Value], node: Node, frame: Frame) -> Value:
    """What an operation on arrays gives: an array on the devices of its operands; a mesh in force spreads it further."""
    arrays = [array for operand in operands for array in alternatives(operand) if isinstance(array, Array)]
    if not arrays:
        return UNKNOWN
    many = next((array for array in arrays if array.count is not None and array.count != ONE), None)
    unknown = next((array for array in arrays if array.count is None), None)
    chosen = many or unknown or arrays[0]
    traced = any(array.traced for array in arrays)
    count = frame.count(chosen)
    if chosen.count is not None and chosen.count != ONE and count is None:
        count = chosen.count
    if count == ONE and frame.state.mesh is not None and not traced:
        return Array(frame.state.mesh, frame.fresh(node), None, traced, frame.state.mesh_trace)
    return Array(count, frame.fresh(node), chosen.device, traced, chosen.trace)


def binary(left: Value, operator: ast.operator, right: Value, node: ast.expr, frame: Frame) -> Value:
    """`left operator right`."""
    pair = (*alternatives(left), *alternatives(right))
    if any(isinstance(value, Array) for value in pair):
        return combined([left, right], node, frame)
    for library in pair:
        if isinstance(library, Foreign):
            return Foreign(library.library)
    match left, right:
        case Constant(int() as a), Constant(int() as b) if not isinstance(a, bool) and not isinstance(b, bool):
            return _arithmetic(a, operator, b)
        case Sequence(a_items), Sequence(b_items) if isinstance(operator, ast.Add):
            return Sequence((*a_items, *b_items))
        case Host(), (Host() | Constant()):
            return Host()
        case Constant(), Host():
            return Host()
        case _:
            return UNKNOWN


def _arithmetic(a: int, operator: ast.operator, b: int) -> Value:
    match operator:
        case ast.Add():
            return Constant(a + b)
        case ast.Sub():
            return Constant(a - b)
        case ast.Mult() if abs(a) < 1 << 40 and abs(b) < 1 << 40:
            return Constant(a * b)
        case ast.FloorDiv() if b != 0:
            return Constant(a // b)
        case _:
            return UNKNOWN


def negate(value: Value) -> Value:
    """`not value`."""
    if isinstance(value, Constant):
        return Constant(not value.value)
    return value if isinstance(value, Version) else UNKNOWN


def compare(left: Value, operator: ast.cmpop, right: Value, target: Target) -> Value:
    """The truth of a comparison where it follows from constants or from the target's version."""
    for value in (left, right):
        if isinstance(value, Version) or (isinstance(value, Elements) and isinstance(value.item, Version)):
            return _compare_versions(left, operator, right, target)
    if isinstance(left, Constant) and isinstance(right, Constant):
        return _decide(left.value, operator, right.value)
    if isinstance(operator, ast.Is | ast.IsNot) and _never_none(left) and right == Constant(None):
        return Constant(isinstance(operator, ast.IsNot))
    return UNKNOWN


def _never_none(value: Value) -> bool:
    return isinstance(value, Array | Host | Foreign | Sequence | Mapping | Elements)


def _decide(a: Hashable, operator: ast.cmpop, b: Hashable) -> Value:
    try:
        match operator:
            case ast.Eq():
                return Constant(a == b)
            case ast.NotEq():
                return Constant(a != b)
            case ast.Is():
                return Constant(a is b) if a is None or b is None or isinstance(a, bool) else UNKNOWN
            case ast.IsNot():
                return Constant(a is not b) if a is None or b is None or isinstance(a, bool) else UNKNOWN
            case ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE() if isinstance(a, int | float) and isinstance(
                b, int | float
            ):
                return Constant(_ordered(float(a), operator, float(b)))
            case _:
                return UNKNOWN
    except (TypeError, ValueError):
        return UNKNOWN


def _ordered(a: _Ordered, operator: ast.cmpop, b: _Ordered) -> bool:
    match operator:
        case ast.Lt():
            return a < b
        case ast.LtE():
            return a <= b
        case ast.Gt():
            return a > b
        case ast.GtE():
            return a >= b
        case ast.NotEq():
            return a != b
        case _:
            return a == b


def _compare_versions(left: Value, operator: ast.cmpop, right: Value, target: Target) -> Value:
    """A test of the target's version holds if it holds for every candidate; else it stays a guard that is not followed."""
    if not isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE | ast.Eq | ast.NotEq):
        return Version(None, opaque=True)
    truths: set[bool] = set()
    for candidate in target.versions:
        a, b = _release(left, candidate), _release(right, candidate)
        if a is None or b is None:
            return Version(None, opaque=True)
        if not any(isinstance(side, Sequence) for side in (left, right)):
            width = max(len(a), len(b))
            a, b = a + (0,) * (width - len(a)), b + (0,) * (width - len(b))
        truths.add(_ordered(a, operator, b))
    return Constant(truths.pop()) if len(truths) == 1 else Version(None, opaque=True)


def _release(value: Value, candidate: str) -> tuple[int, ...] | None:
    match value:
        case Version(opaque=False, parts=parts):
            return _parsed(candidate, parts)
        case Constant(str() as text):
            return _parsed(text, None)
        case Sequence(items) if items and all(isinstance(i, Constant) and isinstance(i.value, int) for i in items):
            return tuple(i.value for i in items if isinstance(i, Constant) and isinstance(i.value, int))
        case _:
            return None


def _parsed(text: str, parts: int | None) -> tuple[int, ...] | None:
    try:
        release = PackageVersion(text).release
    except InvalidVersion:
        return None
    return release if parts is None else release[:parts]


def subscript(owner: Value, index: Value, node: ast.Subscript, frame: Frame) -> Value:
    """`owner[index]`."""
    match owner:
        case Array():
            return combined([owner], node, frame)
        case Sequence(items):
            return _item(items, index)
        case Mapping(items):
            return _entry(items, index)
        case Elements(item):
            return owner if isinstance(index, Slice) else item
        case Devices():
            return _device(owner, index)
        case Host() | Foreign():
            return owner
        case Version(known, _, opaque):
            return _version_part(known, index, opaque=opaque)
        case Method(Array() as array, "at"):
            return array
        case Method(Array() as array, "shape"):
            return Method(array, "size")
        case _:
            return UNKNOWN


def _item(items: tuple[Value, ...], index: Value) -> Value:
    match index:
        case Constant(int() as number):
            return items[number] if -len(items) <= number < len(items) else UNKNOWN
        case Slice(low, high, step) if OPEN not in (low, high, step) and step != 0:
            kept = [items[i] for i in range(*slice(low, high, step).indices(len(items)))]
            return Sequence(tuple(kept))
        case Slice():
            return Elements(one_of(items))
        case _:
            return one_of(items)


def _entry(items: tuple[tuple[Hashable, Value], ...], index: Value) -> Value:
    if isinstance(index, Constant):
        return next((value for key, value in items if key == index.value), UNKNOWN)
    return one_of([*(value for _, value in items), UNKNOWN])


def _device(devices: Devices, index: Value) -> Value:
    platform = devices.first.platform if devices.first is not None else None
    match index:
        case Constant(int() as number):
            starts_at_zero = devices.first is not None and devices.first.index == 0
            return Device(DeviceId(number if starts_at_zero and number >= 0 else None, platform))
        case Slice(None, None, None):
            return devices
        case Slice(low, high, None) if isinstance(high, int) and isinstance(low, int | None):
            start = low or 0
            if 0 <= start < high:
                count = Count(1, high - start).met(devices.count) or ONE
                return Devices(count, DeviceId(start, platform), devices.trace)
            return Devices(Count(1, devices.count.high), DeviceId(None, platform), devices.trace)
        case Slice():
            return Devices(Count(1, devices.count.high), DeviceId(None, platform), devices.trace)
        case _:
            return Device(DeviceId(None, platform))


def _version_part(known: str | None, index: Value, *, opaque: bool) -> Value:
    match index:
        case Slice(None, int() as parts, None) if parts > 0 and not opaque:
            return Version(known, parts)
        case _:
            return Version(known, opaque=True)


def count_test(fact: Fact, operator: ast.cmpop, number: int, truth: bool) -> Count | bool | None:
    """What `fact operator number` being `truth` says of the array's devices: a count, IMPOSSIBLE, or False for nothing."""
    if fact.what != "count":
        return False
    if not truth:
        inverse = _OPPOSITE.get(type(operator))
        return False if inverse is None else count_test(fact, inverse(), number, True)
    match operator:
        case ast.Eq():
            return Count(number, number) if number >= 1 else None
        case ast.NotEq():
            return Count(2, None) if number == 1 else ANY
        case ast.Lt():
            return Count(1, number - 1) if number > 1 else None
        case ast.LtE():
            return Count(1, number) if number >= 1 else None
        case ast.Gt():
            return Count(max(1, number + 1), None)
        case ast.GtE():
            return Count(max(1, number), None)
        case _:
            return False


_OPPOSITE: MappingType[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}
