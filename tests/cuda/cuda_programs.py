"""Reads `programs.toml`, where its format is told: what the suite runs, and what it leaves out."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from cuda_wanted import Scope, Wanted, family

from shardlint.model import Safety
from shardlint.placement.table import Table
from shardlint.records.catalogue import Catalogue, FixSpec

PAGE = Path(__file__).with_name("programs.toml")
DATA: Mapping[str, Any] = tomllib.loads(PAGE.read_text(encoding="utf-8"))
SCOPE = Scope(tuple(DATA["libraries"]), tuple(DATA["platform-names"]))
_DEVICE_ONLY = ("cupy", "numba", "jax.Array.__cuda_array_interface__")


class World(StrEnum):
    """Where programs run: beside one GPU, on two of them, or where the CPU plays the GPU."""

    STAND_IN = "stand-in"
    GPU = "gpu"
    TWO_GPUS = "two-gpus"


_ONE_GPU = {"mesh": 'jax.make_mesh((8,), ("d",), devices=jax.devices("cpu"))', "gpu": "cuda"}
_HOLES: Mapping[World, Mapping[str, str]] = {
    World.STAND_IN: {**_ONE_GPU, "gpu": "cpu"},
    World.GPU: _ONE_GPU,
    World.TWO_GPUS: {**_ONE_GPU, "mesh": 'jax.make_mesh((2,), ("d",), devices=jax.devices("gpu")[:2])'},
}


@dataclass(frozen=True)
class Case:
    """One program: wrong code for a rule at a consumer, with the repairs that it must be offered. See `programs.toml`.

    `name` tells programs of one rule and consumer apart.
    """

    rule: str
    consumer: str
    family: str
    name: str
    template: str
    fixes: tuple[FixSpec, ...]
    value: str | None
    wrong: frozenset[str]
    place: str
    shares: bool
    processes: int
    gpu_only: str | None
    simulated: str | None

    @property
    def device_only(self) -> bool:
        """Whether the consumer holds memory of a GPU and no other, whatever it is given."""
        return self.consumer.startswith(_DEVICE_ONLY)

    @property
    def worlds(self) -> tuple[World, ...]:
        """Where it runs: what several GPUs or processes must do is told from what one does beside forced CPU devices."""
        if self.processes > 1:
            return (World.STAND_IN, World.TWO_GPUS)
        return (*World,) if "{mesh}" in self.template else (World.STAND_IN, World.GPU)

    def source(self, world: World) -> str:
        """The program as it is written there."""
        return _filled(self.template, _HOLES[world])

    def place_after(self, fix: FixSpec) -> str | None:
        """Where the data must be after a repair, or None if they may be anywhere."""
        if self.place != "gpu":
            return None if self.place == "any" else self.place
        return "host" if fix.title in DATA["on-host"] and not self.device_only else "gpu"

    def shares_after(self, fix: FixSpec) -> bool:
        """Whether the result must lie in memory that it was given, after a repair that copies nothing or between devices only."""
        return self.shares and fix.safety in (Safety.SAFE, Safety.MOVES_DATA) and self.place_after(fix) == "gpu"


@dataclass(frozen=True)
class LeftOut:
    """What has no program, for a reason."""

    table: Mapping[str, Any]

    @property
    def reason(self) -> str:
        return self.table["reason"]

    def has(self, one: Wanted) -> bool:
        return _named(self.table, "rule", one.rule) and _named(self.table, "consumer", one.consumer)


def left_out() -> tuple[LeftOut, ...]:
    return tuple(LeftOut(table) for table in DATA["left-out"])


def doubt(case: Case, fix: FixSpec | None) -> str | None:
    """Why a repair (None: the code without one) is known or feared not to do what it should."""
    names = {"rule": case.rule, "consumer": case.consumer, "fix": fix.title if fix else ""}
    doubted = (table for table in DATA["doubted"] if all(_named(table, key, name) for key, name in names.items()))
    return next((table["reason"] for table in doubted), None)


def cases(catalogue: Catalogue, table: Table, wanted: Iterable[Wanted]) -> Iterator[Case]:
    """Every program at every consumer that it is for, with those of the wanted repairs that fit it."""
    by_place: dict[tuple[str, str], set[str]] = {}
    for one in wanted:
        by_place.setdefault((one.rule, one.consumer), set()).add(one.fix)
    for program in DATA["program"]:
        for rule in program["rules"]:
            names = [consumer for at, consumer in sorted(by_place) if at == rule and consumer in DATA["consumer"]]
            for consumer in program.get("consumers", names):
                kind = _family(table, consumer)
                titles = by_place.get((rule, kind), set()) & set(program.get("fixes", by_place.get((rule, kind), ())))
                left = any(one.has(Wanted(rule, kind, "")) for one in left_out())
                if titles and not left:
                    fixes = [fix for fix in catalogue.rules[rule].fixes if fix.title in titles]
                    yield _case(program, rule, consumer, kind, fixes)


def covered(made: Iterable[Case]) -> frozenset[Wanted]:
    """The repairs that programs run."""
    return frozenset(Wanted(case.rule, case.family, fix.title) for case in made for fix in case.fixes)


def shown_as(title: str, shown: str) -> bool:
    """Whether `shown` is the title of `rule.toml` with its placeholders filled in."""
    return re.fullmatch(".+".join(map(re.escape, re.split(r"\{\w+\}", title))), shown) is not None


def _family(table: Table, consumer: str) -> str:
    row = table.consumer(consumer)
    return consumer if row is None else family(row)


def _case(program: Mapping[str, Any], rule: str, consumer: str, kind: str, fixes: Sequence[FixSpec]) -> Case:
    told: Mapping[str, Any] = DATA["consumer"].get(consumer, {})
    dtype, size = told.get("gives", program.get("dtype", "float32")), program.get("size", 16)
    value = program.get("value", f"np.arange({size}, dtype=np.{dtype})")
    if "gives" in told:
        value = f"({value}).astype(np.{dtype})"
    call = _filled(told.get("call", ""), {"x": program.get("argument", "x")})
    lines = {"imports": told.get("imports", ""), "before": told.get("before", ""), "call": call}
    holes = {"dtype": program.get("dtype", "float32"), "size": str(size)}
    template = re.sub(r"\n{4,}", "\n\n\n", _filled(_filled(program["text"], lines), holes)).lstrip()
    distinct = program["fixes"][0] if len(program.get("fixes", ())) == 1 else ""
    return Case(
        rule=rule,
        consumer=consumer,
        family=kind,
        name=distinct,
        template=template,
        fixes=tuple({fix.title: fix for fix in fixes}.values()),
        value=value if told.get("data", True) else None,
        wrong=frozenset(program.get("wrong", ("raises",))),
        place=told.get("place", program.get("place", "gpu")),
        shares=told.get("shares", False) and program.get("shares", True),
        processes=program.get("processes", 1),
        gpu_only=program.get("gpu-only"),
        simulated=told.get("simulated"),
    )


def _filled(text: str, holes: Mapping[str, str]) -> str:
    for name, value in holes.items():
        text = text.replace("{" + name + "}", value)
    return text


def _named(table: Mapping[str, Any], key: str, name: str) -> bool:
    """Whether a table speaks of a name: by one name, several, all but some, or, as it says nothing of this, of all."""
    if key in table:
        return table[key] == name
    several = "fixes" if key == "fix" else f"{key}s"
    if several in table:
        return name in table[several]
    return name not in table.get(f"{several}-but", ())
