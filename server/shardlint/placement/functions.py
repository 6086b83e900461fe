"""Calling functions of the program: one summary for each function and kind of arguments.

A function is run once for every distinct tuple of argument values (evidence does not count), and never twice for the same;
what it read from around it is part of the summary's validity. Its hand-offs are recorded as it runs.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import dataclass, field, replace

from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Capsule,
    Count,
    Elements,
    Fact,
    Mapping,
    Sequence,
    Trace,
    Value,
    bounded,
    leaves,
    map_leaves,
    one_of,
    traced,
)
from shardlint.placement.machine import Arguments, Code, Frame, Machine, State, merge
from shardlint.syntax.scopes import FunctionNode, parameters
from shardlint.syntax.tree import Node

_MOST_DEPTH = 40
_MOST_NESTED = 3
_MOST_CONTEXTS = 24


@dataclass(frozen=True, slots=True)
class Summary:
    """What one run gave: the result, facts about the arguments that hold after it, whether it returns at all."""

    result: Value
    facts: dict[Hashable, Count | None]
    returns: bool
    entered: tuple[Trace | None, ...]
    reads: tuple[tuple[Frame, str, Value | None], ...]

    def holds(self) -> bool:
        """Whether all that the run read from around the function is still so."""
        return all(frame.state.variables.get(name) == value for frame, name, value in self.reads)


@dataclass(eq=False)
class Functions:
    """Runs functions and keeps their summaries."""

    machine: Machine
    _summaries: dict[Hashable, list[Summary]] = field(default_factory=dict[Hashable, "list[Summary]"])
    _running: dict[FunctionNode, int] = field(default_factory=dict[FunctionNode, int])
    _contexts: dict[FunctionNode, int] = field(default_factory=dict[FunctionNode, int])

    def run(self, code: Code, closure: Frame, arguments: Arguments, node: Node, frame: Frame, *, traced: bool) -> Value:
        """The result of calling `code` from `node`; unknown when the call is too deep, recursive, or one kind too many."""
        keys: dict[Hashable, Hashable] = {}
        bound = self._bind(code, closure, arguments, node, frame, keys)
        values = tuple(sorted(bound.items()))
        state = frame.state
        handlers = frame.handlers
        context = (code, closure, values, state.mesh, state.default, state.version_guarded, handlers, traced)
        known = self._summaries.setdefault(context, [])
        summary = next((summary for summary in known if summary.holds()), None)
        if summary is None:
            if self._running.get(code.node, 0) >= _MOST_NESTED or frame.depth >= _MOST_DEPTH:
                return UNKNOWN
            if self._contexts.get(code.node, 0) >= _MOST_CONTEXTS:
                return UNKNOWN
            self._contexts[code.node] = self._contexts.get(code.node, 0) + 1
            self._running[code.node] = self._running.get(code.node, 0) + 1
            try:
                summary = self._execute(code, closure, bound, frame, traced=traced)
            finally:
                self._running[code.node] -= 1
            known.append(summary)
        for outer, name, value in summary.reads:
            if outer is not frame:
                frame.reads.setdefault((outer, name), value)
        if not summary.returns:
            state.alive = False
            return UNKNOWN
        back = {inner: outer for outer, inner in keys.items()}
        for key, fact in summary.facts.items():
            if key in back:
                state.facts[back[key]] = fact
        return _returned(summary, bound, back, code, node, frame)

    def _execute(self, code: Code, closure: Frame, bound: dict[str, Value], frame: Frame, *, traced: bool) -> Summary:
        names = self.machine.names(code.node)
        around = frame.state
        state = State(
            dict(bound), {}, around.mesh, around.mesh_trace, around.default, version_guarded=around.version_guarded
        )
        inner = Frame(
            code.chunk, code, closure, names.local, state, names.outer, handlers=frame.handlers,
            traced=traced, depth=frame.depth + 1,
        )  # fmt: skip
        if isinstance(code.node, ast.Lambda):
            result = self.machine.evaluate(code.node.body, inner)
            inner.returns.append((result, inner.state.copy()))
            alive = inner.state.alive
        else:
            self.machine.execute(code.node.body, inner)
            if inner.state.alive:
                inner.returns.append((UNKNOWN, inner.state.copy()))
            alive = bool(inner.returns) or bool(inner.yields)
        end: State | None = None
        for _, returned in inner.returns:
            end = returned if end is None else merge(end, returned)
        if inner.yields:
            result = Elements(one_of(inner.yields))
        else:
            known = [value for value, _ in inner.returns]
            result = one_of(known) if known else UNKNOWN
        entered = tuple(
            leaf.trace for name in sorted(bound) for leaf in leaves(bound[name]) if isinstance(leaf, Array | Capsule)
        )
        reads = tuple((outer, name, value) for (outer, name), value in inner.reads.items() if outer is not inner)
        return Summary(result, {} if end is None else end.facts, alive, entered, reads)

    def _bind(
        self,
        code: Code,
        closure: Frame,
        arguments: Arguments,
        node: Node,
        frame: Frame,
        keys: dict[Hashable, Hashable],
    ) -> dict[str, Value]:
        """The parameters' values at entry: array keys are renamed so that equal kinds of calls share a summary."""
        signature = code.node.args
        positional = [*signature.posonlyargs, *signature.args]
        given = list(arguments.positional)
        bound: dict[str, Value] = {}
        for index, parameter in enumerate(positional):
            if index < len(given):
                bound[parameter.arg] = given[index]
        if signature.vararg is not None:
            bound[signature.vararg.arg] = Sequence(tuple(given[len(positional) :]))
        extra: list[tuple[Hashable, Value]] = []
        declared = {parameter.arg for parameter in parameters(signature)}
        for name, value in arguments.keywords.items():
            if name in declared:
                bound[name] = value
            else:
                extra.append((name, value))
        if signature.kwarg is not None:
            bound[signature.kwarg.arg] = Elements(UNKNOWN) if arguments.open else Mapping(tuple(extra))
        defaults = dict(zip([p.arg for p in positional[::-1]], signature.defaults[::-1], strict=False))
        defaults.update(
            {p.arg: d for p, d in zip(signature.kwonlyargs, signature.kw_defaults, strict=True) if d is not None}
        )
        for parameter in parameters(signature):
            if parameter.arg not in bound:
                default = defaults.get(parameter.arg)
                usable = isinstance(default, ast.Constant) and not arguments.open
                bound[parameter.arg] = self.machine.evaluate(default, closure) if usable and default else UNKNOWN
        return {name: _entering(bounded(value), name, code, node, frame, keys) for name, value in bound.items()}


