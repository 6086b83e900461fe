"""How long a client waits for the answer to `initialize`, beside a pygls server that does nothing.

    python tests/bench/initialize.py [--runs N] [--limit RATIO]

Starts `shardlint server` and a bare pygls server in turns, N times each, in changing order, and measures from the start of the
process to the answer. One unmeasured start of both comes first: it compiles everything into a cache of this run, so that
neither is slower than an installed package is. Prints both medians and their ratio; exit code 1 if the ratio is above the limit.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

SHARDLINT = [sys.executable, "-m", "shardlint", "server"]
BARE = [
    sys.executable,
    "-c",
    "from pygls.lsp.server import LanguageServer; LanguageServer('bare', '1').start_io()",
]
INITIALIZE = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"processId": None, "rootUri": None, "capabilities": {}},
    }
).encode()


def seconds_to_answer(command: list[str], environment: dict[str, str]) -> float:
    """From the start of the process to the whole answer to `initialize`."""
    pipe = subprocess.PIPE
    began = time.perf_counter()
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment)
    assert process.stdin
    assert process.stdout
    process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(INITIALIZE), INITIALIZE))
    process.stdin.flush()
    length = 0
    while (line := process.stdout.readline()).strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    answer = json.loads(process.stdout.read(length) or b"{}")
    taken = time.perf_counter() - began
    process.stdin.close()
    process.wait()
    if "capabilities" not in answer.get("result", {}):
        sys.exit(f"{' '.join(command)} did not answer initialize: {answer}")
    return taken


def main() -> int:
    parser = argparse.ArgumentParser(description="Time to the answer to `initialize`, against a bare pygls server.")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--limit", type=float, default=1.3)
    options = parser.parse_args()
    times: dict[str, list[float]] = {"shardlint": [], "bare pygls": []}
    commands = {"shardlint": SHARDLINT, "bare pygls": BARE}
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as cache:
        environment["PYTHONPYCACHEPREFIX"] = cache
        for run in range(options.runs + 1):
            for name in sorted(commands, reverse=bool(run % 2)):
                taken = seconds_to_answer(commands[name], environment)
                if run:
                    times[name].append(taken)
    medians = {name: statistics.median(values) for name, values in times.items()}
    ratio = medians["shardlint"] / medians["bare pygls"]
    lines = [
        f"{name:>10}: median {medians[name] * 1000:.0f} ms, "
        f"{min(values) * 1000:.0f} to {max(values) * 1000:.0f} in {options.runs} runs"
        for name, values in times.items()
    ]
    sys.stdout.write("\n".join([*lines, f"{'ratio':>10}: {ratio:.2f}, limit {options.limit}\n"]))
    return int(ratio > options.limit)


if __name__ == "__main__":
    sys.exit(main())
