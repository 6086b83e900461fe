"""The analysis against the tables of facts/, and the tables against real JAX.

Each table lists expressions and on how many devices their values are. A program hands every value over, and the findings in it
must be those that follow from the numbers.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from shardlint.check import Snapshot, check
from shardlint.model import Target
from shardlint.records.catalogue import Catalogue
from shardlint.text import Text

HERE = Path(__file__).parent / "facts"
TARGETS = ("0.4.38", "0.6.2", "0.7.2", "0.9.2", "0.10.2")


@dataclass(frozen=True)
class Table:
    """Expressions under one context. `first` and `before` bound the versions of JAX on which the context exists."""

    about: str
    prelude: str
    context: str | None
    needs: tuple[str, ...]
    first: str
    before: str
    rows: tuple[tuple[Any, ...], ...]

    def holds_for(self, jax: str) -> bool:
        return Version(self.first) <= Version(jax) < Version(self.before)

    def asked(self) -> dict[str, Any]:
        return {"prelude": self.prelude, "context": self.context, "rows": [row[0] for row in self.rows]}

    def outcome(self, row: tuple[Any, ...], jax: str) -> int | str:
        """The number of devices, "host" or "raises"."""
        return at(row[1], jax)

    def said(self, row: tuple[Any, ...], jax: str) -> str:
        """What is said of the hand-off."""
        if len(row) > 2:
            return at(row[2], jax)
        devices = self.outcome(row, jax)
        return "error" if isinstance(devices, int) and devices > 1 else "silence"


def at(value: Any, jax: str) -> Any:
    """What holds on a version, of a value or of values by the version from which on they hold."""
    if not isinstance(value, Mapping):
        return value
    return [one for first, one in value.items() if Version(first) <= Version(jax)][-1]


def tables() -> list[Table]:
    return [
        Table(
            f"{page.stem}: {table['about']}",
            content["prelude"] + table.get("setup", ""),
            table.get("context"),
            tuple(table.get("needs", ())),
            table.get("from", "0"),
            table.get("before", "999"),
            tuple(tuple(row) for row in table["rows"]),
        )
        for page in sorted(HERE.glob("*.toml"))
        for content in [tomllib.loads(page.read_text(encoding="utf-8"))]
        for table in content["table"]
    ]


def program(table: Table) -> str:
    """A function for each row, all on lines of their own."""
    lines = [table.prelude]
    for number, (expression, *_) in enumerate(table.rows):
        lines.append(f"def row_{number}():")
        if table.context:
            lines += [f"    with {table.context}:", f"        value = {expression}"]
        else:
            lines.append(f"    value = {expression}")
        lines.append("    return np.from_dlpack(value)")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("jax", TARGETS)
@pytest.mark.parametrize("table", tables(), ids=lambda table: table.about)
def test_what_is_said_follows_from_the_devices(table: Table, jax: str, catalogue: Catalogue) -> None:
    """A value on several devices gives a finding where it is handed over, and no other value does."""
    if not table.holds_for(jax):
        pytest.skip(f"not on JAX {jax}")
    text = program(table)
    lines = [number for number, line in enumerate(text.splitlines()) if line == "    return np.from_dlpack(value)"]
    snapshot = Snapshot("facts.py", Text(text), Target((jax,), True, "the table"), catalogue)
    found = {
        snapshot.text.position(one.location.span.start)[0]: one.severity.name.lower()
        for one in check(snapshot).findings
        if one.rule == "sharded-dlpack-export"
    }
    said = {row[0]: found.get(line, "silence") for row, line in zip(table.rows, lines, strict=True)}
    assert said == {row[0]: table.said(row, jax) for row in table.rows}


@pytest.mark.jax
def test_the_tables_hold_on_real_jax(observed: Callable[[list[dict[str, Any]]], list[list[int | str]]]) -> None:
    """Every row gives what it says on the installed JAX with eight devices."""
    installed = version("jax")
    chosen = [table for table in tables() if table.holds_for(installed) and all(find_spec(one) for one in table.needs)]
    told = {
        (table.about, row[0], table.outcome(row, installed)): str(answer)
        for table, answers in zip(chosen, observed([table.asked() for table in chosen]), strict=True)
        for row, answer in zip(table.rows, answers, strict=True)
    }
    assert {row: answer for row, answer in told.items() if not answer.startswith(str(row[2]))} == {}
