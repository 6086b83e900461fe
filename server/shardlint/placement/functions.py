"""Calling functions of the program: one summary for each function and kind of arguments.

A function is run once for every distinct tuple of argument values (evidence does not count), and never twice for the same;
what it read from around it is part of the summary's validity. Its hand-offs are recorded as it runs.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import dataclass, field

from shardlint.placement.annotations import as_annotated, returned_as
from shardlint.placement.counts import Facts, Subject, Told
from shardlint.placement.crossing import Crossing, entered, rebased
from shardlint.placement.domain import UNKNOWN, Array, Constant, Elements, Function, OneOf, Test, Value
from shardlint.placement.external import nameless
from shardlint.placement.facts import exclude, fewest, learn
from shardlint.placement.frame import Code, FactOf, Frame
from shardlint.placement.journal import Journal
from shardlint.placement.lattice import alternatives, each, one_of
from shardlint.placement.machine import Arguments, Machine
from shardlint.placement.merging import merge_all
from shardlint.placement.mutation import change_ids, made_in
from shardlint.placement.parameters import bound_arguments
from shardlint.placement.state import EVERY_ARRAY, IMPOSSIBLE, Change, State
from shardlint.placement.survey import own_nodes
from shardlint.placement.telling import correlated
from shardlint.placement.trace import Trace
from shardlint.syntax.scopes import FunctionNode
from shardlint.syntax.tree import Node

_MOST_DEPTH = 40
_WITHOUT_GRADIENTS = frozenset({"no_grad", "inference_mode"})
_MOST_NESTED = 2
_MOST_CONTEXTS = 16
CROWDED = _MOST_CONTEXTS // 2
"""From so many ways to call a function on, less is told apart."""
_MOST_SPLIT = 4


@dataclass(frozen=True, slots=True)
class Nature:
    """What a function's own body tells: calling a generator runs nothing of it; some make functions that see their variables."""

    is_generator: bool
    closes_over: bool


_YIELDS = frozenset({ast.Yield, ast.YieldFrom})
_FUNCTIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda})


@dataclass(frozen=True, slots=True)
class Summary:
    """What one run gave: the result, facts about the arguments that hold after it, what it assigned and changed outside of
    itself, whether it returns at all and whether it may raise. `born` are the ids of the containers that it made.
    """

    result: Value
    facts: dict[Hashable, Told]
    outer: dict[tuple[Frame, str], Value]
    changes: dict[Hashable, Change]
    returns: bool
    raises: bool
    entered: tuple[Trace | None, ...]
    reads: tuple[tuple[Frame, str | FactOf, Value | Told], ...]
    born: range
    journal: Journal

    def holds(self, frame: Frame) -> bool:
        """Whether all that the run read from around the function is still so, seen from a caller."""
        return all(_read_again(frame, target, name) == value for target, name, value in self.reads)


def _read_again(frame: Frame, target: Frame, name: str | FactOf) -> Value | Told:
    return frame.variable(target, name) if isinstance(name, str) else target.state.facts.get(name.key)


