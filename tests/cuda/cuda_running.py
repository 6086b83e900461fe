"""Processes in which the programs of the suite run: each in one of its own beside a GPU, many in one where the CPU plays it.

A program that takes its process down, or does not end in time, costs itself alone: a new process runs the rest.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

from cuda_programs import World

CHILD = Path(__file__).with_name("cuda_child.py")
STAND_INS = Path(__file__).with_name("stand_ins")
ONE_PROGRAM, MANY_PROGRAMS = 70.0, 300.0
"""Seconds that a process with one program, and one with many, may take."""
ALL_PROGRAMS = 390.0
"""Seconds after which no further process is started, so that the suite ends within eight minutes."""
_TOO_LATE = "was not started, as the time for all programs was up"
_AT_ONCE = 8
"""How many processes may share a GPU: each takes some of its memory for itself."""


@dataclass(frozen=True)
class Job:
    """One program; `value` is an expression for what its result must be. `cuda_child` says what the keys mean."""

    id: str
    source: str
    value: str | None
    plays_gpu: bool
    result: str = "r"


@dataclass(frozen=True)
class Raised:
    """What ended a program: on which line of it (1-based, 0 if none is known), and the names of its class and that one's bases."""

    line: int
    kinds: tuple[str, ...]
    message: str

    def __str__(self) -> str:
        return f"{self.kinds[0]}: {self.message}" if self.message else self.kinds[0]


@dataclass(frozen=True)
class Outcome:
    """What one program did; `cuda_child.run_program` says what most fields mean. `died` tells how its process ended without an answer."""

    raised: Raised | None = None
    host_reads: int = 0
    mismatch: str | None = None
    place: str | None = None
    shares: tuple[str, ...] = ()
    died: str | None = None


@dataclass(frozen=True)
class Gpus:
    """The GPUs that JAX sees: how many, of what kind, or why there is none. `torch` tells whether PyTorch sees them."""

    count: int = 0
    kind: str = ""
    torch: bool = False
    missing: str = ""


@cache
def gpus() -> Gpus:
    """Ask the driver, then JAX in a process of its own: to load it here would take the GPU from the programs."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return Gpus(missing="no CUDA driver is installed (libcuda.so.1 is not found)")
    command = [sys.executable, "-P", str(CHILD), "probe"]
    try:
        done = subprocess.run(
            command, env=environment(World.GPU), capture_output=True, stdin=subprocess.DEVNULL, timeout=ONE_PROGRAM
        )
        found: Any = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError) as error:
        return Gpus(missing=f"JAX could not be asked for CUDA devices ({type(error).__name__})")
    kinds = [kind for platform, kind in found["devices"] if platform != "cpu"]
    if not kinds:
        return Gpus(missing=f"JAX sees no CUDA device ({found.get('problem', 'there is none')})")
    return Gpus(len(kinds), kinds[0], found["torch"])


def environment(world: World, devices: int = 8, gpu: str | None = None) -> dict[str, str]:
    """The environment of this process without settings that would change what JAX does; `gpu` is the only one that is seen."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "XLA_", "NUMBA_ENABLE_"))}
    kept["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
    if world is World.STAND_IN:
        path = os.pathsep.join(filter(None, (str(STAND_INS), kept.get("PYTHONPATH"))))
        return {**kept, "JAX_PLATFORMS": "cpu", "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": path}
    seen = {} if gpu is None else {"CUDA_VISIBLE_DEVICES": gpu}
    return {**kept, **seen, "JAX_PLATFORMS": "cuda,cpu", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}


def run(world: World, jobs: Sequence[Job], end: float) -> dict[str, Outcome]:
    """What every job did, by its id; no process is started after `end`, by the monotonic clock."""
    alone = world is not World.STAND_IN
    workers = min(_AT_ONCE, os.cpu_count() or 1)
    parts = [[job] for job in jobs] if alone else [list(jobs[number::workers]) for number in range(workers)]
    with ThreadPoolExecutor(workers) as pool:
        found = pool.map(lambda part: _run_all(world, part, end), filter(None, parts))
    return {name: outcome for part in found for name, outcome in part.items()}


def _run_all(world: World, jobs: Sequence[Job], end: float) -> dict[str, Outcome]:
    outcomes: dict[str, Outcome] = {}
    limit = ONE_PROGRAM if len(jobs) == 1 else MANY_PROGRAMS
    while waiting := [job for job in jobs if job.id not in outcomes]:
        if time.monotonic() > end:
            return outcomes | {job.id: Outcome(died=_TOO_LATE) for job in waiting}
        with _folder() as folder:
            before = len(outcomes)
            code = _waited_for(_started(world, waiting, Path(folder)), limit)
            outcomes |= _read(Path(folder), code, limit)
            assert len(outcomes) > before
    return outcomes


def run_together(world: World, jobs: Sequence[Job], processes: int, end: float) -> dict[str, list[Outcome]]:
    """What each of several processes did with every job, by its id; each has one device of its own."""
    limit = min(MANY_PROGRAMS, end - time.monotonic())
    if limit <= 0:
        return {job.id: [Outcome(died=_TOO_LATE)] for job in jobs}
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if world is not World.STAND_IN else []
    address = f"127.0.0.1:{_free_port()}"
    with _folder() as folder:
        places = [Path(folder) / str(index) for index in range(processes)]
        started: list[subprocess.Popen[bytes]] = []
        try:
            for index, place in enumerate(places):
                place.mkdir()
                gpu = visible[index] if len(visible) >= processes else str(index)
                group = (address, str(processes), str(index))
                started.append(_started(world, jobs, place, group, environment(world, 1, gpu)))
            ended = _all_done(started, limit)
        finally:
            for process in started:
                process.kill()
                process.wait()
        codes = [process.returncode if done else None for process, done in zip(started, ended, strict=True)]
        answers = [_read(place, code, limit) for place, code in zip(places, codes, strict=True)]
    lost = Outcome(died="was not reached")
    return {job.id: [answer.get(job.id, lost) for answer in answers] for job in jobs}


def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="shardlint-cuda-")


