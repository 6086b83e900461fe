"""The process in which jedi runs, seen from outside: started when first asked, ended when it fails or is no longer needed."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import queue
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, cast

from shardlint.inference.store import made

_START = (
    "import json, sys; given = json.loads(sys.argv[1]); sys.path += given['own']; "
    "from shardlint.inference.worker import main; main(**given)"
)
_LIBRARIES = ("jedi", "parso")


class ProcessError(Exception):
    """The process gave no answer. The text is a clause that says what happened to it."""


Command = Callable[[Path], Sequence[str]]
"""The words that start a process; the argument is a folder of its own, empty, in which it may write."""


def jedi_command(cache: Path | None) -> Command:
    """Our own Python with jedi, its syntax trees kept below `cache`; without that for as long as the process lives."""

    def command(folder: Path) -> Sequence[str]:
        spare = folder / "trees"
        kept = cache is not None and made(cache) and made(cache / "jedi")
        trees = cache / "jedi" if cache is not None and kept else spare
        given = json.dumps({"own": _own_folders(), "trees": str(trees), "spare": str(spare)})
        return (sys.executable, "-I", "-S", "-c", _START, given)

    return command


class Process:
    """One running process. It answers one request at a time."""

    def __init__(self, command: Command) -> None:
        """Start it. Raises `ProcessError` if that is not possible."""
        try:
            folder = tempfile.TemporaryDirectory(prefix="shardlint-jedi-", ignore_cleanup_errors=True)
        except OSError as error:
            raise _not_started(error) from error
        try:
            self._process = _started(command, Path(folder.name))
        except (OSError, ProcessError) as error:
            folder.cleanup()
            raise _not_started(error) from error
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        assert self._process.stdout is not None
        threading.Thread(target=_receive, args=(self._process.stdout, self._lines), daemon=True).start()
        self._end = weakref.finalize(self, _end, self._process, folder)

    def ask(self, request: dict[str, Any], limit: float) -> Iterator[dict[str, Any]]:
        """The answers to a request as they come.

        Raises `ProcessError` if the last one has not come after `limit` seconds, or never will; the process is ended then.
        """
        deadline = time.monotonic() + limit
        done = False
        # A process that does not read would stop whoever writes to it.
        threading.Thread(target=self._send, args=(request,), daemon=True).start()
        try:
            while not (answer := self._answer(deadline, limit)).get("done"):
                yield answer
            done = True
        finally:
            if not done:  # what it still says would be taken for the answer to the next request
                self.close()

    def close(self) -> None:
        """End the process. It is ended too when nothing refers to this object any more, and with this program."""
        self._end()

    def _send(self, request: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # that it has ended is noticed by the missing answer
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()

    def _answer(self, deadline: float, limit: float) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise ProcessError(f"was ended, as it had not answered within {limit:g} seconds") from None
        if line is None:
            raise ProcessError("ended before it had answered")
        try:
            answer: object = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise ProcessError("was ended, as its answer could not be read")
        return cast("dict[str, Any]", answer)


def _started(command: Command, folder: Path) -> subprocess.Popen[bytes]:
    """The process, in an empty folder: what it takes for the project, and so that it stands in nobody's way."""
    project = folder / "project"
    project.mkdir()
    return subprocess.Popen(
        command(folder),
        cwd=project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def _not_started(error: OSError | ProcessError) -> ProcessError:
    return ProcessError(f"could not be started ({getattr(error, 'strerror', None) or error})")


def _own_folders() -> list[str]:
    """The folders from which the process must be able to import: those that hold jedi, parso and this package."""
    folders = [str(Path(__file__).parents[2])]
    for name in _LIBRARIES:
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.submodule_search_locations:
            raise ProcessError(f"{name} is not installed")
        folders.append(str(Path(spec.submodule_search_locations[0]).parent))
    return list(dict.fromkeys(folders))


def _receive(stream: IO[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    with contextlib.suppress(OSError), stream:
        for line in stream:
            lines.put(line)
    lines.put(None)


def _end(process: subprocess.Popen[bytes], folder: tempfile.TemporaryDirectory[str]) -> None:
    process.kill()
    process.wait()
    if process.stdin is not None:
        with contextlib.suppress(OSError):  # what was not sent yet has no reader any more
            process.stdin.close()
    folder.cleanup()
