"""The ledger: every hazard that is known, and the rule whose examples show it or the reason why no rule does.

`records/ledger.toml` lists the hazards. A case of a rule's `cases.md` names those that it shows (`hazards`); one that no case
names has a reason. `python -m shardlint.records.ledger` brings both up to date and writes `server/docs/ledger.md`.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from shardlint.records.cases import Case, parse_cases
from shardlint.records.catalogue import Catalogue, Rule
from shardlint.records.files import UnusableError, read_text
from shardlint.records.freeze import collect
from shardlint.records.markup import MARKDOWN
from shardlint.records.models import Hazard
from shardlint.records.telling import version_spans
from shardlint.records.wording import validated

LEDGER = "ledger.toml"
PAGE = "ledger.md"
OPEN = "No rule looks for it yet."
"""The reason of a hazard that nobody has given another one."""

_HEAD = """\
# Every hazard that shardlint knows of: its name, what it is in a few words, and, where no rule's example shows it, why not.
# The examples name the hazards that they show (`hazards` in cases.md). `.ci/task ledger` keeps this file and the page in order.
"""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the catalogue has of one hazard: the rules whose cases name it, and the JAX versions on which one was observed."""

    rules: tuple[str, ...]
    versions: tuple[str, ...]


def read_ledger(path: Path) -> dict[str, Hazard]:
    """The hazards by name, in the order of the file. Raises `UnusableError`."""
    try:
        tables = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise UnusableError(f"is not TOML: {error}") from error
    return {name: validated(Hazard, table) for name, table in tables.items()}


def shown_hazards(catalogue: Catalogue) -> dict[str, Shown]:
    """What the shipped rules' cases show, by hazard, whether the ledger has it or not."""
    rules: dict[str, list[str]] = {}
    versions: dict[str, set[str]] = {}
    for rule in catalogue.rules.values():
        for case in parse_cases(rule.page, f"{rule.name}/cases.md"):
            for hazard in case.hazards:
                rules.setdefault(hazard, []).append(rule.name)
                versions.setdefault(hazard, set()).update(_observed(rule, case))
    return {
        hazard: Shown(tuple(dict.fromkeys(names)), tuple(sorted(versions[hazard], key=Version)))
        for hazard, names in rules.items()
    }


def wrong(ledger: Mapping[str, Hazard], shown: Mapping[str, Shown]) -> list[str]:
    """One sentence for each name that the cases and the ledger do not have in common."""
    told = [
        f"A case of {shown[name].rules[0]} names the hazard {name}, which {LEDGER} does not have."
        for name in shown
        if name not in ledger
    ]
    for name, hazard in ledger.items():
        if name in shown and hazard.reason is not None:
            told.append(f"{name} has a reason in {LEDGER}, but a case of {shown[name].rules[0]} shows it.")
        elif name not in shown and hazard.reason is None:
            told.append(f"{name} is shown by no case and has no reason in {LEDGER}.")
    return told


def in_order(ledger: Mapping[str, Hazard], shown: Mapping[str, Shown]) -> str:
    """The text of the ledger as the cases have it: who is shown needs no reason, and who is not has one."""
    parts = [_HEAD]
    for name, hazard in ledger.items():
        lines = [f"[{name}]", f"title = {_quoted(hazard.title)}"]
        if name not in shown:
            lines += ["covered = false", f"reason = {_quoted(hazard.reason or OPEN)}"]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def ledger_page(ledger: Mapping[str, Hazard], shown: Mapping[str, Shown], catalogue: Catalogue) -> str:
    """The ledger for people: what rules show and on which JAX versions it was seen, then what they do not, with the reason."""
    covered = [
        (
            MARKDOWN.code(name),
            MARKDOWN.prose(hazard.title),
            ", ".join(f"[{rule}](rules/{rule}.md)" for rule in shown[name].rules),
            version_spans(shown[name].versions, catalogue.jax_versions) or "not kept",
        )
        for name, hazard in ledger.items()
        if name in shown
    ]
    left = [
        (MARKDOWN.code(name), MARKDOWN.prose(hazard.title), MARKDOWN.prose(hazard.reason or OPEN))
        for name, hazard in ledger.items()
        if name not in shown
    ]
    counts = f"Of {len(ledger)} known ways in which an array goes wrong at a border, examples of the rules show {len(covered)}."
    parts = ["# Hazards", f"{counts} This page is made from `records/ledger.toml` and the examples."]
    if covered:
        parts += [
            "## Shown by a rule's example",
            "The versions of JAX are those on which the example was run and did what the rule says.",
            _table(("hazard", "what it is", "rule", "seen on JAX"), covered),
        ]
    if left:
        parts += ["## Not shown by any", _table(("hazard", "what it is", "why not"), left)]
    return "\n\n".join(parts) + "\n"


def _observed(rule: Rule, case: Case) -> Iterable[str]:
    """The JAX versions on which the consumer of a case was seen to do what the case says."""
    holds = SpecifierSet(rule.jax if case.runs_on is None else case.runs_on, prereleases=True)
    for run in rule.observed:
        if run.consumer == case.consumer and run.kind == case.expect and holds.contains(run.jax):
            yield run.jax


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # one line of JSON text is a basic string of TOML


def main() -> int:
    """Bring the checkout's ledger and its page up to date; 1, told on stderr, if a case names a hazard that is not listed."""
    root = Path(__file__).parents[3]
    path = root / "records" / LEDGER
    catalogue, problems = collect(root / "records")
    try:
        ledger = read_ledger(path)
    except UnusableError as reason:
        sys.stderr.write(f"{path}: {reason}.\n")
        return 1
    if problems:
        sys.stderr.writelines(f"{one.message}\n" for one in problems)
        return 1
    shown = shown_hazards(catalogue)
    path.write_text(in_order(ledger, shown), encoding="utf-8", newline="\n")
    ledger = read_ledger(path)
    page = ledger_page(ledger, shown, catalogue)
    (root / "server" / "docs" / PAGE).write_text(page, encoding="utf-8", newline="\n")
    left = wrong(ledger, shown)
    sys.stderr.writelines(f"{sentence}\n" for sentence in left)
    sys.stdout.write(f"{sum(name in shown for name in ledger)} of {len(ledger)} hazards are shown by examples.\n")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
