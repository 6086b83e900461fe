"""Freezing the catalogue: the folders under `records/` validated and written as one file that needs no validation.

The build runs this (`server/hatch_build.py`); in a checkout, `python -m shardlint.records.freeze` does after a change.
"""

from __future__ import annotations

import sys
from pathlib import Path

from shardlint.model import Problem
from shardlint.records.catalogue import FROZEN_NAME, PAGES_NAME, Catalogue, Rule, encode
from shardlint.records.files import UnusableError, problem, read_toml
from shardlint.records.folder import read_shipped, rule_name
from shardlint.records.models import VersionsFile
from shardlint.records.pages import FAMILIES, pages, read_families, write_pages
from shardlint.records.wording import validated

VERSIONS = "versions.toml"


def freeze(source: Path, target: Path) -> list[Problem]:
    """Write `frozen.json`, `pages/<rule>.md` and their index into the folder `target`, from the rule folders in `source`.

    The same folders give the same bytes. Where anything is wrong nothing is written, and what is wrong comes back.
    """
    catalogue, problems = collect(source)
    families: dict[str, str] = {}
    try:
        families = read_families(source / FAMILIES)
    except UnusableError as reason:
        problems.append(problem(source / FAMILIES, reason))
    if not problems:
        write_pages(pages(catalogue, families), target / PAGES_NAME)
        whole = target / f"{FROZEN_NAME}.new"
        whole.write_text(encode(catalogue), encoding="utf-8", newline="\n")
        whole.replace(target / FROZEN_NAME)  # whoever reads it meanwhile sees the old one or this one
    return problems


def collect(source: Path) -> tuple[Catalogue, list[Problem]]:
    """The catalogue in the folders of `source`, without those that are wrong, and what is wrong with them."""
    problems: list[Problem] = []
    versions: tuple[str, ...] = ()
    try:
        versions = tuple(validated(VersionsFile, read_toml(source / VERSIONS)).jax)
    except UnusableError as reason:
        problems.append(problem(source / VERSIONS, reason))
    rules: dict[str, Rule] = {}
    for folder in sorted(source.iterdir()) if source.is_dir() else []:
        if not folder.is_dir() or folder.name.startswith("."):
            continue
        rule, found = read_shipped(folder)
        problems += found
        if folder.name != rule_name(folder.name):
            problems.append(problem(folder, "a rule's name has lower-case letters, digits and single hyphens only"))
        elif rule is not None:
            rules[rule.name] = rule
    return Catalogue(rules, versions), problems


def main() -> int:
    """Freeze the checkout that this module lies in; 1 if anything is wrong with its records, told on stderr."""
    package = Path(__file__).parent
    problems = freeze(package.parents[2] / "records", package)
    for one in problems:
        sys.stderr.write(f"{one.message}\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
