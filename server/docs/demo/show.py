"""See shardlint find, explain and repair true bugs: `python server/docs/demo/show.py`.

It works on a copy of bridge.py in a temporary folder. Where JAX and PyTorch are installed, the copy is run on eight forced
CPU devices at every stage, so that one sees that the findings were true and the repairs work.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).with_name("bridge.py")
TARGET = "0.10.2"
CAN_RUN = all(importlib.util.find_spec(name) for name in ("jax", "torch"))
BOLD, PLAIN = ("\033[1m", "\033[0m") if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else ("", "")


def main() -> None:
    """Tell the story in five steps."""
    with tempfile.TemporaryDirectory(prefix="shardlint-demo-") as folder:
        program = Path(shutil.copy(PROGRAM, folder))
        run(program)
        say(
            "Python shows one failure at a time. shardlint shows all three, for the JAX that is named, and runs nothing:"
        )
        shardlint(program.parent, "check", program.name, "--jax-version", TARGET)
        say("What more does it know about the second one?")
        shardlint(program.parent, "explain", "removed-to-dlpack", "--jax-version", TARGET)
        say(
            "--fix makes the repairs that change neither meaning nor cost, which are those of the second and the third:"
        )
        shardlint(program.parent, "check", program.name, "--jax-version", TARGET, "--fix")
        run(program)
        say("The first needs a decision, since data move. Here is what an editor's first quick fix does:")
        take_first_repair(program)
        print(program.read_text(encoding="utf-8"))
        shardlint(program.parent, "check", program.name, "--jax-version", TARGET)
        run(program)


def say(text: str) -> None:
    """A line between the steps."""
    print(f"\n{BOLD}{text}{PLAIN}\n", flush=True)


def shardlint(folder: Path, *arguments: str) -> None:
    """Run the command as a person would."""
    print(f"$ shardlint {' '.join(arguments)}", flush=True)
    subprocess.run([sys.executable, "-m", "shardlint", *arguments], cwd=folder, check=False)


def run(program: Path) -> None:
    """Run the program on eight devices and show how it ends."""
    if not CAN_RUN:
        return
    say("This is how the program ends on eight devices:")
    environment = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
    }
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, env=environment, check=False)
    print(f"$ python {program.name}")
    print((done.stdout or done.stderr).strip().splitlines()[-1])


def take_first_repair(program: Path) -> None:
    """Apply the first repair of the first finding, as the JSON report gives it."""
    command = [sys.executable, "-m", "shardlint", "check", program.name, "--jax-version", TARGET]
    report = subprocess.run(
        [*command, "--output-format", "json"], cwd=program.parent, capture_output=True, text=True, check=False
    )
    repair = json.loads(report.stdout)[0]["fixes"][0]
    print(f"{repair['title']} ({repair['safety']})\n")
    lines = program.read_text(encoding="utf-8").splitlines(keepends=True)
    for edit in reversed(repair["edits"]):
        head = "".join(lines[: edit["line"] - 1]) + lines[edit["line"] - 1][: edit["column"] - 1]
        tail = lines[edit["end_line"] - 1][edit["end_column"] - 1 :] + "".join(lines[edit["end_line"] :])
        lines = (head + edit["text"] + tail).splitlines(keepends=True)
    program.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
