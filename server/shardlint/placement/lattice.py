"""Joining values, and reaching what is inside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Sequence as Sized
from dataclasses import replace
from operator import is_
from typing import TypeGuard

from shardlint.placement.domain import (
    ARRAYS,
    CHOICES,
    UNKNOWN,
    Array,
    Capsule,
    Constant,
    Container,
    Elements,
    Function,
    Host,
    Ids,
    Instance,
    Mapping,
    OneOf,
    Sequence,
    Unknown,
    Value,
    inside,
    marks,
    weight,
)

_CONTAINERS = frozenset({Sequence, Mapping, Elements, Instance})
_MOST_ALTERNATIVES = 6
_HEAVIEST = 128


def is_container(value: Value) -> TypeGuard[Container]:
    """Whether a value is a list, tuple, set or dict, or an object with attributes."""
    return type(value) in _CONTAINERS


def alternatives(value: Value) -> tuple[Value, ...]:
    """The values that `value` may be; never empty."""
    return value.values if isinstance(value, OneOf) else (value,)


def without_none(value: Value) -> Value:
    """`value` where it is used as only something other than None can be: the alternative None would raise there."""
    kept = [one for one in alternatives(value) if one != Constant(None)]
    return one_of(kept) if kept and isinstance(value, OneOf) else value


def one_of(values: Iterable[Value]) -> Value:
    """The join of `values`. Beyond a few alternatives those that say nothing bad are merged into unknown."""
    found: list[Value] = []
    for value in values:
        for alternative in alternatives(value):
            if not any(one is alternative for one in found):
                _add(alternative, found)
    if not found:
        return UNKNOWN
    if len(found) > _MOST_ALTERNATIVES:
        kept = [value for value in found if isinstance(value, Array | Capsule)][: _MOST_ALTERNATIVES - 1]
        found = [*kept, UNKNOWN]
    return found[0] if len(found) == 1 else OneOf(tuple(found))


def _add(value: Value, found: list[Value]) -> None:
    """Add an alternative, or make it one with an equal one."""
    if isinstance(value, Constant):
        _add_constant(value, found)
    elif isinstance(value, Unknown):
        _add_unknown(value, found)
    elif isinstance(value, Host):
        _add_host(value, found)
    elif not is_container(value):
        if value not in found:
            found.append(value)
    else:
        place = next((i for i, one in enumerate(found) if one == value or _one_object(one, value)), None)
        if place is None:
            found.append(value)
        else:
            found[place] = _with_all_ids(found[place], value)


def _add_host(value: Host, found: list[Value]) -> None:
    """That something is an array of NumPy holds only if it is told in every place."""
    place = next((i for i, one in enumerate(found) if one == value), None)
    if place is None:
        found.append(value)
    elif value.made is None:
        found[place] = value


def _add_unknown(value: Unknown, found: list[Value]) -> None:
    """Of two objects of which nothing is known none is told apart."""
    place = next((i for i, one in enumerate(found) if isinstance(one, Unknown)), None)
    if place is None:
        found.append(value)
    elif found[place] != value:
        found[place] = UNKNOWN


def _add_constant(constant: Constant, found: list[Value]) -> None:
    """Add a constant; what is told where it comes from holds only if it is told in every place."""
    for place, one in enumerate(found):
        if isinstance(one, Constant) and type(one.value) is type(constant.value) and one.value == constant.value:
            if one.facts != constant.facts:
                kept = tuple(fact for fact in one.facts if fact in constant.facts)
                found[place] = Constant(one.value, kept)
            return
    found.append(constant)


def join(left: Value, right: Value) -> Value:
    """The join of two values."""
    return left if left is right else one_of((left, right))


def joined(left: Value | None, right: Value | None) -> Value | None:
    """The join where a side may have no value."""
    return right if left is None else left if right is None else join(left, right)


def each(value: Value, apply: Callable[[Value], Value]) -> Value:
    """`apply` on every alternative."""
    if not isinstance(value, OneOf):
        return apply(value)
    made = [apply(alternative) for alternative in value.values]
    return value if _all_same(made, value.values) else one_of(made)


def _all_same(made: Sized[Value], before: Sized[Value]) -> bool:
    """Whether these are the very same objects: then what holds them is not made anew."""
    return len(made) == len(before) and all(map(is_, made, before))


def leaves(value: Value) -> Iterator[Value]:
    """The values inside containers, as a pytree's leaves; alternatives are all given."""
    for alternative in alternatives(value):
        if is_container(alternative):
            for item in held(alternative):
                yield from leaves(item)
        else:
            yield alternative


