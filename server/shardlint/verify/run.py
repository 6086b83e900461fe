"""Proves the shipped rules on real JAX: runs the programs of their `cases.md` and says which do what the page claims.

This is the one place of shardlint that runs code. The programs are the project's own, they lie in `records/`, and they run
in processes of their own (`child`) on the Python that is asked for; a user's workspace is never run or imported.
Nothing here imports JAX or pydantic.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet

from shardlint.records.cases import Case, CasesError, parse_cases
from shardlint.records.catalogue import Observation
from shardlint.records.files import UnusableError, read_json, read_text, read_toml
from shardlint.records.observed import OBSERVED_NAME, RuleRun, differences, read_observations, write_observations
from shardlint.verify.group import run_together
from shardlint.verify.judge import Expected, Part, seen, told, wrong
from shardlint.verify.process import Answer, Installed, Job, VerifyError, probe, run_jobs

PLATFORM = "cpu"
"""The only platform that programs are run on: forced CPU devices."""

TIME_LIMIT = 300.0
"""Seconds that one process, which runs the programs of one rule one after another, may take."""


class Status(StrEnum):
    """What became of one program: it did what the page claims, it did something else, or it could not be run here."""

    OBSERVED = "observed"
    FAILED = "failed"
    NOT_OBSERVED = "not observed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one program of a rule's page.

    `line` is the 1-based line of the case's heading in `cases.md`. `fix` is the title shown over the fixed program, or None
    for the case's own program. `detail` is a sentence: what was seen, what was expected and what happened instead, or why
    the program was not run.
    """

    rule: str
    case: str
    line: int
    fix: str | None
    status: Status
    detail: str


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """One run on one Python: the JAX version found there, every outcome in page order, and by rule what can be kept."""

    jax: str
    outcomes: tuple[Outcome, ...]
    runs: Mapping[str, RuleRun]

    @property
    def failed(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.status is Status.FAILED)


@dataclass(frozen=True, slots=True)
class _Rule:
    name: str
    page: str
    jax: SpecifierSet
    titles: tuple[str, ...]
    exception: str | None
    message: str | None
    cases: tuple[Case, ...]


def verify(
    rules_dir: Path,
    names: Sequence[str],
    python: Path | None,
    progress: Callable[[str, int, int], None],
    limit: float = TIME_LIMIT,
) -> VerifyReport:
    """Run the cases of the rules called `names` (of all rules in `rules_dir`, if none) on `python` (this one, if None).

    `progress` is told the rule that comes next, how many are done and how many there are. `limit` is in seconds and for one
    process. Raises `VerifyError` with one sentence if a rule's files or the Python cannot be used; a program that does
    not do what the page claims is an outcome, not an error.
    """
    rules = [_read_rule(folder) for folder in _folders(rules_dir, names)]
    interpreter = Path(sys.executable) if python is None else python
    installed = probe(interpreter, sorted(_modules(rules)))
    outcomes: list[Outcome] = []
    runs: dict[str, RuleRun] = {}
    for done, rule in enumerate(rules):
        progress(rule.name, done, len(rules))
        parts = [part for case in rule.cases for part in _parts(rule, case, installed)]
        answers = _answers(interpreter, parts, limit)
        judged = [(part, _judge(rule, part, answers.get(index, ()))) for index, part in enumerate(parts)]
        outcomes += [outcome for _, outcome in judged]
        consumers = frozenset(case.consumer for case in rule.cases if case.consumer)
        runs[rule.name] = RuleRun(PLATFORM, installed.jax, consumers, _observations(judged, answers, installed))
    return VerifyReport(installed.jax, tuple(outcomes), runs)


def packages_used(rules_dir: Path, names: Sequence[str]) -> tuple[str, ...]:
    """What the programs of these rules need beside JAX and NumPy, as pip takes it: in the versions that are installed here, so that
    what is seen can be compared. What is not installed here is left out. Raises `VerifyError`.
    """
    rules = [_read_rule(folder) for folder in _folders(rules_dir, names)]
    installed = packages_distributions()
    named = {installed[module][0] for module in _modules(rules) - {"jax", "jaxlib", "numpy"} if module in installed}
    return tuple(f"{name}=={version(name).partition('+')[0]}" for name in sorted(named))


def write_observed(rules_dir: Path, report: VerifyReport) -> tuple[Path, ...]:
    """Bring every verified rule's `observed.json` up to date. Returns the files that changed.

    A rule with a failed program is left as it is. Raises `VerifyError` for a file that cannot be used.
    """
    failed = {outcome.rule for outcome in report.failed}
    changed: list[Path] = []
    for name, run in report.runs.items():
        path = rules_dir / name / OBSERVED_NAME
        try:
            if name not in failed and write_observations(path.parent, run):
                changed.append(path)
        except UnusableError as error:
            raise VerifyError(f"{path}: {error}.") from None
    return tuple(changed)


def compare_observed(rules_dir: Path, report: VerifyReport) -> tuple[str, ...]:
    """One sentence for each difference between the rules' `observed.json` and the run; none where they agree."""
    sentences: list[str] = []
    for name, run in report.runs.items():
        path = rules_dir / name / OBSERVED_NAME
        try:
            sentences += [f"{path}: {clause}." for clause in differences(read_observations(path.parent), run)]
        except UnusableError as error:
            raise VerifyError(f"{path}: {error}.") from None
    return tuple(sentences)


def _folders(rules_dir: Path, names: Sequence[str]) -> list[Path]:
    known = sorted(path.parent for path in rules_dir.glob("*/rule.toml"))
    if not known:
        raise VerifyError(f"{rules_dir} holds no rules: expected folders with a rule.toml.")
    by_name = {folder.name: folder for folder in known}
    for name in names:
        if name not in by_name:
            raise VerifyError(f"There is no rule called {name} in {rules_dir}; there are {', '.join(by_name)}.")
    return [by_name[name] for name in names] if names else known


