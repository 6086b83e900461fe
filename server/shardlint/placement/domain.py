"""The values of the abstract interpreter: what is known of an object of the program.

Every class is frozen, and two values are equal if they say the same of placement. The evidence (`trace`) does not take part, nor
does the identity of a container (`ids`), so that loops reach a fixpoint and calls with equal arguments share one summary.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from collections.abc import Mapping as MappingType
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from shardlint.placement.counts import Count, Facts, Spans
from shardlint.placement.nature import PLAIN, Nature
from shardlint.placement.trace import Trace
from shardlint.placement.tracing import NONE, Chosen, Tracing

if TYPE_CHECKING:
    from shardlint.placement.definition import Definition


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing is known: the value of silence."""


@dataclass(frozen=True, slots=True)
class External(Unknown):
    """An object outside of the program of which only the way to it is known; `paths` says how one reads. A `narrow` one was made
    of something that is on one device, or of the number one: what it holds may be on one device too.
    """

    path: str
    narrow: bool = False


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal or what follows from literals. `facts` are what else holds where it came to be this one and no other."""

    value: Hashable
    facts: Facts = ()


@dataclass(frozen=True, slots=True)
class Member:
    """What a constant of an enumeration is: the class and the name in it."""

    definition: Definition
    name: str


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
class Namespace:
    """A module of the workspace, by its dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class DeviceId:
    """One device: its index in `jax.devices(platform)` from 0, or None; `platform` None is the default one."""

    index: int | None
    platform: str | None = None


@dataclass(frozen=True, slots=True)
class Array:
    """A `jax.Array`. `count` is None where nothing is known of its devices. `key` is the value's identity for guards:
    every name that holds this very array shares it. One that is `traced` is or may be a tracer, which has no devices yet.
    `stacked` arrays are laid out by an old `pmap`, one slice on each device: what is computed from them is not.
    `committed` ones were surely put where they are, and JAX refuses to compute with them and what was put elsewhere. What one device
    has of another array is a `shard_of` what lies on so many.
    """

    count: Count | None
    key: Hashable
    device: DeviceId | None = None
    traced: Tracing = Tracing.NO
    trace: Trace | None = field(default=None, compare=False)
    stacked: bool = False
    committed: bool = False
    nature: Nature = PLAIN
    shard_of: Count | None = None


@dataclass(frozen=True, slots=True)
class Host:
    """A NumPy array or a Python number: host memory. `made` is the evidence that it is an array of NumPy and nothing like one. The
    bytes of its numbers are `swapped` if its dtype says that the first is the largest part.
    """

    made: Trace | None = field(default=None, compare=False)
    swapped: bool = False

    nature: Nature = PLAIN


@dataclass(frozen=True, slots=True)
class Foreign:
    """A value of another array library, named by its import name; `device` where it is told. It is `sure` if it is surely an array
    and not another of the library's objects, or a number that one of its functions gave.
    """

    library: str
    device: DeviceId | None = None
    nature: Nature = PLAIN
    sure: bool = False


@dataclass(frozen=True, slots=True)
class Capsule:
    """A DLPack capsule. One that is `used` has been taken, and cannot be taken again."""

    trace: Trace | None = field(default=None, compare=False)
    used: bool = False


@dataclass(frozen=True, slots=True)
class Device:
    """`spans` tells whether it may be another process's: the first one of all is, on each process but one."""

    id: DeviceId
    spans: Spans = Spans.UNTOLD
    trace: Trace | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Devices:
    """A list or NumPy array of devices. `first` is its first device where that is told; `local` ones are those of the process."""

    count: Count
    first: DeviceId | None = None
    trace: Trace | None = field(default=None, compare=False)
    local: bool = False


@dataclass(frozen=True, slots=True)
class Mesh:
    """`axes` are the names of its axes with their sizes (None: not known), where they are told."""

    count: Count
    trace: Trace | None = field(default=None, compare=False)
    axes: tuple[tuple[str, int | None], ...] | None = None


@dataclass(frozen=True, slots=True)
class Sharding:
    """Any sharding: a device count with what each device gets, and the device if it is a single one. One is `named` that is over a mesh,
    of one device perhaps.
    """

    count: Count
    device: DeviceId | None = None
    trace: Trace | None = field(default=None, compare=False)
    named: bool = False


