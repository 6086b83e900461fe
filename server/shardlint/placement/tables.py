"""Reads the tables that come with the package: `api.toml`, `handoffs.toml` and `functions.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from shardlint.placement.rows import Argument, Class, Consumer, Dtype, Effect, Existence, Loan, Mark, Optimizer, Refusal
from shardlint.placement.table import Table


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


def _argument(row: Mapping[str, Any] | None) -> Argument | None:
    return None if row is None else Argument(row["argument"], row.get("keyword"))


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files("shardlint.placement").joinpath(name).read_text(encoding="utf-8"))
