"""The catalogue: rules with their records, frozen by the build, read at run time without pydantic.

`freeze` (see `records.freeze`) validates the folders under `records/` with pydantic and writes `frozen.json`; `load` turns
that file into the data classes below. A user's own records come through `records.own`, which makes the same classes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from shardlint.model import Safety, Severity

PLACEHOLDERS = frozenset({"consumer", "devices", "outcome", "target", "removed"})
"""The names that a rule's message and its fixes' titles may hold in braces."""

FROZEN_NAME = "frozen.json"
PAGES_NAME = "pages"
_HERE = Path(__file__).parent
_FORMAT = 2


class CatalogueError(Exception):
    """The frozen catalogue cannot be used. The text is one sentence that says what to run."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What one run of a rule's example showed. Written by `shardlint records verify` alone.

    `kind` is a kind of FACTS (raises, silent-copy, ...), `fixed` the titles of the fixes whose result was run and gave
    equal values.
    """

    platform: str
    jax: str
    consumer: str
    consumer_version: str
    kind: str
    exception: str | None
    message: str | None
    fixed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FixSpec:
    """One `[[fix]]` table of a rule: `example` is a before/after text in the notation of the records' `exampleFix`."""

    title: str
    safety: Safety
    example: str
    when: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Match:
    """Which hand-offs a rule looks at: by protocol and direction, and by canonical name. Without a protocol the names are those of
    removed APIs; `timeline` means all names that have this fate on a version and that no rule names.
    """

    protocols: tuple[str, ...]
    direction: str | None
    names: tuple[str, ...]
    timeline: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One folder of `records/`, or one record of a user's own (`shipped` is false then, and `page` is made from it).

    `jax` is a PEP 440 specifier: the versions on which the rule holds ("" for all). `when` is the condition, a table in the
    vocabulary of `rules.conditions`. `message` and the titles of `fixes` are `str.format` templates over `PLACEHOLDERS`.
    `record` holds the record's fields under the dataset's own names (`errorClass`, `githubUrl`, ...). `check` names a
    function of `rules.checks`; only shipped rules may have one. An `opt_in` rule runs only where it is selected by name or
    family. `outcome` tells by kind of observation, as a clause, what happens where nothing is raised; general words stand for
    the others. A user's record of an error that a shipped rule finds is `covered_by` that one; `differences` are sentences about
    what the two tell in other ways.
    """

    name: str
    summary: str
    family: str
    jax: str
    severity: Severity
    possible: Severity
    severity_by: Mapping[str, Severity]
    jax_by: Mapping[str, str]
    message: str
    match: Match
    when: Mapping[str, Any]
    handled_by: tuple[str, ...]
    tags: tuple[str, ...]
    fixes: tuple[FixSpec, ...]
    record: Mapping[str, Any]
    page: str
    observed: tuple[Observation, ...]
    shipped: bool = True
    check: str | None = None
    opt_in: bool = False
    outcome: Mapping[str, str] = field(default_factory=dict[str, str])
    covered_by: str | None = None
    differences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All rules in force, by name, and the JAX versions (ascending) on which the catalogue was verified.

    `docs_url` is where the pages of the shipped rules are published, with `{rule}` for the name; if None, they are those on disk.
    """

    rules: Mapping[str, Rule]
    jax_versions: tuple[str, ...]
    docs_url: str | None = None

    @property
    def opt_in(self) -> frozenset[str]:
        """The names of the rules that run only where somebody asks for them."""
        return frozenset(name for name, rule in self.rules.items() if rule.opt_in)


@cache
def load() -> Catalogue:
    """The catalogue that the build froze, with the rules that have no folder. Raises `CatalogueError` where there is none, or none
    of this version.
    """
    from shardlint.records.checks import CHECKS  # not at the top: they are made of the classes of this module

    frozen = read(_HERE / FROZEN_NAME)
    return replace(frozen, rules={**frozen.rules, **CHECKS})


