"""Values of operators and comparisons."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import replace

from shardlint.model import Target
from shardlint.placement.counts import ONE, Count, Share
from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Constant,
    Elements,
    Fact,
    Foreign,
    Host,
    Mapping,
    Member,
    Method,
    OneOf,
    Sequence,
    Symbol,
    Unknown,
    Value,
)
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import alternatives, each, held, one_of
from shardlint.placement.nature import PLAIN
from shardlint.placement.natures import common, computed, with_nature
from shardlint.placement.telling import chosen_process, fact_test, negation, told_if_there
from shardlint.placement.tracing import Tracing
from shardlint.placement.versions import compare_versions, is_version, ordered
from shardlint.syntax.tree import Node

_MOST_ITEMS = 16
_NEVER_NONE = ("jax.", "jaxlib.", "numpy.", "torch.", "builtins.")
"""Libraries whose names, where they exist, are never None."""


def combined(operands: list[Value], node: Node, frame: Frame) -> Value:
    """What an operation on arrays gives: an array on the devices of its operands; a mesh in force spreads it further."""
    arrays = [array for operand in operands for array in alternatives(operand) if isinstance(array, Array)]
    if not arrays:
        return UNKNOWN
    open_ = next((operand for operand in operands if isinstance(operand, OneOf)), None)
    if open_ is None:
        return _combined(operands, node, frame)

    def chosen(choice: Value) -> Value:
        return combined([choice if operand == open_ else operand for operand in operands], node, frame)

    return each(open_, chosen)


def _combined(operands: list[Value], node: Node, frame: Frame) -> Value:
    arrays = [array for operand in operands for array in alternatives(operand) if isinstance(array, Array)]
    if not arrays:
        return UNKNOWN
    counts = {id(array): ONE if array.stacked else frame.count(array) for array in arrays}
    many = next((array for array in arrays if (count := counts[id(array)]) is not None and count != ONE), None)
    unknown = next((array for array in arrays if counts[id(array)] is None), None)
    chosen = many or unknown or arrays[0]
    traced = max(frame.traced, *(array.traced for array in arrays))
    if traced is Tracing.DIFFERENTIATED:
        traced = Tracing.MAYBE  # an operation without a derivative gives an array
    count = _of_result(counts[id(chosen)], [counts[id(array)] for array in arrays], node)
    committed = [counts[id(array)] for array in arrays if array.committed]
    if refused(committed, frame.state.mesh if count == ONE and not traced else count):
        return Array(None, frame.fresh(node), None, traced)
    if count == ONE and frame.state.mesh is not None and not traced:
        return Array(frame.state.mesh, frame.fresh(node), None, traced, frame.state.mesh_trace)
    devices = {array.device for array in arrays}
    return Array(
        count,
        frame.fresh(node),
        devices.pop() if len(devices) == 1 else None,
        traced,
        chosen.trace,
        committed=any(array.committed for array in arrays),
    )


def _of_result(count: Count | None, operands: list[Count | None], node: Node) -> Count | None:
    """The devices of the result. What each of them has of it is known of operators, which work on each item by itself, and where each
    has all of the operands.
    """
    if count is not None and count.share is Share.ALL and all(one in (count, ONE) for one in operands):
        return count
    if (
        count is None
        or not isinstance(node, ast.BinOp | ast.UnaryOp)
        or isinstance(getattr(node, "op", None), ast.MatMult)
    ):
        return count and count.unshared
    return count if all(one is not None and one in (count, ONE) for one in operands) else count.unshared


def refused(committed: list[Count | None], other: Count | None) -> bool:
    """Whether JAX refuses to compute with arrays put on so many devices together with what is on `other`: where it does, nothing
    is said of what would come out. A mesh of unknown size and one device are the same if it has only one: then nothing fails either.
    """
    known = {count.number for count in (*committed, other) if count is not None}
    return (ONE in committed and len(known) > 1) or len({count for count in known if count.low == count.high}) > 1


def binary(left: Value, operator: ast.operator, right: Value, node: ast.expr, frame: Frame) -> Value:
    """`left operator right`."""
    pair = (*alternatives(left), *alternatives(right))
    if any(isinstance(value, Array) for value in pair):
        plain = all(isinstance(value, Array) or _is_scalar(value) for value in pair)
        made = _differentiated(combined([left, right], node, frame), operator, (left, right))
        return with_nature(made, common([left, right]) if plain else PLAIN)
    for library in pair:
        if isinstance(library, Foreign):
            whole = not isinstance(operator, ast.Div) and all(
                isinstance(one, Foreign) or (_is_scalar(one) and not _is_float(one)) for one in pair
            )
            nature = computed([left, right], same_dtype=whole, recording=frame.state.recording)
            return Foreign(library.library, None, nature, _surely_array(left, right))
    match left, right:
        case Symbol(name), _ if name.startswith("ctypes.") and isinstance(operator, ast.Mult):
            return Symbol("ctypes.Array")  # the class of arrays of such numbers
        case Constant(int() | float() | complex() as a), Constant(int() | float() | complex() as b) if (
            isinstance(a, complex) or isinstance(b, complex)
        ) and isinstance(operator, ast.Add | ast.Sub):
            return Constant(a + b if isinstance(operator, ast.Add) else a - b)
        case Constant(int() as a), Constant(int() as b) if not isinstance(a, bool) and not isinstance(b, bool):
            return _arithmetic(a, operator, b)
        case Sequence(a_items), Sequence(b_items) if isinstance(operator, ast.Add):
            return Sequence((*a_items, *b_items))
        case ((Sequence() | Elements()), (Sequence() | Elements())) if isinstance(operator, ast.Add):
            return Elements(one_of([*held(left), *held(right)]))
        case ((Sequence() | Elements()), Constant(int() as times)) if isinstance(operator, ast.Mult):
            return _repeated(left, times)
        case Constant(int() as times), (Sequence() | Elements()) if isinstance(operator, ast.Mult):
            return _repeated(right, times)
        case Sequence() | Elements(), _ if isinstance(operator, ast.Mult) and held(left):
            return Elements(one_of(held(left)))
        case Mapping(), Mapping() if isinstance(operator, ast.BitOr):
            return _united(left, right)
        case (Host(), (Host() | Constant())) | (Constant(), Host()):
            whole = not isinstance(operator, ast.Div) and not any(_is_float(one) for one in (left, right))
            return Host(nature=computed([left, right], same_dtype=whole))
        case _:
            return UNKNOWN


def _differentiated(made: Value, operator: ast.operator, operands: tuple[Value, Value]) -> Value:
    """What arithmetic gives: with a number that is differentiated, another one."""
    if not isinstance(made, Array) or made.traced is not Tracing.MAYBE or not isinstance(operator, _SMOOTH):
        return made
    sure = any(isinstance(one, Array) and one.traced is Tracing.DIFFERENTIATED for one in operands)
    return replace(made, traced=Tracing.DIFFERENTIATED) if sure else made


_SMOOTH = ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow | ast.MatMult


def _surely_array(left: Value, right: Value) -> bool:
    """Whether an operation surely gives an array of another library: what it makes of two libraries is for them to say."""
    return any(
        isinstance(this, Foreign)
        and this.sure
        and (isinstance(other, Constant) or (isinstance(other, Foreign) and other.library == this.library))
        for this, other in ((left, right), (right, left))
    )


def _is_scalar(value: Value) -> bool:
    """Whether it is a number of Python's own, which takes the dtype of an array of floats."""
    return isinstance(value, Constant) and isinstance(value.value, int | float)


