"""Statements that part paths and join them: branches, loops, `try`, `with`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from shardlint.placement.domain import UNKNOWN, WITHOUT_GRADIENTS, Class, Mesh, Symbol, Value
from shardlint.placement.domain import Sequence as SequenceValue
from shardlint.placement.frame import Attempt, Frame, Loop
from shardlint.placement.iteration import element, items_of
from shardlint.placement.lattice import alternatives, one_of
from shardlint.placement.machine import Machine
from shardlint.placement.merging import merge, merge_all
from shardlint.placement.missing import entry_missed
from shardlint.placement.objects import entered, iterated, left, typical
from shardlint.placement.operations import gone_through
from shardlint.placement.patterns import matched
from shardlint.placement.processes import joined_by_others
from shardlint.placement.state import State
from shardlint.placement.testing import branch_tested
from shardlint.placement.widening import forget_bound, widened
from shardlint.syntax.tree import Node

_MOST_ROUNDS = 5
_MOST_NESTED = 4
_MOST_TURNS = 6
_MOST_UNROLLED = 2
_ANYTHING = frozenset({"*"})
_EVERYTHING = frozenset({"*", "BaseException", "Exception"})
_EXPECTING = frozenset({"raises", "assertRaises", "assertRaisesRegex", "assertRaisesWithLiteralMatch"})


def branch(node: ast.If, frame: Frame, machine: Machine) -> None:
    """An `if` with all its `elif`s, one after another: chains of thousands are not descended into."""
    end: State | None = None
    rest: Sequence[ast.stmt] = [node]
    while len(rest) == 1 and isinstance(rest[0], ast.If) and frame.state.alive:
        test, before = rest[0], frame.state
        frame.state = before.copy()
        branch_tested(machine, test, frame)
        machine.assume(test.test, True, frame)
        joined_by_others(machine, test.orelse, frame)
        if frame.state.alive:
            machine.execute(test.body, frame)
        end = _with_end(end, frame.state)
        frame.state = before.copy()
        machine.assume(test.test, False, frame)
        joined_by_others(machine, test.body, frame)
        rest = test.orelse
    machine.execute(rest, frame)
    frame.state = _with_end(end, frame.state) or frame.state


def _with_end(end: State | None, state: State) -> State | None:
    """The states where paths ended so far made one with another, at once: thousands of them would not fit into memory."""
    if not state.alive:
        return end
    return state if end is None else merge(end, state)


def match(node: ast.Match, frame: Frame, machine: Machine) -> None:
    """The cases in order, each for the alternatives of the subject that it may fit and that no earlier one took."""
    left = list(alternatives(machine.evaluate(node.subject, frame)))
    rest, ends = frame.state, list[State]()
    for case in node.cases:
        before = rest.copy()
        fits = {id(one): _fits(case.pattern, one, before, frame, machine) for one in left}
        taken = [one for one in left if fits[id(one)] is not False]
        if not taken:
            continue
        frame.state = before
        matched(case.pattern, one_of(taken), frame, machine)
        if case.guard is None:
            left = [one for one in left if fits[id(one)] is not True]
        else:
            machine.assume(case.guard, True, frame)
        machine.execute(case.body, frame)
        if frame.state.alive:
            ends.append(frame.state)
    if left:
        ends.append(rest)
    frame.state = merge_all(ends) or frame.state
    frame.state.alive = bool(ends) and frame.state.alive


def _fits(pattern: ast.pattern, value: Value, state: State, frame: Frame, machine: Machine) -> bool | None:
    frame.state = state.copy()
    return matched(pattern, value, frame, machine)


def repeat(node: ast.For | ast.AsyncFor | ast.While, frame: Frame, machine: Machine) -> None:
    """A loop: over known items one by one, else in rounds."""
    values = UNKNOWN
    if not isinstance(node, ast.While):
        values = machine.evaluate(node.iter, frame)
        gone_through(values, node.iter, frame, machine)
        values = iterated(values, node.iter, frame, machine)
    if not frame.state.alive:
        return
    items = None if isinstance(node, ast.While) else items_of(values)
    by_item = items is not None and len(items) <= _MOST_TURNS and len(frame.loops) < _MOST_UNROLLED
    loop = Loop(by_item)
    frame.loops.append(loop)
    if items is not None and by_item:
        _item_by_item(node, items, loop, frame, machine)
    else:
        _until_stable(node, values, loop, frame, machine)
    frame.loops.pop()
    frame.state.conditions.clear()
    if isinstance(node, ast.While):
        machine.assume(node.test, False, frame)
    machine.execute(node.orelse, frame)
    frame.state = merge_all([frame.state, *loop.breaks]) or frame.state


def _item_by_item(
    node: ast.For | ast.AsyncFor | ast.While, items: tuple[Value, ...], loop: Loop, frame: Frame, machine: Machine
) -> None:
    """A loop over few known items is run as often as it says, so that what it does to each is told apart."""
    outer = frame.turn
    for number, item in enumerate(items, 1):
        frame.turn = (*outer, number)
        frame.state.conditions.clear()
        if frame.state.alive and not isinstance(node, ast.While):
            machine.bind(node.target, item, frame)
            machine.execute(node.body, frame)
        frame.state = merge_all([frame.state, *loop.continues]) or frame.state
        loop.continues.clear()
    frame.turn = outer


def _until_stable(
    node: ast.For | ast.AsyncFor | ast.While, values: Value, loop: Loop, frame: Frame, machine: Machine
) -> None:
    """Rounds until nothing changes; then, or in deep nests at once, all that the body binds is forgotten."""
    rounds = _MOST_ROUNDS if len(frame.loops) <= _MOST_NESTED else 0
    for number in range(rounds + 1):
        if number == rounds:
            forget_bound([node], frame)
        before = frame.state.copy()
        _once(node, values, frame, machine)
        after = merge_all([frame.state, *loop.continues]) or frame.state
        loop.continues.clear()
        frame.state = merge(before, after)
        if frame.state.same(before):
            break
        if number > 0:
            frame.state = widened(before, frame.state)


def _once(node: ast.For | ast.AsyncFor | ast.While, values: Value, frame: Frame, machine: Machine) -> None:
    frame.state.conditions.clear()
    if isinstance(node, ast.While):
        machine.assume(node.test, True, frame)
        frame.state.conditions.clear()
    else:
        machine.bind(node.target, element(values, node.target, frame), frame)
    machine.execute(node.body, frame)


def leave_loop(node: ast.Break | ast.Continue, frame: Frame) -> None:
    if frame.loops:
        loop = frame.loops[-1]
        (loop.breaks if isinstance(node, ast.Break) else loop.continues).append(frame.state.copy())
    frame.state.alive = False


def attempt(node: ast.Try | ast.TryStar, frame: Frame, machine: Machine) -> None:
    """The handlers begin where something in the body may raise. Where nothing is seen that may, they are run with what was before
    or behind, for their hand-offs' sake, and what they do is left out of what follows.
    """
    left = len(frame.returns), [(loop, len(loop.breaks), len(loop.continues)) for loop in frame.loops]
    handling = [handler for handler in node.handlers if not _raises_again(handler)]
    caught = frozenset(name for handler in handling for name in _caught(handler, frame, machine))
    before = frame.state.copy()
    alone = len(node.body) == 1 and isinstance(node.body[0], _PLAIN)
    handled = _handled(handling, frame, machine) if alone else ()
    seen = _tried(node.body, (*frame.handlers, caught) if caught else frame.handlers, frame, machine, handled)
    raised = merge(before, frame.state) if seen is None else seen
    ends: list[State] = []
    machine.execute(node.orelse, frame)
    if frame.state.alive:
        ends.append(frame.state)
    for handler in node.handlers:
        frame.state = raised.copy()
        if handler.name:
            frame.state.variables[handler.name] = _exception(handler, frame, machine)
        machine.execute(handler.body, frame)
        if frame.state.alive and (seen is not None or not ends):
            ends.append(frame.state)
    if frame.attempts and seen is not None and not caught & _EVERYTHING:
        frame.attempts[-1].add(seen)
    frame.state = merge_all(ends) or frame.state
    if not node.finalbody:
        return
    if ends:
        machine.execute(node.finalbody, frame)
    _finally(node.finalbody, left, raised if not ends else None, frame, machine)


def _exception(handler: ast.ExceptHandler, frame: Frame, machine: Machine) -> Value:
    """What a handler binds: an object of the program's own class holds what such objects were seen to hold."""
    kind = UNKNOWN if handler.type is None else machine.evaluate(handler.type, frame)
    return typical(kind.definition, ("raised", handler), machine) if isinstance(kind, Class) else UNKNOWN


