"""Methods of lists and dicts: what they give and what they make of the container."""

from __future__ import annotations

import ast

from shardlint.placement.domain import UNKNOWN, Constant, Container, Elements, Mapping, Sequence, Value
from shardlint.placement.frame import Frame
from shardlint.placement.generators import send
from shardlint.placement.iteration import element, items_of
from shardlint.placement.lattice import alternatives, copied, held, is_container, join, one_of
from shardlint.placement.machine import Arguments, Machine
from shardlint.placement.storing import change_each, put, removed
from shardlint.placement.subscripts import entry
from shardlint.syntax.tree import Node

_REORDERS = frozenset({"reverse", "sort"})


def container_method(
    owner: Value, name: str, arguments: Arguments, node: Node, frame: Frame, machine: Machine
) -> Value:
    """Call a method of a container, or of each alternative if there are several."""
    if name == "send" and isinstance(owner, Elements):
        return send(owner, arguments, node, frame, machine)
    called = {id(one): _called(one, name, arguments, node, frame) for one in alternatives(owner) if is_container(one)}
    if any(content is not None for content, _ in called.values()):
        function = node.func if isinstance(node, ast.Call) else node
        change_each(
            owner,
            function.value if isinstance(function, ast.Attribute) else node,
            lambda one: called[id(one)][0] or one,
            frame,
        )
    result = one_of([result for _, result in called.values()])
    return copied(result, machine.new_ids()) if name == "copy" else result


def _called(owner: Container, name: str, arguments: Arguments, node: Node, frame: Frame) -> tuple[Value | None, Value]:
    """The new content (None: as it was) and the result."""
    if name == "copy":
        return None, owner
    if name == "clear":
        return (Mapping(()) if isinstance(owner, Mapping) else Sequence(())), Constant(None)
    if isinstance(owner, Mapping) or (isinstance(owner, Elements) and name in ("values", "items", "keys", "get")):
        return _of_dict(owner, name, arguments)
    return _of_list(owner, name, arguments, node, frame)


def _of_list(owner: Container, name: str, arguments: Arguments, node: Node, frame: Frame) -> tuple[Value | None, Value]:
    first, second = arguments.get(0) or UNKNOWN, arguments.get(1) or UNKNOWN
    items = list(owner.items) if isinstance(owner, Sequence) and not frame.repeats else None
    alike = Elements(one_of(held(owner))) if held(owner) else None
    match name:
        case "append" | "add":
            if items is not None:
                return Sequence((*items, first)), Constant(None)
            return _more(alike, first), Constant(None)
        case "insert":
            if items is not None and isinstance(first, Constant) and isinstance(first.value, int):
                items.insert(first.value, second)
                return Sequence(tuple(items)), Constant(None)
            return _more(alike, second), Constant(None)
        case "extend":
            more = items_of(first)
            if items is not None and more is not None:
                return Sequence((*items, *more)), Constant(None)
            return _more(alike, element(first, node, frame)), Constant(None)
        case "reverse" if items is not None:
            return Sequence(tuple(items[::-1])), Constant(None)
        case _ if name in _REORDERS:
            return alike, Constant(None)
        case "pop":
            if items and isinstance(owner, Sequence) and (not arguments.positional or isinstance(first, Constant)):
                index = first if arguments.positional else Constant(-1)
                return removed(owner, index), _taken(items, index)
            return alike, element(owner, node, frame)
        case "remove":
            return alike, Constant(None)
        case _:
            return None, UNKNOWN


def _taken(items: list[Value], index: Value) -> Value:
    if isinstance(index, Constant) and isinstance(index.value, int) and -len(items) <= index.value < len(items):
        return items[index.value]
    return UNKNOWN


def _more(alike: Elements | None, item: Value) -> Value:
    return Elements(item if alike is None else join(alike.item, item))


def _of_dict(owner: Mapping | Elements, name: str, arguments: Arguments) -> tuple[Value | None, Value]:
    key, default = arguments.get(0) or UNKNOWN, arguments.get(1) or Constant(None)
    if not isinstance(owner, Mapping):
        pairs = Elements(Sequence((UNKNOWN, owner.item)))
        return None, {"values": owner, "items": pairs, "get": join(owner.item, default)}.get(name, UNKNOWN)
    match name:
        case "values" if owner.rest is None:
            return None, Sequence(held(owner))
        case "values":
            return None, Elements(one_of(held(owner)))
        case "items" if owner.rest is None:
            return None, Sequence(tuple(Sequence((Constant(held_key), value)) for held_key, value in owner.items))
        case "items":
            return None, Elements(Sequence((UNKNOWN, one_of(held(owner)))))
        case "keys" if owner.rest is None:
            return None, Sequence(tuple(Constant(held_key) for held_key, _ in owner.items))
        case "get":
            return None, _got(owner, key, default)
        case "pop":
            return removed(owner, key), _got(owner, key, default)
        case "popitem":
            return removed(owner, UNKNOWN), Sequence((UNKNOWN, one_of([*held(owner), UNKNOWN])))
        case "setdefault":
            if _has(owner, key):
                return None, entry(owner, key)
            return put(owner, key, default), default if owner.rest is None else join(owner.rest, default)
        case "update":
            return _updated(owner, arguments), Constant(None)
        case _:
            return None, UNKNOWN


def _has(owner: Mapping, key: Value) -> bool:
    return isinstance(key, Constant) and any(held_key == key.value for held_key, _ in owner.items)


def _got(owner: Mapping, key: Value, default: Value) -> Value:
    if _has(owner, key):
        return entry(owner, key)
    if isinstance(key, Constant):
        return default if owner.rest is None else join(owner.rest, default)
    return one_of([*held(owner), default])


def _updated(owner: Mapping, arguments: Arguments) -> Mapping:
    new = owner
    given = arguments.get(0)
    match given:
        case None:
            pass
        case Mapping(items, None):
            for key, value in items:
                new = put(new, Constant(key), value)
        case Sequence(pairs) if all(isinstance(pair, Sequence) and len(pair.items) == 2 for pair in pairs):
            for pair in pairs:
                key, value = pair.items if isinstance(pair, Sequence) else (UNKNOWN, UNKNOWN)
                new = put(new, key, value)
        case Mapping() as other:
            new = put(new, UNKNOWN, one_of(held(other)))
        case _:
            new = put(new, UNKNOWN, UNKNOWN)
    for key, value in arguments.keywords.items():
        new = put(new, Constant(key), value)
    return put(new, UNKNOWN, UNKNOWN) if arguments.open else new
