"""Findings against labelled programs: `python tests/bench/study.py FOLDER [--jax-version 0.10.2]`.

FOLDER holds `peers/programs/*.py` (a line with a `# BUG` comment must be flagged, files that begin with `ok` must be clean),
`cases/cases.json` (programs with the lines to flag and the lines not to) and `oracle/dev` (programs with labels that running
them gave). What is missing is left out. Prints what was found and what not, by kind; only errors and warnings
count, and for a line of a case that asks for no more also informations.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from shardlint.check import Snapshot, check
from shardlint.model import Severity, Target
from shardlint.records.catalogue import load
from shardlint.syntax import notebook
from shardlint.text import Text

Line = tuple[int | None, int]


def main() -> int:
    """Measure each part that is there. Returns 1 if anything was flagged that must not be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jax-version", default="0.10.2")
    arguments = parser.parse_args()
    folder, version = arguments.folder, arguments.jax_version
    false = 0
    for measure in (peers, cases, oracle):
        false += measure(folder, version)
    return 1 if false else 0


LOUD = frozenset({Severity.ERROR, Severity.WARNING})
QUIET = frozenset({"hint", "info", "information"})


def flagged(text: Text, version: str, severities: frozenset[Severity] = LOUD) -> dict[Line, set[str]]:
    """Rules by (cell, line), lines from 1."""
    report = check(Snapshot("program.py", text, Target((version,), True, "the measurement"), load()))
    found: dict[Line, set[str]] = {}
    for finding in report.findings:
        if finding.severity in severities:
            cell, line, _ = text.place(finding.location.span.start)
            found.setdefault((cell, line + 1), set()).add(finding.rule)
    return found


def peers(folder: Path, version: str) -> int:
    """The bug programs, one line each, and the fine ones."""
    programs = sorted((folder / "peers" / "programs").glob("*.py"))
    hits, false = [], 0
    for path in programs:
        source = path.read_text(encoding="utf-8")
        found = flagged(Text(source), version)
        guilty = {(None, number) for number, line in enumerate(source.splitlines(), 1) if "# BUG" in line}
        false += len(found.keys() - guilty)
        if guilty and guilty <= found.keys():
            hits.append(f"{path.stem.partition('_')[0]} ({', '.join(sorted(found[next(iter(guilty))]))})")
    if programs:
        print(
            f"programs: {len(hits)} of {sum(not path.stem.startswith('ok') for path in programs)} bugs, {false} false alarms"
        )
        print("  " + "; ".join(hits))
    return false


def cases(folder: Path, version: str) -> int:
    """The cases from bug reports, by hazard."""
    path = folder / "cases" / "cases.json"
    if not path.is_file():
        return 0
    wanted, got, fine, false = Counter[str](), Counter[str](), 0, []
    for case in json.loads(path.read_text(encoding="utf-8")):
        code = case["code"] if isinstance(case["code"], str) else json.dumps(case["code"])
        text = notebook.read(code) if case["format"] == "ipynb" else Text(code)
        found = flagged(text, version)
        any_of = {False: found, True: flagged(text, version, LOUD | {Severity.INFORMATION})}
        for line in case["expect"]:
            wanted[line["hazard"]] += 1
            got[line["hazard"]] += (line.get("cell"), line["line"]) in any_of[line["severity"] in QUIET]
        expected = {(line.get("cell"), line["line"]) for line in case["expect"]}
        fine += len(case["must_not_flag"])
        alike = {(line.get("cell"), line["line"]) for line in case["must_not_flag"]}
        false += [(case["id"], line, sorted(found[line])) for line in found if line in alike or line not in expected]
    print(
        f"cases: {got.total()} of {wanted.total()} lines, {len(false)} false alarms on {fine} look-alikes and elsewhere {false or ''}"
    )
    print("  " + "; ".join(f"{hazard} {got[hazard]}/{wanted[hazard]}" for hazard in sorted(wanted) if got[hazard]))
    return len(false)


def oracle(folder: Path, version: str) -> int:
    """The generated programs, by the sink whose label running them gave."""
    labels = folder / "oracle" / "dev" / "labels.json"
    if not labels.is_file():
        return 0
    wanted, got, false = Counter[str](), Counter[str](), 0
    for row, hit in _labelled(labels, version):
        wanted[row["sink"]] += row["bad"]
        got[row["sink"]] += row["bad"] and hit
        false += hit and not row["bad"]
    print(f"oracle: {got.total()} of {wanted.total()} bad hand-offs, {false} false alarms")
    print(
        "  missed: " + (str({sink: wanted[sink] - got[sink] for sink in wanted if wanted[sink] > got[sink]}) or "none")
    )
    return false


def _labelled(labels: Path, version: str) -> Iterator[tuple[dict[str, object], bool]]:
    for name, rows in json.loads(labels.read_text(encoding="utf-8")).items():
        found = flagged(Text((labels.parent / "programs" / name).read_text(encoding="utf-8")), version)
        for row in rows:
            yield row, (None, row["line"]) in found


if __name__ == "__main__":
    sys.exit(main())
