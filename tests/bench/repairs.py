"""Every repair that is offered for labelled programs, proven: `python tests/bench/repairs.py FOLDER [--random 60] [--seed 0]`.

FOLDER holds `cases/cases.json` and `oracle/dev` as `study.py` reads them; what is missing is left out. Programs of the generator in
tests/oracle come beside. For each finding of at least a warning every repair is applied as text, alone: the result must parse, must
lack the finding and have no new one. Programs that can run are run before and after on real JAX with eight CPU devices: the hand-off
must pass on every path on which it failed, what other hand-offs do must stay as it was, and what each hand-off was given must be the same
array, values and dtype. Repairs that say that they hand over a part or another dtype may differ in that.

Prints the counts, and each repair that is wrong. Returns 1 if there is one.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "oracle"))

from generate import load as load_grammar
from generate import program
from label import Outcome, label

from shardlint.check import Snapshot, check
from shardlint.fixes.edits import edited
from shardlint.fixes.repair import repairs
from shardlint.model import Finding, Fix, Safety, Severity, Target
from shardlint.records.catalogue import load
from shardlint.syntax import notebook
from shardlint.text import Text

LOUD = (Severity.ERROR, Severity.WARNING)
_LIMIT_PER_PROGRAM = 20.0


@dataclass
class Tally:
    """What came of the programs of one source."""

    findings: int = 0
    repaired: int = 0
    offered: Counter[str] = field(default_factory=Counter[str])
    run: int = 0
    passed: int = 0
    wrong: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Attempt:
    """A program after one repair, and the line of the hand-off, from 1, before and after it."""

    name: str
    fix: Fix
    source: str
    line: int
    line_after: int


def main() -> int:
    """Measure each source that is there. Returns 1 if a repair is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--random", type=int, default=60, help="how many programs of the generator")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jax-version", default="0.10.2")
    arguments = parser.parse_args()
    target = Target((arguments.jax_version,), True, "the measurement")
    wrong = 0
    for name, texts, runs in _sources(arguments.folder, arguments.random, arguments.seed):
        tally, attempts = Tally(), list[Attempt]()
        for where, text in texts.items():
            attempts += _attempts(where, text, target, tally)
        if runs:
            _run({where: text.source for where, text in texts.items()}, attempts, tally)
        _print(name, tally)
        wrong += len(tally.wrong)
    return 1 if wrong else 0


def _sources(folder: Path, random: int, seed: int) -> Iterator[tuple[str, Mapping[str, Text], bool]]:
    cases = folder / "cases" / "cases.json"
    if cases.is_file():
        found = {case["id"]: case for case in json.loads(cases.read_text(encoding="utf-8"))}
        yield "cases", {name: _text(case) for name, case in found.items()}, False
    programs = folder / "oracle" / "dev" / "programs"
    if programs.is_dir():
        paths = sorted(programs.glob("*.py"))
        yield "oracle", {path.name: Text(path.read_text(encoding="utf-8")) for path in paths}, True
    if random:
        grammar = load_grammar()
        made = {f"seed {one}": program(one, grammar) for one in range(seed, seed + random)}
        yield f"random, from seed {seed}", {name: Text(one.files[one.entry]) for name, one in made.items()}, True


def _text(case: Mapping[str, object]) -> Text:
    code = case["code"] if isinstance(case["code"], str) else json.dumps(case["code"])
    return notebook.read(code) if case["format"] == "ipynb" else Text(code)


def _attempts(name: str, text: Text, target: Target, tally: Tally) -> Iterator[Attempt]:
    snapshot = Snapshot("program.py", text, target, load())
    before = Counter(one.rule for one in check(snapshot).findings)
    for finding in check(snapshot).findings:
        if finding.severity not in LOUD:
            continue
        tally.findings += 1
        offered = repairs(snapshot, finding)
        tally.repaired += bool(offered)
        for fix in offered:
            tally.offered[str(fix.safety)] += 1
            new = edited(text, fix.edits)
            objection = _objection(text, new, finding, before, target)
            if objection:
                tally.wrong.append(f"{name}, {finding.rule}, {fix.title}: {objection}")
            start = finding.location.span.start
            moved = sum(len(one.text) - (one.span.end - one.span.start) for one in fix.edits if one.span.end <= start)
            yield Attempt(name, fix, new.source, text.line_of(start) + 1, new.line_of(start + moved) + 1)


def _objection(text: Text, new: Text, finding: Finding, before: Counter[str], target: Target) -> str:
    """What is wrong with a repaired program, without running it."""
    if _parses(text.source) and not _parses(new.source):
        return "it does not parse"
    after = Counter(one.rule for one in check(Snapshot("program.py", new, target, load())).findings)
    if after[finding.rule] >= before[finding.rule]:
        return "the finding is still there"
    more = [rule for rule in after if after[rule] > before[rule]]
    return f"new findings of {', '.join(more)}" if more else ""


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def _run(texts: Mapping[str, str], attempts: list[Attempt], tally: Tally) -> None:
    """Run programs as they were and after each repair, and compare what their hand-offs did."""
    sources = [*texts.values(), *(one.source for one in attempts)]
    jobs = [({"main.py": source}, "main.py") for source in sources]
    outcomes = label(jobs, 120 + _LIMIT_PER_PROGRAM * len(jobs))
    first = dict(zip(texts, outcomes, strict=False))
    for attempt, outcome in zip(attempts, outcomes[len(texts) :], strict=True):
        old = first[attempt.name]
        failing = [one for one in old.labels if one.failed and one.line == attempt.line]
        if not failing:
            continue
        tally.run += 1
        objection = _difference(old, outcome, attempt)
        tally.passed += not objection
        if objection:
            tally.wrong.append(f"{attempt.name}, line {attempt.line}, {attempt.fix.title}: {objection}")


def _difference(old: Outcome, new: Outcome, attempt: Attempt) -> str:
    """What the repaired program does that it should not, or does not do that it should."""
    if len(new.broken) > len(old.broken):
        return next(iter(new.broken.values()))
    still = sum(one.failed > 0 for one in new.labels), sum(one.failed > 0 for one in old.labels)
    if still[0] >= still[1]:
        return "the hand-off still fails"
    given, before = Counter(new.given), Counter(old.given)
    exact = attempt.fix.safety is not Safety.CHANGES_MEANING
    if exact and len(new.given) == len(old.given) and given != before:
        return "a hand-off is given another array"
    return ""


def _print(name: str, tally: Tally) -> None:
    kinds = ", ".join(f"{count} {safety}" for safety, count in sorted(tally.offered.items()))
    print(
        f"{name}: {tally.findings} findings, {tally.repaired} with repairs, {tally.offered.total()} repairs ({kinds}); "
        f"{tally.run} of hand-offs that were seen to fail, {tally.passed} of these pass; {len(tally.wrong)} wrong"
    )
    for one in tally.wrong:
        print(f"  wrong: {one}")


if __name__ == "__main__":
    sys.exit(main())
