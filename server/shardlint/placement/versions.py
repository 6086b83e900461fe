"""Comparing the target's JAX version, the way programs do it."""

from __future__ import annotations

import ast
from typing import TypeVar

from packaging.version import InvalidVersion
from packaging.version import Version as PackageVersion

from shardlint.model import Target
from shardlint.placement.domain import Constant, Elements, Sequence, Slice, Value, Version

_Ordered = TypeVar("_Ordered", float, tuple[int, ...])


def is_version(value: Value) -> bool:
    """Whether a value is the target's version or made of its parts."""
    return isinstance(value, Version) or (isinstance(value, Elements) and isinstance(value.item, Version))


def compare_versions(left: Value, operator: ast.cmpop, right: Value, target: Target) -> Value:
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
        truths.add(ordered(a, operator, b))
    return Constant(truths.pop()) if len(truths) == 1 else Version(None, opaque=True)


def ordered(a: _Ordered, operator: ast.cmpop, b: _Ordered) -> bool:
    """`a operator b` for an operator of order or equality."""
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


def part(version: Version, index: Value) -> Value:
    """`version[index]`."""
    match index:
        case Slice(None, int() as parts, None) if parts > 0 and not version.opaque:
            return Version(version.known, parts)
        case _:
            return Version(version.known, opaque=True)
