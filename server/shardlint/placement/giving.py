"""Arrays whose memory the program gives up, by `delete` or to a function that it donates them to.

What is followed is the expression that is named where that happens, and the containers in it, whoever else holds them. Donation may
not happen, where no result fits into the memory or, on a CPU, where a view of it lives (run on 0.4.30 and 0.10.2).
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import replace

from shardlint.placement.addresses import orphan, views
from shardlint.placement.domain import Array, Elements, Ids, OneOf, Transformed, Unknown, Value
from shardlint.placement.frame import Frame
from shardlint.placement.handoffs import record
from shardlint.placement.lattice import alternatives, containers, leaves, map_leaves
from shardlint.placement.machine import Arguments, Machine
from shardlint.placement.mutation import change_ids
from shardlint.placement.nature import Gone, Nature
from shardlint.placement.natures import Data
from shardlint.placement.places import held_now, put_at
from shardlint.placement.trace import Trace

VIEWED = "viewed"
"""The mark of an array that is donated while a view of its memory is held."""


def give_up(subject: ast.expr, gone: Gone, frame: Frame, machine: Machine, evidence: Trace | None = None) -> None:
    """Note of the arrays that an expression of the program holds whether they are gone."""
    held = held_now(subject, frame, machine)
    if held is None:
        return
    if gone and isinstance(held, Unknown) and isinstance(subject, ast.Name):
        # Nothing is known of it but this: if it can be donated, it is an array, and its memory is given up.
        put_at(subject, Array(None, frame.fresh(subject), nature=Nature(None, gone, trace=evidence)), frame, machine)
        return
    keys = {leaf.key for leaf in leaves(held) if isinstance(leaf, Array)}
    if not keys:
        return
    _give_up_containers(held, (), gone, frame, evidence)
    put_at(subject, map_leaves(held, lambda leaf: _marked(leaf, gone, evidence)), frame, machine)
    if gone:
        orphan(keys, frame, evidence)


def _give_up_containers(held: Value, kept: Collection[Ids], gone: Gone, frame: Frame, evidence: Trace | None) -> None:
    """The same for all who hold the containers in a value, but for those that are `kept`."""
    for container in list(containers(held)):
        if container.ids and container.ids not in kept and not isinstance(container, Elements):
            content = map_leaves(container, lambda leaf: _marked(leaf, gone, evidence))
            change_ids(container.ids, content, frame, sure=not isinstance(held, OneOf))


def _marked(leaf: Value, gone: Gone, evidence: Trace | None) -> Value:
    return replace(leaf, nature=Nature(leaf.nature.dtype, gone, trace=evidence)) if isinstance(leaf, Array) else leaf


def donate(
    function: Transformed, signature: tuple[str, ...] | None, arguments: Arguments, frame: Frame, machine: Machine
) -> None:
    """What a call leaves of what it names at donated positions."""
    call = arguments.node
    if call is None or frame.traced:
        return
    evidence = Trace(frame.place(call), "donated to the function here")
    for node in _donated(function, signature, arguments, call):
        _refused(node, call, frame, machine)
        frame.donations.append((node, held_now(node, frame, machine), evidence))


def settle(statement: ast.stmt, frame: Frame, machine: Machine) -> None:
    """At the end of a statement: what it donated and did not bind anew is given up. Not before, as an exception that comes between the
    call and the binding of its result is nothing that a program reckons with.
    """
    donated, frame.donations = frame.donations, []
    bound = {ast.unparse(one) for target in _targets(statement) for one in _leaves(target)}
    for node, before, evidence in donated:
        if ast.unparse(node) not in bound:
            give_up(node, Gone.MAYBE, frame, machine, evidence)
        elif before is not None:
            after = held_now(node, frame, machine)
            kept = {one.ids for one in containers(after)} if after is not None else set[Ids]()
            _give_up_containers(before, kept, Gone.MAYBE, frame, evidence)
            orphan({leaf.key for leaf in leaves(before) if isinstance(leaf, Array)}, frame, evidence)


def _targets(statement: ast.stmt) -> list[ast.expr]:
    match statement:
        case ast.Assign(targets=targets):
            return targets
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            return [target]
        case _:
            return []


def _leaves(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        for one in target.elts:
            yield from _leaves(one)
    else:
        yield target.value if isinstance(target, ast.Starred) else target


def _donated(
    function: Transformed, signature: tuple[str, ...] | None, arguments: Arguments, call: ast.Call
) -> Iterator[ast.expr]:
    for place, node in enumerate(call.args, arguments.bound):
        if isinstance(node, ast.Starred):
            break
        if function.donated.has(place, signature):
            yield node
    for keyword in call.keywords:
        if keyword.arg is not None and function.donated.has(keyword.arg, signature):
            yield keyword.value


def _refused(node: ast.expr, call: ast.Call, frame: Frame, machine: Machine) -> None:
    """Record that a view of what is donated is held, for which JAX keeps the memory."""
    held = held_now(node, frame, machine)
    if not isinstance(held, Array):
        return
    view = next((one for one in views(frame) if one.nature.shares == held.key), None)
    if view is not None:
        nature = replace(held.nature, marks=held.nature.marks | {VIEWED}, trace=view.nature.trace)
        row = machine.table.consumers["jax.donate"]
        record(machine, row, node, replace(held, nature=nature, trace=None), Arguments(), call, call.func, frame)


def used(values: tuple[Value, ...], consumer: str, node: ast.AST, frame: Frame, machine: Machine) -> None:
    """Record a computation with arrays that are gone. `consumer` is the function or the operator."""
    if frame.traced or not isinstance(node, ast.expr):
        return
    for value in values:
        gone: list[Value] = [leaf for leaf in leaves(value) if isinstance(leaf, Data) and leaf.nature.gone]
        if gone:
            row = replace(machine.table.consumers["jax.compute"], name=consumer)
            func = node.func if isinstance(node, ast.Call) else node
            shown = value if all(isinstance(one, Array) for one in alternatives(value)) else gone[0]
            record(machine, row, None, shown, Arguments(), node, func, frame)
            return
