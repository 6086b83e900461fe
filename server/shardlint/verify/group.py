"""Several processes of another Python that run one program together, as a `jax.distributed` job on this machine."""

from __future__ import annotations

import json
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import IO

from shardlint.verify.process import CHILD, Answer, Job, environment, read_answers

_LIMIT = 120.0
"""Seconds that one job may take at most: where one process raises, the others wait for it until they are ended."""

_HOST = "127.0.0.1"


def run_together(python: Path, processes: int, devices: int, job: Job, limit: float) -> tuple[Answer, ...]:
    """The answer of each process to one job, in the order of their ids; each has `devices` forced CPU devices.

    `limit` is in seconds and for all of them. Raises `VerifyError` if one ends before the program.
    """
    limit = min(limit, _LIMIT)
    with tempfile.TemporaryDirectory(prefix="shardlint-verify-") as folder:
        return tuple(_run(python, processes, devices, job, limit, Path(folder)))


def _run(python: Path, processes: int, devices: int, job: Job, limit: float, folder: Path) -> Sequence[Answer]:
    queue, address = folder / "jobs", f"{_HOST}:{_free_port()}"
    queue.write_text(json.dumps(asdict(job)) + "\n", encoding="utf-8")
    started: list[subprocess.Popen[bytes]] = []
    files = [folder / f"results-{index}" for index in range(processes)]
    logs = [folder / f"errors-{index}" for index in range(processes)]
    try:
        for index, (results, log) in enumerate(zip(files, logs, strict=True)):
            results.touch()
            work = folder / f"work-{index}"
            work.mkdir()
            command = [str(python), "-I", str(CHILD), "group", str(queue), str(results)]
            with log.open("wb") as errors:
                process = subprocess.Popen(
                    [*command, address, str(processes), str(index)],
                    cwd=work,
                    env=environment(devices),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                )
            started.append(process)
        answered = _wait(started, limit)
    finally:
        for process in started:
            process.kill()
            process.wait()
            for stream in filter(None, (process.stdin, process.stdout)):
                stream.close()
    return [
        read_answers(results, process.returncode if ended else None, limit, log.read_bytes(), str(python))[job.id]
        for process, results, log, ended in zip(started, files, logs, answered, strict=True)
    ]


def _wait(started: Sequence[subprocess.Popen[bytes]], limit: float) -> list[bool]:
    """Wait until every process has answered or ended; then let all of them go. Which of them did so within the limit."""
    end = time.monotonic() + limit
    with ThreadPoolExecutor(len(started)) as readers:
        lines = [readers.submit(_line, process.stdout) for process in started]
        answered: list[bool] = []
        for process, line in zip(started, lines, strict=True):
            try:
                line.result(max(0.0, end - time.monotonic()))
                answered.append(True)
            except TimeoutError:
                answered.append(False)
                process.kill()  # ends the reading thread too
        for process in started:
            if process.stdin is not None:
                process.stdin.close()
        for process, ended in zip(started, answered, strict=True):
            if ended:
                process.wait(_LIMIT)
    return answered


def _line(stream: IO[bytes] | None) -> bytes:
    return stream.readline() if stream is not None else b""


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind((_HOST, 0))
        return int(listener.getsockname()[1])
