"""The rows of the tables: what each of them says, as frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
