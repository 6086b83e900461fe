"""The tables `api.toml` and `handoffs.toml` as frozen data, with look-up by canonical name."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from packaging.version import Version


@dataclass(frozen=True, slots=True)
class Argument:
    """Where a function takes an argument: a position from 0 (-1: the object whose method it is) and a keyword."""

    position: int
    keyword: str | None


@dataclass(frozen=True, slots=True)
class Effect:
    """What a function does to placement: a name of `effects.EFFECTS` and the arguments that it reads; `earlier` is what it did
    before a JAX version, `entered` that a spec given to it means the mesh which a `with` statement entered,
    `gives` the class of what it makes.
    """

    name: str
    value: Argument | None = None
    target: Argument | None = None
    library: str | None = None
    earlier: tuple[str, Effect] | None = None
    entered: bool = False
    gives: str | None = None


@dataclass(frozen=True, slots=True)
class Dtype:
    """Which dtype an array has that a function makes: the one given as the argument at one of the positions, or else the one that it
    `gives`, or that its `literals` make, by their type in Python, or `keeps` of what it is given, or the `default`.
    """

    arguments: tuple[int, ...] = ()
    gives: str | None = None
    keeps: bool = False
    literals: Mapping[str, str] = field(default_factory=dict[str, str])
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Which arrays a consumer does not take: those of a library that have one of the dtypes, on JAX versions by a PEP 440 specifier
    ("" for all).
    """

    of: str
    dtypes: frozenset[str]
    jax: str


@dataclass(frozen=True, slots=True)
class Mark:
    """What a function tells of the nature of what it gives, by the array at `argument` or `keyword` (of a method its object), if that is of
    one of the libraries in `of` (of any if that is empty): marks that it `adds` and `removes`; whether the result `keeps` the
    others, the dtype and, if it does not copy, the memory; whether it `shares` the memory of a `jax.Array`. `says` is the clause for people.

    A row counts only for an array that has a mark of `needs` and one of the dtypes `only`, if there are some, and no mark of `without`,
    and for a call that gives none of the arguments in `unless`, as with them a copy is made, and not False at the position `switch`.
    """

    of: frozenset[str]
    adds: frozenset[str]
    removes: frozenset[str]
    keeps: bool
    shares: bool
    says: str | None
    argument: int
    keyword: str | None
    needs: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    unless: tuple[Argument, ...] = ()
    only: frozenset[str] = frozenset()
    switch: int | None = None
    copies: bool = False


@dataclass(frozen=True, slots=True)
class Loan:
    """A function of JAX that may take over the memory of what it is given, an array of one of the libraries in `of`: before a JAX
    version where there is one. `copies_until` is the version from which on it does so though `copy=True` is given (None: never).
    """

    of: frozenset[str]
    argument: Argument
    before: str | None
    copies_until: str | None


@dataclass(frozen=True, slots=True)
class Consumer:
    """A hand-off: see handoffs.toml. `raises` are the exceptions with which it refuses an array on several devices. What is at the
    positions `also` is handed over too, with `every` all that is given, and with `tree` each array in it; `lists` tells what becomes of
    lists of arrays: they are refused by this protocol (see functions.toml). `primal` ones ask for what has no derivative, which a
    tracer that is only differentiated knows. Of a list the items are taken if they are all `alike`. `refuses` tells which dtypes
    it does not take, `others` are further ways in which the same call hands something over.
    """

    name: str
    protocol: str
    array: Argument
    takes: frozenset[str]
    gives: str
    attribute: bool
    source_says: str | None = None
    does: str | None = None
    raises: frozenset[str] = frozenset()
    also: tuple[int, ...] = ()
    every: bool = False
    lists: str | None = None
    tree: bool = False
    primal: bool = False
    alike: bool = False
    refuses: tuple[Refusal, ...] = ()
    others: tuple[Consumer, ...] = ()


@dataclass(frozen=True, slots=True)
class Class:
    """What an instance of a class is: a kind of `instances`, or what its brackets mean; `library` is that of a foreign array."""

    kind: str
    library: str


@dataclass(frozen=True, slots=True)
class Optimizer:
    """What an optimizer of optax keeps: the fields of the state of each of its parts, None for one that depends on whether the learning
    rate is a number; one `alone` has one part and no tuple around it. `scalars` are the fields of one number, `unknown` those of which nothing is said. With
    `together`, one compiled function gets all leaves of the updates.
    """

    state: tuple[tuple[str, ...] | None, ...]
    alone: bool = False
    together: bool = False
    scalars: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Existence:
    """The first versions with and without a name; None where it was always or is still there."""

    added: str | None
    removed: str | None


