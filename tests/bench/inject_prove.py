"""Shows that what `inject.py` calls a bug is one: runs every flow with every source on real JAX with eight CPU devices."""

from __future__ import annotations

import contextlib
import io
import os
import random
import sys
import tempfile
import traceback
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from inject_bugs import Bug, written
from inject_places import Module
from inject_templates import FLOWS, SINKS, SOURCES

_HOST = '''\
"""A module that is there."""


class Host:
    def __init__(self):
        """Make it."""
        self.kept = 0

    def work(self):
        kept = self.kept
        return kept


def work(kept=1):
    kept = kept + 1
    return kept
'''
_RAISED = ("only supported for unsharded arrays", "an array with a Sharding over 8 devices")
"""What JAX says when it refuses, by the way that the consumer takes."""


def prove() -> int:
    """Run them all; 1 if one did not raise at its hand-off."""
    # JAX reads these when it is imported, by the first program.
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
    os.environ["JAX_PLATFORMS"] = "cpu"
    outcomes: dict[str, list[str]] = defaultdict(list)
    number = absent = 0
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        for bug in programs():
            number += 1
            try:
                reason = outcome(bug, Path(folder))
            except ModuleNotFoundError:
                absent += 1
                continue
            if reason:
                outcomes[reason].append(str(bug))
    for reason, bugs in outcomes.items():
        print(f"{len(bugs)} times {reason}:")
        for bug in bugs:
            print(f"    {bug}")
    raised = number - absent - sum(map(len, outcomes.values()))
    print(f"{number} programs: {raised} raised at their hand-off, {absent} not run, as a library is not there")
    return 1 if outcomes else 0


def programs() -> Iterator[Bug]:
    """Every flow with every source, and with each way to hand over in turn, in one module and in two."""
    chance = random.Random(1)
    number = 0
    for source in SOURCES:
        for flow in FLOWS:
            if "self." in source.array and "ARRAY" in flow.shared + flow.functions:
                continue
            for elsewhere in (False, True) if flow.shared else (False,):
                number += 1
                sinks = [one for one in SINKS if one.function or "BYFUNCTION" not in flow.body]
                yield written(number, flow, source, sinks[number % len(sinks)], elsewhere, chance)


def outcome(bug: Bug, folder: Path) -> str | None:
    """Write a bug as a program of one or two modules and run it; None if it raised where it should, else what happened.

    Raises ModuleNotFoundError where a library is not installed that the program needs.
    """
    chance = random.Random(bug.number)
    module, other = Module(_HOST), Module(_HOST)
    if bug.there is not None:
        other.add(bug.there, chance)
        module.add_import(f"from other_{bug.number} import {bug.shared}")
    owner, into = next(
        (owner, one) for owner, one in module.bodies if one.name == "work" and bool(owner) == bug.here.needs_class
    )
    module.add(bug.here, chance, owner, into)
    guilty: set[tuple[str, int]] = set()
    for name, one in ((f"main_{bug.number}", module), (f"other_{bug.number}", other)):
        text, lines = one.text()
        path = folder / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        guilty |= {(str(path), line) for places in lines.values() for line in places}
    program = f"from main_{bug.number} import *\n{'Host().work()' if bug.here.needs_class else 'work()'}\n"
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(program, "driver.py", "exec"), {})
    except ModuleNotFoundError:
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        at = {(frame.filename, frame.lineno) for frame in frames}
        if isinstance(error, BufferError) and any(words in str(error) for words in _RAISED) and guilty & at:
            return None
        return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:150]}"
    return "nothing raised"
