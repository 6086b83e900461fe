"""Processes of another Python that run the programs of the shipped records, one after another, for `verify`.

A program that takes the interpreter down, or does not end in time, costs itself: a new process runs the rest.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

CHILD = Path(__file__).with_name("child.py")
_PROBE_LIMIT = 60.0
_PROGRAM_LINE = re.compile(rb'File "<program>", line (\d+)')
"""How Python tells where a program was when the interpreter went down."""


class VerifyError(Exception):
    """Nothing can be verified as asked. The text is one sentence: what, where, what to do."""


@dataclass(frozen=True, slots=True)
class Installed:
    """The JAX version of a Python, the versions of the other distributions asked for, and the modules that it lacks."""

    jax: str
    versions: dict[str, str]
    missing: frozenset[str]

    def version_of(self, dotted: str) -> str:
        """The version of what the dotted name begins with, without a local part ("+cpu"); empty if it is not known."""
        return self.versions.get(dotted.partition(".")[0], "").partition("+")[0]


@dataclass(frozen=True, slots=True)
class Job:
    """One program to run; `child.run_program` says what `marks`, `result`, `value` and `shows` mean."""

    id: int
    source: str
    marks: tuple[int, ...]
    result: str | None
    value: str | None
    shows: str | None = None


@dataclass(frozen=True, slots=True)
class Raised:
    """What one statement of a program raised, on which line of it (1-based, 0 if none is known).

    `kinds` are the names of its class and of that one's bases: what a handler may call it. `lost` tells that it only misses
    a name that an earlier failed statement would have bound.
    """

    line: int
    exception: str
    kinds: tuple[str, ...]
    message: str
    lost: bool

    def __str__(self) -> str:
        return f"{self.exception}: {self.message}" if self.message else self.exception


@dataclass(frozen=True, slots=True)
class Answer:
    """What one program did; `child.run_program` says what `mismatch`, `shown` and `unshown` mean.

    `died` says, as a predicate, how its process ended without an answer, and `died_at` on which lines of the program it was
    then, as far as that is known. `in_time` is false if it was ended for the time it took.
    """

    raised: tuple[Raised, ...] = ()
    mismatch: str | None = None
    shown: bool | None = None
    unshown: str | None = None
    died: str | None = None
    died_at: tuple[int, ...] = ()
    in_time: bool = True


def probe(python: Path, names: Sequence[str]) -> Installed:
    """What is installed for `python`. Raises `VerifyError` if it cannot be run or has no JAX."""
    command = [str(python), "-I", str(CHILD), "probe", *names]
    try:
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=_PROBE_LIMIT, check=True)
        found = json.loads(done.stdout)
    except subprocess.CalledProcessError as error:
        raise VerifyError(f"{python} cannot run shardlint's programs: {_last_line(error.stderr)}") from None
    except subprocess.TimeoutExpired:
        raise VerifyError(f"{python} did not answer within {_PROBE_LIMIT:.0f} seconds.") from None
    except OSError as error:
        raise VerifyError(f"{python} cannot be started: {error.strerror}.") from None
    except ValueError:
        raise VerifyError(f"{python} did not answer as a Python does: give the path of one.") from None
    if "jax" not in found["versions"]:
        raise VerifyError(f"{python} has no JAX installed: install jax there or give another Python.")
    return Installed(found["versions"]["jax"], found["versions"], frozenset(found["missing"]))


def run_jobs(python: Path, devices: int, jobs: Sequence[Job], limit: float) -> dict[int, Answer]:
    """The answer to every job, by its id, run on `devices` forced CPU devices; `limit` is in seconds and for one process.

    Raises `VerifyError` if a process ends before its first program.
    """
    answers: dict[int, Answer] = {}
    while waiting := [job for job in jobs if job.id not in answers]:
        with tempfile.TemporaryDirectory(prefix="shardlint-verify-") as folder:
            answers.update(_run_process(python, devices, waiting, limit, Path(folder)))
    return answers


def _run_process(python: Path, devices: int, jobs: Sequence[Job], limit: float, folder: Path) -> dict[int, Answer]:
    """The answers that one process gives: to all jobs, or to those up to the one that ends it."""
    queue, results, work = folder / "jobs", folder / "results", folder / "work"
    queue.write_text("".join(json.dumps(asdict(job)) + "\n" for job in jobs), encoding="utf-8")
    results.touch()
    work.mkdir()
    command = [str(python), "-I", str(CHILD), "run", str(queue), str(results)]
    with (folder / "errors").open("w+b") as errors:
        try:
            code = subprocess.run(
                command,
                cwd=work,
                env=environment(devices),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                timeout=limit,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            code = None
        errors.seek(0)
        return read_answers(results, code, limit, errors.read(), str(python))


def read_answers(results: Path, code: int | None, limit: float, errors: bytes, python: str) -> dict[int, Answer]:
    """The answers in the file that one process wrote, with how it ended for the program that it did not finish.

    `code` is its exit code, None if it was ended after `limit` seconds, `errors` its stderr. Raises `VerifyError` if it ran none.
    """
    died = _ending(code) if code is not None else f"was ended after {limit:g} seconds"
    lines: list[dict[str, Any]] = [json.loads(line) for line in results.read_text("utf-8").splitlines()]
    answers = {line["id"]: _answer(line) for line in lines if "id" in line}
    if not lines:
        raise VerifyError(f"{python} {died} before it ran a program: {_last_line(errors)}")
    at = tuple(int(number) for number in _PROGRAM_LINE.findall(errors))
    ended = Answer(died=died, died_at=at, in_time=code is not None)
    answers.setdefault(lines[-1].get("started", lines[-1].get("id")), ended)
    return answers


def _answer(line: Mapping[str, Any]) -> Answer:
    raised = tuple(_raised(**raised) for raised in line["raised"])
    return Answer(raised, line["mismatch"], line["shown"], line["unshown"])


def _raised(line: int, exception: str, kinds: list[str], message: str, lost: bool) -> Raised:
    return Raised(line, exception, tuple(kinds), message, lost)


def environment(devices: int) -> dict[str, str]:
    """The environment of this process without the settings that would change what JAX does."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "XLA_"))}
    return {**kept, "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}", "JAX_PLATFORMS": "cpu"}


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def _last_line(output: bytes) -> str:
    lines = output.decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it wrote no message")
