"""The lattice: what is known of a value.

Every class is frozen, and two values are equal if they say the same of placement; the evidence (`trace`) does not take part,
so that loops reach a fixpoint and calls with equal arguments share one summary.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from shardlint.syntax.tree import Place

_MOST_ALTERNATIVES = 6
_LONGEST_TRACE = 24
_HEAVIEST = 128


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Evidence, newest step first: at `place`, `text` happened to what `before` tells."""

    place: Place
    text: str
    before: Trace | None = None
    length: int = 1

    def then(self, place: Place, text: str) -> Trace:
        """One step more; a repeated or an overlong chain keeps its beginning and its newest step."""
        if self.place.node is place.node and self.text == text:
            return self
        if self.length >= _LONGEST_TRACE and self.before is not None:
            return Trace(place, text, self.before, self.length)
        return Trace(place, text, self, self.length + 1)

    def steps(self) -> list[tuple[Place, str]]:
        """The steps in program order."""
        found: list[tuple[Place, str]] = []
        current: Trace | None = self
        while current is not None:
            found.append((current.place, current.text))
            current = current.before
        return found[::-1]

    def rebased(self, old: Trace, new: Trace | None) -> Trace | None:
        """The same evidence with its part up to `old` replaced by `new`, or None if `old` is no part of it."""
        newer: list[Trace] = []
        current: Trace | None = self
        while current is not None and current is not old:
            newer.append(current)
            current = current.before
        if current is None:
            return None
        made = new
        for step in reversed(newer):
            made = Trace(step.place, step.text) if made is None else made.then(step.place, step.text)
        return made


def traced(before: Trace | None, place: Place, text: str) -> Trace:
    """One step after `before`, which may be empty."""
    return Trace(place, text) if before is None else before.then(place, text)


@dataclass(frozen=True, slots=True)
class Count:
    """How many devices: bounds, the upper one None where the program does not say (all devices of the machine, say)."""

    low: int
    high: int | None

    @property
    def surely_many(self) -> bool:
        return self.low > 1

    @property
    def surely_one(self) -> bool:
        return self.high == 1

    def joined(self, other: Count) -> Count:
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return Count(min(self.low, other.low), high)

    def met(self, other: Count) -> Count | None:
        """What both allow, or None if they exclude each other."""
        low = max(self.low, other.low)
        highs = [count.high for count in (self, other) if count.high is not None]
        high = min(highs) if highs else None
        return None if high is not None and high < low else Count(low, high)

    def words(self) -> str:
        if self.low == self.high:
            return "1 device" if self.low == 1 else f"{self.low} devices"
        if self.high is None:
            return f"{self.low} devices or more" if self.low > 1 else "all devices of its mesh"
        return f"up to {self.high} devices"


ONE = Count(1, 1)
ANY = Count(1, None)


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing is known: the value of silence."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal or what follows from literals."""

    value: Hashable


@dataclass(frozen=True, slots=True)
class Slice:
    """`low:high:step` in a subscript: a bound is a literal, None where it is left out, or OPEN where it is not known."""

    low: int | str | None
    high: int | str | None
    step: int | str | None


OPEN = "?"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A module, class or function outside the program, by its canonical dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class DeviceId:
    """One device: its index in `jax.devices(platform)` from 0, or None; `platform` None is the default one."""

    index: int | None
    platform: str | None = None