_PLAIN = ast.Expr | ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return
"""Statements that raise nothing themselves."""


def _handled(
    handlers: Sequence[ast.ExceptHandler], frame: Frame, machine: Machine
) -> tuple[tuple[Node, frozenset[str]], ...]:
    """What handlers catch, by what they name."""
    return tuple((one.type, frozenset(_caught(one, frame, machine))) for one in handlers if one.type is not None)


def _tried(
    body: Sequence[ast.stmt],
    handlers: tuple[frozenset[str], ...],
    frame: Frame,
    machine: Machine,
    handled: tuple[tuple[Node, frozenset[str]], ...] = (),
) -> State | None:
    """Run a body under handlers: the state in which these begin, None if nothing was seen that may raise."""
    outer, inner = frame.handlers, Attempt(handled=handled)
    frame.handlers = handlers
    frame.attempts.append(inner)
    machine.execute(body, frame)
    frame.attempts.pop()
    frame.handlers = outer
    return inner.raised


def _finally(
    body: Sequence[ast.stmt],
    left: tuple[int, list[tuple[Loop, int, int]]],
    raised: State | None,
    frame: Frame,
    machine: Machine,
) -> None:
    """The final statements where the ones before were left: by `return`, `break`, `continue`, or only by exceptions."""
    returns, loops = left
    states = [state for _, state in frame.returns[returns:]]
    for loop, breaks, continues in loops:
        states += [*loop.breaks[breaks:], *loop.continues[continues:]]
    state = merge_all(states) or raised
    if state is None:
        return
    end = frame.state
    frame.state = state.copy()
    frame.state.alive = True
    machine.execute(body, frame)
    frame.state = end