@dataclass(frozen=True)
class Table:
    """All of it. Names given to the look-ups are canonical: see `canonical`. `functions` are the consumers of functions.toml, by whose
    bare names nobody is taken for one. `given_on` are the libraries whose names other packages
    import to give them on. `keywords` are arguments by function that came or went, `only_arrays` the attributes that a
    `jax.Array` has and a NumPy array has not, `collectives` the functions that all processes must call together. `asked` and
    `asked_methods` are what tells of an array where it lives, `device_attributes` what a device has and a sharding has not.
    """

    aliases: Mapping[str, str]
    effects: Mapping[str, Effect]
    namespaces: tuple[tuple[str, Effect], ...]
    attributes: Mapping[str, str]
    classes: Mapping[str, Class]
    consumers: Mapping[str, Consumer]
    functions: Mapping[str, Consumer]
    timeline: Mapping[str, Existence]
    dtypes: Mapping[str, Dtype]
    marks: Mapping[str, tuple[Mark, ...]]
    loans: Mapping[str, Loan]
    optimizers: Mapping[str, Optimizer]
    dtype_names: Mapping[str, str] = field(default_factory=dict[str, str])
    given_on: frozenset[str] = frozenset()
    keywords: Mapping[str, Mapping[str, Existence]] = field(default_factory=dict[str, Mapping[str, Existence]])
    only_arrays: frozenset[str] = frozenset()
    collectives: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    asked_methods: frozenset[str] = frozenset()
    device_attributes: frozenset[str] = frozenset()

    def canonical(self, name: str) -> str:
        """The one name for what `name` reaches, following aliases of the name itself and of the module it lies in."""
        for _ in range(4):
            direct = self.aliases.get(name)
            if direct is None:
                head, _, tail = name.rpartition(".")
                module = self.aliases.get(head)
                direct = None if module is None else f"{module}.{tail}"
            if direct is None or direct == name:
                return name
            name = direct
        return name

    @cached_property
    def array_classes(self) -> Mapping[str, str]:
        """The name of each library's class of arrays, under which its methods stand in the table."""
        names = {"jax": "jax.Array", "numpy": "numpy.ndarray"}
        for name, row in self.classes.items():
            if row.kind == "foreign":
                names.setdefault(row.library, name)
        return names

    @cached_property
    def telling(self) -> frozenset[str]:
        """The last parts of all names in the table: an unknown name that ends in one may be a re-export of it."""
        own = (name for name, row in self.consumers.items() if not row.every)
        known = (*self.effects, *own, *self.timeline)
        return frozenset(
            name.rpartition(".")[2]
            for name in known
            if name.partition(".")[0] in self.given_on and not name.startswith("jax.Array.")
        )

    @cached_property
    def leading(self) -> frozenset[str]:
        """Names that are no hand-offs and lead to one: functions that give arrays of other libraries, what gives an object that takes
        arrays or has a method that does, and the classes of such objects.
        """
        taking = self.consumers.keys() | self.functions.keys()
        holders = {name.rpartition(".")[0] for name in taking} - set(self.array_classes.values())
        classes = {name for name in holders if name.rpartition(".")[2][:1].isupper()}
        steps = {name: effect.gives for name, effect in self.effects.items() if effect.gives is not None}
        direct = {name for name, gives in steps.items() if gives in taking or gives in classes}
        makers = {name.rpartition(".")[0] for name in direct}
        arrays = {
            name for name, effect in self.effects.items() if effect.name in ("foreign-array", "parameter", "parameters")
        }
        return frozenset(classes | direct | arrays | {name for name, gives in steps.items() if gives in makers})

    @cached_property
    def libraries(self) -> frozenset[str]:
        """The top-level modules of all names in the table."""
        namespaces = (prefix for prefix, _ in self.namespaces)
        return frozenset(
            name.partition(".")[0]
            for name in (*self.aliases, *self.effects, *self.consumers, *self.timeline, *namespaces)
        )

    def names_in(self, module: str, versions: Sequence[str]) -> Mapping[str, str]:
        """What `from module import *` binds, as far as the table knows: each name with its canonical one."""
        known = (*self.aliases, *self.effects, *self.consumers, *self.timeline)
        own = {name.rpartition(".")[2]: name for name in known if name.rpartition(".")[0] == module}
        return {
            name: self.canonical(full)
            for name, full in own.items()
            if not name.startswith("_") and self.exists(full, versions) is not False
        }

    def with_consumers(self, rows: Mapping[str, Consumer]) -> Table:
        """The table with further consumers."""
        return replace(self, consumers={**self.consumers, **rows})

    def consumer(self, name: str) -> Consumer | None:
        """The hand-off that the function or method `name` is."""
        return self.consumers.get(name) or self.functions.get(name)

    def always_had(self, name: str) -> bool:
        """Whether the table knows the function `name`, and nothing of when it came or went."""
        name = self.canonical(name)
        return name not in self.timeline and (name in self.effects or name in self.consumers)

    def exists(self, name: str, versions: Sequence[str]) -> bool | None:
        """Whether JAX's `name` exists on all (True) or on none (False) of `versions`; None where that differs or is not known.

        What lies in a module or class that does not exist does not either; that which holds it may exist without it.
        """
        name = self.canonical(name)
        row = self.timeline.get(name)
        if row is None:
            holder = name.rpartition(".")[0]
            return False if holder and self.exists(holder, versions) is False else None
        truths = {
            (row.added is None or Version(version) >= Version(row.added))
            and (row.removed is None or Version(version) < Version(row.removed))
            for version in versions
        }
        return truths.pop() if len(truths) == 1 else None

    def is_to_come(self, name: str, version: str) -> bool:
        """Whether JAX got `name` after a version."""
        row = self.timeline.get(self.canonical(name))
        return row is not None and _fate(row, version) == TO_COME

    def fate(self, name: str, version: str) -> str | None:
        """What became of `name`, or of what holds it, by a version: GONE, TO_COME, or None where JAX has it or nothing is known. A keyword
        argument is named like an attribute of its function.
        """
        holder, _, last = name.rpartition(".")
        row = self.timeline.get(name) or self.keywords.get(holder, {}).get(last)
        fate = None if row is None else _fate(row, version)
        return fate or (self.fate(holder, version) if holder else None)

    def effect(self, name: str, versions: Sequence[str] = ()) -> Effect | None:
        """The effect of the function `name`, its own or its namespace's; the earlier one if all `versions` are earlier. A
        name that is gone has the effect that it had: what is done with it is wrong beside that it is gone.
        """
        found = self.effects.get(name)
        if found is not None and versions and all(self.is_to_come(name, version) for version in versions):
            return Effect("unknown")
        if found is not None:
            if found.earlier is None or not versions:
                return found
            before, earlier = found.earlier
            return earlier if all(Version(one) < Version(before) for one in versions) else found
        for prefix, effect in self.namespaces:
            if name.startswith(prefix):
                return effect
        return None


