"""Tests of how many devices a mesh or a sharding has that a variable holds: `mesh.size == 1`."""

from __future__ import annotations

import ast
from dataclasses import replace

from shardlint.placement.counts import ONE
from shardlint.placement.domain import Mesh, Sharding, Value

_SIZES = frozenset({"size", "num_devices"})


def proven_one(test: ast.expr, truth: bool) -> ast.Name | None:
    """The variable whose mesh or sharding has one device if the test comes out so, None if it tells that of none."""
    match test:
        case ast.Compare(left=left, ops=[operator], comparators=[ast.Constant(value=1)]):
            one = isinstance(operator, ast.Eq | ast.LtE) if truth else isinstance(operator, ast.NotEq | ast.Gt)
            return _counted(left) if one else None
        case _:
            return None


def _counted(node: ast.expr) -> ast.Name | None:
    """The variable whose devices an expression counts."""
    match node:
        case ast.Attribute(value=ast.Name() as name, attr=size) if size in _SIZES:
            return name
        case ast.Attribute(value=ast.Attribute(value=ast.Name() as name, attr="devices" | "mesh"), attr="size"):
            return name
        case ast.Call(func=ast.Name(id="len"), args=[ast.Attribute(value=ast.Name() as name, attr="device_set")]):
            return name
        case _:
            return None


def on_one(value: Value) -> Value:
    """A mesh or sharding of which that is proven. Of one over the whole machine a fact tells it."""
    narrows = isinstance(value, Mesh | Sharding) and not value.count.whole
    return replace(value, count=ONE, trace=None) if narrows else value
