"""Seeing hand-offs in calls: what a call gives to a consumer of the tables, and arrays that meet a function of another library."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Elements,
    Foreign,
    Host,
    Mapping,
    Method,
    Sequence,
    Symbol,
    Transformed,
    Unknown,
    Value,
)
from shardlint.placement.frame import Frame
from shardlint.placement.handoffs import consumer_of, record
from shardlint.placement.lattice import alternatives, is_container, leaves
from shardlint.placement.machine import Arguments, Machine
from shardlint.placement.nature import PLAIN
from shardlint.placement.noting import note
from shardlint.placement.rows import Consumer
from shardlint.placement.transformed import positional_names
from shardlint.syntax.tree import Node

TELLING_NAMES = frozenset({"to_dlpack", "from_dlpack", "toDlpack", "fromDlpack"})
OF_ONE_LIBRARY = frozenset({"function", "conversion"})
"""The protocols of what takes arrays of its own library for granted: only others' arrays are handed over there."""

_MOST_ITEMS = 32

Given = tuple[ast.expr | None, Value]
"""What is handed over: the expression for it, where the program writes one, and its value."""


def call_seen(machine: Machine, function: Value, arguments: Arguments, node: Node, frame: Frame) -> None:
    """Record the hand-offs, if any, that a call is."""
    if not isinstance(node, ast.Call):
        return
    if isinstance(function, Transformed):
        _traced_call(machine, function, arguments, node, frame)
        return
    name = function.name if isinstance(function, Symbol | Method) else ""
    out = arguments.keywords.get("out") if isinstance(function, Symbol) and name.startswith("numpy.") else None
    if out is not None:
        row = replace(machine.table.consumers["operator.setitem"], name=name)
        record(machine, row, arguments.written(None, "out"), out, arguments, node, node.func, frame)
    found = consumer_of(machine, function)
    if found is not None:
        if not isinstance(found[1], Unknown):
            for row in (found[0], *found[0].others):
                _handed(machine, row, found[1], arguments, node, frame)
        if found[0].protocol not in OF_ONE_LIBRARY:
            return
    if name.rpartition(".")[2] in TELLING_NAMES:
        full = name if isinstance(function, Symbol) else f"?.{name}"
        note(machine, frame, "dlpack", full, node, name=node.func, arguments=arguments)


def _handed(
    machine: Machine, row: Consumer, owner: Value | None, arguments: Arguments, node: ast.Call, frame: Frame
) -> None:
    """Record what one call hands over in one way."""
    given = list(_given(row, owner, arguments))
    if row.protocol in OF_ONE_LIBRARY:
        _meet(machine, row, given, arguments, node, frame)
        return
    if row.alike:
        given = [(operand, value.item) for operand, value in given if isinstance(value, Elements)]
    for operand, value in given:
        if (row.tree or row.every) and any(is_container(one) for one in alternatives(value)):
            for leaf in islice(leaves(value), _MOST_ITEMS):
                record(machine, row, operand, leaf, arguments, node, node.func, frame)
            continue
        record(machine, row, operand, value, arguments, node, node.func, frame)
        if row.lists is not None and isinstance(value, Sequence | Elements):
            _in_lists(machine, replace(row, protocol=row.lists), (operand, value), arguments, node, frame)


def _given(row: Consumer, owner: Value | None, arguments: Arguments) -> Iterator[Given]:
    """All that a consumer takes of a call."""
    if owner is not None:
        function = None if arguments.node is None else arguments.node.func
        yield (function.value if isinstance(function, ast.Attribute) else None), owner
        return
    if row.every:
        values = arguments.values()
        nodes = [None] * len(values) if arguments.node is None else _written(arguments.node, arguments)
        yield from zip(nodes, values, strict=True)
        return
    yield _argument(row.array.position, row.array.keyword, arguments)
    for position in row.also:
        if position != row.array.position and position < len(arguments.positional):
            yield _argument(position, None, arguments)


def _written(call: ast.Call, arguments: Arguments) -> list[ast.expr | None]:
    """The expressions for the values of all arguments, where there is one for each."""
    plain = not any(isinstance(one, ast.Starred) for one in call.args)
    named = {one.arg: one.value for one in call.keywords if one.arg is not None}
    nodes: list[ast.expr | None] = [None] * arguments.bound + [*call.args] if plain else []
    nodes = nodes[: len(arguments.positional)]
    nodes += [None] * (len(arguments.values()) - len(arguments.keywords) - len(nodes))
    return [*nodes, *(named.get(name) for name in arguments.keywords)]


def _argument(position: int | None, keyword: str | None, arguments: Arguments) -> Given:
    given = arguments.get(position, keyword)
    return arguments.written(position, keyword), UNKNOWN if given is None else given


def _meet(
    machine: Machine, row: Consumer, given: list[Given], arguments: Arguments, node: ast.Call, frame: Frame
) -> None:
    """Record the arrays of other libraries that a function of one library is given, by themselves or in containers."""
    for operand, value in given:
        if isinstance(value, Mapping) and row.lists is None:
            continue
        for part in _parts(operand, value):
            if any(_is_foreign(one, row) for one in alternatives(part[1])):
                record(machine, row, *part, arguments, node, node.func, frame)


def _is_foreign(value: Value, row: Consumer) -> bool:
    """Whether a value is surely an array, and not one of the library whose function it is given to."""
    if isinstance(value, Host) and row.refuses and value.nature is not PLAIN:
        return True
    if row.gives != "jax":
        return isinstance(value, Array)
    return isinstance(value, Foreign) and (value.sure or (row.protocol == "conversion" and value.nature is not PLAIN))


def _in_lists(
    machine: Machine, row: Consumer, given: Given, arguments: Arguments, node: ast.Call, frame: Frame
) -> None:
    """Record the arrays of JAX in a list that a consumer goes through."""
    for part in _parts(*given):
        if any(isinstance(one, Array) for one in alternatives(part[1])):
            record(machine, row, *part, arguments, node, node.func, frame)


def _parts(operand: ast.expr | None, value: Value) -> Iterator[Given]:
    """What is handed over, one by one where it is a container."""
    match value:
        case Sequence(items):
            written = operand.elts if isinstance(operand, ast.List | ast.Tuple) else []
            shown = len(written) == len(items) and not any(isinstance(one, ast.Starred) for one in written)
            for number, item in enumerate(items):
                yield from _parts(written[number] if shown else None, item)
        case Elements(item):
            yield from _parts(None, item)
        case Mapping():
            yield from ((None, leaf) for leaf in leaves(value))
        case _:
            yield operand, value


def _traced_call(machine: Machine, function: Transformed, arguments: Arguments, node: ast.Call, frame: Frame) -> None:
    """Record the arrays of other libraries that are given to a function which JAX runs with tracers, and not as static arguments."""
    row = machine.table.functions.get(f"jax.{function.how}")
    if row is None:
        return
    signature = positional_names(function.function)
    keys = [*range(len(arguments.positional)), *arguments.keywords]
    given = [
        _argument(key, None, arguments) if isinstance(key, int) else _argument(None, key, arguments)
        for key in keys
        if function.static.has(key, signature) is False
    ]
    _meet(machine, row, given, arguments, node, frame)
