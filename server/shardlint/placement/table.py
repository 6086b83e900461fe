"""The tables of JAX and its neighbours, with look-up by canonical name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from packaging.version import Version

from shardlint.placement.rows import Class, Consumer, Dtype, Effect, Existence, Loan, Mark, Optimizer

GONE, TO_COME = "removed", "to-come"
"""What can be said of a name that a JAX version does not have."""

LEAVING = "leaving"
"""What can be said of one that it has and a later one has not."""


def _fate(row: Existence, version: str) -> str | None:
    at = Version(version)
    if row.added is not None and at < Version(row.added):
        return TO_COME
    return GONE if row.removed is not None and at >= Version(row.removed) else None


_PLACING = ("jax.", "jaxlib.", "flax.", "optax.", "orbax.")
"""The libraries whose functions say where arrays live; those of others have names that are used everywhere."""


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
    def making_arrays(self) -> Mapping[str, Consumer]:
        """The functions that make a `jax.Array` of whatever they are given."""
        return {
            name: row for name, row in self.functions.items() if row.protocol == "conversion" and row.gives == "jax"
        }

    @cached_property
    def telling(self) -> frozenset[str]:
        """The last parts of all names in the table: an unknown name that ends in one may be a re-export of it."""
        own = (name for name, row in self.consumers.items() if row.is_rare)
        doing = (name for name, row in self.effects.items() if row.name != "unknown" and name.startswith(_PLACING))
        known = (*doing, *own, *self.timeline)
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
        fates = (_fate(row, version) for row in self._existences(name))
        return next((fate for fate in fates if fate is not None), None)

    def fate_to_come(self, name: str, version: str) -> str | None:
        """The same, and LEAVING for what this version has and a later one has not."""
        return self.fate(name, version) or (None if self.removed_in(name) is None else LEAVING)

    def removed_in(self, name: str) -> str | None:
        """The first version of JAX without `name`, or without what holds it; None where JAX has not removed it."""
        ends = [row.removed for row in self._existences(name) if row.removed is not None]
        return min(ends, key=Version, default=None)

    def _existences(self, name: str) -> Iterator[Existence]:
        """What is known of when a name, and each thing that holds it, came and went."""
        while name:
            holder, _, last = name.rpartition(".")
            row = self.timeline.get(name) or self.keywords.get(holder, {}).get(last)
            if row is not None:
                yield row
            name = holder

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