def held(container: Container) -> tuple[Value, ...]:
    """What a container holds: its items, and what stands for those that are not known one by one."""
    match container:
        case Sequence(items):
            return items
        case Mapping(items, rest):
            return (*(item for _, item in items), *(() if rest is None else (rest,)))
        case Elements(item):
            return (item,)
        case Instance(_, items):
            return tuple([item for _, item in items])


def map_items(container: Container, apply: Callable[[Value], Value], ids: Ids | None = None) -> Container:
    """The container with `apply` on all that it holds, and other `ids` if given."""
    ids = container.ids if ids is None else ids
    match container:
        case Sequence(items):
            return Sequence(tuple([apply(item) for item in items]), ids)
        case Mapping(items, rest):
            changed = tuple([(key, apply(item)) for key, item in items])
            return Mapping(changed, None if rest is None else apply(rest), ids, container.factory)
        case Elements(item):
            return Elements(apply(item), ids, container.resume)
        case Instance(definition, items):
            return Instance(definition, tuple([(name, apply(item)) for name, item in items]), ids)


def map_leaves(value: Value, apply: Callable[[Value], Value]) -> Value:
    """`value` with `apply` on its leaves, containers kept."""
    if isinstance(value, OneOf):
        return one_of([map_leaves(alternative, apply) for alternative in value.values])
    if is_container(value):
        return map_items(value, lambda item: map_leaves(item, apply))
    return apply(value)


def choose_arrays(value: Value, choose: Callable[[Array], Value | None], *, among: bool = False) -> Value:
    """`value` with `choose` on the arrays in it; one to which it answers None is taken out where there are alternatives to it.
    With `among`, only arrays that have alternatives are asked about.
    """
    if not inside(value) & (CHOICES if among else ARRAYS):
        return value
    if isinstance(value, Array):
        return choose(value) or value
    if isinstance(value, OneOf):
        answers = [
            choose(one) if isinstance(one, Array) else choose_arrays(one, choose) if inside(one) & ARRAYS else one
            for one in value.values
        ]
        kept = [answer for answer in answers if answer is not None]
        return one_of(kept) if kept and not _all_same(kept, value.values) else value
    if is_container(value):
        items = held(value)
        made = [choose_arrays(item, choose, among=among) for item in items]
        return value if _all_same(made, items) else _refilled(value, made)
    return value


def _refilled(container: Container, items: Iterable[Value]) -> Container:
    """The container with other items, in the order of `held`."""
    rest = iter(items)
    return map_items(container, lambda _: next(rest))


def copied(value: Value, ids: Ids) -> Value:
    """`value` as another object: each of its alternatives that is a container gets these `ids`."""
    if isinstance(value, OneOf):
        return one_of([copied(alternative, ids) for alternative in value.values])
    return map_items(value, lambda item: item, ids) if is_container(value) else value


def deeply_copied(value: Value, new_ids: Callable[[], Ids]) -> Value:
    """`value` with all containers in it as other objects; what was one object is one."""
    copies: dict[Ids, Ids] = {}

    def of(one: Value) -> Value:
        if isinstance(one, OneOf):
            return one_of([of(alternative) for alternative in one.values])
        return map_items(one, of, copies.setdefault(one.ids, new_ids())) if is_container(one) else one

    return of(value)


