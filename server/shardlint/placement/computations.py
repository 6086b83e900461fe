"""Seeing computations that JAX refuses, as what goes into them was put on different devices (FACTS 3)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace

from shardlint.placement.counts import ONE, Count
from shardlint.placement.domain import Array, Elements, OneOf, Value
from shardlint.placement.frame import Frame
from shardlint.placement.handoffs import record
from shardlint.placement.lattice import held, is_container
from shardlint.placement.machine import Arguments, Machine
from shardlint.placement.operators import refused
from shardlint.syntax.tree import Node

_CONSUMER = "jax.computation"


def computed_together(
    values: Iterable[Value], node: Node, frame: Frame, machine: Machine, onto: Count | None = None
) -> None:
    """Record that `node` computes with all of `values`, where some of them were surely put on other devices than the others.

    `onto` is where the result is told to go. Nothing is said of tracers, and of values that have alternatives.
    """
    if frame.traced or not isinstance(node, ast.expr):
        return
    arrays = [array for value in values for array in _committed(value, frame)]
    counts = [array.count for array in arrays]
    if not arrays or not refused(counts, onto):
        return
    most = max(arrays, key=_low)
    if most.count is not None and most.count.number != ONE:
        name = node.func if isinstance(node, ast.Call) else node
        record(machine, machine.table.consumers[_CONSUMER], None, most, Arguments(), node, name, frame)


def _low(array: Array) -> tuple[bool, int]:
    count = array.count or ONE
    return count.number != ONE, count.low


def _committed(value: Value, frame: Frame) -> Iterator[Array]:
    """The arrays in a value that were put where they are, with all that is known of them. The shards of an array stand for an array
    on its devices and for one of them.
    """
    if isinstance(value, Elements) and isinstance(value.item, Array) and value.item.shard_of is not None:
        shard, whole = value.item, value.item.shard_of
        if "one-shard" not in shard.nature.marks and whole.number != ONE:
            yield replace(shard, count=whole)
            yield replace(shard, count=ONE)
        return
    if is_container(value):
        for item in held(value):
            yield from _committed(item, frame)
    elif isinstance(value, Array) and value.committed and not value.traced and not isinstance(value, OneOf):
        informed = frame.informed(value)
        if informed is not None and informed.count is not None:
            yield informed