@dataclass(eq=False)
class Functions:
    """Runs functions and keeps their summaries. `called` are those that the program itself calls, `contexts` the different ways in
    which each was, as marks.
    """

    machine: Machine
    called: set[FunctionNode] = field(default_factory=set[FunctionNode])
    _summaries: dict[Hashable, list[Summary]] = field(default_factory=dict[Hashable, "list[Summary]"])
    _running: dict[FunctionNode, int] = field(default_factory=dict[FunctionNode, int])
    contexts: dict[FunctionNode, set[Hashable]] = field(default_factory=dict[FunctionNode, set[Hashable]])
    _natures: dict[FunctionNode, Nature] = field(default_factory=dict[FunctionNode, Nature])

    def forget(self) -> None:
        """Drop all summaries, as something that they took for granted has changed."""
        self._summaries.clear()

    def run(self, function: Function, arguments: Arguments, node: Node, frame: Frame) -> Value:
        """The result of calling `function` from `node`; unknown when the call is too deep, recursive, or one kind too many."""
        code = function.code
        if not isinstance(code, Code):
            return UNKNOWN
        bound = bound_arguments(function, code, arguments, self.machine.new_ids())
        bound = as_annotated(bound, code, function.closure, self.machine)
        bound = self.machine.claiming.passed(code, bound, node, frame)
        several = [name for name, value in bound.items() if isinstance(value, OneOf)]
        if len(several) == 1 and _worth_splitting(bound[several[0]]):
            result = self._run_split(function, bound, several[0], node, frame)
        else:
            result = self._run(function, bound, node, frame)
        if frame.state.alive and isinstance(function.closure, Frame):
            result = returned_as(code, result, function.closure, node, frame, self.machine)
        return self.machine.claiming.result(function, result, node, frame)

    def _run_split(self, function: Function, bound: dict[str, Value], name: str, node: Node, frame: Frame) -> Value:
        """One run for each alternative of an argument: a function that refuses some of them, or tells them apart, is understood."""
        before = frame.state
        ends: list[State] = []
        results: list[Value] = []
        refused: dict[Subject, Told] = {}
        for alternative in alternatives(bound[name]):
            frame.state = before.copy()
            result = self._run(function, {**bound, name: alternative}, node, frame)
            if frame.state.alive:
                ends.append(frame.state)
                results.append(_telling(result, alternative))
            elif isinstance(alternative, Array):
                refused[alternative.key, alternative.count] = IMPOSSIBLE
        frame.state = merge_all(ends) or before
        if not ends:
            frame.state.alive = False
        exclude(refused, frame)
        return one_of(results)

    def _run(self, function: Function, bound: dict[str, Value], node: Node, frame: Frame) -> Value:
        code, closure = function.code, function.closure
        assert isinstance(code, Code)
        assert isinstance(closure, Frame)
        crossing = Crossing(code, node, frame, self.machine.new_ids, closes_over=self._nature(code.node).closes_over)
        running = self._running.get(code.node, 0)
        if running >= _MOST_NESTED:
            bound = {name: each(value, _number_forgotten) for name, value in bound.items()}
        contexts = self.contexts.setdefault(code.node, set())
        if len(contexts) >= CROWDED:
            bound = {name: each(value, nameless) for name, value in bound.items()}
        bound = {name: crossing.enter(value, name) for name, value in bound.items()}
        state, handlers = frame.state, frame.handlers
        machine = frame.fact(EVERY_ARRAY), fewest(frame)
        around = (
            state.mesh, state.entered, state.default, state.version_guarded, state.recording, machine, self.machine.at_home
        )  # fmt: skip
        context = (code, closure, tuple(sorted(bound.items())), tuple(crossing.pattern), around, handlers, frame.traced)
        known = self._summaries.setdefault(context, [])
        summary = next((summary for summary in known if summary.holds(frame)), None)
        if summary is None:
            if running > _MOST_NESTED or frame.depth >= _MOST_DEPTH or len(contexts) >= _MOST_CONTEXTS:
                frame.may_raise()
                self.machine.journal.lasting = False
                return UNKNOWN
            journal, mark = Journal(), object()
            contexts.add(mark)
            journal.contexts.add((code.node, mark))
            self._running[code.node] = running + 1
            try:
                with self.machine.noting(journal):
                    summary = self._execute(code, closure, bound, node, frame)
            finally:
                self._running[code.node] = running
            if running:
                journal.lasting = False  # where a recursion is cut depends on where it began
            known.append(summary)
            self.machine.journal.add(journal)
        else:
            self._note_again(summary, entered(bound))
        self.called.add(code.node)
        self.machine.journal.called.add(code.node)
        return _apply(summary, crossing, entered(bound))

    def _note_again(self, summary: Summary, now: tuple[Trace | None, ...]) -> None:
        def evidence(trace: Trace | None) -> Trace | None:
            return rebased(trace, summary.entered, now)

        self.machine.journal.add(summary.journal, evidence)
        if any(event.entry is not None for event in summary.journal.events.values()):
            self.machine.journal.lasting = False  # how JAX came there is told as it first did

    def _nature(self, node: FunctionNode) -> Nature:
        known = self._natures.get(node)
        if known is None:
            kinds = {type(one) for one in own_nodes(node)}
            known = self._natures[node] = Nature(not kinds.isdisjoint(_YIELDS), not kinds.isdisjoint(_FUNCTIONS))
        return known

    def _execute(self, code: Code, closure: Frame, bound: dict[str, Value], node: Node, frame: Frame) -> Summary:
        around, entry = frame.state, frame.entry
        if entry is not None and entry.place.node is not node:
            entry = entry.then(frame.place(node), f"calls {code.name}")
        inner = Frame(
            code.chunk, code, closure, self.machine.names(code.node).local, _inner_state(dict(bound), frame),
            handlers=frame.handlers, traced=frame.traced, entry=entry,
            depth=frame.depth + 1, born=_number(self.machine), caller=frame.place(node),
        )  # fmt: skip
        result, end = run_body(code, inner, self.machine)
        generator = self._nature(code.node).is_generator
        returns = generator or end is not None
        end = inner.state if end is None else end
        inner.state = end
        return Summary(
            result,
            {} if generator else end.facts,
            {place: value for place, value in end.outer.items() if value is not around.outer.get(place)},
            {key: change for key, change in end.changes.items() if not made_in(inner, key)},
            returns,
            inner.raises and not generator,
            entered(bound),
            tuple((outer, name, value) for (outer, name), value in inner.reads.items() if outer is not inner),
            range(inner.born, _number(self.machine)),
            self.machine.journal,
        )