def bounded(value: Value) -> Value:
    """`value`, or for one that has grown too heavy to be followed, what its leaves are at most."""
    if weight(value) <= _HEAVIEST:
        return value
    if isinstance(value, Instance):
        return map_items(value, _light)
    if not is_container(value):
        return UNKNOWN
    kinds: list[Value] = []
    for leaf in leaves(value):
        if leaf not in kinds:
            kinds.append(leaf)
        if len(kinds) > _MOST_ALTERNATIVES:
            break
    return Elements(one_of(kinds), value.ids)


def _light(value: Value) -> Value:
    return value if weight(value) <= _HEAVIEST // 4 else UNKNOWN


def containers(value: Value) -> Iterator[Container]:
    """All containers in a value, outer ones first."""
    for alternative in alternatives(value):
        if is_container(alternative):
            yield alternative
            for item in held(alternative):
                yield from containers(item)


def updated(value: Value, content: Value) -> Value:
    """`content` as the new content of what `value` is: attributes of which it does not speak stay as they are."""
    if isinstance(value, Instance) and isinstance(content, Instance):
        return replace(value.having(dict(content.items)), ids=content.ids)
    if isinstance(value, Instance) and isinstance(content, OneOf):
        return one_of([updated(value, alternative) for alternative in content.values])
    return content


def rewritten(value: Value, ids: Ids, content: Value, *, sure: bool) -> Value:
    """`value` after the container of `ids` has got a new `content`; where that is not `sure`, or it may be another container, it
    may have the old one. The very same object if nothing in it is that container.
    """
    bits = marks(ids)

    def of(value: Value) -> Value:
        if not inside(value) & bits:
            return value
        if isinstance(value, OneOf):
            answers = [of(alternative) for alternative in value.values]
            return value if _all_same(answers, value.values) else one_of(answers)
        if isinstance(value, Function):
            defaults = tuple([(name, of(one)) for name, one in value.defaults])
            return value if defaults == value.defaults else replace(value, defaults=defaults)
        if not is_container(value):
            return value
        if not value.ids.isdisjoint(ids):
            new = copied(updated(value, content), value.ids)
            return new if sure and value.ids == ids else join(value, new)
        items = held(value)
        made = [of(item) for item in items]
        return value if _all_same(made, items) else _refilled(value, made)

    return of(value)


def _one_object(one: Value, other: Container) -> bool:
    """Whether two values are contents of one container that differ in items only."""
    match one, other:
        case Sequence(items, ids), Sequence(others, other_ids):
            return bool(ids) and ids == other_ids and len(items) == len(others)
        case Mapping(items, None, ids), Mapping(others, None, other_ids):
            return bool(ids) and ids == other_ids and [key for key, _ in items] == [key for key, _ in others]
        case Instance(definition, _, ids), Instance(other_definition, _, other_ids):
            return bool(ids) and ids == other_ids and definition is other_definition
        case _:
            return False


def _with_all_ids(one: Value, other: Container) -> Value:
    """One value for two equal containers: which of the two objects it is, is open."""
    if not is_container(one) or one is other:
        return one
    ids = one.ids if one.ids == other.ids else one.ids | other.ids
    match one, other:
        case Sequence(items), Sequence(others) if len(items) == len(others):
            return Sequence(tuple([join(a, b) for a, b in zip(items, others, strict=True)]), ids)
        case Mapping(items, rest), Mapping(others) if len(items) == len(others):
            pairs = tuple([(key, join(a, b)) for (key, a), (_, b) in zip(items, others, strict=True)])
            return Mapping(pairs, rest, ids, one.factory)
        case Instance(definition, items), Instance(_, others):
            mine, theirs = dict(items), dict(others)
            names = dict.fromkeys((*mine, *theirs))
            both = tuple([(name, joined(mine.get(name), theirs.get(name)) or UNKNOWN) for name in names])
            return Instance(definition, both, ids)
        case _:
            return copied(one, ids)