def _entering(value: Value, name: str, code: Code, node: Node, frame: Frame, keys: dict[Hashable, Hashable]) -> Value:
    def enter(leaf: Value) -> Value:
        match leaf:
            case Array(count=count, key=key, trace=trace):
                inner = keys.setdefault(key, ("argument", code.node, len(keys)))
                if trace is not None:
                    trace = traced(trace, frame.place(node), f"passed to `{name}` of {code.name}")
                refined = frame.count(leaf)
                return replace(leaf, key=inner, trace=trace, count=count if refined is None else refined)
            case Fact(key=key):
                inner = keys.setdefault(key, ("argument", code.node, len(keys)))
                return replace(leaf, key=inner)
            case Capsule(trace=trace) if trace is not None:
                return Capsule(traced(trace, frame.place(node), f"passed to `{name}` of {code.name}"))
            case _:
                return leaf

    return map_leaves(value, enter)


def _returned(
    summary: Summary, bound: dict[str, Value], back: dict[Hashable, Hashable], code: Code, node: Node, frame: Frame
) -> Value:
    """The result as the caller sees it: its own keys and evidence for what it passed in, new keys for what was made."""
    now = [leaf.trace for name in sorted(bound) for leaf in leaves(bound[name]) if isinstance(leaf, Array | Capsule)]
    made: dict[Hashable, Hashable] = {}

    def leave(leaf: Value) -> Value:
        match leaf:
            case Array(key=key):
                outer = back[key] if key in back else made.setdefault(key, (node, len(made)))
                if key not in back:
                    frame.state.facts.pop(outer, None)
                return replace(leaf, key=outer, trace=_evidence(leaf.trace, summary, now, code, node, frame))
            case Fact(key=key):
                return replace(leaf, key=back[key] if key in back else made.setdefault(key, (node, len(made))))
            case Capsule(trace=trace):
                return Capsule(_evidence(trace, summary, now, code, node, frame))
            case _:
                return leaf

    return map_leaves(summary.result, leave)


def _evidence(
    trace: Trace | None, summary: Summary, now: list[Trace | None], code: Code, node: Node, frame: Frame
) -> Trace | None:
    if trace is None:
        return None
    for old, new in zip(summary.entered, now, strict=False):
        if old is not None and old is not new:
            rebased = trace.rebased(old, new)
            if rebased is not None:
                trace = rebased
                break
    return trace.then(frame.place(node), f"returned by {code.name}")
