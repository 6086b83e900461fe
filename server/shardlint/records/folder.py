"""One rule's folder, read and validated: the same for the shipped ones and for a user's own."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from packaging.version import Version

from shardlint.model import Problem
from shardlint.records.cases import CasesError, parse_cases
from shardlint.records.catalogue import FixSpec, Match, Observation, Rule
from shardlint.records.files import UnusableError, problem, read_json, read_text, read_toml
from shardlint.records.models import Envelope, ObservedFile, Record, RuleFile, ShippedRecord
from shardlint.records.page import record_page
from shardlint.records.wording import validated

RECORD = "record.json"
RULE = "rule.toml"
CASES = "cases.md"
OBSERVED = "observed.json"

_Part = TypeVar("_Part")
_Record = TypeVar("_Record", bound=Record)


def read_shipped(folder: Path) -> tuple[Rule | None, tuple[Problem, ...]]:
    """The rule of one folder of the project's own, named after it, or what is wrong with each of its four files."""
    reader = _Reader(folder)
    record = reader.part(RECORD, lambda path: record_in(read_json(path), ShippedRecord))
    rule = reader.part(RULE, read_rule_file)
    page = reader.part(CASES, _cases)
    observed = reader.part(OBSERVED, _observed)
    if record is None or rule is None or page is None or observed is None:
        return None, tuple(reader.problems)
    return reader.rule(folder.name, record, rule, page, observed, shipped=True)


def read_own_folder(folder: Path, name: str) -> tuple[Rule | None, tuple[Problem, ...]]:
    """The rule of a user's folder with a `record.json` and a `rule.toml`; the page and the observations may be left out.

    A rule that names a check function is refused: a record is data and never brings code.
    """
    reader = _Reader(folder)
    record = reader.part(RECORD, lambda path: record_in(read_json(path), Record))
    rule = reader.part(RULE, _rule_without_check)
    page = reader.part(CASES, read_text) if (folder / CASES).exists() else ""
    observed = reader.part(OBSERVED, _observed) if (folder / OBSERVED).exists() else ()
    if record is None or rule is None or page is None or observed is None:
        return None, tuple(reader.problems)
    return reader.rule(name, record, rule, page or record_page(record), observed, shipped=False)


def record_in(data: object, model: type[_Record]) -> _Record:
    """The record in a JSON value, bare or in the dataset's envelope. Raises `UnusableError`."""
    if not isinstance(data, dict):
        raise UnusableError("must be a JSON object: a record, or an envelope with a `record`")
    fields = cast("dict[str, object]", data)
    return validated(model, validated(Envelope, fields).record if "record" in fields else fields)


def rule_name(text: str) -> str:
    """`text` made to fit: lower-case letters, digits and single hyphens. Empty if there is neither letter nor digit."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def read_rule_file(path: Path) -> RuleFile:
    """A `rule.toml`. Raises `UnusableError`."""
    return validated(RuleFile, read_toml(path))


class _Reader:
    """The files of one folder, with what is wrong in them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[Problem] = []

    def part(self, name: str, read: Callable[[Path], _Part]) -> _Part | None:
        try:
            return read(self.folder / name)
        except UnusableError as reason:
            self.problems.append(problem(self.folder / name, reason))
            return None

    def rule(
        self,
        name: str,
        record: Record,
        rule: RuleFile,
        page: str,
        observed: tuple[Observation, ...],
        *,
        shipped: bool,
    ) -> tuple[Rule | None, tuple[Problem, ...]]:
        if rule.fix and rule.fix[0].example.strip() != record.example_fix.strip():
            clause = f"the first `[[fix]]` must have the `exampleFix` of {RECORD} as its `example`"
            return None, (problem(self.folder / RULE, clause),)
        return _rule(name, record, rule, page, observed, shipped=shipped), ()


def _rule(
    name: str, record: Record, rule: RuleFile, page: str, observed: tuple[Observation, ...], *, shipped: bool
) -> Rule:
    return Rule(
        name=name,
        summary=rule.summary,
        family=rule.family,
        jax=rule.jax,
        severity=rule.severity,
        possible=rule.possible,
        severity_by=rule.severity_by,
        jax_by=rule.jax_by,
        message=rule.message,
        match=Match(tuple(rule.match.protocol), rule.match.direction, tuple(rule.match.name), rule.match.timeline),
        when=_given(rule.when),
        handled_by=tuple(rule.handled_by),
        tags=tuple(rule.tags),
        fixes=tuple(FixSpec(fix.title, fix.safety, fix.example, _given(fix.when)) for fix in rule.fix),
        record=record.model_dump(by_alias=True),
        page=page,
        observed=observed,
        shipped=shipped,
        check=rule.check,
        opt_in=rule.opt_in,
        outcome={str(kind): clause for kind, clause in rule.outcome.items()},
    )


def _given(table: Any) -> dict[str, Any]:
    return table.model_dump(by_alias=True, exclude_none=True)


def _rule_without_check(path: Path) -> RuleFile:
    rule = read_rule_file(path)
    if rule.check is not None:
        raise UnusableError("`check` is for shipped rules only: a rule of your own is data and cannot name code")
    return rule


def _cases(path: Path) -> str:
    text = read_text(path)
    try:
        cases = parse_cases(text, str(path))
    except CasesError as error:
        raise UnusableError("line " + str(error).removeprefix(f"{path}:").removesuffix(".")) from error
    if not any(case.marks for case in cases):
        raise UnusableError("needs a case with a marked line, as the proof of the rule")
    return text


def _observed(path: Path) -> tuple[Observation, ...]:
    observations = (
        Observation(
            platform=entry.platform,
            jax=entry.jax,
            consumer=entry.consumer,
            consumer_version=entry.consumer_version,
            kind=entry.kind,
            exception=entry.exception,
            message=entry.message,
            fixed=tuple(entry.fixed),
        )
        for entry in validated(ObservedFile, read_json(path)).observations
    )
    return tuple(
        sorted(observations, key=lambda run: (run.platform, Version(run.jax), run.consumer, run.consumer_version))
    )
