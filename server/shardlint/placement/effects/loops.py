"""Loops that JAX compiles: what is carried around comes out as the body leaves it.

A leaf that the body hands on untouched comes out as it went in. What it computes is on the devices of its operands; where some of
these are elsewhere, whether JAX finds that the leaf does not need them differs between versions, and nothing is said.
"""

from __future__ import annotations

from shardlint.placement.domain import UNKNOWN, Array, Constant, Mapping, Sequence, Transformed, Value
from shardlint.placement.effects.arrays import alike
from shardlint.placement.lattice import alternatives, each
from shardlint.placement.machine import Arguments, item_of
from shardlint.placement.site import Site
from shardlint.placement.transformed import concrete, moved


def scan(site: Site) -> Value:
    """`jax.lax.scan`: the last carry, and the outputs stacked."""
    start, rows = site.argument(1, "init"), site.argument(2, "xs")
    result = _body(site.argument(0, "f"), (start, rows), site)
    if not isinstance(result, Sequence) or len(result.items) != 2:
        return Sequence((_carried(start, UNKNOWN, [start, rows], site), UNKNOWN))
    carry, outputs = result.items
    stacked = moved(concrete(outputs, site), [start, rows], site)
    return Sequence((_carried(start, carry, [start, rows], site), stacked))


def fori_loop(site: Site) -> Value:
    """`jax.lax.fori_loop(lower, upper, body, start)`."""
    start = site.argument(3, "init_val")
    return _carried(start, _body(site.argument(2, "body_fun"), (UNKNOWN, start), site), [start], site)


def while_loop(site: Site) -> Value:
    """`jax.lax.while_loop(condition, body, start)`."""
    start = site.argument(2, "init_val")
    return _carried(start, _body(site.argument(1, "body_fun"), (start,), site), [start], site)


def _body(function: Value, operands: tuple[Value, ...], site: Site) -> Value:
    return site.machine.call(Transformed("body", function), Arguments(operands), site.node, site.frame)


def _carried(start: Value, end: Value, operands: list[Value], site: Site) -> Value:
    """What comes out for a carry that was `start` before a run of the body and `end` behind it."""
    match start, end:
        case Sequence(items), Sequence(others) if len(items) == len(others):
            pairs = zip(items, others, strict=True)
            return Sequence(tuple(_carried(one, other, operands, site) for one, other in pairs))
        case Mapping(items, None), Mapping(others, None):
            made = dict(others)
            return Mapping(tuple((key, _carried(one, made.get(key, UNKNOWN), operands, site)) for key, one in items))
        case _:
            return each(end, lambda one: _carried_leaf(start, one, operands, site))


def _carried_leaf(start: Value, end: Value, operands: list[Value], site: Site) -> Value:
    match start, end:
        case Array(), Array() if start.key == end.key:
            return start
        case Constant(), Constant() if start == end:
            return start
        case _, Array():
            return moved(concrete(end, site), operands, site)
        case _:
            sure = [moved(alike(one, site), operands, site) for one in alternatives(item_of(start))]
            return sure[0] if len(sure) == 1 and isinstance(sure[0], Array) else UNKNOWN
