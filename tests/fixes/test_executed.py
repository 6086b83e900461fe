"""Repaired programs, run on real JAX: they give what the hand-off should have given, and evaluate what they did before."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from shardlint.check import Snapshot, check
from shardlint.fixes.edits import apply
from shardlint.fixes.repair import repairs
from shardlint.model import Target
from shardlint.records.catalogue import Catalogue, Rule
from shardlint.text import Text
from shardlint.verify.process import Answer, Job, run_jobs

pytest.importorskip("jax", reason="needs JAX: the `jax` dependency group")
pytest.importorskip("torch", reason="needs torch: the `jax` dependency group")
pytestmark = pytest.mark.jax

DATA = tomllib.loads(Path(__file__).with_name("positions.toml").read_text(encoding="utf-8"))
PRELUDE, POSITIONS, OPERANDS = DATA["prelude"], DATA["positions"], DATA["operands"]

HAND_OFFS = {
    "numpy": ("np.from_dlpack({O})", "x", 2),
    "torch": ("torch.from_dlpack({O})", "x", 2),
    "to_dlpack": ("torch.from_dlpack(jax.dlpack.to_dlpack({O}))", "y", 2),
    "tensor": ("jax.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack({O}))", "t", 1),
    "dlpack": ("jax.dlpack.from_dlpack(({O}).__dlpack__())", "y", 1),
    "device": ("jax.dlpack.from_dlpack({O}, device=jax.devices()[1], copy=False)", "y", 2),
    "view": ("np.asarray(memoryview({O}))", "x", 2),
    "asarray": ("torch.asarray({O})", "x", 2),
    "pointer": ("np.array((ctypes.c_float * 16).from_address(({O}).unsafe_buffer_pointer()))", "x", 2),
}
"""Hand-offs by name: the code, the array of the prelude that is handed over, and how many repairs there are."""

UNSEEN = {
    ("raise", "device"),
    *(("attribute", name) for name in ("numpy", "torch", "device", "view", "asarray", "pointer")),
}
"""Programs without a finding: the handler around the `raise` takes a ValueError, and what a class made on the fly holds is
not known."""

UNPLACED = {
    "one-line function", "lambda", "default argument", "keyword-only default", "element of a comprehension",
    "condition of a comprehension", "dictionary comprehension", "generator expression", "generator among arguments",
    "chosen branch", "other branch", "last of or", "last of and", "chained comparison", "second with item",
    "with header on several lines", "elif header", "while header", "match guard", "assert", "return",
    "return of several", "yield", "yield from", "yielded operand", "await", "async with", "decorator",
    "class decorator", "class body", "method", "property", "closure", "global", "walrus in a comprehension",
}  # fmt: skip
"""Where no statement can be put ahead, or where what is made leaves the function that would hold the array: no repair of an
address is offered."""

BUSY = {"walrus", "call"}
"""Operands that would be evaluated ahead of what stands before them: no repair of an address either."""

AHEAD = "# before\nt = torch.from_dlpack(a)\n# after\na = jax.device_put(a, jax.local_devices()[0])\nt = torch.from_dlpack(a)\n"

AHEAD_OF_CALLS = "a = torch.from_dlpack(box['x']), see(1, 1)\n"

LOGGED = """\
log = []


def see(number, value):
    log.append(number)
    return value


