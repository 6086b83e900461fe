"""The pages of all rules with an index by family, as they are shipped and as `server/docs/rules/` holds them.

The build writes them into the package; `python -m shardlint.records.pages` writes them into the checkout's `server/docs/rules/`.
They lead to each other by relative links, so that both places are whole.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from shardlint.records.catalogue import Catalogue, Rule
from shardlint.records.checks import CHECKS
from shardlint.records.files import UnusableError, read_text
from shardlint.records.markup import MARKDOWN
from shardlint.records.rule_page import Place, rule_page_with_examples
from shardlint.records.telling import sentence

FAMILIES = "families.toml"
INDEX = "README.md"
_NO_FAMILY = "Without a family"


def read_families(path: Path) -> dict[str, str]:
    """What the families' letters stand for. Empty where there is no file; raises `UnusableError` for one that cannot be used."""
    if not path.exists():
        return {}
    try:
        table = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise UnusableError(f"is not TOML: {error}") from error
    for letter, words in table.items():
        if not re.fullmatch("[A-Z]", letter) or not isinstance(words, str) or not words.strip():
            raise UnusableError(f"must give words for single capital letters, and {letter!r} is {words!r}")
    return table


def pages(catalogue: Catalogue, families: Mapping[str, str]) -> dict[str, str]:
    """The text of each page by the name of its file: one for each rule, and the index."""
    rules = {**catalogue.rules, **CHECKS}
    made = {
        f"{name}.md": rule_page_with_examples(rule, catalogue.jax_versions, _place(rule, families))
        for name, rule in sorted(rules.items())
    }
    return {INDEX: _index(rules, families), **made}


def write_pages(made: Mapping[str, str], folder: Path) -> None:
    """Write the pages into a folder, and take out those of rules that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.md"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def anchor(heading: str) -> str:
    """The anchor that readers of Markdown make of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _heading(family: str, families: Mapping[str, str]) -> str:
    return f"{family}: {families.get(family, 'Others')}" if family else _NO_FAMILY


def _place(rule: Rule, families: Mapping[str, str]) -> Place:
    heading = _heading(rule.family, families)
    return Place(heading, f"{INDEX}#{anchor(heading)}")


def _index(rules: Mapping[str, Rule], families: Mapping[str, str]) -> str:
    head = "Each rule finds one kind of failure. A family is selected by its letter, as with `--select A`."
    parts = ["# The rules", f"{head} Rules marked with *if selected* do not run unless they or their family are."]
    used = {rule.family for rule in rules.values()}
    for family in sorted(used, key=lambda letter: (not letter, letter)):
        own = [rule for _, rule in sorted(rules.items()) if rule.family == family]
        parts += [f"## {_heading(family, families)}", _table(own)]
    return "\n\n".join(parts) + "\n"


def _table(rules: Sequence[Rule]) -> str:
    lines = ["| rule | what is wrong | severity | JAX |", "| --- | --- | --- | --- |"]
    for rule in rules:
        severity = f"{rule.severity}{', *if selected*' if rule.opt_in else ''}"
        versions = MARKDOWN.code(rule.jax) if rule.jax else "any"
        lines.append(
            f"| [{rule.name}]({rule.name}.md) | {sentence(MARKDOWN.prose(rule.summary))} | {severity} | {versions} |"
        )
    return "\n".join(lines)


def main() -> int:
    """Write the checkout's pages; 1 if its records are wrong, told on stderr."""
    from shardlint.records.freeze import collect  # not at the top: freezing writes pages too

    root = Path(__file__).parents[3]
    catalogue, problems = collect(root / "records")
    if problems:
        sys.stderr.writelines(f"{one.message}\n" for one in problems)
        return 1
    try:
        families = read_families(root / "records" / FAMILIES)
    except UnusableError as reason:
        sys.stderr.write(f"{FAMILIES}: {reason}.\n")
        return 1
    write_pages(pages(catalogue, families), root / "server" / "docs" / "rules")
    return 0


if __name__ == "__main__":
    sys.exit(main())
