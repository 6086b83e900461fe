"""Comprehensions: over items that are known one by one the result is known so too, over others its items are all alike."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from shardlint.placement.attributes import DEVICES_OF
from shardlint.placement.domain import UNKNOWN, Array, Constant, Elements, Fact, Mapping, Sequence, Value, Version
from shardlint.placement.frame import Frame
from shardlint.placement.iteration import element, items_of
from shardlint.placement.lattice import each, one_of
from shardlint.placement.machine import Machine
from shardlint.placement.merging import merge_all
from shardlint.placement.objects import iterated
from shardlint.placement.operations import gone_through
from shardlint.placement.state import State
from shardlint.syntax.scopes import targets

_MOST_TURNS = 8

Made = tuple[Value, Value]
"""The key (None in a list) and the value of one item."""


def comprehension(node: ast.ListComp | ast.SetComp | ast.GeneratorExp, frame: Frame, machine: Machine) -> Value:
    """The list, set or generator."""
    made = _made(node.generators, frame, machine, lambda: (Constant(None), machine.evaluate(node.elt, frame)))
    ids = machine.new_ids()
    if made is not None and not isinstance(node, ast.SetComp):
        return Sequence(tuple(value for _, value in made), ids)
    item, values = _all_alike(node.generators, frame, machine, lambda: machine.evaluate(node.elt, frame))
    return _same_parts(item, values, node) or Elements(item, ids)


def _same_parts(item: Value, values: Value, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value | None:
    """The devices of all shards of an array: as many as it is on. The numbers of a version: the version."""
    every = len(node.generators) == 1 and not node.generators[0].ifs
    match item, values:
        case Version(), Version() if every and isinstance(node.elt, ast.Call | ast.Name):
            return values
        case Fact(what, key), Fact("shards" | "local", shards) if every and key == shards and what in DEVICES_OF:
            return replace(item, what=DEVICES_OF[what])
        case _:
            return None


def dict_comprehension(node: ast.DictComp, frame: Frame, machine: Machine) -> Value:
    """The dict."""

    def make() -> Made:
        return machine.evaluate(node.key, frame), machine.evaluate(node.value, frame)

    made = _made(node.generators, frame, machine, make)
    ids = machine.new_ids()
    if made is not None and all(isinstance(key, Constant) for key, _ in made):
        items = {key.value: value for key, value in made if isinstance(key, Constant)}
        return Mapping(tuple(items.items()), None, ids)
    item, _ = _all_alike(node.generators, frame, machine, lambda: make()[1])
    return Mapping((), item, ids)


def _made(
    generators: list[ast.comprehension], frame: Frame, machine: Machine, make: Callable[[], Made]
) -> list[Made] | None:
    """The items in their order, None where it is not known which there are."""
    if len(generators) > 1 or frame.comprehended:
        return None
    generator = generators[0]
    items = items_of(iterated(machine.evaluate(generator.iter, frame), generator.iter, frame, machine))
    if items is None or len(items) > _MOST_TURNS:
        return None
    made: list[Made] = []
    outer = frame.turn
    certain = True

    def turns() -> None:
        nonlocal certain
        for number, item in enumerate(items, 1):
            frame.turn = (*outer, number)
            before = frame.state
            frame.state = before.copy()
            machine.bind(generator.target, item, frame)
            rejected = [_rejected(test, frame, machine) for test in generator.ifs]
            if not frame.state.alive:
                frame.state = before
                continue
            certain = certain and not any(rejected)
            made.append(make())
            frame.state = frame.state if frame.state.alive else before
            frame.state.facts = {key: told for key, told in before.facts.items() if key in frame.state.facts}

    _inside(generators, frame, turns)
    frame.turn = outer
    return made if certain else None


def _rejected(test: ast.expr, frame: Frame, machine: Machine) -> bool:
    """Go on where a filter lets the item through; whether it may also reject it."""
    before = frame.state.copy()
    machine.assume(test, False, frame)
    may_reject = frame.state.alive
    frame.state = before
    machine.assume(test, True, frame)
    return may_reject


def some_of(values: Value) -> Value:
    """A list of which some items are left out: the shards in it are not all of an array."""

    def of(value: Value) -> Value:
        match value:
            case Fact(items=Elements(Fact(items=Array() as data) as shard)):
                rest = replace(data, shard_of=None, nature=replace(data.nature, marks=frozenset[str]()))
                return replace(value, items=Elements(replace(shard, items=rest)))
            case _:
                return value

    return each(values, of)


def _all_alike(
    generators: list[ast.comprehension], frame: Frame, machine: Machine, make: Callable[[], Value]
) -> tuple[Value, Value]:
    """What any item is, none of them being known by itself, and what the last generator goes through."""
    before = frame.state.copy()
    found: list[Value] = []
    values: Value = UNKNOWN

    def turn() -> None:
        nonlocal values
        for generator in generators:
            values = machine.evaluate(generator.iter, frame)
            gone_through(values, generator.iter, frame, machine)
            values = iterated(some_of(values) if generator.ifs else values, generator.iter, frame, machine)
            machine.bind(generator.target, element(values, generator.target, frame), frame)
            for test in generator.ifs:
                machine.assume(test, True, frame)
        found.append(make() if frame.state.alive else UNKNOWN)

    _inside(generators, frame, turn)
    frame.state = merge_all([before, frame.state]) or before
    return one_of(found), values


def _inside(generators: list[ast.comprehension], frame: Frame, run: Callable[[], None]) -> None:
    """Run with the names that the comprehension binds as its own, in a scope that functions made in it close over."""
    before, names, scope = dict(frame.state.variables), frame.comprehended, frame.scope
    bound = frozenset(name for generator in generators for name in targets(generator.target))
    frame.comprehended = names | bound
    frame.scope = Frame(frame.chunk, frame.code, scope or frame, bound, State())
    run()
    frame.comprehended, frame.scope = names, scope
    for name in bound:
        frame.state.variables.pop(name, None)
        if name in before:
            frame.state.variables[name] = before[name]
