"""Check whole trees: `python tests/bench/trees.py PATH... [--jax-version 0.10.2] [--slow 2.0]`.

Every Python file below the paths is checked, without the prefilter that the command line has. Prints each crash, each file
that takes longer than `--slow` seconds of CPU time, and each finding with its steps, to be read by a person; then the totals.
Returns 1 if anything crashed or was slow.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from pathlib import Path

from shardlint.check import Report, Snapshot, check
from shardlint.model import Target
from shardlint.records.catalogue import load
from shardlint.text import Text


def main() -> int:
    """Check every file and print what is worth reading."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--jax-version", default="0.10.2")
    parser.add_argument("--slow", type=float, default=2.0, metavar="SECONDS")
    arguments = parser.parse_args()
    target = Target((arguments.jax_version,), True, "the measurement")
    files = [file for path in arguments.paths for file in sorted(path.rglob("*.py"))]
    lines = crashes = slow = findings = unread = 0
    slowest, total = (0.0, Path()), 0.0
    for file in files:
        try:
            text = Text(file.read_text(encoding="utf-8"))
        except (UnicodeDecodeError, OSError):
            unread += 1
            continue
        lines += len(text.line_starts)
        begun = time.process_time()
        try:
            report = check(Snapshot(str(file), text, target, load()))
        except Exception:
            crashes += 1
            print(f"CRASH {file}\n{traceback.format_exc(limit=-3)}")
            continue
        took = time.process_time() - begun
        total += took
        slowest = max(slowest, (took, file))
        if took > arguments.slow:
            slow += 1
            print(f"SLOW {file}: {took:.2f} s for {len(text.line_starts)} lines")
        findings += len(report.findings)
        show(report, text)
    print(
        f"{len(files)} files, {lines} lines, {total:.1f} s of CPU: {crashes} crashes, {slow} over {arguments.slow:g} s, "
        f"{findings} findings, {unread} not UTF-8; slowest {slowest[0]:.2f} s ({slowest[1].name})"
    )
    return 1 if crashes or slow else 0


def show(report: Report, text: Text) -> None:
    """Each finding as one line and its steps below."""
    for finding in report.findings:
        line = text.line_of(finding.location.span.start)
        print(f"{finding.location.path}:{line + 1}: {finding.severity} {finding.rule}: {text.line_text(line).strip()}")
        for step in finding.steps:
            print(f"    {text.line_of(step.location.span.start) + 1}: {step.text}")


if __name__ == "__main__":
    sys.exit(main())
