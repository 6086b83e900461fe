"""A user's own records: files and folders that are named in the configuration, whatever is in them.

A file holds one record in JSON, bare or in the dataset's envelope. A folder holds such files, or is one rule
(`record.json` and `rule.toml`), or holds folders that are. Nothing here raises because of what a user's files hold.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from shardlint.model import Problem, Safety, Severity
from shardlint.records.catalogue import FixSpec, Match, Rule
from shardlint.records.files import UnusableError, one_line, problem, read_json
from shardlint.records.folder import RECORD, RULE, read_own_folder, record_in, rule_name
from shardlint.records.models import Record
from shardlint.records.page import record_page
from shardlint.records.template import TemplateError, compile_example

_SUFFIXES = (".json", ".txt")
_HOLE = re.compile(r"\{[^{}]*\}")


def load_own(paths: Sequence[Path], taken: Collection[str] = ()) -> tuple[tuple[Rule, ...], tuple[Problem, ...]]:
    """The rules in `paths`, and one problem for each file or folder that gave none; the others still count.

    `taken` are names that other rules have already, such as the shipped ones: a rule that would have one of them is called
    `own-<name>`. Of two rules of the same name among `paths` the first one counts and the other is a problem.
    """
    rules: dict[str, Rule] = {}
    places: dict[str, Path] = {}
    problems: list[Problem] = []
    for path in paths:
        for place, rule, found in _read(path, frozenset(taken)):
            problems += found
            if rule is None:
                continue
            if rule.name in rules:
                clause = f"is passed over, because {places[rule.name]} already gives a rule `{rule.name}`"
                problems.append(problem(place, clause))
                continue
            rules[rule.name] = rule
            places[rule.name] = place
    return tuple(rules.values()), tuple(problems)


_Found = tuple[Path, Rule | None, tuple[Problem, ...]]


def _read(path: Path, taken: frozenset[str]) -> Iterator[_Found]:
    try:
        if not path.is_dir():
            yield path, _from_file(path, taken), ()
        elif _holds(path, RULE):
            yield _from_folder(path, taken)
        else:
            yield from _inside(path, taken)
    except UnusableError as reason:
        yield path, None, (problem(path, reason),)
    except OSError as error:
        yield path, None, (problem(path, f"cannot be read: {error.strerror}"),)


def _inside(folder: Path, taken: frozenset[str]) -> Iterator[_Found]:
    """The records in a folder, and those in the folders in it; it is not searched any deeper."""
    files: list[Path] = []
    folders: list[Path] = []
    for entry in sorted(folder.iterdir()):
        if _holds(entry, RULE):
            folders.append(entry)
        elif _holds(entry, RECORD):
            files.append(entry / RECORD)
        elif entry.suffix.lower() in _SUFFIXES and not entry.name.startswith("."):
            files.append(entry)
    if not folders and not files:
        raise UnusableError(f"holds no record: neither a {' or '.join(_SUFFIXES)} file nor a folder with a {RECORD}")
    for entry in files:
        try:
            yield entry, _from_file(entry, taken), ()
        except UnusableError as reason:
            yield entry, None, (problem(entry, reason),)
    for entry in folders:
        yield _from_folder(entry, taken)


def _holds(folder: Path, name: str) -> bool:
    try:
        return (folder / name).is_file()
    except OSError:  # a folder that may not be entered
        return False


def _from_folder(folder: Path, taken: frozenset[str]) -> _Found:
    name = rule_name(folder.resolve().name)
    if not name:
        return folder, None, (problem(folder, "its name has no letter or digit, so the rule has no name"),)
    rule, problems = read_own_folder(folder, _free(name, taken))
    return folder, rule, problems


def _from_file(path: Path, taken: frozenset[str]) -> Rule:
    record = record_in(read_json(path), Record)
    name = rule_name(record.slug)
    if not name:
        raise UnusableError("`slug` has no letter or digit, so the rule has no name")
    return _rule(record, _free(name, taken))


def _free(name: str, taken: frozenset[str]) -> str:
    return f"own-{name}" if name in taken else name


def _rule(record: Record, name: str) -> Rule:
    """A record alone as a rule: nothing but its `exampleFix` says what to look for, so `match` and `when` are empty."""
    try:
        compile_example(record.example_fix)
    except TemplateError as reason:
        raise UnusableError(f"`exampleFix` cannot be made a repair: {reason}") from reason
    summary = one_line(_HOLE.sub("…", record.error_message))
    raised = one_line(f"{record.error_class}: {summary}" if record.error_class else summary)
    warning = raised.replace("{", "{{").replace("}", "}}")
    return Rule(
        name=name,
        summary=summary,
        family="",
        jax="",
        severity=Severity.INFORMATION,
        possible=Severity.INFORMATION,
        severity_by={},
        jax_by={},
        message=f"This is what the record `{name}` warns of: {warning}",
        match=Match((), None, ()),
        when={},
        handled_by=(),
        tags=(),
        fixes=(FixSpec(f"Change it as the record `{name}` shows", Safety.CHANGES_MEANING, record.example_fix, {}),),
        record=record.model_dump(by_alias=True),
        page=record_page(record),
        observed=(),
        shipped=False,
    )