@dataclass(frozen=True, slots=True)
class Spec:
    """A `PartitionSpec`, which means a sharding only together with the mesh in force. `axes` are those along which it surely
    splits; unless it is `closed`, there may be others.
    """

    axes: frozenset[str] = frozenset()
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A property of the array `key` that guards ask for: `what` is `sharding`, `type of sharding`, `device`, `device_set`, `mesh`, `shards`,
    `local` (shards or devices of this process), `shard` and `device of shard` or the same with `local shard` (any one of them), `count`,
    `local count` or `process count`. `count` is what was known of the array's devices when it was asked; `items` are what a list of
    shards holds, and the data of a shard. `platform` is that of the array. A sharding is `meshed` if it surely is of a mesh.
    """

    what: str
    key: Hashable
    count: Count | None = None
    trace: Trace | None = field(default=None, compare=False)
    items: Value | None = None
    meshed: bool = False


@dataclass(frozen=True, slots=True)
class Test:
    """A truth value that remembers what it tells of arrays: the facts if it is true, and those if it is false."""

    true: Facts
    false: Facts


@dataclass(frozen=True, slots=True)
class Version:
    """The target's JAX version or a part of it (`parts` leading numbers; None is the whole version); `known` is the
    version where the target is exact. `opaque` marks a value computed from it in a way that cannot be followed.
    """

    known: str | None
    parts: int | None = None
    opaque: bool = False


Ids: TypeAlias = frozenset[Hashable]
"""Which mutable objects a container value may be; empty for tuples and where that is not followed."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """A tuple or list of known items. `weight` counts the values in it, itself included; `inside` tells what `inside` does of it."""

    items: tuple[Value, ...]
    ids: Ids = field(default=frozenset(), compare=False)
    weight: int = field(init=False, compare=False, repr=False)
    inside: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        _measure(self, 1, self.items, self.ids)


@dataclass(frozen=True, slots=True)
class Mapping:
    """A dict: entries with literal keys in insertion order, and `rest`, what any other key may hold (None: no other key). One with a
    `factory` gets what that makes for a key that it does not have.
    """

    items: tuple[tuple[Hashable, Value], ...]
    rest: Value | None = None
    ids: Ids = field(default=frozenset(), compare=False)
    factory: Value | None = None
    weight: int = field(init=False, compare=False, repr=False)
    inside: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        held = [item for _, item in self.items]
        _measure(self, 1, held if self.rest is None else (*held, self.rest), self.ids)


@dataclass(frozen=True, slots=True)
class Elements:
    """A container of unknown length whose items are all alike. A generator that is sent values has the function and its arguments
    as `resume`.
    """

    item: Value
    ids: Ids = field(default=frozenset(), compare=False)
    resume: Partial | None = None
    weight: int = field(init=False, compare=False, repr=False)
    inside: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        more = 0 if self.resume is None else weight(self.resume)
        _measure(self, 1 + more, (self.item,), self.ids)


_MOST_ATTRIBUTES = 128


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a class of the program: the attributes that it is known to have of its own, in the order in which it got
    them; those of a named tuple are its items. Other attributes are its class's.
    """

    definition: Definition
    items: tuple[tuple[str, Value], ...]
    ids: Ids = field(default=frozenset(), compare=False)
    weight: int = field(init=False, compare=False, repr=False)
    inside: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        _measure(self, 1, [item for _, item in self.items], self.ids)

    def having(self, changed: MappingType[str, Value]) -> Instance:
        """The same object with other values in some of its attributes. Of very many attributes the last are not followed."""
        items = {**dict(self.items), **changed}
        return Instance(self.definition, tuple(islice(items.items(), _MOST_ATTRIBUTES)), self.ids)

    def get(self, name: str) -> Value | None:
        """The attribute of its own, or None."""
        return next((item for held, item in self.items if held == name), None)


@dataclass(frozen=True, slots=True)
class Class:
    """A class of the program, compared by identity."""

    definition: Definition


