"""Optimizers of optax: what they keep between updates, and where updates are.

An optimizer is what it is in optax, a named tuple of two functions. Both get its plan besides: the states of its parts, in which
words stand for what is not there yet, and whether a part draws all leaves together.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from collections.abc import Mapping as MappingType
from itertools import zip_longest

from shardlint.placement.domain import UNKNOWN, Array, Constant, Instance, Mapping, Partial, Sequence, Symbol, Value
from shardlint.placement.effects.arrays import alike, alike_and_unknown, create, kept
from shardlint.placement.lattice import each, leaves, map_leaves
from shardlint.placement.operators import combined
from shardlint.placement.rows import Optimizer
from shardlint.placement.site import Site
from shardlint.placement.transformed import moved

_CLASS = "optax.GradientTransformation"
_PLAN = "plan"
_LIKE_PARAMETERS = Constant("like parameters")
_SCALAR = Constant("scalar")


def optimizer(site: Site) -> Value:
    """`optax.adam(...)`."""
    row = site.machine.table.optimizers.get(site.name)
    if row is None or not isinstance(site.node, ast.Call):
        return Symbol(_CLASS)
    rate = site.arguments.get(0, "learning_rate")
    steady = isinstance(rate, Constant)  # a schedule counts the steps
    states = [UNKNOWN if part is None and not steady else _state(part or (), row, site) for part in row.state]
    state = states[0] if row.alone else Sequence(tuple(states))
    return _with_plan(Sequence((Constant(row.together), state)), site.node, site)


def chain(site: Site) -> Value:
    """`optax.chain(...)`: one after another, a state each."""
    plans = [_plan(one) for one in site.arguments.positional]
    known = tuple(plan for plan in plans if plan is not None)
    if len(known) < len(plans) or site.arguments.open or not isinstance(site.node, ast.Call):
        return Symbol(_CLASS)
    return _with_plan(Sequence(known), site.node, site)


def begin(site: Site) -> Value:
    """`init(params)`: the first state."""
    plan = site.arguments.keywords.get(_PLAN)
    return UNKNOWN if plan is None else _begun(plan, site.argument(0, "params"), site)


def update(site: Site) -> Value:
    """`update(updates, state, params)`: other updates, and the next state."""
    plan = site.arguments.keywords.get(_PLAN)
    if plan is None:
        return alike_and_unknown(site)
    return Sequence(_updated(plan, site.argument(0, "updates"), site.argument(1, "state"), site))


def applied(site: Site) -> Value:
    """`optax.apply_updates(params, updates)`: sums, leaf by leaf."""
    return _met(site.argument(0, "params"), site.argument(1, "updates"), site)


def _with_plan(plan: Value, node: ast.Call, site: Site) -> Value:
    definition = site.machine.definition(node, _CLASS, site.frame)
    definition.shape, definition.is_tree = "tuple", True
    given = ((_PLAN, plan),)
    functions = tuple((name, Partial(Symbol(f"{_CLASS}.{name}"), (), given)) for name in ("init", "update"))
    return Instance(definition, functions)


def _plan(value: Value) -> Value | None:
    function = value.get("init") if isinstance(value, Instance) else None
    return dict(function.keywords).get(_PLAN) if isinstance(function, Partial) else None


def _state(fields: tuple[str, ...], row: Optimizer, site: Site) -> Value:
    assert isinstance(site.node, ast.Call)
    if not fields:
        return Sequence(())
    definition = site.machine.definition(site.node, f"state of {', '.join(fields)}", site.frame)
    definition.shape, definition.is_tree = "tuple", True
    words = {**dict.fromkeys(row.scalars, _SCALAR), **dict.fromkeys(row.unknown, UNKNOWN)}
    return Instance(definition, tuple((name, words.get(name, _LIKE_PARAMETERS)) for name in fields))


def _begun(plan: Value, parameters: Value, site: Site) -> Value:
    match plan:
        case Sequence((Constant(bool()), state)):
            return map_leaves(state, lambda word: _first(word, parameters, site))
        case Sequence(plans):
            return Sequence(tuple(_begun(one, parameters, site) for one in plans))
        case _:
            return UNKNOWN


def _first(word: Value, parameters: Value, site: Site) -> Value:
    if word == _LIKE_PARAMETERS:
        return alike(parameters, site)
    return create(site) if word == _SCALAR else UNKNOWN


def _updated(plan: Value, updates: Value, state: Value, site: Site) -> tuple[Value, Value]:
    match plan:
        case Sequence((Constant(bool() as together), words)):
            after = _next(words, state, updates, site)
            return (_drawn(updates, site) if together else _each(updates, site)), after
        case Sequence(plans):
            held = state.items if isinstance(state, Sequence) else ()
            states: list[Value] = []
            for one, before in zip_longest(plans, held[: len(plans)], fillvalue=UNKNOWN):
                updates, after = _updated(one, updates, before, site)
                states.append(after)
            return updates, Sequence(tuple(states))
        case _:
            return UNKNOWN, UNKNOWN


def _each(updates: Value, site: Site) -> Value:
    return moved(alike(updates, site), list(site.arguments.values()[1:]), site)


def _drawn(updates: Value, site: Site) -> Value:
    """All leaves where all of them together are: one compiled function gets the whole tree."""
    drawn = combined(list(leaves(updates)), site.node, site.frame)
    drawn = each(drawn, lambda one: kept(one, site))
    return map_leaves(updates, lambda _leaf: drawn)


def _next(words: Value, state: Value, updates: Value, site: Site) -> Value:
    """The next state: what is kept for each parameter is computed with its update."""
    match words, state:
        case Constant(), _ if words == _LIKE_PARAMETERS:
            return _met(state, updates, site)
        case Constant(), _:
            return alike(state, site)
        case Sequence(parts), Sequence(held) if len(parts) == len(held):
            return Sequence(tuple(_next(part, one, updates, site) for part, one in zip(parts, held, strict=True)))
        case Instance(definition, parts), Instance(_, held) if len(parts) == len(held):
            pairs = zip(parts, held, strict=True)
            return Instance(
                definition, tuple((name, _next(part, one, updates, site)) for (name, part), (_, one) in pairs)
            )
        case _:
            return UNKNOWN


def _met(held: Value, updates: Value, site: Site) -> Value:
    match held, updates:
        case Mapping(items, None), Mapping(others, None) if [key for key, _ in items] == [key for key, _ in others]:
            pairs = zip(items, others, strict=True)
            return Mapping(tuple((key, _met(one, other, site)) for (key, one), (_, other) in pairs))
        case Sequence(items), Sequence(others) if len(items) == len(others):
            return Sequence(tuple(_met(one, other, site) for one, other in zip(items, others, strict=True)))
        case Array(), Array():
            return each(combined([held, updates], site.node, site.frame), lambda one: kept(one, site))
        case _:
            return moved(alike(held, site), [updates], site)


OPTIMIZER_EFFECTS: MappingType[str, Callable[[Site], Value]] = {
    "optimizer": optimizer,
    "optimizer-chain": chain,
    "optimizer-init": begin,
    "optimizer-update": update,
    "updates-applied": applied,
}
