"""What tests prove of arrays: guards/guards.toml in every form that programs write them, and each test on real JAX."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shardlint.check import Snapshot, check
from shardlint.model import Target
from shardlint.records.catalogue import Catalogue
from shardlint.text import Text

TABLE: dict[str, Any] = tomllib.loads((Path(__file__).parent / "guards" / "guards.toml").read_text(encoding="utf-8"))
TARGETS = ("0.4.38", "0.7.2", "0.10.2")
ONE, SEVERAL = ("x", "m1", "y1"), ("s", "r")
SAID = {
    "one": ("silence", "silence"),
    "untold": ("silence", "silence"),
    "never": ("silence", "silence"),
    "all": ("silence", "silence"),
    "nothing": ("error", "warning"),
    "many": ("error", "error"),
}
"""What is said of an array on eight devices, and of one on all devices, behind a test that proves this."""


@pytest.mark.parametrize("jax", TARGETS)
@pytest.mark.parametrize("form", TABLE["forms"])
def test_what_is_said_behind_a_test(form: str, jax: str, catalogue: Catalogue) -> None:
    """A hand-off behind a test has a finding exactly if the test does not prove one device."""
    parts = [TABLE["prelude"]]
    places: dict[tuple[str, str], int] = {}
    for number, (test, _) in enumerate(TABLE["rows"]):
        for array in ("S", "ALL"):
            body = TABLE["forms"][form].replace("TEST", test)
            for name in ("f", "is_fine", "check", "checked"):
                body = body.replace(f"{name}(", f"{name}_{number}_{array}(").replace(
                    f"{name} =", f"{name}_{number}_{array} ="
                )
            first = "".join(parts).count("\n")
            parts.append(body + f"\ndef run_{number}_{array}():\n    f_{number}_{array}(jax.device_put(x, {array}))\n")
            line = next(at for at, text in enumerate(body.splitlines()) if "np.from_dlpack" in text)
            places[test, array] = first + line
    snapshot = Snapshot("guards.py", Text("".join(parts)), Target((jax,), True, "the table"), catalogue)
    found = {
        snapshot.text.position(one.location.span.start)[0]: "warning" if form == "moved" else one.severity.name.lower()
        for one in check(snapshot).findings
        if one.rule == "sharded-dlpack-export"  # what is wrong with a test itself stands beside it
    }
    said = {
        test: (found.get(places[test, "S"], "silence"), found.get(places[test, "ALL"], "silence"))
        for test, _ in TABLE["rows"]
    }
    wanted = {test: SAID[proves] for test, proves in TABLE["rows"]}
    if form == "moved":  # a warning where the test may fail, an error where it cannot
        wanted = {test: tuple(one.replace("error", "warning") for one in pair) for test, pair in wanted.items()}
    assert said == wanted


@pytest.mark.jax
def test_the_tests_prove_it_on_real_jax(observed: Callable[[list[dict[str, Any]]], list[list[int | str]]]) -> None:
    """A test that proves one device is true of some array on one and of none on several; one that proves nothing is true of some."""
    names = (*ONE, *SEVERAL)
    rows = [f"(lambda x: bool({test}))({name})" for test, _ in TABLE["rows"] for name in names]
    [answers] = observed([{"prelude": TABLE["prelude"], "context": None, "rows": rows}])
    for number, (test, proves) in enumerate(TABLE["rows"]):
        told = dict(zip(names, answers[number * len(names) :], strict=False))
        several = any(told[name] == "true" for name in SEVERAL)
        assert several == (proves in ("nothing", "many", "all")), (test, told)
        if proves == "one" and "jax.device" not in test:
            assert any(told[name] == "true" for name in ONE), (test, told)
