"""The patterns of `match`."""

from __future__ import annotations

import ast

from shardlint.placement.domain import (
    UNKNOWN,
    Class,
    Constant,
    Elements,
    Host,
    Instance,
    Mapping,
    Sequence,
    Symbol,
    Unknown,
    Value,
)
from shardlint.placement.frame import Frame
from shardlint.placement.guards import instance
from shardlint.placement.lattice import alternatives
from shardlint.placement.machine import Machine
from shardlint.placement.merging import merge_all
from shardlint.placement.operators import compare
from shardlint.placement.state import State
from shardlint.placement.subscripts import entry

_TYPES = {
    "builtins.int": int,
    "builtins.float": float,
    "builtins.str": str,
    "builtins.bool": bool,
    "builtins.bytes": bytes,
}


def matched(pattern: ast.pattern, value: Value, frame: Frame, machine: Machine) -> bool | None:
    """Bind what the pattern binds where it fits; whether it does, None if that is open."""
    match pattern:
        case ast.MatchAs(pattern=None, name=name):
            _bind(name, value, frame)
            return True
        case ast.MatchAs(pattern=ast.pattern() as inner, name=name):
            fits = matched(inner, value, frame, machine)
            _bind(name, value, frame)
            return fits
        case ast.MatchOr(patterns=patterns):
            return _first(patterns, value, frame, machine)
        case ast.MatchValue(value=node):
            return _truth(compare(value, ast.Eq(), machine.evaluate(node, frame), machine.target))
        case ast.MatchSingleton(value=constant):
            return _truth(compare(value, ast.Is(), Constant(constant), machine.target))
        case ast.MatchSequence(patterns=patterns):
            return _sequence(patterns, value, frame, machine)
        case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
            _bind(rest, UNKNOWN, frame)
            return _mapping(keys, patterns, value, frame, machine)
        case ast.MatchClass(cls=cls, patterns=patterns, kwd_patterns=named):
            kind = machine.evaluate(cls, frame)
            fits = _instance(value, kind)
            names = _matched_fields(value, kind)
            parts = [*zip(names, patterns, strict=False), *zip(pattern.kwd_attrs, named, strict=True)]
            for one in patterns[len(names) :]:
                matched(one, value if _holds_itself(kind) else UNKNOWN, frame, machine)
            answers = [matched(one, _part(value, name), frame, machine) for name, one in parts]
            if fits is False or any(answer is False for answer in answers):
                return False
            return fits if len(parts) == len(patterns) + len(named) and all(answers) else None
        case ast.MatchStar(name=name):
            _bind(name, value, frame)
            return True
        case _:
            return None


def _first(patterns: list[ast.pattern], value: Value, frame: Frame, machine: Machine) -> bool | None:
    """Bind what the first of the patterns binds that fits; where it is open whether one fits, it may be a later one."""
    ends: list[State] = []
    fits: bool | None = False
    for pattern in patterns:
        before = frame.state.copy()
        fits = matched(pattern, value, frame, machine)
        if fits is not False:
            ends.append(frame.state)
        frame.state = before
        if fits:
            break
    certain = bool(ends) and fits is True
    frame.state = merge_all(ends) or frame.state
    return True if certain else None if ends else False


def _bind(name: str | None, value: Value, frame: Frame) -> None:
    if name is not None:
        frame.assign(frame.owner(name), name, value)


def _truth(value: Value) -> bool | None:
    answers = {bool(one.value) if isinstance(one, Constant) else None for one in alternatives(value)}
    return answers.pop() if len(answers) == 1 else None


def _instance(value: Value, cls: Value) -> bool | None:
    if isinstance(cls, Class):
        answers = {instance(one, frozenset({cls.definition})) for one in alternatives(value)}
        return answers.pop() if len(answers) == 1 else None
    kind = _TYPES.get(cls.name) if isinstance(cls, Symbol) else None
    if kind is None:
        return None
    answers = {isinstance(one.value, kind) if isinstance(one, Constant) else None for one in alternatives(value)}
    return answers.pop() if len(answers) == 1 else None


def _matched_fields(value: Value, cls: Value) -> list[str]:
    """The attributes that the positional patterns of a class are about."""
    definition = cls.definition if isinstance(cls, Class) else None
    if definition is None or not isinstance(value, Instance):
        return []
    match definition.find("__match_args__"):
        case Sequence(items):
            return [str(one.value) for one in items if isinstance(one, Constant)]
        case _:
            return [one.name for one in definition.fields()]


def _holds_itself(cls: Value) -> bool:
    """Whether the positional pattern of a class is the object itself: `str(name)`."""
    return isinstance(cls, Symbol) and cls.name in _TYPES


def _part(value: Value, name: str) -> Value:
    held = value.get(name) if isinstance(value, Instance) else None
    return UNKNOWN if held is None else held


def _sequence(patterns: list[ast.pattern], value: Value, frame: Frame, machine: Machine) -> bool | None:
    star = next((i for i, one in enumerate(patterns) if isinstance(one, ast.MatchStar)), None)
    if isinstance(value, Sequence):
        items = list(value.items)
        if star is not None and len(items) >= len(patterns) - 1:
            end = len(items) - (len(patterns) - star - 1)
            items[star:end] = [Sequence(tuple(items[star:end]))]
        if len(items) != len(patterns):
            return False
        answers = [matched(one, item, frame, machine) for one, item in zip(patterns, items, strict=True)]
        return True if all(answers) else False if any(one is False for one in answers) else None
    item = value.item if isinstance(value, Elements) else UNKNOWN
    for one in patterns:
        matched(one, Elements(item) if isinstance(one, ast.MatchStar) else item, frame, machine)
    return False if isinstance(value, Constant | Host | Mapping) else None


def _mapping(
    keys: list[ast.expr], patterns: list[ast.pattern], value: Value, frame: Frame, machine: Machine
) -> bool | None:
    answers: list[bool | None] = []
    for key, pattern in zip(keys, patterns, strict=True):
        held = entry(value, machine.evaluate(key, frame)) if isinstance(value, Mapping) else UNKNOWN
        fits = matched(pattern, held, frame, machine)
        answers.append(None if isinstance(held, Unknown) else fits)
    if isinstance(value, Constant | Host | Sequence):
        return False
    return True if all(answers) and isinstance(value, Mapping) else None
