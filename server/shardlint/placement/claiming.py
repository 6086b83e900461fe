"""What a person has told of values: believed where the code leaves it open, and noted where the code surely says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from shardlint.placement.counts import ONE, Count, Share, Spans
from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Devices,
    Function,
    Host,
    Instance,
    Mesh,
    Method,
    OneOf,
    Sharding,
    Symbol,
    Transformed,
    Unknown,
    Value,
)
from shardlint.placement.frame import Code, Frame
from shardlint.placement.lattice import held, is_container, leaves, map_items, one_of
from shardlint.placement.modules import Module, Modules, origin
from shardlint.placement.trace import Trace, traced
from shardlint.syntax.claims import Claim, Claimed, Claims, claimable, named, nearest
from shardlint.syntax.scopes import FunctionNode, parameters
from shardlint.syntax.tree import Node, Place

_MANY = Count(2, None)
_COUNTS: Mapping[str, Count | None] = {
    "many-devices": _MANY,
    "one-device": ONE,
    "host": None,
    "spans-processes": Count(2, None, spans=Spans.SURE),
}
SAID: Mapping[str, str] = {
    "many-devices": "on many devices",
    "one-device": "on one device",
    "host": "a NumPy array or a number in host memory",
    "spans-processes": "on devices of several processes",
}
"""The words of claims in words."""
BY_NAME = "`assume`"


@dataclass(frozen=True, slots=True)
class WrongClaim:
    """A claim that the code surely contradicts. `place` is the parameter, function or target of which it speaks, `value` what it
    is instead; `trace` leads there.
    """

    claim: Claim
    place: Place
    value: Value
    trace: Trace


@dataclass(frozen=True)
class Assumed:
    """The claims that are made by qualified names: those on what lies in modules, by module name, and those on functions outside of
    the workspace, by canonical name.
    """

    inside: Mapping[str, Mapping[str, str]]
    outside: Mapping[str, str]

    @staticmethod
    def of(words: Mapping[str, str], main: Module, modules: Modules, canonical: Callable[[str], str]) -> Assumed:
        inside: dict[str, dict[str, str]] = {}
        outside: dict[str, str] = {}
        for name, word in words.items():
            found = origin(name, modules)
            if found is None and main.name and name.startswith(f"{main.name}."):
                found = main, name.removeprefix(f"{main.name}.")
            if found is None:
                outside[canonical(name)] = word
                continue
            module, rest = found
            first, dot, more = rest.partition(".")
            given_on = module.outline.imports.get(first)
            if given_on is not None:
                outside[canonical(given_on + dot + more)] = word
            else:
                inside.setdefault(module.name, {})[rest] = word
        return Assumed(inside, outside)

    def claims(self, module: Module) -> Claims:
        """All that is claimed in a module; a comment, which is nearer, comes first."""
        words = self.inside.get(module.name)
        return module.claims.over(named(module.tree, words, BY_NAME)) if words else module.claims

    def missing(self, module: Module) -> Iterator[str]:
        """A sentence for each name of which a claim speaks and that its module does not have, if that can be said."""
        words = None if module.tree.broken else self.inside.get(module.name)
        if words is None:
            return
        known = claimable(module.tree)
        for name in sorted(words.keys() - known):
            full = f"{module.name}.{name}"
            yield f"`assume` speaks of {full}, which this module does not have; {nearest(name, sorted(known))}"


@dataclass(eq=False)
class Claiming:
    """Applies claims to values while a program runs. `at_home` tells whether what happens is the doing of the checked module."""

    assumed: Assumed
    at_home: Callable[[], bool]
    wrong: dict[Hashable, WrongClaim] = field(default_factory=dict[Hashable, WrongClaim])
    _claims: dict[Claimed, Claim] = field(default_factory=dict[Claimed, Claim])

    def load(self, module: Module) -> None:
        """Learn the claims of a module that is about to run."""
        self._claims.update(self.assumed.claims(module).by_node)

    def bound(self, target: Claimed, value: Value, frame: Frame) -> Value:
        """What a variable holds that is bound now."""
        claim = self._claims.get(target) if self._claims else None
        return value if claim is None else self._applied(claim, value, frame.place(target), frame, None)

    def given(self, parameter: Claimed, value: Value, frame: Frame) -> Value:
        """What a parameter holds that somebody from outside gives."""
        return self.bound(parameter, value, frame)

    def passed(self, code: Code, bound: dict[str, Value], node: Node, frame: Frame) -> dict[str, Value]:
        """What the parameters hold of a function that is called by `node`."""
        if not self._claims:
            return bound
        made = dict(bound)
        for parameter in parameters(code.node.args):
            claim = self._claims.get(parameter)
            if claim is not None:
                step = frame.place(node), f"passed to `{parameter.arg}` of {code.name}"
                place = Place(code.chunk, parameter)
                made[parameter.arg] = self._applied(claim, made[parameter.arg], place, frame, step)
        return made

    def returned(self, code: Code, value: Value, frame: Frame) -> Value:
        """What a function returns, at the end of its run."""
        claim = self._of(code.node)
        return value if claim is None else self._applied(claim, value, code.place, frame, None)

    def result(self, function: Value, value: Value, node: Node, frame: Frame) -> Value:
        """What a call gives: of a function that could not be followed, or that JAX compiles."""
        while isinstance(function, Transformed):
            function = function.function
        code = function.code if isinstance(function, Function) else None
        claim = self._of(code.node) if isinstance(code, Code) else None
        if claim is None or not isinstance(code, Code) or not frame.state.alive:
            return value
        return self._applied(claim, value, code.place, frame, (frame.place(node), f"returned by {code.name}"))

    def external(self, name: str, node: Node, frame: Frame) -> Value:
        """What a call of a function outside of the workspace gives of which nothing is known."""
        word = self.assumed.outside.get(name)
        if word is None:
            return UNKNOWN
        return self._applied(Claim(word, BY_NAME), UNKNOWN, frame.place(node), frame, None)

    def _of(self, node: FunctionNode) -> Claim | None:
        return self._claims.get(node) if self._claims else None  # pyright: ignore[reportArgumentType]

    def _applied(self, claim: Claim, value: Value, place: Place, frame: Frame, step: tuple[Place, str] | None) -> Value:
        if frame.traced:
            return value  # a tracer is on no device yet
        belief = _Belief(claim, place, frame)
        believed = belief.of(value)
        if believed is not None:
            return believed
        if self.at_home():
            self._note(claim, belief.refuted, place, step, frame)
        return value

    def _note(self, claim: Claim, value: Value, place: Place, step: tuple[Place, str] | None, frame: Frame) -> None:
        trace: Trace | None = getattr(value, "trace", None)
        if step is not None:
            trace = traced(trace, *step)
        value = (frame.informed(value) or value) if isinstance(value, Array) else value
        trace = trace or Trace(place, "what comes here is no JAX array" if isinstance(value, Host) else "it comes here")
        self.wrong.setdefault((place.node, value, trace.place.node), WrongClaim(claim, place, value, trace))


class _Belief:
    """One claim on one value. `refuted` is the last part of the value that cannot be what is claimed."""

    def __init__(self, claim: Claim, place: Place, frame: Frame) -> None:
        self._claim = claim
        self._place = place
        self._frame = frame
        self._count = _COUNTS[claim.word]
        self._text = f"said by {claim.by} to be {SAID[claim.word]}"
        self._made = 0
        self.refuted: Value = UNKNOWN

    def of(self, value: Value) -> Value | None:
        """The value with what is claimed; alternatives that cannot be are gone. None if all of it cannot be."""
        if isinstance(value, OneOf):
            kept = [one for one in map(self.of, value.values) if one is not None]
            return one_of(kept) if kept else None
        if is_container(value):
            answers = [self._inside(value, item) for item in held(value)]
            agrees = any(isinstance(leaf, Array | Host) for one in answers if one is not None for leaf in leaves(one))
            if None in answers and not agrees:
                return None
            return map_items(value, lambda item: self._inside(value, item) or item)
        made = self._leaf(value)
        if made is None:
            self.refuted = value
        return made

    def _inside(self, container: Value, item: Value) -> Value | None:
        """What is claimed of an object is not said of each of its attributes."""
        return item if isinstance(container, Instance) and isinstance(item, Unknown) else self.of(item)

    def _leaf(self, value: Value) -> Value | None:
        count = self._count
        match value:
            case Unknown() | Method() | Symbol():
                return self._new()
            case Array() if value.traced:
                return value
            case Array():
                return None if count is None else self._narrowed(value, count)
            case Host():
                return None if count is not None and count.surely_many else value
            case Mesh(known) | Sharding(known) | Devices(known) if count is not None:
                met = known.met(count)
                return None if met is None else value if met == known else replace(value, count=met)
            case _:
                return value

    def _narrowed(self, array: Array, count: Count) -> Value | None:
        informed = self._frame.informed(array)
        if informed is None:
            return array  # not on this path
        met = count if informed.count is None else informed.count.met(count)
        if met is None or met == informed.count:
            return None if met is None else informed
        return replace(informed, count=_shared(met), trace=traced(informed.trace, self._place, self._text))

    def _new(self) -> Value:
        if self._count is None:
            return Host()
        key = self._frame.fresh(self._place.node, self._made)
        self._made += 1
        return Array(_shared(self._count), key, trace=Trace(self._place, self._text))


def _shared(count: Count) -> Count:
    """Who tells that an array spans processes speaks of one that none of them has all of, unless the program says otherwise."""
    untold = count.spans is Spans.SURE and count.share is Share.UNTOLD
    return replace(count, share=Share.OWN) if untold else count