def _raises_again(handler: ast.excepthandler) -> bool:
    """Whether a handler only lets the exception, or another one, go on: nothing is handled by that."""
    return isinstance(handler, ast.ExceptHandler) and isinstance(handler.body[-1], ast.Raise)


def _caught(handler: ast.excepthandler, frame: Frame, machine: Machine) -> list[str]:
    if not isinstance(handler, ast.ExceptHandler) or handler.type is None:
        return ["BaseException"]
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return [name for kind in kinds for name in _exception_name(machine.evaluate(kind, frame))]


def manage(node: ast.With | ast.AsyncWith, frame: Frame, machine: Machine) -> None:
    before, traced = frame.state.copy(), frame.traced
    swallowed: list[frozenset[str]] = []
    for item in node.items:
        value = machine.evaluate(item.context_expr, frame)
        entry_missed(machine, item.context_expr, frame)
        frame.state.variables[_manager(item)] = value  # where changes to it are seen
        swallowed += _expected(item.context_expr, frame, machine)
        if isinstance(value, Mesh):
            frame.state.entered = value.count
        if value == WITHOUT_GRADIENTS:
            frame.state.recording = False
        value = entered(value, item.context_expr, frame, machine)
        if item.optional_vars is not None:
            machine.bind(item.optional_vars, value, frame)
    if swallowed:
        raised = _tried(node.body, (*frame.handlers, *swallowed), frame, machine)
        frame.state = frame.state if raised is None else merge(frame.state, raised)
    else:
        machine.execute(node.body, frame)
    for item in reversed(node.items):
        value = frame.state.variables.pop(_manager(item), UNKNOWN)
        if frame.state.alive:
            left(value, item.context_expr, frame, machine)
    frame.state.mesh, frame.state.mesh_trace = before.mesh, before.mesh_trace
    frame.state.entered, frame.state.default, frame.traced = before.entered, before.default, traced
    frame.state.recording = before.recording


def _manager(item: ast.withitem) -> str:
    """A name that no program can write for the variable that holds a context manager."""
    return f"manager {id(item)}"


def _expected(node: ast.expr, frame: Frame, machine: Machine) -> list[frozenset[str]]:
    """The exceptions that a context manager swallows or a test expects."""
    if not isinstance(node, ast.Call):
        return []
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in _EXPECTING:
        return [_ANYTHING]
    if name == "suppress":
        return [frozenset(n for arg in node.args for n in _exception_name(machine.evaluate(arg, frame)))]
    return []


def _exception_name(value: Value) -> list[str]:
    match value:
        case Symbol(name):
            return [name.rpartition(".")[2]]
        case SequenceValue(items):
            return [name for item in items for name in _exception_name(item)]
        case _:
            return ["*"]
