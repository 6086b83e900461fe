"""The CUDA suite's programs, what came of them, and the option that keeps what was seen."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from cuda_keeping import Kept, installed_for, write
from cuda_programs import World
from cuda_running import ALL_PROGRAMS
from cuda_seen import Program, Seen

from shardlint.verify.process import Installed

RECORDS = Path(__file__).parents[2] / "records"
OPTION = "--write-observed"
_KEPT = pytest.StashKey[Kept]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        OPTION, action="store_true", help="Keep what the CUDA suite sees on a real GPU in the rules' observed.json."
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption(OPTION, default=False) and getattr(config.option, "numprocesses", None):
        raise pytest.UsageError(f"{OPTION} keeps what one process has seen: leave out --numprocesses.")
    config.stash[_KEPT] = Kept()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    kept = config.stash[_KEPT]
    if kept.lines:
        terminalreporter.section("what was seen on CUDA")
        terminalreporter.write("".join(f"{line}\n" for line in dict.fromkeys(kept.lines)))
    if config.getoption(OPTION, default=False):
        changed = write(RECORDS, kept.observations)
        terminalreporter.write("".join(f"wrote {path}\n" for path in changed) or "observed.json is up to date\n")


@pytest.fixture(scope="session")
def kept(pytestconfig: pytest.Config) -> Kept:
    """What the tests have seen so far."""
    return pytestconfig.stash[_KEPT]


@pytest.fixture(scope="session")
def selected(request: pytest.FixtureRequest) -> list[Program]:
    """The programs of all tests that are to run."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function) and hasattr(item, "callspec")]
    return [program for item in items if isinstance(program := item.callspec.params.get("program"), Program)]


@pytest.fixture(scope="session")
def installed(selected: list[Program]) -> Installed:
    """The versions of what the programs use."""
    return installed_for([program.case for program in selected])


@pytest.fixture(scope="session")
def seen_in(
    selected: list[Program], installed: Installed, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[World], Seen]:
    """(world) -> what came of the selected programs there."""
    found: dict[World, Seen] = {}
    end = time.monotonic() + ALL_PROGRAMS

    def see(world: World) -> Seen:
        if world not in found:
            needed = [one for program in selected if program.world is world for one in (program, program.plain)]
            found[world] = Seen(world, needed, installed.jax, tmp_path_factory.mktemp(world), end)
        return found[world]

    return see
