"""Which repairs the CUDA suite must run: derived from the shipped rules and the table of consumers, so that a new one is missed at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import cast

from packaging.specifiers import SpecifierSet

from shardlint.placement.machine import Event
from shardlint.placement.rows import Consumer
from shardlint.placement.table import Table
from shardlint.records.catalogue import Catalogue, FixSpec, Rule
from shardlint.rules.matching import matches

_TAKING = frozenset({"dlpack", "cuda-array-interface", "buffer", "pointer", "numpy", "function"})
"""The protocols by which a library with memory of a GPU takes an array in."""

_OF_JAX = frozenset({"dlpack", "cuda-array-interface", "pointer", "conversion", "function"})
"""Those by which JAX gives memory of a GPU away, or takes it."""

_ONLY_ON_HOST = frozenset({"numpy", "sparse", "abstract"})
"""What rules call data that never lie on a GPU."""

_KEYWORD = ".__keyword__"


@dataclass(frozen=True, order=True)
class Wanted:
    """A repair, by the title in `rule.toml`, of a rule at a consumer; functions and operators that fare alike have one name."""

    rule: str
    consumer: str
    fix: str

    def __str__(self) -> str:
        return f"{self.rule} at {self.consumer}: {self.fix}"


@dataclass(frozen=True)
class Scope:
    """What counts as CUDA: the `libraries` whose functions put data on a GPU, and the names that tell of its `platforms`."""

    libraries: tuple[str, ...]
    platforms: tuple[str, ...]

    def has(self, row: Consumer) -> bool:
        if row.protocol == "operator":
            return True
        if row.name.startswith("jax."):
            return row.protocol in _OF_JAX
        return row.protocol in _TAKING and row.gives != "host" and self._of_libraries(row.name)

    def _of_libraries(self, name: str) -> bool:
        return any(name.startswith(f"{library}.") for library in self.libraries)


def wanted(catalogue: Catalogue, table: Table, jax: str, scope: Scope) -> frozenset[Wanted]:
    """Every repair that a rule may offer on this version of JAX at a consumer in scope."""
    return frozenset(
        Wanted(rule.name, consumer, fix.title)
        for rule in catalogue.rules.values()
        if rule.fixes and not _only_on_host(rule.when)
        for consumer, fixes in _at(rule, table, jax, scope)
        for fix in fixes
    )


def family(row: Consumer) -> str:
    """The one name for all consumers that fare alike: the table says the same of the functions of a library and of operators."""
    if row.protocol == "operator":
        return "operator"
    return f"{row.name.partition('.')[0]}.function" if row.protocol == "function" else row.name


def rows(table: Table) -> Iterator[Consumer]:
    """Every way in which a consumer of the table takes something."""
    for row in (*table.consumers.values(), *table.functions.values()):
        yield row
        yield from row.others


def _at(rule: Rule, table: Table, jax: str, scope: Scope) -> Iterator[tuple[str, Sequence[FixSpec]]]:
    if not rule.match.protocols:
        yield from _at_names(rule, table, jax, scope)
        return
    for name in sorted({*rule.match.names} & {*scope.platforms}):
        yield name, _offered(rule, name)
    for row in rows(table):
        is_there = _holds(rule, row.name, jax) and table.exists(row.name, (jax,)) is not False
        if is_there and scope.has(row) and _concerns(rule, row):
            yield family(row), _offered(rule, row.name)


def _at_names(rule: Rule, table: Table, jax: str, scope: Scope) -> Iterator[tuple[str, Sequence[FixSpec]]]:
    """Of a rule about names that JAX has not, or not for long: those that are consumers, and arguments of such."""
    named = {name for fix in rule.fixes for name in fix.when.get("consumer", ())}
    for name in sorted({*rule.match.names} | named):
        owner = name.removesuffix(_KEYWORD).rpartition(".")[0] if name.endswith(_KEYWORD) else name
        row = table.consumers.get(owner)
        if row is None or not scope.has(row) or not _holds(rule, name, jax):
            continue
        if rule.match.timeline is None or rule.match.timeline == table.fate_to_come(name, jax):
            yield name, _offered(rule, name)


def _concerns(rule: Rule, row: Consumer) -> bool:
    """Whether the rule looks at this kind of hand-off, with data that can lie on a GPU."""
    event = SimpleNamespace(consumer=row.name, protocol=row.protocol, row=row, is_hand_off=True)
    if not matches(rule, cast("Event", event)):
        return False
    if rule.match.direction == "import":
        return row.gives == "jax"
    return row.protocol != "function" or not row.name.startswith("jax.")


def _holds(rule: Rule, name: str, jax: str) -> bool:
    return SpecifierSet(rule.jax_by.get(name, rule.jax)).contains(jax, prereleases=True)


def _offered(rule: Rule, name: str) -> list[FixSpec]:
    meant = [fix for fix in rule.fixes if name in fix.when.get("consumer", (name,))]
    return [fix for fix in meant if name not in fix.when.get("not-consumer", ()) and not _only_on_host(fix.when)]


def _only_on_host(when: Mapping[str, object]) -> bool:
    libraries = when.get("library")
    return isinstance(libraries, list | tuple) and _ONLY_ON_HOST.issuperset(libraries)
