"""Memory that an array of another library shares with a `jax.Array`: who writes into it, and who reads the array afterwards.

A write is wrong only if the `jax.Array` is read behind it. So it is kept as what holds on this path (`State.written`, by the array's
key) until a variable, an attribute or an item that holds this very array is read; then it is recorded where it stands.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from packaging.version import Version

from shardlint.placement.counts import ONE
from shardlint.placement.domain import Array, Constant, Elements, Foreign, Host, Mapping, Sequence, Value
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import alternatives, each, leaves
from shardlint.placement.machine import Event, Machine
from shardlint.placement.natures import LENT, READ_LATER, library
from shardlint.placement.places import held_now, put_at
from shardlint.placement.rows import Loan
from shardlint.placement.site import Site
from shardlint.placement.table import Table
from shardlint.placement.trace import Trace, traced
from shardlint.syntax.tree import Node

_MOST_LEAVES = 8


def lend(made: Value, site: Site) -> None:
    """Where a function of JAX may have taken over the memory of what it was given, know that of what is held there."""
    loan = site.machine.table.loans.get(site.name)
    if loan is None or not isinstance(made, Array) or site.frame.traced:
        return
    if site.frame.count(made) != ONE or not _lends(loan, site):
        return
    place = _lender(site.arguments.written(loan.argument.position, loan.argument.keyword), site.machine.table)
    held = None if place is None else held_now(place, site.frame, site.machine)
    if place is None or held is None:
        return
    key = made.key

    def lent(one: Value) -> Value:
        if not isinstance(one, Host | Foreign) or library(one) not in loan.of:
            return one
        trace = site.step(one.nature.trace, f"{site.short} makes a jax.Array that may have its memory")
        marks = one.nature.marks | {LENT}
        return replace(one, nature=replace(one.nature, shares=key, marks=marks, trace=trace))

    shared = each(held, lent)
    if shared is not held:
        put_at(place, shared, site.frame, site.machine)


def _lends(loan: Loan, site: Site) -> bool:
    versions = [Version(one) for one in site.machine.target.versions]
    if loan.before is not None and not all(one < Version(loan.before) for one in versions):
        return False
    if site.arguments.get(None, "copy") in (None, Constant(None), Constant(False)):
        return True
    return loan.copies_until is not None and all(one >= Version(loan.copies_until) for one in versions)


def _lender(expression: ast.expr | None, table: Table) -> ast.expr | None:
    """The place whose memory an expression has: methods and attributes that keep it lead to their object."""
    while expression is not None:
        match expression:
            case ast.Name():
                return expression
            case ast.Subscript(value=inner, slice=ast.Slice() | ast.Tuple()):
                expression = inner
            case ast.Attribute(value=inner, attr=name) if _keeps(name, table):
                expression = inner
            case ast.Call(func=ast.Attribute(value=inner, attr=name)) if _keeps(name, table):
                expression = inner
            case ast.Attribute() | ast.Subscript():
                return expression
            case _:
                return None
    return None


def _keeps(name: str, table: Table) -> bool:
    rows = [row for owner in table.array_classes.values() for row in table.marks.get(f"{owner}.{name}", ())]
    return any(row.keeps and not row.copies for row in rows)


def seen(value: Value, node: Node, frame: Frame, machine: Machine) -> None:
    """Record the writes into the memory of what is read here."""
    for array in _read(value):
        for event in frame.state.written.pop(array.key, ()):
            trace = traced(event.trace, event.place, "written into here")
            _confirmed(event, trace.then(frame.place(node), "the jax.Array is read after that"), machine)


def unnamed(node: ast.expr, frame: Frame, machine: Machine) -> None:
    """Record the write that a statement is if it goes through a view that has no name: nobody can read it but as the `jax.Array`."""
    for key, events in list(frame.state.written.items()):
        for event in events:
            lent = isinstance(event.value, Host | Foreign) and LENT in event.value.nature.marks
            through_call = event.operand is not None and isinstance(event.operand.node, ast.Call)
            if event.place.node is node and through_call and not lent:
                _confirmed(event, traced(event.trace, event.place, "written into here"), machine)
                frame.state.written.pop(key, None)


def _confirmed(event: Event, trace: Trace, machine: Machine) -> None:
    if isinstance(event.value, Host | Foreign):
        nature = event.value.nature
        known = replace(nature, marks=nature.marks | {READ_LATER}, trace=trace)
        machine.record(replace(event, value=replace(event.value, nature=known)))


def _read(value: Value) -> Iterator[Array]:
    """The arrays that a value holds as such or as items of a list; what reads an attribute or a key names it."""
    for one in alternatives(value):
        match one:
            case Array():
                yield one
            case Sequence() | Elements():
                for count, leaf in enumerate(leaves(one)):
                    if isinstance(leaf, Array):
                        yield leaf
                    if count >= _MOST_LEAVES:
                        break
            case _:
                pass


def given(values: tuple[Value, ...], node: Node, frame: Frame, machine: Machine) -> None:
    """The same for what is given to a function: that may read all that a dict holds."""
    for value in values:
        for one in alternatives(value):
            if isinstance(one, Mapping):
                for leaf in leaves(one):
                    seen(leaf, node, frame, machine)
