"""Findings against what really happens: `python tests/oracle/measure.py --programs 300 --seed 0 [--show N]`.

Makes random programs, runs them on real JAX on every path, checks them, and prints recall and precision by sink, over the
hand-offs that shipped rules cover. A finding on a hand-off that never fails is a false alarm; no finding on one that fails on
some path, and is not handled by the program, is a miss.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from generate import load as load_grammar
from generate import program
from label import Outcome, label

from shardlint.check import Snapshot, check
from shardlint.model import Severity, Target
from shardlint.records.catalogue import Catalogue, load
from shardlint.text import Text

RULES = frozenset(
    {"sharded-dlpack-export", "sharded-cuda-array-interface", "sharded-buffer-pointer", "sharded-buffer-export"}
)
_LIMIT_PER_PROGRAM = 20.0


@dataclass
class Score:
    """What came of all programs: counts by sink, and the lines to be read by a person."""

    bad: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    false: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    handled: int = 0
    fine: int = 0

    @property
    def recall(self) -> float:
        return self.found.total() / max(1, self.bad.total())

    @property
    def precision(self) -> float:
        return self.found.total() / max(1, self.found.total() + len(self.false))


def measure(seeds: Sequence[int], version: str, catalogue: Catalogue) -> Score:
    """Make, run and check the programs of the seeds; `version` is that of the JAX which runs them."""
    grammar = load_grammar()
    programs = [program(seed, grammar) for seed in seeds]
    score = Score()
    outcomes = label(programs, 120 + _LIMIT_PER_PROGRAM * len(programs))
    for seed, source, outcome in zip(seeds, programs, outcomes, strict=True):
        _compare(seed, source, outcome, flagged(source, version, catalogue), score)
    return score


def flagged(source: str, version: str, catalogue: Catalogue) -> dict[int, Severity]:
    """The lines (from 1) with a finding of the measured rules."""
    report = check(Snapshot("program.py", Text(source), Target((version,), True, "the measurement"), catalogue))
    text = Text(source)
    return {
        text.line_of(finding.location.span.start) + 1: finding.severity
        for finding in report.findings
        if finding.rule in RULES
    }


def _compare(seed: int, source: str, outcome: Outcome, found: dict[int, Severity], score: Score) -> None:
    if outcome.broken:
        score.broken.append(f"seed {seed}: {outcome.broken}")
        return
    lines = source.splitlines()
    bad = {row.line: row.sink for row in outcome.labels if row.failed}
    for row in outcome.labels:
        score.handled += row.handled > 0 and not row.failed
        score.fine += not row.failed
    for line, sink in bad.items():
        score.bad[sink] += 1
        score.found[sink] += line in found
        if line not in found:
            score.missed.append(f"seed {seed} line {line}: {lines[line - 1].strip()}")
    score.false += [f"seed {seed} line {line}: {lines[line - 1].strip()}" for line in found if line not in bad]


def report(score: Score, most: int) -> Iterator[str]:
    """The lines to print."""
    for title, rows in (("broken", score.broken), ("false alarm", score.false), ("miss", score.missed)):
        yield from (f"{title}: {row}" for row in rows[:most])
    for sink in sorted(score.bad):
        yield f"{sink}: {score.found[sink]} of {score.bad[sink]}"
    yield (
        f"recall {score.recall:.3f} ({score.found.total()} of {score.bad.total()}), precision {score.precision:.3f} "
        f"({len(score.false)} false alarms; {score.fine} hand-offs never failed, {score.handled} of them in the hands of a "
        f"handler), {len(score.broken)} programs broke"
    )


def main() -> int:
    """Returns 1 if there was a false alarm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first program; the others follow it")
    parser.add_argument("--show", type=int, default=20, help="how many of each kind to list")
    arguments = parser.parse_args()
    import jax

    score = measure(range(arguments.seed, arguments.seed + arguments.programs), jax.__version__, load())
    print(*report(score, arguments.show), sep="\n")
    return 1 if score.false else 0


if __name__ == "__main__":
    sys.exit(main())