@dataclass(frozen=True, slots=True)
class Super:
    """What `super()` is in a method of the class: attributes are looked up behind it in the order of the owner's classes."""

    definition: Definition
    owner: Value


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A function that a class gives out in its own way: `kind` is `property`, `static` or `class`."""

    kind: str
    function: Value
    setter: Value | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """A function or lambda of the program; `code` and `closure` are compared by identity. `defaults` are the values that its
    parameters got when it was defined.
    """

    code: Hashable
    closure: Hashable
    defaults: tuple[tuple[str, Value], ...] = ()
    weight: int = field(init=False, compare=False, repr=False)
    inside: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        sees = getattr(self.closure, "enclosing", None) is not None
        _measure(self, 1, [value for _, value in self.defaults], found=CLOSURES if sees else 0)


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
    """The result of `jax.jit`, `jax.pmap`, ...: `how` names the effect; `output` is where results are put and `input` where
    arguments that are on no device yet are, if told. The `static` parameters get what is given, the others tracers;
    `donated` ones are given up.
    """

    how: str
    function: Value
    output: Value | None = None
    input: Value | None = None
    static: Chosen = NONE
    donated: Chosen = NONE


@dataclass(frozen=True, slots=True)
class OneOf:
    """What paths that meet left behind."""

    values: tuple[Value, ...]
    weight: int = field(init=False, compare=False, repr=False)
    inside: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        _measure(self, 0, self.values, frozenset())
        if self.inside & ARRAYS:
            object.__setattr__(self, "inside", self.inside | CHOICES)


Container: TypeAlias = Sequence | Mapping | Elements | Instance

Value: TypeAlias = (
    Unknown
    | External
    | Constant
    | Slice
    | Symbol
    | Namespace
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
    | Test
    | Version
    | Sequence
    | Mapping
    | Elements
    | Instance
    | Class
    | Super
    | Descriptor
    | Function
    | Method
    | Partial
    | Transformed
    | OneOf
)

UNKNOWN = Unknown()


ARRAYS = 1
CHOICES = 2
CLOSURES = 4
_IDS = 3
_MOST_IDS = 256

_MEASURED = frozenset({Sequence, Mapping, Elements, Instance, OneOf, Function})
_LIGHT = frozenset(
    {
        Unknown, External, Constant, Slice, Symbol, Namespace, Host, Foreign, Capsule, Device, Devices, Mesh, Sharding, Spec, Fact,
        Test, Version, Class,
    }
)  # fmt: skip
"""Values that hold no other, and nothing that `inside` tells."""


def weight(value: Value) -> int:
    """How many values `value` is made of."""
    if type(value) in _MEASURED:
        measured: Any = value
        return measured.weight
    if type(value) in _LIGHT:
        return 1
    match value:
        case Partial(function, arguments, keywords):
            return 1 + sum(weight(part) for part in (function, *arguments, *(part for _, part in keywords)))
        case Transformed(function=function) | Method(owner=function) | Descriptor(function=function):
            return 1 + weight(function)
        case _:
            return 1


def inside(value: Value) -> int:
    """What may be found by looking through a value's containers and alternatives: the flags ARRAYS, CHOICES (arrays among
    alternatives) and CLOSURES (functions that see variables of another), and a bit for the
    mutable objects there that share it. What does not show here is not there.
    """
    if type(value) in _MEASURED:
        measured: Any = value
        return measured.inside
    if type(value) in _LIGHT:
        return 0
    match value:
        case Array():
            return ARRAYS
        case Partial(function):
            return inside(function)
        case _:
            return 0


def marks(ids: Ids) -> int:
    """The bits that `inside` has for these objects."""
    found = 0
    for key in ids:
        found |= 1 << (_IDS + hash(key) % _MOST_IDS)
    return found


def _measure(
    value: Container | OneOf | Function, own: int, parts: Iterable[Any], ids: Ids = frozenset(), *, found: int = 0
) -> None:
    heavy: int = own
    found |= marks(ids) if ids else 0
    for part in parts:
        if type(part) in _LIGHT:
            heavy += 1
        elif type(part) in _MEASURED:
            heavy += part.weight
            found |= part.inside
        else:
            heavy += weight(part)
            found |= inside(part)
    object.__setattr__(value, "weight", heavy)
    object.__setattr__(value, "inside", found)


WITHOUT_GRADIENTS = Symbol("torch.no_grad")
"""The context in which PyTorch records nothing of what it computes for gradients."""