def run_body(code: Code, frame: Frame, machine: Machine) -> tuple[Value, State | None]:
    """Run the body of a function in its frame: the result, and the state behind it, None if it never returns."""
    machine.journal.chunks.add(code.chunk)
    machine.entered(code, frame)
    frame.state.recording = frame.state.recording and not _records_nothing(code.node)
    if isinstance(code.node, ast.Lambda):
        result = machine.evaluate(code.node.body, frame)
        if frame.state.alive:
            frame.returns.append((result, frame.state.copy()))
    else:
        machine.execute(code.node.body, frame)
        if frame.state.alive:
            frame.returns.append((Constant(None), frame.state.copy()))
    end = merge_all([state for _, state in frame.returns])
    if frame.yields:
        return machine.claiming.returned(code, Elements(one_of(frame.yields)), frame), end
    result = correlated([(value, state.facts) for value, state in frame.returns])
    return (result if end is None else machine.claiming.returned(code, result, frame)), end


def _records_nothing(node: FunctionNode) -> bool:
    """Whether a function is decorated so that PyTorch records nothing in it for gradients."""
    if isinstance(node, ast.Lambda):
        return False
    made = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    return any(getattr(one, "attr", getattr(one, "id", "")) in _WITHOUT_GRADIENTS for one in made)


def _worth_splitting(value: Value) -> bool:
    choices = alternatives(value)
    return len(choices) <= _MOST_SPLIT and any(isinstance(one, Array) for one in choices)


def _number_forgotten(value: Value) -> Value:
    """A recursion that counts is followed to its end by not knowing the number."""
    return UNKNOWN if isinstance(value, Constant) and isinstance(value.value, int | float) else value


def _telling(result: Value, argument: Value) -> Value:
    """A truth value that came of one alternative of an argument tells whether it was that one."""
    if isinstance(result, Constant) and isinstance(argument, Array):
        never: Facts = (((argument.key, argument.count), IMPOSSIBLE),)
        return Test((), never) if result.value else Test(never, ())
    return result


def _inner_state(bound: dict[str, Value], frame: Frame) -> State:
    around = frame.state
    machine = frame.fact(EVERY_ARRAY)
    return State(
        bound,
        dict(around.outer),
        {} if isinstance(machine, bool) else {EVERY_ARRAY: machine},
        fewest=fewest(frame),
        mesh=around.mesh,
        mesh_trace=around.mesh_trace,
        entered=around.entered,
        default=around.default,
        version_guarded=around.version_guarded,
        recording=around.recording,
    )


def _apply(summary: Summary, crossing: Crossing, now: tuple[Trace | None, ...]) -> Value:
    """What a summary does to the caller, and its result there."""
    frame, born = crossing.frame, summary.born
    place, step = frame.place(crossing.node), f"returned by {crossing.code.name}"

    def known(trace: Trace | None) -> Trace | None:
        return rebased(trace, summary.entered, now)

    def evidence(trace: Trace | None) -> Trace | None:
        trace = known(trace)
        return trace and trace.then(place, step)

    if summary.raises:
        frame.may_raise()
    if not summary.returns:
        frame.state.alive = False
        return UNKNOWN
    for (target, name), value in summary.outer.items():
        frame.assign(target, name, crossing.leave(value, born, known))
    for key, change in summary.changes.items():
        content = crossing.leave(change.content, born, known)
        change_ids(crossing.outer_ids(frozenset({key}), born), content, frame, sure=change.sure)
    learn(crossing.told(summary.facts), frame)
    return crossing.leave(summary.result, born, evidence)


def _number(machine: Machine) -> int:
    """The number of the next container."""
    return min(one for one in machine.new_ids() if isinstance(one, int))
