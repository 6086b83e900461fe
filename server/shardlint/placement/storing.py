"""Assigning to and deleting items of containers: whatever holds the container sees it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from shardlint.placement.domain import (
    UNKNOWN,
    Constant,
    Container,
    Elements,
    Ids,
    Mapping,
    Sequence,
    Slice,
    Value,
)
from shardlint.placement.frame import Frame
from shardlint.placement.iteration import element, items_of
from shardlint.placement.lattice import alternatives, copied, held, is_container, join, one_of
from shardlint.placement.machine import Arguments, Machine
from shardlint.placement.mutation import change_ids
from shardlint.placement.operations import written
from shardlint.placement.subscripts import sliced


def store_item(target: ast.Subscript, value: Value, frame: Frame, machine: Machine) -> None:
    """`container[index] = value`."""
    owner, index = machine.evaluate(target.value, frame), machine.evaluate(target.slice, frame)
    written("operator.setitem", owner, target.value, target, frame, machine)
    change_each(owner, target.value, lambda container: _stored(container, index, value, target, frame), frame)


def change_each(owner: Value, node: ast.AST, changed: Callable[[Container], Value], frame: Frame) -> None:
    """Change what `owner`, the value of `node`, is: alternatives that are one object with different contents change together,
    and surely if there is no other object. A variable by whose name the object is changed surely holds the changed one.
    """
    objects: dict[Ids, list[Value]] = {}
    for one in alternatives(owner):
        if is_container(one):
            objects.setdefault(one.ids, []).append(changed(one))
    only = len(objects) == 1 and len(next(iter(objects))) == 1 and all(is_container(one) for one in alternatives(owner))
    for ids, contents in objects.items():
        if ids:
            change_ids(ids, one_of(contents), frame, sure=only)
    if isinstance(node, ast.Name) and only is False and objects and node.id in frame.state.variables:
        rest = [one for one in alternatives(owner) if not is_container(one)]
        new = [copied(one_of(contents), ids) for ids, contents in objects.items()]
        frame.state.variables[node.id] = one_of([*new, *rest])


def _stored(container: Container, index: Value, value: Value, target: ast.Subscript, frame: Frame) -> Value:
    exact = with_item(container, index, value)
    if exact is not None:
        return exact
    match container, index:
        case Sequence(items), Slice():
            new, chosen = items_of(value), sliced(index, len(items))
            if new is not None and chosen is not None and chosen.step == 1:
                return replace(
                    container, items=(*items[: chosen.start], *new, *items[max(chosen.start, chosen.stop) :])
                )
            return Elements(one_of([*items, element(value, target, frame)]), container.ids)
        case Sequence(items), _:
            return replace(container, items=tuple(join(item, value) for item in items))
        case Elements(item), Slice():
            return replace(container, item=join(item, element(value, target, frame)))
        case Elements(item), _:
            return replace(container, item=join(item, value))
        case _:
            return container


def with_item(container: Value, index: Value, value: Value) -> Container | None:
    """The container with `value` where exactly `index` is, None where that is not known."""
    match container, index:
        case Mapping(), _:
            return put(container, index, value)
        case Sequence(items), Constant(int() as number) if -len(items) <= number < len(items):
            changed = list(items)
            changed[number] = value
            return replace(container, items=tuple(changed))
        case _:
            return None


def default_item(owner: Value, index: Value, node: ast.Subscript, frame: Frame, machine: Machine) -> Value | None:
    """What a dict with a factory makes for a key that it surely does not have, and keeps; None for any other."""
    if not isinstance(owner, Mapping) or owner.factory is None or owner.rest is not None:
        return None
    if not isinstance(index, Constant) or any(key == index.value for key, _ in owner.items):
        return None
    made = machine.call(owner.factory, Arguments(), node, frame)
    change_each(owner, node.value, lambda one: put(one, index, made) if isinstance(one, Mapping) else one, frame)
    return made


def put(container: Mapping, index: Value, value: Value) -> Mapping:
    """The dict with `value` under a key; one that is not known may be any."""
    keys = [one.value for one in alternatives(index) if isinstance(one, Constant)]
    held = dict(container.items)
    if len(keys) == 1 == len(alternatives(index)):
        held[keys[0]] = value
        return replace(container, items=tuple(held.items()))
    if len(keys) == len(alternatives(index)):
        for key in keys:
            held[key] = join(held[key], value) if key in held else value
        return replace(container, items=tuple(held.items()))
    held = {key: join(item, value) for key, item in held.items()}
    rest = value if container.rest is None else join(container.rest, value)
    return replace(container, items=tuple(held.items()), rest=rest)


def delete_item(target: ast.Subscript, frame: Frame, machine: Machine) -> None:
    """`del container[index]`."""
    owner, index = machine.evaluate(target.value, frame), machine.evaluate(target.slice, frame)
    change_each(owner, target.value, lambda container: removed(container, index), frame)


def removed(container: Container, index: Value) -> Value:
    """The container without the item at `index`."""
    match container, index:
        case Mapping(items), Constant(key):
            return replace(container, items=tuple(pair for pair in items if pair[0] != key))
        case Mapping(), _:
            return Mapping((), one_of([*held(container), UNKNOWN]), container.ids)
        case Sequence(items), Constant(int() as number) if -len(items) <= number < len(items):
            kept = list(items)
            del kept[number]
            return replace(container, items=tuple(kept))
        case Sequence(items), Slice() if (chosen := sliced(index, len(items))) is not None:
            return replace(container, items=tuple(item for i, item in enumerate(items) if i not in chosen))
        case Sequence(items), _:
            return Elements(one_of([*items, UNKNOWN]), container.ids)
        case _:
            return container
