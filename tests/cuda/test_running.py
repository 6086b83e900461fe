"""How the suite runs programs and keeps what it saw, told where there is no GPU."""

from __future__ import annotations

import json
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from cuda_keeping import Kept, write
from cuda_programs import SCOPE, Case, World, cases
from cuda_running import Job, Outcome, Raised, run
from cuda_seen import Program
from cuda_wanted import wanted

from shardlint.placement import tables
from shardlint.records.catalogue import Catalogue
from shardlint.verify.process import Installed

RECORDS = Path(__file__).parents[2] / "records"
RULE, CONSUMER = "sharded-cuda-array-interface", "cupy.asarray"
INSTALLED = Installed("0.10.2", {"cupy": "14.0.0"}, frozenset())


@pytest.fixture(scope="module")
def case(catalogue: Catalogue) -> Case:
    """The program for CuPy, which copies through the host without a word."""
    table = tables.load()
    made = cases(catalogue, table, wanted(catalogue, table, "0.10.2", SCOPE))
    return next(one for one in made if (one.rule, one.consumer) == (RULE, CONSUMER))


def _kept(case: Case, world: World) -> Kept:
    """What is kept if the code gathers in host memory and its repairs do well."""
    kept = Kept()
    kept.code(Program(case, world, None), "host-copy", Outcome(host_reads=1), INSTALLED)
    for fix in case.fixes:
        kept.repaired(Program(case, world, fix))
    return kept


def test_what_a_gpu_showed_is_kept_beside_the_rest(case: Case, tmp_path: Path) -> None:
    """An entry for CUDA comes into the file, with the versions and the repairs that held; all others stay as they are."""
    shutil.copytree(RECORDS / RULE, tmp_path / RULE)
    path = tmp_path / RULE / "observed.json"
    before = json.loads(path.read_text("utf-8"))["observations"]
    kept = _kept(case, World.GPU)
    assert write(tmp_path, kept.observations) == [path]
    after = json.loads(path.read_text("utf-8"))["observations"]
    [new] = [one for one in after if one not in before]
    assert [one for one in after if one in before] == before
    assert (new["platform"], new["jax"], new["consumer_version"]) == ("cuda", "0.10.2", "14.0.0")
    assert (new["kind"], new["fixed"]) == ("silent-copy", [fix.title for fix in case.fixes])
    assert write(tmp_path, kept.observations) == []


def test_what_a_stand_in_showed_is_never_kept(case: Case) -> None:
    """Neither its outcomes nor its repairs are taken for what a GPU does."""
    assert not _kept(case, World.STAND_IN).observations


def test_code_that_works_is_not_kept(case: Case) -> None:
    """A run in which nothing goes wrong is no proof of a rule."""
    kept = Kept()
    kept.code(Program(case, World.GPU, None), "works", Outcome(), INSTALLED)
    assert not kept.observations


def test_a_program_that_takes_its_process_down_costs_itself() -> None:
    """The others of the same process get their answers from a new one."""
    pytest.importorskip("jax", reason="needs JAX")
    right = Job("right", "r = 1 + 1\n", None, plays_gpu=False)
    jobs = [right, replace(right, id="dead", source="import os\nos._exit(3)\n"), replace(right, id="after")]
    jobs += [replace(right, id="wrong", source="x = 1\nr = x.y\n")]
    outcomes = run(World.STAND_IN, jobs, time.monotonic() + 300.0)
    assert outcomes["dead"] == Outcome(died="ended with code 3")
    assert outcomes["right"] == outcomes["after"] == Outcome()
    kinds = ("AttributeError", "Exception", "BaseException")
    assert outcomes["wrong"] == Outcome(Raised(2, kinds, "'int' object has no attribute 'y'"))


def test_nothing_is_started_too_late() -> None:
    """What the time for all does not reach is told as that, and costs no time."""
    job = Job("late", "r = 1\n", None, plays_gpu=False)
    outcome = run(World.STAND_IN, [job], time.monotonic())["late"]
    assert outcome.died is not None
    assert "not started" in outcome.died