def _is_float(value: Value) -> bool:
    return isinstance(value, Constant) and isinstance(value.value, float)


def _repeated(value: Sequence | Elements, times: int) -> Value:
    if isinstance(value, Sequence) and 0 <= times * len(value.items) <= _MOST_ITEMS:
        return Sequence(value.items * times)
    return Elements(one_of(held(value))) if held(value) else value


def _united(left: Mapping, right: Mapping) -> Value:
    """`left | right`."""
    if right.rest is None:
        return Mapping(tuple({**dict(left.items), **dict(right.items)}.items()), left.rest, factory=left.factory)
    rest = right.rest if left.rest is None else one_of([left.rest, right.rest])
    known = {key: one_of([item, right.rest]) for key, item in left.items}
    return Mapping(tuple({**known, **dict(right.items)}.items()), rest, factory=left.factory)


def _arithmetic(a: int, operator: ast.operator, b: int) -> Value:
    match operator:
        case ast.Add():
            return Constant(a + b)
        case ast.Sub():
            return Constant(a - b)
        case ast.Mult() if abs(a) < 1 << 40 and abs(b) < 1 << 40:
            return Constant(a * b)
        case ast.Pow() if abs(a) <= 16 and 0 <= b <= 64:
            return Constant(a**b)
        case ast.FloorDiv() if b != 0:
            return Constant(a // b)
        case _:
            return UNKNOWN


def compared(operands: list[Value], operator: ast.cmpop, node: ast.expr, frame: Frame) -> Value | None:
    """The array of truth values that comparing arrays gives; None where no operand is surely one, or their identity is asked."""
    sure = any(all(isinstance(one, Array) for one in alternatives(operand)) for operand in operands)
    by_item = isinstance(operator, ast.Eq | ast.NotEq | ast.Lt | ast.LtE | ast.Gt | ast.GtE)
    return combined(operands, node, frame) if sure and by_item else None


def compare(left: Value, operator: ast.cmpop, right: Value, target: Target) -> Value:
    """The truth of a comparison where it follows from constants, from the target's version or from what is known of devices."""
    if is_version(left) or is_version(right):
        return compare_versions(left, operator, right, target)
    return each(left, lambda one: each(right, lambda other: _compare(one, operator, other)))


def _compare(left: Value, operator: ast.cmpop, right: Value) -> Value:
    for fact, kind, other in ((left, operator, right), (right, _FLIPPED.get(type(operator), type(operator))(), left)):
        test = fact_test(fact, kind, other) if isinstance(fact, Fact) else chosen_process(fact, kind, other)
        if test is not None:
            return test
    match left, right:
        case Method(Fact(what="type of sharding") as kind, "__name__" | "__qualname__"), Constant(str() as name):
            return fact_test(kind, operator, Symbol(f"jax.sharding.{name}")) or UNKNOWN
        case _:
            pass
    if isinstance(left, Constant) and isinstance(right, Constant):
        return _decide(left, operator, right)
    if (
        isinstance(operator, ast.Is | ast.IsNot)
        and right == Constant(None)
        and (there := told_if_there(left)) is not None
    ):
        return there if isinstance(operator, ast.IsNot) else negation(there)
    if isinstance(operator, ast.Is | ast.IsNot) and never_none(left) and right == Constant(None):
        return Constant(isinstance(operator, ast.IsNot))
    return UNKNOWN


_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}


def never_none(value: Value) -> bool:
    """Whether a value is surely not None: an attribute of whatever may be, as may what is outside the program."""
    if isinstance(value, Symbol):
        return value.name.startswith(_NEVER_NONE)
    return not isinstance(value, Unknown | Constant | Method | OneOf)


def _decide(left: Constant, operator: ast.cmpop, right: Constant) -> Value:
    truth = _decided(left.value, operator, right.value)
    return UNKNOWN if truth is None else Constant(truth, (*left.facts, *right.facts))


def _decided(a: Hashable, operator: ast.cmpop, b: Hashable) -> bool | None:
    singleton = (type(a) is type(b) and isinstance(a, bool | Member | None)) or a is None or b is None
    match operator:
        case ast.Eq():
            return a == b
        case ast.NotEq():
            return a != b
        case ast.Is():
            return a == b if singleton else None
        case ast.IsNot():
            return a != b if singleton else None
        case ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE() if isinstance(a, int | float) and isinstance(b, int | float):
            return ordered(float(a), operator, float(b))
        case _:
            return None
