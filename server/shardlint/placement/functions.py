"""Calling functions of the program: one summary for each function and kind of arguments.

A function is run once for every distinct tuple of argument values (evidence does not count), and never twice for the same;
what it read from around it is part of the summary's validity. Its hand-offs are recorded as it runs.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from shardlint.placement.annotations import as_annotated, returned_as
from shardlint.placement.counts import Count, Facts, Subject, Told
from shardlint.placement.crossing import Crossing, entered, rebased
from shardlint.placement.domain import UNKNOWN, Array, Constant, Elements, Function, OneOf, Partial, Test, Value
from shardlint.placement.external import nameless
from shardlint.placement.facts import exclude, fewest
from shardlint.placement.frame import Code, Frame
from shardlint.placement.generators import SENT, looks_at_sent
from shardlint.placement.journal import Journal
from shardlint.placement.lattice import alternatives, each, leaves, one_of
from shardlint.placement.machine import Arguments, Machine
from shardlint.placement.merging import merge_all
from shardlint.placement.mutation import made_in
from shardlint.placement.parameters import bound_arguments
from shardlint.placement.resuming import DEEPEST, Call, TooDeep, is_lasting, resumed
from shardlint.placement.state import EVERY_ARRAY, IMPOSSIBLE, THIS_PROCESS, State
from shardlint.placement.summary import Summary, applied
from shardlint.placement.survey import own_nodes
from shardlint.placement.telling import correlated
from shardlint.placement.trace import Trace, same_evidence
from shardlint.syntax.scopes import FunctionNode
from shardlint.syntax.tree import Node

_WITHOUT_GRADIENTS = frozenset({"no_grad", "inference_mode"})
_MOST_NESTED = 2
_MOST_CONTEXTS = 16
CROWDED = _MOST_CONTEXTS // 2
"""From so many ways to call a function on, less is told apart."""
_MOST_SPLIT = 4


@dataclass(frozen=True, slots=True)
class Nature:
    """What a function's own body tells: calling a generator runs nothing of it, and some look at what they are sent; some functions
    make others that see their variables.
    """

    is_generator: bool
    closes_over: bool
    is_sent: bool


_YIELDS = frozenset({ast.Yield, ast.YieldFrom})
_FUNCTIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda})


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
        if arguments.sent is not None:
            bound[SENT] = arguments.sent
        several = [name for name, value in bound.items() if isinstance(value, OneOf)]
        if len(several) == 1 and _worth_splitting(bound[several[0]]):
            result = self._run_split(function, bound, several[0], node, frame)
        else:
            result = self._run(function, bound, node, frame)
        if isinstance(result, Elements) and arguments.rest is None and self._nature(code.node).is_sent:
            resume = Partial(function, arguments.positional, tuple(arguments.keywords.items()))
            result = Elements(result.item, result.ids, resume)
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
        machine = frame.fact(EVERY_ARRAY), frame.fact(THIS_PROCESS), fewest(frame)
        around = (
            state.mesh, state.entered, state.default, state.processes, state.version_guarded, state.recording, machine,
            self.machine.at_home,
        )  # fmt: skip
        context = (code, closure, tuple(sorted(bound.items())), tuple(crossing.pattern), around, handlers, frame.traced)
        known = self._summaries.setdefault(context, [])
        summary = next((summary for summary in known if summary.holds(frame)), None)
        if summary is None:
            if running > _MOST_NESTED or len(contexts) >= _MOST_CONTEXTS or frame.depth >= DEEPEST:
                frame.may_raise()
                self.machine.journal.lasting = False
                return UNKNOWN
            call = Call(code, closure, bound, node, frame, known, running, is_lasting(closure, crossing.pattern))
            summary = resumed(call, self._once, self._running)
            self.machine.journal.add(summary.journal)
        else:
            self._note_again(summary, entered(bound))
        self.called.add(code.node)
        self.machine.journal.called.add(code.node)
        return applied(summary, crossing, entered(bound))

    def _once(self, call: Call, depth: int) -> Summary:
        """Run a call, and keep what it gave."""
        node, journal = call.code.node, Journal()
        self.contexts[node].add(call.mark)
        journal.contexts.add((node, call.mark))
        self._running[node] = call.running + 1
        try:
            with self.machine.noting(journal):
                summary = self._execute(call.code, call.closure, call.bound, call.node, call.frame, depth)
        except TooDeep as deep:  # until the call has run it counts as running
            deep.calls.append(call)
            if not call.lasting:
                self.contexts[node].discard(call.mark)
            raise
        except BaseException:
            self._running[node] = call.running
            raise
        self._running[node] = call.running
        if call.running:
            journal.lasting = False  # where a recursion is cut depends on where it began
        call.known.append(summary)
        return summary

    def _note_again(self, summary: Summary, now: tuple[Trace | None, ...]) -> None:
        def evidence(trace: Trace | None) -> Trace | None:
            return rebased(trace, summary.entered, now)

        same = len(now) == len(summary.entered) and all(map(same_evidence, now, summary.entered))
        self.machine.journal.add(summary.journal, None if same else evidence)
        if summary.journal.entered:
            self.machine.journal.lasting = False  # how JAX came there is told as it first did

    def _nature(self, node: FunctionNode) -> Nature:
        known = self._natures.get(node)
        if known is None:
            kinds = {type(one) for one in own_nodes(node)}
            known = self._natures[node] = Nature(
                not kinds.isdisjoint(_YIELDS),
                not kinds.isdisjoint(_FUNCTIONS),
                ast.Yield in kinds and looks_at_sent(node),
            )
        return known

    def _execute(
        self, code: Code, closure: Frame, bound: dict[str, Value], node: Node, frame: Frame, depth: int
    ) -> Summary:
        around, entry = frame.state, frame.entry
        if entry is not None and entry.place.node is not node:
            entry = entry.then(frame.place(node), f"calls {code.name}")
        inner = Frame(
            code.chunk, code, closure, self.machine.names(code.node).local, _inner_state(dict(bound), frame),
            handlers=frame.handlers, traced=frame.traced, entry=entry,
            depth=depth, born=_number(self.machine), caller=frame.place(node),
        )  # fmt: skip
        try:
            result, end = run_body(code, inner, self.machine)
        except TooDeep:
            inner.given_up = True
            raise
        generator = self._nature(code.node).is_generator
        returns = generator or end is not None
        end = inner.state if end is None else end
        inner.state = end
        return Summary(
            result,
            {} if generator else end.facts,
            {place: value for place, value in end.outer.items() if value is not around.outer.get(place)},
            {key: change for key, change in end.changes.items() if not made_in(inner, key)},
            {} if generator else end.written,
            (end.processes, end.processes_trace),
            returns,
            inner.raises and not generator,
            entered(bound),
            tuple((outer, name, value) for (outer, name), value in inner.reads.items() if outer is not inner),
            _keys(
                value for (outer, name), value in inner.reads.items() if outer is not inner and isinstance(name, str)
            ),
            range(inner.born, _number(self.machine)),
            self.machine.journal,
        )


def _keys(values: Iterable[Value | Told]) -> frozenset[Hashable]:
    return frozenset(
        leaf.key
        for value in values
        if value is not None and not isinstance(value, Count)
        for leaf in leaves(value)
        if isinstance(leaf, Array)
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
    facts = {key: frame.fact(key) for key in (EVERY_ARRAY, THIS_PROCESS)}
    return State(
        bound,
        dict(around.outer),
        {key: told for key, told in facts.items() if not isinstance(told, bool)},
        fewest=fewest(frame),
        mesh=around.mesh,
        mesh_trace=around.mesh_trace,
        entered=around.entered,
        default=around.default,
        processes=around.processes,
        processes_trace=around.processes_trace,
        version_guarded=around.version_guarded,
        recording=around.recording,
    )


def _number(machine: Machine) -> int:
    """The number of the next container."""
    return min(one for one in machine.new_ids() if isinstance(one, int))
