"""What is kept of a run: `observed.json` changes by the keys of that run alone."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from shardlint.records.catalogue import Observation
from shardlint.records.observed import RuleRun
from shardlint.verify import Outcome, Status, VerifyReport, compare_observed, write_observed
from shardlint.verify.process import VerifyError

SEEN = Observation("cpu", "0.10.2", "lib.take", "1.0", "raises", "BufferError", "only one", ("Gather",))


def report(*seen: Observation, jax: str = "0.10.2", consumers: tuple[str, ...] = ("lib.take",), fails: bool = False):
    status = Status.FAILED if fails else Status.OBSERVED
    outcome = Outcome("rule", "case", 1, None, status, "")
    return VerifyReport(jax, (outcome,), {"rule": RuleRun("cpu", jax, frozenset(consumers), seen)})


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    (tmp_path / "rule").mkdir()
    return tmp_path


def test_a_run_that_is_kept_compares_equal(rules: Path):
    """After writing, the same run has nothing to add."""
    assert write_observed(rules, report(SEEN)) == (rules / "rule" / "observed.json",)
    assert compare_observed(rules, report(SEEN)) == ()
    assert write_observed(rules, report(SEEN)) == ()


def test_other_versions_stay(rules: Path):
    """A run on one JAX touches nothing that was seen on another, and versions are sorted as versions."""
    newer = replace(SEEN, message="another text")
    older = replace(SEEN, jax="0.9.2")
    write_observed(rules, report(newer))
    write_observed(rules, report(older, jax="0.9.2"))
    assert compare_observed(rules, report(newer)) == ()
    assert compare_observed(rules, report(older, jax="0.9.2")) == ()
    text = (rules / "rule" / "observed.json").read_text()
    assert text.index('"0.9.2"') < text.index('"0.10.2"')


def test_a_difference_is_told_with_both_sides(rules: Path):
    """The sentence shows what is kept and what was seen."""
    write_observed(rules, report(SEEN))
    (sentence,) = compare_observed(rules, report(replace(SEEN, message="none at all")))
    assert "'only one'" in sentence
    assert "'none at all'" in sentence
    assert "lib.take 1.0 on JAX 0.10.2" in sentence


def test_what_was_seen_for_the_first_time_is_told(rules: Path):
    """A run that nobody has kept yet is a difference."""
    (sentence,) = compare_observed(rules, report(SEEN))
    assert sentence.endswith("was run, but is not kept.")


def test_a_consumer_that_left_the_page_is_dropped(rules: Path):
    """What no case shows any more cannot be proven again."""
    write_observed(rules, report(SEEN))
    gone = report(consumers=())
    (sentence,) = compare_observed(rules, gone)
    assert sentence.endswith("is kept, but no case shows it.")
    write_observed(rules, gone)
    assert compare_observed(rules, gone) == ()


def test_a_consumer_that_was_not_run_is_left_alone(rules: Path):
    """A machine without the consumer does not forget what another one saw."""
    write_observed(rules, report(SEEN))
    assert compare_observed(rules, report()) == ()
    assert write_observed(rules, report()) == ()


def test_a_rule_that_failed_is_not_written(rules: Path):
    """Nothing is kept of a page that claims what does not happen."""
    assert write_observed(rules, report(SEEN, fails=True)) == ()
    assert not (rules / "rule" / "observed.json").exists()


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 2}', '{"schema": 1, "observations": [{}]}'])
def test_a_file_that_is_none_of_ours_is_told(rules: Path, text: str):
    """A damaged file is named, not overwritten."""
    file = rules / "rule" / "observed.json"
    file.write_text(text)
    for use in (write_observed, compare_observed):
        with pytest.raises(VerifyError, match=r"observed\.json: "):
            use(rules, report(SEEN))
    assert file.read_text() == text


def test_verifying_loads_neither_jax_nor_pydantic():
    """The runner works where JAX is in another Python only, and starts fast."""
    code = "import sys, shardlint.verify; sys.exit(bool({'jax', 'numpy', 'pydantic'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
