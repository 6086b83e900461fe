"""What came of the programs that the selected tests need: each world's are put to the server and run once, when the first test asks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cuda_editor import Answer, Offer, ask
from cuda_programs import Case, World, shown_as
from cuda_running import Job, Outcome, gpus, run, run_together

from shardlint.records.catalogue import FixSpec

ALIKE = {
    "raises": "raises",
    "host-copy": "silent-copy",
    "other-values": "silent-wrong",
    "shares": "aliasing",
    "crash": "crash",
}
"""What code without repair may do, and what `observed.json` calls it; all else it does `works`."""


@dataclass(frozen=True)
class Program:
    """A case in a world: with one of its repairs applied, or (None) as it stands."""

    case: Case
    world: World
    fix: FixSpec | None

    @property
    def plain(self) -> Program:
        return Program(self.case, self.world, None)

    @property
    def key(self) -> str:
        return "\n".join((self.case.rule, self.case.consumer, self.case.name, self.fix.title if self.fix else ""))

    def __str__(self) -> str:
        words = (self.world, self.case.rule, self.case.consumer, self.fix.title if self.fix else self.case.name)
        return " ".join(filter(None, words)).replace("{devices}", "them")

    def why_not(self) -> str | None:
        """Why it cannot be run here, as far as is known without trying."""
        if self.world is World.STAND_IN:
            return self.case.gpu_only or self.case.simulated
        found, wanted = gpus(), 2 if self.world is World.TWO_GPUS else 1
        if found.count < wanted:
            return found.missing or f"it needs {wanted} GPUs, and there is {found.count}"
        needs_torch = "import torch" in self.case.template and not found.torch
        return "PyTorch sees no GPU here" if needs_torch else None


class Seen:
    """The answers of the server, and what the programs did, for all programs in one world."""

    def __init__(self, world: World, programs: Iterable[Program], jax: str, folder: Path, end: float) -> None:
        self._programs = {one.key: one for one in programs if one.why_not() is None}
        plain = {one.plain.key: one.plain for one in self._programs.values()}
        self._answers = ask({key: one.case.source(world) for key, one in plain.items()}, jax, folder)
        self._outcomes = self._run(world, end)

    def answer(self, program: Program) -> Answer:
        return self._answers[program.plain.key]

    def offers(self, program: Program) -> list[Offer]:
        """The quick fixes that are the program's repair, for a finding of its rule."""
        return _offers(program, self._answers)

    def outcomes(self, program: Program) -> Sequence[Outcome]:
        """What it did in each of its processes."""
        return self._outcomes[program.key]

    def _run(self, world: World, end: float) -> Mapping[str, Sequence[Outcome]]:
        alone: list[Job] = []
        together: dict[int, list[Job]] = {}
        for key, program in self._programs.items():
            source = program.case.source(world)
            if program.fix is not None:
                offers = _offers(program, self._answers)
                if len(offers) != 1:
                    continue  # the test tells so
                source = offers[0].text
            plays_gpu = world is World.STAND_IN and program.case.device_only
            job = Job(key, source, program.case.value, plays_gpu)
            many = program.case.processes
            (alone if many == 1 else together.setdefault(many, [])).append(job)
        outcomes: dict[str, Sequence[Outcome]] = {key: [one] for key, one in run(world, alone, end).items()}
        for many, jobs in together.items():
            outcomes |= run_together(world, jobs, many, end)
        return outcomes


def _offers(program: Program, answers: Mapping[str, Answer]) -> list[Offer]:
    fix = program.fix
    assert fix is not None
    offers = answers[program.plain.key].offers
    return [one for one in offers if one.rule == program.case.rule and shown_as(fix.title, one.title)]


def went(case: Case, outcomes: Sequence[Outcome]) -> tuple[str, Outcome]:
    """What a program without repair did, in a word, and the outcome that shows it; "works" if none of its processes shows another."""
    told = [(_went(case, outcome), outcome) for outcome in outcomes]
    return next((one for one in told if one[0] != "works"), told[0])


def _went(case: Case, outcome: Outcome) -> str:
    if outcome.died is not None:
        return "crash"
    if outcome.raised is not None:
        return "raises"
    if outcome.mismatch is not None:
        return "other-values"
    if outcome.host_reads:
        return "host-copy"
    return "shares" if "shares" in case.wrong and outcome.shares else "works"


def wrong_after(program: Program, outcome: Outcome) -> str | None:
    """What a repaired program did that it must not, as a clause; None if its data are right, and where they should be."""
    fix = program.fix
    assert fix is not None
    place = program.case.place_after(fix) if program.world is not World.STAND_IN else None
    if outcome.died or outcome.raised:
        return f"it {outcome.died}" if outcome.died else f"it raised {outcome.raised}"
    if outcome.mismatch:
        return outcome.mismatch
    if place is not None and outcome.place != place:
        return f"the data are on the {outcome.place}, not on the {place}"
    if program.case.shares_after(fix):
        if not outcome.shares:
            return "the result lies in memory of its own"
        if outcome.host_reads:
            return f"the array was gathered in host memory {outcome.host_reads} times"
    return None


def told(outcome: Outcome) -> str:
    """An outcome for people."""
    if outcome.died or outcome.raised:
        return str(outcome.died or outcome.raised)
    words = [outcome.mismatch or "equal values"]
    words += [f"on the {outcome.place}"] if outcome.place else []
    words += [f"in the memory of {', '.join(outcome.shares)}"] if outcome.shares else []
    words += [f"gathered in host memory {outcome.host_reads} times"] if outcome.host_reads else []
    return ", ".join(words)
