"""Each rule's wrong code where GPU memory changes hands, and each repair as the server returns it: run beside a real GPU (marked `cuda`),
and where there is none with stand-ins.

Nobody has seen yet what a GPU shows: what may happen there is told in `programs.toml` as alternatives, of which the run tells one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

sys.path.insert(0, str(Path(__file__).parent))

from cuda_keeping import PLATFORM, Kept
from cuda_programs import DATA, SCOPE, Case, World, cases, covered, doubt, left_out
from cuda_running import Outcome
from cuda_seen import ALIKE, Program, Seen, told, went, wrong_after
from cuda_wanted import wanted

from shardlint.placement import tables
from shardlint.records import catalogue as shipped
from shardlint.records.catalogue import Catalogue, Observation, observation_for
from shardlint.verify.process import Installed

See = Callable[[World], Seen]


def _catalogue() -> Catalogue:
    """The rules as they were frozen last: the catalogue of the tests is frozen anew only when they have begun."""
    return shipped.read(Path(shipped.__file__).with_name(shipped.FROZEN_NAME))


def _jax() -> str:
    try:
        return version("jax")
    except PackageNotFoundError:
        return CATALOGUE.jax_versions[-1]


def _cases(catalogue: Catalogue) -> list[Case]:
    table = tables.load()
    return list(cases(catalogue, table, wanted(catalogue, table, _jax(), SCOPE)))


def _parameters(programs: Iterable[Program]) -> list[object]:
    """The programs, those that need a GPU marked so."""
    return [
        pytest.param(one, id=str(one), marks=[pytest.mark.jax if one.world is World.STAND_IN else pytest.mark.cuda])
        for one in programs
    ]


CATALOGUE = _catalogue()
CASES = _cases(CATALOGUE)
WRONG = [Program(case, world, None) for world in World for case in CASES if world in case.worlds]
REPAIRED = [Program(one.case, one.world, fix) for one in WRONG for fix in one.case.fixes]


def _seen(program: Program, see: See) -> Seen:
    pytest.importorskip("jax", reason="needs JAX")
    if not SpecifierSet(DATA["jax"]).contains(_jax(), prereleases=True):
        pytest.skip(f"the programs are for JAX {DATA['jax']}")
    if (reason := program.why_not()) is not None:
        pytest.skip(reason)
    seen = see(program.world)
    for outcome in seen.outcomes(program.plain) if program.plain.why_not() is None else ():
        _skip_without_library(outcome)
    return seen


def _skip_without_library(outcome: Outcome) -> None:
    if outcome.raised is not None and "ImportError" in outcome.raised.kinds:
        pytest.skip(f"needs a library that is not here ({outcome.raised.message})")


@pytest.mark.parametrize("program", _parameters(WRONG))
def test_code_without_repair_goes_wrong(program: Program, seen_in: See, kept: Kept, installed: Installed) -> None:
    """The server has one finding of the rule, and at its line happens what the rule, the table or an earlier run says."""
    seen, case = _seen(program, seen_in), program.case
    lines = [line for rule, line in seen.answer(program).findings if rule == case.rule]
    assert len(lines) == 1, seen.answer(program).findings
    word, outcome = went(case, seen.outcomes(program))
    kept.tell(program, f"{word} ({told(outcome)})")
    if outcome.raised is not None:
        assert outcome.raised.line == lines[0], f"{outcome.raised} on line {outcome.raised.line}"
    kept.code(program, word, outcome, installed)
    wrong = _differs(program, word, outcome, installed)
    if wrong is not None and program.world is not World.STAND_IN and (reason := doubt(case, None)) is not None:
        pytest.xfail(f"{reason}; seen: {wrong}")
    assert wrong is None, wrong


def _differs(program: Program, word: str, outcome: Outcome, installed: Installed) -> str | None:
    """What is not as it was seen before, or as the table tells from sources; where neither speaks of it, as the program's alternatives."""
    case, on_gpu = program.case, program.world is not World.STAND_IN
    rule, seen = CATALOGUE.rules[case.rule], f"{word} ({told(outcome)})"
    before = None
    if on_gpu or not case.device_only:  # a stand-in for a library is no such library
        before = observation_for(rule, case.consumer, [installed.jax], PLATFORM if on_gpu else "cpu")
    if before is not None and before.kind in ALIKE.values() and _is_of(before, case, installed):
        same = ALIKE.get(word) == before.kind
        if on_gpu:  # seen of this very program; on CPUs, of one on the rule's page
            same = same and before.exception == (outcome.raised.kinds[0] if outcome.raised else None)
        return None if same else f"{seen}, but {before.kind} ({before.exception}: {before.message}) was seen before"
    row = tables.load().consumers.get(case.consumer)
    if on_gpu and row is not None and row.source_says and rule.when.get("devices") == "many":
        raises = outcome.raised is not None and f"raises {outcome.raised.kinds[0]}" in row.source_says
        copies = word == "host-copy" and "host memory" in row.source_says
        return None if raises or copies else f"{seen}, but the table says that it {row.source_says}"
    return None if word in case.wrong else f"{seen}, not one of {', '.join(sorted(case.wrong))}"


def _is_of(before: Observation, case: Case, installed: Installed) -> bool:
    """Whether an observation is of the versions that are installed here."""
    return (before.jax, before.consumer_version) == (installed.jax, installed.version_of(case.consumer))


@pytest.mark.parametrize("program", _parameters(REPAIRED))
def test_the_repair_of_the_server_is_right(program: Program, seen_in: See, kept: Kept) -> None:
    """It is offered once, and its program gives equal values: on the GPU if that is where the data should be, and without a copy if the
    library says so.
    """
    assert program.fix is not None
    seen, reason = _seen(program, seen_in), doubt(program.case, program.fix)
    offers = seen.offers(program)
    if len(offers) != 1 and reason is not None:
        pytest.xfail(f"{reason}; offered: {[one.title for one in offers]}")
    assert len(offers) == 1, [one.title for one in seen.answer(program).offers]
    for outcome in seen.outcomes(program):
        _skip_without_library(outcome)
        wrong = wrong_after(program, outcome)
        kept.tell(program, wrong or told(outcome))
        if wrong is not None and reason is not None:
            pytest.xfail(f"{reason}; seen: {wrong}")
        assert wrong is None, f"{wrong}\n{offers[0].text}"
    kept.repaired(program)


def test_every_repair_has_a_program(catalogue: Catalogue) -> None:
    """Whatever rule, consumer or repair is new has a program, or a reason to have none."""
    due = wanted(catalogue, tables.load(), _jax(), SCOPE) - covered(_cases(catalogue))
    missing = sorted(one for one in due if not any(entry.has(one) for entry in left_out()))
    assert not missing, "\n".join(map(str, missing))
    assert covered(_cases(catalogue)) == covered(CASES), "the catalogue was older than the records: run this again"


def test_nothing_is_left_out_that_is_not_there(catalogue: Catalogue) -> None:
    """Each reason to have no program still speaks of a repair."""
    due = wanted(catalogue, tables.load(), _jax(), SCOPE)
    stale = [entry.table for entry in left_out() if not any(entry.has(one) for one in due)]
    assert not stale
