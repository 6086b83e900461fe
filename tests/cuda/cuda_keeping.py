"""Keeps what was seen on real GPUs in the rules' `observed.json`, as `shardlint records verify --write` keeps what it sees on CPUs.

Done by `--write-observed` alone. What was seen where the CPU plays the GPU is never kept.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cuda_programs import Case, World
from cuda_running import Outcome
from cuda_seen import ALIKE, Program

from shardlint.records.catalogue import Observation
from shardlint.records.observed import RuleRun, read_observations, write_observations
from shardlint.verify.process import Installed, probe

PLATFORM = "cuda"


@dataclass
class Kept:
    """What the tests saw, by rule and consumer, with a line for people each."""

    observations: dict[tuple[str, str], Observation] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def code(self, program: Program, word: str, outcome: Outcome, installed: Installed) -> None:
        """The code without repair did that: on a GPU the first program of a rule and consumer is kept, unless nothing went wrong."""
        key = (program.case.rule, program.case.consumer)
        if program.world is World.STAND_IN or word not in ALIKE or key in self.observations:
            return
        raised = outcome.raised
        self.observations[key] = Observation(
            PLATFORM,
            installed.jax,
            program.case.consumer,
            installed.version_of(program.case.consumer),
            ALIKE[word],
            raised.kinds[0] if raised else None,
            raised.message if raised else outcome.died,
            (),
        )

    def repaired(self, program: Program) -> None:
        """A repair was run on a GPU and gave what it should."""
        one = self.observations.get((program.case.rule, program.case.consumer))
        if program.world is World.STAND_IN or one is None or program.fix is None or program.fix.title in one.fixed:
            return
        key = (program.case.rule, program.case.consumer)
        self.observations[key] = replace(one, fixed=(*one.fixed, program.fix.title))

    def tell(self, program: Program, text: str) -> None:
        if program.world is not World.STAND_IN:
            self.lines.append(f"{program}: {text}")


def installed_for(cases: Sequence[Case]) -> Installed:
    """The versions of JAX and of all that the cases hand over to."""
    return probe(
        Path(sys.executable), sorted({"jax", *(case.consumer.partition(".")[0] for case in cases)} - {"operator"})
    )


def write(records: Path, kept: Mapping[tuple[str, str], Observation]) -> list[Path]:
    """Bring the files up to what was seen. Returns those that changed."""
    changed: list[Path] = []
    for rule in sorted({rule for rule, _ in kept}):
        folder = records / rule
        seen = tuple(one for (name, _), one in kept.items() if name == rule)
        consumers = frozenset(one.consumer for one in (*read_observations(folder), *seen))  # none is taken for gone
        if write_observations(folder, RuleRun(PLATFORM, seen[0].jax, consumers, seen)):
            changed.append(folder / "observed.json")
    return changed