box = {"x": see(0, 1) * x}
"""

ORDERED = {
    "between others": ("a = see(1, 1), np.from_dlpack(see(2, x)), see(3, 3)\n", 2, "[0, 1, 2, 3]"),
    "in a condition": (
        "a = np.from_dlpack(see(1, x)) if see(2, not jax.device_count()) else see(3, 0)\n",
        2,
        "[0, 2, 3]",
    ),
    "in the other branch": ("a = see(1, not jax.device_count()) or np.from_dlpack(see(2, x))\n", 2, "[0, 1, 2]"),
    "in a loop": ("a = [np.from_dlpack(see(n, x)) for n in range(4)]\n", 2, "[0, 0, 1, 2, 3]"),
    "in a default": ("def f(a=np.from_dlpack(see(1, x))):\n    see(2, a)\n\n\nf()\nf()\n", 2, "[0, 1, 2, 2]"),
    "in a lambda": ("f = lambda: np.from_dlpack(see(1, x))\nsee(2, 0)\nf()\nf()\n", 2, "[0, 2, 1, 1]"),
    "as a target's value": ("a = {}\na[see(2, 1)] = np.from_dlpack(see(1, x))\n", 2, "[0, 1, 2]"),
    "removed": ("a = see(1, 1), torch.from_dlpack(jax.dlpack.to_dlpack(see(2, y))), see(3, 3)\n", 2, "[0, 1, 2, 3]"),
    "a capsule": ("a = see(1, 1), jax.dlpack.to_dlpack(see(2, y)), see(3, 3)\n", 1, "[0, 1, 2, 3]"),
    "a tensor": (
        "a = see(1, 1), jax.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(see(2, t))), see(3, 3)\n",
        1,
        "[0, 1, 2, 3]",
    ),
    "keywords": (
        "jax.dlpack.from_dlpack(copy=False, device=see(1, jax.devices()[1]), external_array=see(2, y))\n",
        2,
        "[0, 1, 2]",
    ),
    "ahead of calls": (AHEAD_OF_CALLS, 2, "[0, 1]"),
    "behind a call": ("a = see(1, 1), torch.from_dlpack(box['x'])\n", 2, "[0, 1]"),
}
"""Programs that log what they evaluate, how many repairs each has, and the log."""


@dataclass(frozen=True)
class Case:
    """A program to repair: whose repairs are run, how many there are, what is compared."""

    group: str
    name: str
    source: str
    repairs: int
    result: str = "r"
    value: str = "np.arange(16, dtype=np.float32)"
    example: str | None = None


def _cases() -> Iterator[Case]:
    for position, program in POSITIONS.items():
        for name, (code, array, many) in HAND_OFFS.items():
            source = PRELUDE + program.format(E=code.format(O=array))
            none = (position, name) in UNSEEN or (name == "pointer" and position in UNPLACED)
            yield Case(position, name, source, 0 if none else many)
        yield Case(position, "ahead", PRELUDE + program.format(E="torch.from_dlpack(x)"), 1, example=AHEAD)
    for operand, written in OPERANDS.items():
        for name, (code, array, many) in HAND_OFFS.items():
            source = f"{PRELUDE}r = {code.format(O=written.format(x=array))}\n"
            none = (operand, name) in UNSEEN or (name == "pointer" and operand in BUSY)
            yield Case(operand, name, source, 0 if none else many)
    for name, (program, many, log) in ORDERED.items():
        yield Case("order", name, PRELUDE + LOGGED + program, many, "log", log)
    yield Case("order", "a statement ahead", PRELUDE + LOGGED + AHEAD_OF_CALLS, 1, "log", "[0, 1]", AHEAD)


CASES = list(_cases())
GROUPS = list(dict.fromkeys(case.group for case in CASES))


@dataclass(frozen=True)
class Run:
    """One repaired program and what it did."""

    case: Case
    title: str
    source: str
    answer: Answer


def _repaired(case: Case, catalogue: Catalogue, rule_of: Callable[[str], Rule]) -> Iterator[tuple[str, str]]:
    if case.example is not None:
        catalogue = replace(catalogue, rules={"own": rule_of(case.example)})
    program = Snapshot("program.py", Text(case.source), Target(("0.10.2",), True, "the test"), catalogue)
    for finding in check(program).findings:
        for fix in repairs(program, finding):
            yield fix.title, apply(case.source, fix.edits)


@pytest.fixture(scope="module")
def runs(catalogue: Catalogue, rule_of: Callable[[str], Rule]) -> list[Run]:
    """Every repair of every program, run in one process with eight CPU devices."""
    made = [(case, title, text) for case in CASES for title, text in _repaired(case, catalogue, rule_of)]
    jobs = [Job(number, text, (), case.result, case.value) for number, (case, _, text) in enumerate(made)]
    answers = run_jobs(Path(sys.executable), 8, jobs, 300.0)
    return [Run(*entry, answers[number]) for number, entry in enumerate(made)]


@pytest.mark.parametrize("group", GROUPS)
def test_repaired_programs_do_what_was_wanted(runs: list[Run], group: str) -> None:
    """Each repair is offered, its program raises nothing, and gives equal values, or evaluates in the same order."""
    mine = [run for run in runs if run.case.group == group]
    for case in (case for case in CASES if case.group == group):
        assert sum(run.case is case for run in mine) == case.repairs, case.name
    failed = [run for run in mine if run.answer != Answer()]
    assert not failed, "\n".join(f"{run.case.name}, {run.title}: {run.answer}\n{run.source}" for run in failed)


def test_the_programs_fail_without_repair() -> None:
    """What the repairs are measured against is a real failure."""
    programs = [PRELUDE + f"r = {code.format(O=array)}\n" for code, array, _ in HAND_OFFS.values()]
    jobs = [Job(number, program, (), "r", "r") for number, program in enumerate(programs)]
    answers = run_jobs(Path(sys.executable), 8, jobs, 300.0)
    assert all(answers[number].raised for number in range(len(jobs)))