def _read_rule(folder: Path) -> _Rule:
    path = folder
    try:
        path = folder / "rule.toml"
        table = read_toml(path)
        jax, titles = SpecifierSet(table["jax"]), tuple(fix["title"] for fix in table.get("fix", ()))
        path = folder / "record.json"
        record: Mapping[str, Any] = read_json(path)
        record = record.get("record", record)
        path = folder / "cases.md"
        cases = parse_cases(read_text(path), str(path))
    except CasesError as error:
        raise VerifyError(str(error)) from None
    except UnusableError as error:
        raise VerifyError(f"{path}: {error}.") from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise VerifyError(f"{path} is no such file as the catalogue takes: {error}.") from None
    return _Rule(folder.name, str(path), jax, titles, record.get("errorClass"), record.get("messagePattern"), cases)


def _modules(rules: Iterable[_Rule]) -> set[str]:
    """The importable names to ask for: what programs need and whose consumers' versions are kept."""
    named = {"jax", "numpy"}
    for case in (case for rule in rules for case in rule.cases):
        named.update(case.needs, case.fix_needs, [case.consumer] if case.consumer else [])
    return {name.partition(".")[0] for name in named} - {"cuda"}


def _parts(rule: _Rule, case: Case, installed: Installed) -> list[Part]:
    runs_on = rule.jax if case.runs_on is None else SpecifierSet(case.runs_on)
    skipped = _why_not(case, case.needs, runs_on, installed)
    parts = [Part(case, None, None, case.program, case.program_line, skipped)]
    skipped = skipped or _why_not(case, case.fix_needs, runs_on, installed)
    for fixed in case.fixes:
        title = next((title for title in rule.titles if _shows(title, fixed.title)), None)
        if title is None:
            raise VerifyError(f"{rule.page}:{fixed.line - 1}: rule.toml has no fix that is shown as {fixed.title!r}.")
        parts.append(Part(case, fixed.title, title, fixed.source, fixed.line, skipped))
    return parts


def _shows(title: str, shown: str) -> bool:
    """Whether `shown` is the title of `rule.toml` with its placeholders filled in."""
    return re.fullmatch(".+".join(map(re.escape, re.split(r"\{\w+\}", title))), shown) is not None


def _why_not(case: Case, needs: Iterable[str], runs_on: SpecifierSet, installed: Installed) -> str | None:
    if not runs_on.contains(installed.jax, prereleases=True):
        return f"it is for JAX {runs_on}, and this is JAX {installed.jax}"
    if case.platform != PLATFORM:
        return f"it needs the platform {case.platform}"
    for name in needs:
        if name == "cuda":
            return "it needs a CUDA device"
        if name.partition(".")[0] in installed.missing:
            return f"{name} is not installed"
    unseen = case.expect == "silent-copy" and case.shows is None
    return "running a program does not show whether data were copied" if unseen else None


def _answers(python: Path, parts: Sequence[Part], limit: float) -> dict[int, tuple[Answer, ...]]:
    """The answers to each part that can be run, one of each process that ran it."""
    together: dict[int, list[Job]] = {}
    answers: dict[int, tuple[Answer, ...]] = {}
    for index, part in enumerate(parts):
        if part.skipped is not None:
            continue
        case, fixed = part.case, part.fix is not None
        job = Job(
            index, part.source, part.marks, case.result if fixed else None, case.value if fixed else None, case.shows
        )
        if case.processes > 1:
            answers[index] = run_together(python, case.processes, case.devices, job, limit)
        elif case.expect == "crash" and not fixed:
            answers[index] = (run_jobs(python, case.devices, [job], limit)[index],)
        else:
            together.setdefault(case.devices, []).append(job)
    for devices, batch in together.items():
        answers |= {index: (answer,) for index, answer in run_jobs(python, devices, batch, limit).items()}
    return answers


def _judge(rule: _Rule, part: Part, answers: Sequence[Answer]) -> Outcome:
    if not answers:
        status, detail = Status.NOT_OBSERVED, f"Not run: {part.skipped}."
    else:
        expected = Expected(rule.exception, rule.message)
        faults = (fault for answer in answers if (fault := wrong(expected, part, answer)) is not None)
        fault = next(faults, None)
        status = Status.OBSERVED if fault is None else Status.FAILED
        detail = seen(part, answers[0]) if fault is None else f"{rule.page}:{fault}"
    return Outcome(rule.name, part.case.title, part.case.line, part.shown, status, detail)


def _observations(
    judged: Sequence[tuple[Part, Outcome]], answers: Mapping[int, Sequence[Answer]], installed: Installed
) -> tuple[Observation, ...]:
    """One observation a consumer: what the page's first observed case of it showed, and the fixes proven by any of them."""
    kept: dict[str, Observation] = {}
    for index, (part, outcome) in enumerate(judged):
        consumer = part.case.consumer
        if consumer is None or outcome.status is not Status.OBSERVED:
            continue
        if part.fix is None and part.case.marks and consumer not in kept:
            exception, message = told(answers[index][0])
            kept[consumer] = Observation(
                PLATFORM,
                installed.jax,
                consumer,
                installed.version_of(consumer),
                part.case.expect,
                exception,
                message,
                (),
            )
        elif part.fix is not None and consumer in kept and part.fix not in kept[consumer].fixed:
            kept[consumer] = replace(kept[consumer], fixed=(*kept[consumer].fixed, part.fix))
    return tuple(kept.values())