@cache
def load() -> Table:
    """The tables that come with the package."""
    api = _read("api.toml")
    effects: dict[str, Effect] = {}
    for row in api["function"]:
        effect = Effect(
            row["effect"],
            _argument(row.get("value")),
            _argument(row.get("target")),
            row.get("library"),
            entered=row.get("entered", False),
            gives=row.get("gives"),
        )
        if "earlier" in row:
            before = replace(effect, name=row["earlier"]["effect"])
            effect = replace(effect, earlier=(row["earlier"]["before"], before))
        for name in row["names"]:
            effects.setdefault(name, effect)
    namespaces = [
        (f"{prefix}.", Effect(row["effect"], library=row.get("library")))
        for row in api["namespace"]
        for prefix in row["prefixes"]
    ]
    namespaces.sort(key=lambda row: -len(row[0]))
    hand_offs = _read("handoffs.toml")
    refused = _refused(hand_offs)
    return Table(
        aliases=api["aliases"],
        given_on=frozenset(api["given-on"]),
        effects=effects,
        keywords={
            function: {name: Existence(row.get("added"), row.get("removed")) for name, row in rows.items()}
            for function, rows in api["keywords"].items()
        },
        only_arrays=frozenset(api["only-arrays"]["names"]),
        collectives=frozenset(api["collectives"]["names"]),
        asked=frozenset(api["asked"]["attributes"]),
        asked_methods=frozenset(api["asked"]["methods"]),
        device_attributes=frozenset(api["asked"]["of-devices"]),
        namespaces=tuple(namespaces),
        attributes={name: row["reads"] for row in api["attribute"] for name in row["names"]},
        classes={name: Class(row["is"], row.get("library", "")) for row in api["class"] for name in row["names"]},
        consumers=_consumers(hand_offs["consumer"], hand_offs["refusals"], refused),
        functions=_consumers(_read("functions.toml")["consumer"], {}, refused),
        dtypes={
            name: Dtype(
                tuple(row.get("arguments", ())),
                row.get("gives"),
                row.get("keeps", False),
                row.get("literals", {}),
                row.get("default"),
            )
            for row in api["dtype"]
            for name in row["names"]
        },
        marks=_marks(api["mark"]),
        dtype_names={**{name: name for name in api["dtypes"]["plain"]}, **api["dtypes"]["names"]},
        optimizers={name: _optimizer(row) for row in api["optimizer"] for name in row["names"]},
        loans={
            name: Loan(
                frozenset(row["of"]),
                Argument(row.get("argument", 0), row.get("keyword")),
                row.get("before"),
                row.get("copies-until"),
            )
            for row in api["loan"]
            for name in row["names"]
        },
        timeline={name: Existence(row.get("added"), row.get("removed")) for name, row in api["timeline"].items()},
    )


