"""The project's own `records/`: every folder is complete and valid, and what names rules and versions agrees."""

from __future__ import annotations

from pathlib import Path

from packaging.specifiers import SpecifierSet

from shardlint.records.freeze import collect
from shardlint.records.own import load_own

RECORDS = Path(__file__).parents[2] / "records"


def _folders() -> set[str]:
    return {entry.name for entry in RECORDS.iterdir() if entry.is_dir()}


def test_every_folder_is_complete_and_valid():
    """Adding a rule is adding a folder; here it is said if anything in one is missing or wrong."""
    catalogue, problems = collect(RECORDS)
    assert [problem.message for problem in problems] == []
    assert set(catalogue.rules) == _folders()


def test_every_rule_holds_on_a_catalogued_version():
    """A rule that no catalogued JAX is subject to could never be found."""
    catalogue, _ = collect(RECORDS)
    for rule in catalogue.rules.values():
        holds = SpecifierSet(rule.jax, prereleases=True)
        assert any(holds.contains(version) for version in catalogue.jax_versions), rule.name


def test_every_observation_is_on_a_catalogued_version():
    """What was seen elsewhere would never be asked for."""
    catalogue, _ = collect(RECORDS)
    for rule in catalogue.rules.values():
        assert {run.jax for run in rule.observed} <= set(catalogue.jax_versions), rule.name


def test_records_have_ids_and_slugs_of_their_own():
    """Two records with one id would be one for whoever reads the data."""
    catalogue, _ = collect(RECORDS)
    for field in ("id", "slug"):
        values = [rule.record[field] for rule in catalogue.rules.values()]
        assert len(set(values)) == len(values), field


def test_a_shipped_folder_is_valid_as_a_users_own():
    """Our folders are the example that people copy from."""
    rules, problems = load_own([RECORDS])
    assert [problem.message for problem in problems] == []
    assert {rule.name for rule in rules} == _folders()
