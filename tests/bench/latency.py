"""How long an editor waits for diagnostics, after it opens a file of 1,000 lines with 30 hand-offs, and after each change.

    python tests/bench/latency.py [--runs N]

Talks to one `shardlint server` over stdio and measures from the last byte of a message to the diagnostics for that version of the
file: for the first file of a session (the core is loaded then), for N further files, and for N changes of one character each, at
the end of another line every time, with a pause between them as a person makes. Prints medians and ranges; nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

LINES, HAND_OFFS = 1_000, 30
PAUSE = 0.05
"""Seconds between two changes: longer than a burst lasts, so that each is checked."""

HEAD = """\
import jax
import jax.numpy as jnp
import numpy as np
import torch
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("d",))
batch = jax.device_put(jnp.arange(64.0), NamedSharding(mesh, P("d")))


def to_torch(array):
    return torch.from_dlpack(array)
"""
PART = """

def step_{number}(parameters, batch):
    scaled = batch * {number} + parameters["bias"]
    loss = jnp.mean(scaled ** 2)
    local = jnp.zeros(({number} + 1, 4))
    if loss > {number}:
        local = local + 1
    {hand_off}
    return loss, result
"""
FILLER = """

class Part{number}:
    def __init__(self, name, weights):
        self.name = name
        self.weights = {{key: float(value) for key, value in weights.items()}}

    def total(self, scale=1.0):
        \"\"\"The sum of the weights.\"\"\"
        result = 0.0
        for key, value in self.weights.items():
            if key.startswith("_"):
                continue
            result += scale * value
        return result

    def __repr__(self):
        return f"Part{number}({{self.name!r}}, {{self.total():.2f}})"
"""
KINDS = (
    "result = torch.from_dlpack(local)",
    "result = to_torch(local)",
    "result = np.from_dlpack(jax.device_put(loss, NamedSharding(mesh, P())))",
    "result = torch.from_dlpack(jax.dlpack.to_dlpack(local))",
    "result = jax.dlpack.from_dlpack(np.ones(3))",
)


def program() -> str:
    """The file: functions with a hand-off each, of which some are wrong, and lines that have nothing to do with JAX between them."""
    parts = [PART.format(number=number, hand_off=KINDS[number % len(KINDS)]) for number in range(HAND_OFFS - 1)]
    text = f"{HEAD}{''.join(parts)}\n\nto_torch(batch)\n"
    number = 0
    while (missing := LINES - text.count("\n")) > FILLER.count("\n"):
        text += FILLER.format(number=number)
        number += 1
    return text + "\n" * missing


class Server:
    """One `shardlint server`, spoken to in messages."""

    def __init__(self, root: Path) -> None:
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", "shardlint", "server"]
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd=root)
        capabilities = {"general": {"positionEncodings": ["utf-16"]}}
        params = {"processId": None, "rootUri": root.as_uri(), "capabilities": capabilities}
        self.send("initialize", params, id=1)
        while self._receive().get("id") != 1:
            pass
        self.send("initialized", {})

    def send(self, method: str, params: object, **rest: object) -> None:
        assert self._process.stdin
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **rest}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._process.stdin.flush()

    def seconds(self, method: str, params: dict[str, Any]) -> tuple[float, int]:
        """The time from a message about a version of a document to its diagnostics, and how many those are."""
        document = params["textDocument"]
        self.send(method, params)
        began = time.perf_counter()
        while True:
            message = self._receive()
            told = message.get("params", {})
            if (told.get("uri"), told.get("version")) == (document["uri"], document["version"]):
                return time.perf_counter() - began, len(told["diagnostics"])

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout
        length = 0
        while (line := self._process.stdout.readline()).strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        if not length:
            sys.exit("the server has ended")
        return json.loads(self._process.stdout.read(length))


def shown(name: str, seconds: list[float]) -> str:
    milliseconds = sorted(one * 1000 for one in seconds)
    middle = statistics.median(milliseconds)
    return (
        f"{name:>24}: median {middle:.1f} ms, {milliseconds[0]:.1f} to {milliseconds[-1]:.1f} in {len(seconds)} runs\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Time from opening or changing a file to its diagnostics.")
    parser.add_argument("--runs", type=int, default=21)
    runs = parser.parse_args().runs
    text = program()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "pyproject.toml").write_text('[tool.shardlint]\njax-version = "0.10.2"\n')
        server = Server(root)

        def opened(name: str) -> tuple[float, int]:
            item = {"uri": (root / name).as_uri(), "languageId": "python", "version": 1, "text": text}
            return server.seconds("textDocument/didOpen", {"textDocument": item})

        def changed(version: int) -> float:
            place = {"line": 20 + 37 * version % (LINES - 40), "character": 10_000}  # the end of that line
            edit = {"range": {"start": place, "end": place}, "text": " "}
            document = {"uri": (root / "first.py").as_uri(), "version": version}
            return server.seconds("textDocument/didChange", {"textDocument": document, "contentChanges": [edit]})[0]

        first, found = opened("first.py")
        others = [opened(f"other_{number}.py")[0] for number in range(runs)]
        changes: list[float] = []
        for version in range(2, runs + 2):
            time.sleep(PAUSE)
            changes.append(changed(version))
        server.close()
    sys.stdout.write(f"{text.count(chr(10))} lines, {HAND_OFFS} hand-offs, {found} findings\n")
    sys.stdout.write(shown("first open of a session", [first]) + shown("open", others) + shown("change", changes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