@dataclass(frozen=True, slots=True)
class Array:
    """A `jax.Array`. `count` is None where nothing is known of its devices. `key` is the value's identity for guards:
    every name that holds this very array shares it. `traced` arrays are tracers and have no devices yet.
    """

    count: Count | None
    key: Hashable
    device: DeviceId | None = None
    traced: bool = False
    trace: Trace | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Host:
    """A NumPy array or a Python number: host memory."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """A value of another array library, named by its import name; `device` where it is told."""

    library: str
    device: DeviceId | None = None


@dataclass(frozen=True, slots=True)
class Capsule:
    """A DLPack capsule."""

    trace: Trace | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Device:
    id: DeviceId


@dataclass(frozen=True, slots=True)
class Devices:
    """A list or NumPy array of devices. `first` is its first device where that is told."""

    count: Count
    first: DeviceId | None = None
    trace: Trace | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Mesh:
    count: Count
    trace: Trace | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Sharding:
    """Any sharding: a device count, and the device if it is a single one."""

    count: Count
    device: DeviceId | None = None
    trace: Trace | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Spec:
    """A `PartitionSpec`, which means a sharding only together with the mesh in force."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A property of the array `key` that guards ask for: `what` is `sharding`, `device_set` or `count`. `count` is what was
    known of the array's devices when it was asked.
    """

    what: str
    key: Hashable
    count: Count | None = None
    trace: Trace | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Version:
    """The target's JAX version or a part of it (`parts` leading numbers; None is the whole version); `known` is the
    version where the target is exact. `opaque` marks a value computed from it in a way that cannot be followed.
    """

    known: str | None
    parts: int | None = None
    opaque: bool = False


@dataclass(frozen=True, slots=True)
class Sequence:
    """A tuple or list of known items. `weight` counts the values in it, itself included."""

    items: tuple[Value, ...]
    weight: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", 1 + sum(weight(item) for item in self.items))


@dataclass(frozen=True, slots=True)
class Mapping:
    """A dict with literal keys, in insertion order. `weight` counts the values in it, itself included."""

    items: tuple[tuple[Hashable, Value], ...]
    weight: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", 1 + sum(weight(item) for _, item in self.items))


@dataclass(frozen=True, slots=True)
class Elements:
    """A container of unknown length whose items are all alike. `weight` counts the values in it, itself included."""

    item: Value
    weight: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", 1 + weight(self.item))


@dataclass(frozen=True, slots=True)
class Function:
    """A function or lambda of the program; `code` and `closure` are compared by identity."""

    code: Hashable
    closure: Hashable


@dataclass(frozen=True, slots=True)
class Method:
    """An attribute of a known value that waits to be called: `x.astype`."""

    owner: Value
    name: str


@dataclass(frozen=True, slots=True)
class Partial:
    function: Value
    arguments: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class Transformed:
    """The result of `jax.jit`, `jax.pmap`, ...: `how` names the effect, `output` is where results are put, if told."""

    how: str
    function: Value
    output: Value | None = None


@dataclass(frozen=True, slots=True)
class OneOf:
    """What paths that meet left behind."""

    values: tuple[Value, ...]


Value: TypeAlias = (
    Unknown
    | Constant
    | Slice
    | Symbol
    | Array
    | Host
    | Foreign
    | Capsule
    | Device
    | Devices
    | Mesh
    | Sharding
    | Spec
    | Fact
    | Version
    | Sequence
    | Mapping
    | Elements
    | Function
    | Method
    | Partial
    | Transformed
    | OneOf
)

UNKNOWN = Unknown()


def weight(value: Value) -> int:
    """How many values `value` is made of."""
    match value:
        case Sequence() | Mapping() | Elements():
            return value.weight
        case OneOf(values):
            return sum(weight(alternative) for alternative in values)
        case Partial(function, arguments, keywords):
            return 1 + sum(weight(part) for part in (function, *arguments, *(part for _, part in keywords)))
        case Transformed(function=function) | Method(owner=function):
            return 1 + weight(function)
        case _:
            return 1


def bounded(value: Value) -> Value:
    """`value`, or for one that has grown too heavy to be followed, what its leaves are at most."""
    if weight(value) <= _HEAVIEST:
        return value
    if not isinstance(value, Sequence | Mapping | Elements):
        return UNKNOWN
    kinds: list[Value] = []
    for leaf in leaves(value):
        if leaf not in kinds:
            kinds.append(leaf)
        if len(kinds) > _MOST_ALTERNATIVES:
            break
    return Elements(one_of(kinds))


def alternatives(value: Value) -> tuple[Value, ...]:
    """The values that `value` may be; never empty."""
    return value.values if isinstance(value, OneOf) else (value,)


def one_of(values: Iterable[Value]) -> Value:
    """The join of `values`. Beyond a few alternatives those that say nothing bad are merged into unknown."""
    found: list[Value] = []
    for value in values:
        for alternative in alternatives(value):
            if alternative not in found:
                found.append(alternative)
    if not found:
        return UNKNOWN
    if len(found) > _MOST_ALTERNATIVES:
        kept = [value for value in found if isinstance(value, Array | Capsule)][: _MOST_ALTERNATIVES - 1]
        found = [*kept, UNKNOWN]
    return found[0] if len(found) == 1 else OneOf(tuple(found))


def join(left: Value, right: Value) -> Value:
    """The join of two values."""
    if left == right:
        return left
    return one_of((left, right))


def each(value: Value, apply: Callable[[Value], Value]) -> Value:
    """`apply` on every alternative."""
    if isinstance(value, OneOf):
        return one_of(apply(alternative) for alternative in value.values)
    return apply(value)


def leaves(value: Value) -> Iterator[Value]:
    """The values inside containers, as a pytree's leaves; alternatives are all given."""
    for alternative in alternatives(value):
        if isinstance(alternative, Sequence):
            for item in alternative.items:
                yield from leaves(item)
        elif isinstance(alternative, Mapping):
            for _, item in alternative.items:
                yield from leaves(item)
        elif isinstance(alternative, Elements):
            yield from leaves(alternative.item)
        else:
            yield alternative


def map_leaves(value: Value, apply: Callable[[Value], Value]) -> Value:
    """`value` with `apply` on its leaves, containers kept."""
    if isinstance(value, OneOf):
        return one_of(map_leaves(alternative, apply) for alternative in value.values)
    if isinstance(value, Sequence):
        return Sequence(tuple(map_leaves(item, apply) for item in value.items))
    if isinstance(value, Mapping):
        return Mapping(tuple((key, map_leaves(item, apply)) for key, item in value.items))
    if isinstance(value, Elements):
        return Elements(map_leaves(value.item, apply))
    return apply(value)


def with_step(value: Value, place: Place, text: str) -> Value:
    """`value` with one step more on every array and capsule in it that already has evidence."""

    def add(leaf: Value) -> Value:
        if isinstance(leaf, Array | Capsule) and leaf.trace is not None:
            return replace(leaf, trace=leaf.trace.then(place, text))
        return leaf

    return map_leaves(value, add)
