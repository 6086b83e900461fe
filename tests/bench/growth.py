"""How time and memory grow with a program: `python tests/bench/growth.py [SHAPE...] [--limit SECONDS] [--most RATIO]`.

Programs of one shape and of growing size are written (`growth_shapes.py`), and each is checked in a process of its own; those of
several modules by the command line. Prints for each the CPU time (the least of three, if it is short), that time for 1,000 lines,
the peak memory above that of a process which has checked an empty file, and how many of the program's true bugs were found; then
how much more time a unit of size takes in the largest program than in the smallest: 1 is linear growth. Returns 1 if that is above
`--most` for any shape, or if a process took longer than `--limit` seconds or died.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from growth_shapes import SHAPES, Shape

from shardlint.check import Snapshot, check
from shardlint.model import Severity, Target
from shardlint.records.catalogue import load
from shardlint.text import Text

_HELD = {"linux": 1024}
"""Bytes in the unit of `ru_maxrss`; one on other systems."""
_SHORT, _REPEATED = 0.5, 2
"""Checks of less seconds are repeated so often: such times vary most."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What one check took: seconds of CPU time, the megabytes that the process held at most, and what came of it."""

    lines: int
    seconds: float
    megabytes: float
    found: int
    problems: tuple[str, ...]


def main() -> int:
    """Measure the shapes that were asked for, all of them by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help=", ".join(shape.name for shape in SHAPES))
    parser.add_argument("--limit", type=float, default=120.0, metavar="SECONDS")
    parser.add_argument("--most", type=float, default=3.0, metavar="RATIO")
    parser.add_argument("--measure", type=int, metavar="SIZE", help="check one program here and print what it took")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.shapes if name not in {shape.name for shape in SHAPES}]:
        parser.error(f"there is no shape {unknown[0]!r}")
    shapes = [shape for shape in SHAPES if not arguments.shapes or shape.name in arguments.shapes]
    if arguments.measure is not None:
        made = shapes[0].make(arguments.measure)
        print(json.dumps(measured(made) if isinstance(made, str) else measured_package(made)))
        return 0
    poor = [shape.name for shape in shapes if not grows_well(shape, arguments.limit, arguments.most)]
    print(
        f"{len(shapes) - len(poor)} of {len(shapes)} shapes grow well" + (f"; not: {', '.join(poor)}" if poor else "")
    )
    return 1 if poor else 0


def measured(source: str) -> dict[str, object]:
    """Check a program in this process."""
    target = Target(("0.10.2",), True, "the measurement")
    check(Snapshot("empty.py", Text("import jax\n"), target, load()))
    before, begun = held(), time.process_time()
    report = check(Snapshot("program.py", Text(source), target, load()))
    seconds, memory = time.process_time() - begun, held() - before
    for _ in range(_REPEATED if seconds < _SHORT else 0):
        begun = time.process_time()
        check(Snapshot("program.py", Text(source), target, load()))
        seconds = min(seconds, time.process_time() - begun)
    loud = [one for one in report.findings if one.severity in (Severity.ERROR, Severity.WARNING)]
    return {
        "lines": source.count("\n"),
        "seconds": seconds,
        "megabytes": memory,
        "found": len(loud),
        "problems": [problem.message for problem in report.problems],
    }


def measured_package(modules: dict[str, str]) -> dict[str, object]:
    """Check modules by the command line, and take off what that needs for an empty one."""
    with tempfile.TemporaryDirectory() as folder:
        empty, package = Path(folder, "empty"), Path(folder, "package")
        for place, texts in ((empty, {"empty.py": "import jax\n"}), (package, modules)):
            place.mkdir()
            for name, text in texts.items():
                (place / name).write_text(text, encoding="utf-8")
        start, before, _ = _commanded(empty)
        seconds, memory, ended = _commanded(package)
    loud = [row for row in json.loads(ended.stdout) if row["severity"] in ("error", "warning")]
    told = [line for line in ended.stderr.splitlines() if "mistake in shardlint" in line]
    return {
        "lines": sum(text.count("\n") for text in modules.values()),
        "seconds": seconds - start,
        "megabytes": memory - before,
        "found": len({(row["path"], row["line"]) for row in loud if "dlpack" in row["code"]}),
        "problems": told[:3],
    }


def _commanded(folder: Path) -> tuple[float, float, subprocess.CompletedProcess[str]]:
    """One run of the command line: its CPU time, and the most that any such run has held so far."""
    options = ["--output-format", "json", "--no-jedi", "--jax-version", "0.10.2"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(
        [sys.executable, "-m", "shardlint", "check", str(folder), *options], capture_output=True, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, held(resource.RUSAGE_CHILDREN), ended


def held(whose: int = resource.RUSAGE_SELF) -> float:
    """The most megabytes that this process has held."""
    return resource.getrusage(whose).ru_maxrss * _HELD.get(sys.platform, 1) / 1e6


def grows_well(shape: Shape, limit: float, most: float) -> bool:
    """Print how a shape grows; whether it is within what is asked for."""
    print(shape.name)
    rates: list[float] = []
    for size in shape.sizes:
        one = apart(shape, size, limit)
        if isinstance(one, str):
            print(f"    size {size}: {one}", flush=True)
            return False
        rates.append(one.seconds / size)
        print(
            f"    {one.lines:7} lines {one.seconds:8.2f} s {1000 * one.seconds / one.lines:8.3f} s/1,000 lines {one.megabytes:7.0f} MB "
            f"{one.found:5} of {shape.bugs(size)} found{''.join(f'; {problem}' for problem in one.problems)}",
            flush=True,
        )
    print(f"    largest to smallest {rates[-1] / rates[0]:.2f}")
    return rates[-1] <= most * rates[0]


def apart(shape: Shape, size: int, limit: float) -> Measured | str:
    """The same in a process of its own, or why there is no answer."""
    command = [sys.executable, __file__, shape.name, "--measure", str(size)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return f"not done after {limit:g} s"
    if ended.returncode:
        return f"died ({ended.returncode}): {ended.stderr.strip().rpartition(chr(10))[2]}"
    return Measured(**json.loads(ended.stdout))


if __name__ == "__main__":
    sys.exit(main())