def _started(
    world: World,
    jobs: Sequence[Job],
    folder: Path,
    group: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    queue, work = folder / "jobs", folder / "work"
    queue.write_text("".join(json.dumps(asdict(job)) + "\n" for job in jobs), encoding="utf-8")
    work.mkdir()
    command = [sys.executable, "-P", str(CHILD), "run", str(queue), str(folder / "results"), *group]
    pipe = subprocess.PIPE if group else subprocess.DEVNULL
    with (folder / "errors").open("wb") as errors:
        return subprocess.Popen(
            command, cwd=work, env=env or environment(world), stdin=pipe, stdout=pipe, stderr=errors
        )


def _waited_for(process: subprocess.Popen[bytes], limit: float) -> int | None:
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


def _all_done(started: Sequence[subprocess.Popen[bytes]], limit: float) -> list[bool]:
    """Wait until each process has told that it is done, or has ended; then let all of them go. Which did so within the limit."""
    end = time.monotonic() + limit
    done: list[bool] = []
    with ThreadPoolExecutor(len(started)) as readers:
        for process, line in [(process, readers.submit(_line, process.stdout)) for process in started]:
            try:
                line.result(max(0.0, end - time.monotonic()))
                done.append(True)
            except TimeoutError:
                done.append(False)
                process.kill()  # ends the thread that reads, too
        for process in started:
            if process.stdin is not None:
                process.stdin.close()
        for process in started:
            process.wait(ONE_PROGRAM)
            if process.stdout is not None:
                process.stdout.close()
    return done


def _line(stream: IO[bytes] | None) -> bytes:
    return stream.readline() if stream is not None else b""


def _read(folder: Path, code: int | None, limit: float) -> dict[str, Outcome]:
    """The outcomes that one process wrote, with how it ended for the program that it did not finish, or for all if it began none."""
    results = folder / "results"
    lines: list[dict[str, Any]] = (
        [json.loads(line) for line in results.read_text("utf-8").splitlines()] if results.exists() else []
    )
    outcomes = {line["id"]: _outcome(line) for line in lines if "id" in line}
    ending = f"was ended after {limit:g} seconds" if code is None else f"ended with code {code}"
    if not lines:
        waiting = [json.loads(line)["id"] for line in (folder / "jobs").read_text("utf-8").splitlines()]
        errors = (folder / "errors").read_text("utf-8", "replace").strip().splitlines()
        lost = Outcome(died=f"{ending} before it began: {errors[-1] if errors else 'it told nothing'}")
        return dict.fromkeys(waiting, lost)
    outcomes.setdefault(lines[-1].get("started", lines[-1].get("id")), Outcome(died=ending))
    return outcomes


def _outcome(line: Mapping[str, Any]) -> Outcome:
    told = line["raised"]
    raised = None if told is None else Raised(told["line"], tuple(told["kinds"]), told["message"])
    return Outcome(raised, line["host_reads"], line["mismatch"], line["place"], tuple(line["shares"]))


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