def _consumers(
    rows: Iterable[Mapping[str, Any]],
    refusals: Mapping[str, Iterable[str]],
    refused: Mapping[str, tuple[Refusal, ...]],
) -> Mapping[str, Consumer]:
    found: dict[str, Consumer] = {}
    for row in rows:
        for name in row["names"]:
            made = _consumer(name, row, refusals, refused)
            first = found.get(name)
            found[name] = made if first is None else replace(first, others=(*first.others, made))
    return found


def _consumer(
    name: str,
    row: Mapping[str, Any],
    refusals: Mapping[str, Iterable[str]],
    refused: Mapping[str, tuple[Refusal, ...]],
) -> Consumer:
    return Consumer(
        name,
        row["protocol"],
        Argument(row["array"], row.get("keyword")),
        frozenset(row["takes"]),
        row["gives"],
        row.get("attribute", False),
        row.get("source-says"),
        row.get("does"),
        frozenset(row.get("raises", refusals.get(row["protocol"], ()))),
        tuple(row.get("also", ())),
        row.get("every", False),
        row.get("lists"),
        row.get("tree", False),
        row.get("primal", False),
        row.get("alike", False),
        refused.get(name, ()),
    )


def _refused(hand_offs: Mapping[str, Any]) -> Mapping[str, tuple[Refusal, ...]]:
    sets: Mapping[str, list[str]] = hand_offs["dtype-sets"]
    found: dict[str, tuple[Refusal, ...]] = {}
    for row in hand_offs["refused"]:
        dtypes = frozenset(dtype for one in row["dtypes"] for dtype in sets.get(one, [one]))
        for name in row["names"]:
            found[name] = (*found.get(name, ()), Refusal(row["of"], dtypes, row.get("jax", "")))
    return found


def _marks(rows: Iterable[Mapping[str, Any]]) -> Mapping[str, tuple[Mark, ...]]:
    found: dict[str, tuple[Mark, ...]] = {}
    for row in rows:
        mark = Mark(
            frozenset(row.get("of", ())),
            frozenset(row.get("adds", ())),
            frozenset(row.get("removes", ())),
            row.get("keeps", False),
            row.get("shares", False),
            row.get("says"),
            row.get("argument", 0),
            row.get("keyword"),
            frozenset(row.get("needs", ())),
            frozenset(row.get("without", ())),
            tuple(Argument(position, keyword) for keyword, position in row.get("unless", {}).items()),
            frozenset(row.get("only", ())),
            row.get("switch"),
            row.get("copies", False),
        )
        for name in row["names"]:
            found[name] = (*found.get(name, ()), mark)
    return found


def _optimizer(row: Mapping[str, Any]) -> Optimizer:
    return Optimizer(
        tuple(None if part == "rate" else tuple(part) for part in row["state"]),
        row.get("alone", False),
        row.get("together", False),
        frozenset(row.get("scalars", ())),
        frozenset(row.get("unknown", ())),
    )


GONE, TO_COME = "removed", "to-come"
"""What can be said of a name that a JAX version does not have."""


def _fate(row: Existence, version: str) -> str | None:
    at = Version(version)
    if row.added is not None and at < Version(row.added):
        return TO_COME
    return GONE if row.removed is not None and at >= Version(row.removed) else None


def _argument(row: Mapping[str, Any] | None) -> Argument | None:
    return None if row is None else Argument(row["argument"], row.get("keyword"))


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files("shardlint.placement").joinpath(name).read_text(encoding="utf-8"))