def read(frozen: Path) -> Catalogue:
    """The catalogue in a file that `encode` made. Raises `CatalogueError` for a file that is missing or is no such file."""
    try:
        data = json.loads(frozen.read_bytes())
        if data["format"] != _FORMAT:
            raise CatalogueError(_advice(frozen, "was written by another version of shardlint"))
        rules = {rule["name"]: _rule(rule) for rule in data["rules"]}
        return Catalogue(rules, tuple(data["jax_versions"]))
    except OSError as error:
        raise CatalogueError(_advice(frozen, f"cannot be read ({error.strerror})")) from error
    except (ValueError, KeyError, TypeError) as error:
        raise CatalogueError(_advice(frozen, "is damaged")) from error


def encode(catalogue: Catalogue) -> str:
    """The catalogue as JSON text that `read` understands; the same catalogue gives the same text."""
    rules = [asdict(catalogue.rules[name]) for name in sorted(catalogue.rules)]
    data = {"format": _FORMAT, "jax_versions": catalogue.jax_versions, "rules": rules}
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def page_path(rule_name: str) -> Path:
    """Where the page of a shipped rule lies. There is none for a rule of a user's own."""
    return _HERE / PAGES_NAME / f"{rule_name}.md"


def observation_for(
    rule: Rule, consumer: str, target_versions: Sequence[str], platform: str | None = None
) -> Observation | None:
    """What was seen of `consumer` under the JAX version nearest to the target's, or None if it was never run.

    A run under one of `target_versions` (PEP 440) comes first, the newest before older ones. Else it is the newest run under
    an older version, else the oldest under a newer one; both only where the rule holds, as a run under a version that it does
    not speak of proves nothing. Under one JAX version the newest version of the consumer counts. `platform` restricts the
    runs to those on it.
    """
    runs = [
        run
        for run in rule.observed
        if run.consumer == consumer and platform in (None, run.platform) and _version(run.jax) is not None
    ]
    targets = sorted(version for text in target_versions if (version := _version(text)) is not None)
    for target in reversed(targets):
        exact = [run for run in runs if _version(run.jax) == target]
        if exact:
            return _newest(exact)
    if not targets:
        return None
    holds = SpecifierSet(rule.jax_by.get(consumer, rule.jax), prereleases=True)
    admitted = [run for run in runs if holds.contains(run.jax)]
    older = [run for run in admitted if Version(run.jax) < targets[-1]]
    if older:
        return _newest(older)
    first = min((Version(run.jax) for run in admitted), default=None)
    return _newest(run for run in admitted if Version(run.jax) == first)


def _newest(runs: Iterable[Observation]) -> Observation | None:
    lowest = Version("0.dev0")
    return max(
        runs,
        key=lambda run: (
            Version(run.jax),
            _version(run.consumer_version) or lowest,
            run.consumer_version,
            run.platform,
        ),
        default=None,
    )


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None


def _rule(data: Mapping[str, Any]) -> Rule:
    match = data["match"]
    fields: dict[str, Any] = {
        **data,
        "severity": Severity(data["severity"]),
        "possible": Severity(data["possible"]),
        "severity_by": {name: Severity(level) for name, level in data["severity_by"].items()},
        "match": Match(tuple(match["protocols"]), match["direction"], tuple(match["names"]), match["timeline"]),
        "handled_by": tuple(data["handled_by"]),
        "tags": tuple(data["tags"]),
        "differences": tuple(data["differences"]),
        "fixes": tuple(_fix(fix) for fix in data["fixes"]),
        "observed": tuple(_observation(observation) for observation in data["observed"]),
    }
    return Rule(**fields)


def _fix(data: Mapping[str, Any]) -> FixSpec:
    fields: dict[str, Any] = {**data, "safety": Safety(data["safety"])}
    return FixSpec(**fields)


def _observation(data: Mapping[str, Any]) -> Observation:
    fields: dict[str, Any] = {**data, "fixed": tuple(data["fixed"])}
    return Observation(**fields)


def _advice(frozen: Path, what: str) -> str:
    return (
        f"The rule catalogue {frozen} {what}: run `python -m shardlint.records.freeze` in a checkout of shardlint, "
        "or install shardlint again."
    )
