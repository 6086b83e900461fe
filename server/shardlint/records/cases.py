"""Reads `cases.md`: what a rule's page shows is also what proves the rule.

A heading opens a section. A section that holds a program is a case:

- optionally one block opened by three backticks and `toml`, with the keys of `_KEYS`, before the program;
- one block `python`: the whole program. A guilty line ends in `# error: [rule]`, `# warning: [rule]` or `# info: [rule]`;
  where the next line is a comment of `^^^` alone, the carets stand under the exact range;
- then any number of blocks `python fix="<the title as shown>"`: the whole program after that fix, without marks.

All else (prose, blocks of other languages) is for the reader alone. This module does no I/O.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from shardlint.model import Severity

SILENT = ("silent-copy", "silent-partial", "silent-wrong", "silent-dtype", "silent-device", "aliasing")
"""What goes wrong without a word: the program runs to its end, and `shows` tells that it happened."""

EXPECTATIONS = ("raises", *SILENT, "wrong-guard", "late-error", "crash", "none")
"""What a marked line may do when it is run. `none` is a program without marked lines, which runs to its end.

A `wrong-guard` lets pass what the marked line then raises on, and a `late-error` is raised by a line that is not marked; with
`shows` both run to their end. A `crash` takes the interpreter down.
"""

_FENCE = re.compile(r"^(`{3,})\s*(.*?)\s*$")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$")
_FIX = re.compile(r'^python\s+fix="([^"]+)"$')
_MARK = re.compile(r"[ \t]*#\s*(error|warning|info): \[([a-z0-9-]+)\][ \t]*$")
_LIKE_MARK = re.compile(r"#\s*(?:error|warning|info)\s*:?\s*\[")
_CARETS = re.compile(r"^([ \t]*#[ \t]*)(\^+)[ \t]*$")
_SEVERITIES = {"error": Severity.ERROR, "warning": Severity.WARNING, "info": Severity.INFORMATION}
_KEYS: dict[str, type] = {
    "expect": str,  # one of EXPECTATIONS; "raises" where lines are marked, else "none"
    "jax": str,  # the target of the check, a version; none given: the newest catalogued
    "runs-on": str,  # PEP 440: the JAX versions on which the program is run; none given: those of the rule
    "consumer": str,  # the dotted name under which the outcome is kept; none given: it is proven, but not kept
    "exception": str,  # the class that the marked lines raise, or a base of it; none given: the record's `errorClass`
    "message": str,  # a pattern for the message's first line; none given: the record's, for the record's class
    "result": str,  # an expression in the program's names that holds the data after each fix
    "value": str,  # an expression over `np` that it must equal, the dtype included
    "shows": str,  # an expression in the program's names, true after the program as it stands, and not after a fix
    "hazards": list,  # the ids in `ledger.toml` of what the case shows
    "needs": list,  # what must be importable to run the program; "cuda" is a CUDA device
    "fix-needs": list,  # what is needed besides to run the fixed program
    "devices": int,  # of each process
    "processes": int,  # how many run the program, as one `jax.distributed` job; the outcome must hold in every one
    "platform": str,
}


class CasesError(ValueError):
    """A `cases.md` breaks the format. The text is one sentence that begins with the file and the line (1-based)."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A line of a program that must have a finding.

    `line` is 1-based in the program. `columns` is the exact range within it, 0-based code points, half-open, or None where
    the page shows none.
    """

    line: int
    severity: Severity
    rule: str
    columns: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class FixedProgram:
    """The whole program after one fix. `line` is the 1-based line of `cases.md` on which its text begins."""

    title: str
    source: str
    line: int


@dataclass(frozen=True, slots=True)
class Case:
    """One program with all that the page says of it; see `_KEYS` for what its settings mean.

    `line` is the 1-based line of the heading in `cases.md`, `program_line` the one on which the program's text begins.
    """

    title: str
    line: int
    program: str
    program_line: int
    marks: tuple[Mark, ...]
    fixes: tuple[FixedProgram, ...]
    expect: str
    jax: str | None
    runs_on: str | None
    consumer: str | None
    exception: str | None
    message: str | None
    result: str | None
    value: str | None
    shows: str | None
    hazards: tuple[str, ...]
    needs: tuple[str, ...]
    fix_needs: tuple[str, ...]
    devices: int
    processes: int
    platform: str


@dataclass(frozen=True, slots=True)
class _Block:
    info: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class _Section:
    title: str
    line: int
    blocks: tuple[_Block, ...]


def parse_cases(text: str, path: str) -> tuple[Case, ...]:
    """The cases of one `cases.md` in their order. `path` is how messages name the file. Raises `CasesError`."""
    cases = tuple(case for section in _sections(text, path) if (case := _case(section, path)) is not None)
    titles = [case.title for case in cases]
    for index, case in enumerate(cases):
        if case.title in titles[:index]:
            raise _error(path, case.line, f"a second case is called {case.title!r}: give it a title of its own")
    return cases


def strip_marks(source: str) -> str:
    """The program without its marks: their comments are cut off, lines of carets under them left out."""
    lines: list[str] = []
    marked = False
    for line in source.splitlines():
        if marked and _CARETS.match(line):
            continue
        unmarked = _MARK.sub("", line)
        marked = unmarked != line
        lines.append(unmarked)
    return "".join(f"{line}\n" for line in lines)


def _sections(text: str, path: str) -> Iterator[_Section]:
    title, start = "", 1
    blocks: list[_Block] = []
    lines = iter(enumerate(text.splitlines(), 1))
    for number, line in lines:
        if fence := _FENCE.match(line):
            blocks.append(_read_block(lines, fence, number, path))
        elif heading := _HEADING.match(line):
            yield _Section(title, start, tuple(blocks))
            title, start, blocks = heading[1], number, []
    yield _Section(title, start, tuple(blocks))


def _read_block(lines: Iterator[tuple[int, str]], fence: re.Match[str], start: int, path: str) -> _Block:
    body: list[str] = []
    for _, line in lines:
        end = _FENCE.match(line)
        if end and not end[2] and len(end[1]) >= len(fence[1]):
            return _Block(fence[2], "".join(f"{one}\n" for one in body), start + 1)
        body.append(line)
    raise _error(path, start, "the block that begins here has no end")


def _case(section: _Section, path: str) -> Case | None:
    settings = [block for block in section.blocks if block.info == "toml"]
    programs = [block for block in section.blocks if block.info.split(" ", 1)[0] == "python"]
    if not programs:
        if settings:
            raise _error(path, settings[0].line - 1, "a toml block needs a python block after it")
        return None
    program, *fixed = programs
    if not section.title:
        raise _error(path, program.line - 1, "a program needs a heading before it")
    if program.info != "python":
        raise _error(
            path, program.line - 1, f"the first program of a case opens with `python`, not with `{program.info}`"
        )
    if len(settings) > 1 or (settings and settings[0].line > program.line):
        raise _error(path, settings[-1].line - 1, "a case has one toml block at most, before its program")
    table = _settings(settings[0], path) if settings else {}
    marks = tuple(_marks(program, path))
    case = Case(
        title=section.title,
        line=section.line,
        program=program.text,
        program_line=program.line,
        marks=marks,
        fixes=tuple(_fixed_program(block, path) for block in fixed),
        expect=table.get("expect", "raises" if marks else "none"),
        jax=table.get("jax"),
        runs_on=table.get("runs-on"),
        consumer=table.get("consumer"),
        exception=table.get("exception"),
        message=table.get("message"),
        result=table.get("result"),
        value=table.get("value"),
        shows=table.get("shows"),
        hazards=tuple(table.get("hazards", ())),
        needs=tuple(table.get("needs", ())),
        fix_needs=tuple(table.get("fix-needs", ())),
        devices=table.get("devices", 8),
        processes=table.get("processes", 1),
        platform=table.get("platform", "cpu"),
    )
    if reason := _contradiction(case):
        raise _error(path, case.line, reason)
    return case


def _settings(block: _Block, path: str) -> dict[str, Any]:
    at = block.line - 1
    try:
        table = tomllib.loads(block.text)
    except tomllib.TOMLDecodeError as error:
        raise _error(path, at, f"the toml block does not parse: {error}") from None
    for key, value in table.items():
        if key not in _KEYS:
            raise _error(path, at, f"unknown key `{key}` (known are {', '.join(sorted(_KEYS))})")
        kind = _KEYS[key]
        if type(value) is not kind or (
            kind is list and not all(isinstance(one, str) for one in cast("list[object]", value))
        ):
            wanted = {str: "a string", int: "a number", list: "a list of strings"}[kind]
            raise _error(path, at, f"`{key}` must be {wanted}")
    try:
        SpecifierSet(table.get("runs-on", ""))
        Version(table.get("jax", "0"))
        re.compile(table.get("message", ""))
        ast.parse(table.get("shows", "0"), mode="eval")
    except InvalidSpecifier:
        raise _error(path, at, "`runs-on` must be a version specifier such as '>=0.7.1'") from None
    except InvalidVersion:
        raise _error(path, at, "`jax` must be one version such as '0.10.2'") from None
    except SyntaxError:
        raise _error(path, at, "`shows` must be one Python expression") from None
    except re.error as error:
        raise _error(path, at, f"`message` must be a regular expression: {error}") from None
    return table


def _contradiction(case: Case) -> str | None:
    """What the parts of a case say against each other, as the rest of a sentence."""
    if case.expect not in EXPECTATIONS:
        return f"`expect` must be one of {', '.join(EXPECTATIONS)}"
    if case.expect == "none" and case.marks:
        return "`expect` is none, but lines are marked"
    if case.expect != "none" and not case.marks:
        return f"`expect` is {case.expect}, but no line is marked"
    if case.fixes and not case.marks:
        return "a fix is shown, but no line is marked"
    if (case.result is None) != (case.value is None):
        return "`result` and `value` go together"
    if case.fixes and case.result is None:
        return "a fix is shown: say with `result` and `value` what the fixed program must give"
    if case.shows is None and case.expect in SILENT and case.expect != "silent-copy":
        return f"`expect` is {case.expect}: say with `shows` how one sees it after the program"
    if case.shows is not None and case.expect in ("raises", "crash", "none"):
        return f"`shows` is for what does not raise, and `expect` is {case.expect}"
    if case.devices < 1 or case.processes < 1:
        return "`devices` and `processes` must be at least 1"
    return None


def _marks(program: _Block, path: str) -> Iterator[Mark]:
    previous: Mark | None = None
    lines = program.text.splitlines()
    for number, line in enumerate(lines, 1):
        at = program.line + number - 1
        if carets := _CARETS.match(line):
            columns = (len(carets[1]), len(carets[1]) + len(carets[2]))
            if previous is None or columns[1] > len(strip_marks(lines[number - 2]).rstrip()):
                raise _error(path, at, "these carets do not stand under a marked line")
            yield Mark(previous.line, previous.severity, previous.rule, columns)
            previous = None
            continue
        if previous is not None:
            yield previous
        previous = None
        if mark := _MARK.search(line):
            previous = Mark(number, _SEVERITIES[mark[1]], mark[2], None)
        elif _LIKE_MARK.search(line):
            raise _error(
                path, at, "a mark is `# error: [rule]`, `# warning: [rule]` or `# info: [rule]` at the line's end"
            )
    if previous is not None:
        yield previous


def _fixed_program(block: _Block, path: str) -> FixedProgram:
    title = _FIX.match(block.info)
    if title is None:
        raise _error(path, block.line - 1, 'a further program of a case opens with `python fix="<title>"`')
    if strip_marks(block.text) != block.text:
        raise _error(path, block.line, "a fixed program has no marks")
    return FixedProgram(title[1], block.text, block.line)


def _error(path: str, line: int, reason: str) -> CasesError:
    return CasesError(f"{path}:{line}: {reason}.")
