"""Findings against what really happens: `python tests/oracle/measure.py --programs 100 --workspaces 60 --seed 0 [--show N]`.

`--sweep` takes instead every construct once, as simple as can be, and (with `--workspaces`) every style of import.

Makes random programs and workspaces, runs them on real JAX on every path, checks them, and prints recall and precision by sink and
by construct, over the hand-offs that shipped rules cover. A finding on a hand-off that never fails is a false alarm; no finding on
one that fails on some path, and is not handled by the program, is a miss. A case that ended otherwise than its maker meant does
not count.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from generate import Program, program
from generate import load as load_grammar
from label import Outcome, label
from spread import workspace
from sweep import constructs, styles

from shardlint.check import Snapshot, check
from shardlint.cli.commands import run
from shardlint.model import Target
from shardlint.records.catalogue import Catalogue, load
from shardlint.text import Text

RULES = frozenset(
    {"sharded-dlpack-export", "sharded-cuda-array-interface", "sharded-buffer-pointer", "sharded-buffer-export"}
)
_LIMIT_PER_PROGRAM = 20.0
_FOUND_SOMETHING = (0, 1)


@dataclass
class Tally:
    """What came of the cases that have something in common. `alone` is of those that have little else in them."""

    bad: int = 0
    found: int = 0
    false: int = 0
    alone_bad: int = 0
    alone_found: int = 0


@dataclass
class Score:
    """What came of all programs: counts, and the lines to be read by a person."""

    sinks: dict[str, Tally] = field(default_factory=dict[str, Tally])
    constructs: dict[str, Tally] = field(default_factory=dict[str, Tally])
    total: Tally = field(default_factory=Tally)
    false: list[str] = field(default_factory=list[str])
    missed: list[str] = field(default_factory=list[str])
    broken: list[str] = field(default_factory=list[str])
    cases: int = 0
    handled: int = 0
    fine: int = 0


def measure(programs: Mapping[str, Program], version: str, catalogue: Catalogue) -> Score:
    """Run and check programs by their names; `version` is that of the JAX which runs them."""
    score = Score()
    jobs = [(made.files, made.entry) for made in programs.values()]
    outcomes = label(jobs, 120 + _LIMIT_PER_PROGRAM * len(programs))
    for (name, made), outcome in zip(programs.items(), outcomes, strict=True):
        found = flagged_folder(made, version) if len(made.files) > 1 else flagged(made, version, catalogue)
        _compare(name, made, outcome, found, score)
    return score


def at_random(seeds: Sequence[int], several: bool) -> dict[str, Program]:
    """The programs of the seeds."""
    grammar = load_grammar()
    if several:
        return {f"workspace {seed}": workspace(seed, grammar) for seed in seeds}
    return {f"seed {seed}": program(seed, grammar) for seed in seeds}


def flagged(made: Program, version: str, catalogue: Catalogue) -> set[tuple[str, int]]:
    """The lines (from 1) with a finding of the measured rules, of a program in one file."""
    text = Text(made.files[made.entry])
    report = check(Snapshot(made.entry, text, Target((version,), True, "the measurement"), catalogue))
    return {
        (made.entry, text.line_of(finding.location.span.start) + 1)
        for finding in report.findings
        if finding.rule in RULES
    }


def flagged_folder(made: Program, version: str) -> set[tuple[str, int]]:
    """The same for a workspace, as the command line finds them."""
    with tempfile.TemporaryDirectory(prefix="shardlint-oracle-") as name:
        folder = Path(name).resolve()
        for path, text in made.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        options = ["--output-format", "json", "--no-jedi", "--jax-version", version]
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            code = run(["check", str(folder), *options])
        if code not in _FOUND_SOMETHING:
            raise RuntimeError(f"shardlint check ended with {code}")
        rows = [row for row in json.loads(printed.getvalue()) if row["code"] in RULES]
        return {((folder / row["path"]).resolve().relative_to(folder).as_posix(), row["line"]) for row in rows}


def _compare(name: str, made: Program, outcome: Outcome, found: set[tuple[str, int]], score: Score) -> None:
    lines = {path: text.splitlines() for path, text in made.files.items()}
    broken: dict[int | None, str] = {}
    for line in sorted(outcome.broken):
        broken.setdefault(made.owners[made.entry][line - 1], outcome.broken[line])
    score.broken += [f"{name} case {number}: {why}" for number, why in broken.items()]
    if None in broken:
        return
    cases = {case.number: case for case in made.cases if case.number not in broken}
    score.cases += len(cases)
    sinks: dict[tuple[str, int], str] = {(row.path, row.line): row.sink for row in outcome.labels}
    bad = {(row.path, row.line) for row in outcome.labels if row.failed}
    for row in outcome.labels:
        score.handled += row.handled > 0 and not row.failed
        score.fine += not row.failed
    for path, line in sorted(bad | found):
        number = made.owners[path][line - 1]
        if number is None or number not in cases:
            continue
        hit, true = (path, line) in found, (path, line) in bad
        told = f"{name} case {number} {path}:{line}: {lines[path][line - 1].strip()}"
        told += f"   [{', '.join((*cases[number].constructs, *cases[number].parts))}]"
        if not hit:
            score.missed.append(told)
        if not true:
            score.false.append(told)
        used = dict.fromkeys(_without_place(construct) for construct in cases[number].constructs)
        one = len(used) <= 2
        rows = [score.constructs.setdefault(construct, Tally()) for construct in used]
        for tally in (score.total, score.sinks.setdefault(sinks.get((path, line), "never run"), Tally()), *rows):
            tally.bad += true
            tally.found += true and hit
            tally.false += not true
            tally.alone_bad += true and one
            tally.alone_found += true and hit and one


def _without_place(construct: str) -> str:
    name, _, place = construct.rpartition(" ")
    return name if place.isdigit() else construct


def report(score: Score, most: int) -> Iterator[str]:
    """The lines to print."""
    for title, rows in (("broken", score.broken), ("false alarm", score.false), ("miss", score.missed)):
        yield from (f"{title}: {row}" for row in rows[:most])
    for title, tallies in (("sink", score.sinks), ("construct", score.constructs)):
        yield f"{title:42} found of bad   false   in cases with little else"
        for key, one in sorted(tallies.items(), key=lambda item: (item[1].found - item[1].bad, item[0])):
            yield f"  {key:40} {one.found:5} {one.bad:6} {one.false:7}   {one.alone_found:5} {one.alone_bad:6}"
    total = score.total
    yield (
        f"recall {total.found / max(1, total.bad):.3f} ({total.found} of {total.bad}), precision "
        f"{total.found / max(1, total.found + total.false):.3f} ({total.false} false alarms; {score.fine} hand-offs never failed, "
        f"{score.handled} of them in the hands of a handler), {score.cases} cases, {len(score.broken)} broke"
    )


def main() -> int:
    """Returns 1 if there was a false alarm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=100, help="how many programs of one file")
    parser.add_argument("--workspaces", type=int, default=0, help="how many programs of several modules")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first of each; the others follow it")
    parser.add_argument("--show", type=int, default=20, help="how many of each kind to list")
    parser.add_argument("--sweep", action="store_true", help="each construct and each style of import once")
    arguments = parser.parse_args()
    import jax

    alarms = 0
    for several, count in ((False, arguments.programs), (True, arguments.workspaces)):
        if count:
            seeds = range(arguments.seed, arguments.seed + count)
            programs = at_random(seeds, several)
            if arguments.sweep:
                programs = styles(load_grammar()) if several else constructs(load_grammar())
            score = measure(programs, jax.__version__, load())
            which = "swept" if arguments.sweep else f"seeds {seeds[0]} to {seeds[-1]}"
            print(f"{'workspaces' if several else 'programs'}, {which}")
            print(*report(score, arguments.show), sep="\n")
            alarms += score.total.false
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main())
