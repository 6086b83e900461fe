"""The texts that repairs make, by their titles, and rules made of nothing but an example."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from shardlint.check import Snapshot, check
from shardlint.fixes.edits import apply
from shardlint.fixes.repair import repairs
from shardlint.model import Safety, Severity
from shardlint.records.catalogue import FixSpec, Match, Rule


def texts(program: Snapshot, title: str) -> list[str]:
    """What the repairs of that title make of a program, in the order of the findings."""
    return [
        apply(program.text.source, fix.edits)
        for finding in check(program).findings
        for fix in repairs(program, finding)
        if fix.title == title
    ]


@pytest.fixture
def repaired(snapshot: Callable[..., Snapshot]) -> Callable[..., list[str]]:
    """(source, title, path) -> the texts that the repairs of that title give, in the order of the findings."""

    def run(source: str, title: str, path: str = "program.py") -> list[str]:
        return texts(snapshot(source, path=path), title)

    return run


@pytest.fixture(scope="session")
def rule_of() -> Callable[..., Rule]:
    """(example) -> the rule that a user's record about sharded arrays is, with this example and nothing else."""

    def make(example: str, safety: Safety = Safety.CHANGES_MEANING) -> Rule:
        return Rule(
            name="own",
            summary="A record",
            family="",
            jax="",
            severity=Severity.INFORMATION,
            possible=Severity.INFORMATION,
            severity_by={},
            jax_by={},
            message="A record warns of this",
            match=Match((), None, ()),
            when={},
            handled_by=(),
            tags=(),
            fixes=(FixSpec("Change it as shown", safety, example, {}),),
            record={"tags": ["sharding"]},
            page="",
            observed=(),
            shipped=False,
        )

    return make


@pytest.fixture
def with_example(snapshot: Callable[..., Snapshot], rule_of: Callable[..., Rule]) -> Callable[..., Snapshot]:
    """(example, source) -> the program, to be checked for such a record alone."""

    def make(example: str, source: str, safety: Safety = Safety.CHANGES_MEANING) -> Snapshot:
        program = snapshot(source)
        return replace(program, catalogue=replace(program.catalogue, rules={"own": rule_of(example, safety)}))

    return make


@pytest.fixture
def by_example(with_example: Callable[[str, str], Snapshot]) -> Callable[[str, str], list[str]]:
    """(example, source) -> the texts that such a record makes of the source, in the order of the findings."""
    return lambda example, source: texts(with_example(example, source), "Change it as shown")
