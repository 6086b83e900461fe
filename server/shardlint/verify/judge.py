"""Whether a program did what its page claims: the answers of a run against the marks and settings of a case."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shardlint.records.cases import Case
from shardlint.verify.process import Answer, Raised


@dataclass(frozen=True, slots=True)
class Part:
    """A program of a case, its own or (with `fix`, the title in `rule.toml`) a fixed one, with the reason not to run it.

    `shown` is the title of the fix as the page shows it, `line` the 1-based line of `cases.md` on which the program begins.
    """

    case: Case
    shown: str | None
    fix: str | None
    source: str
    line: int
    skipped: str | None

    @property
    def marks(self) -> tuple[int, ...]:
        """The lines that must have their outcome, 1-based in the program."""
        return () if self.fix is not None else tuple(mark.line for mark in self.case.marks)

    def at(self, line: int) -> int:
        """The line of `cases.md` for one of the program; for 0, where none is known, the program's first."""
        return self.line + max(line, 1) - 1


@dataclass(frozen=True, slots=True)
class Expected:
    """What the record of the rule says that is raised: a class and a pattern for the message's first line."""

    exception: str | None
    message: str | None


def wrong(expected: Expected, part: Part, answer: Answer) -> str | None:
    """What differs from the page, as a sentence that begins with the line of `cases.md`; None if nothing does."""
    if part.fix is None and part.case.expect == "crash":
        return _wrong_crash(part, answer)
    if answer.died is not None:
        return f"{part.at(1)}: the process {answer.died} while it ran this program."
    if part.fix is None and part.case.expect == "late-error" and part.case.shows is None:
        return _wrong_later(expected, part, answer)
    raising = part.case.expect in ("raises", "wrong-guard") and part.case.shows is None
    return _wrong_lines(expected, part, part.marks if raising else (), answer) or _wrong_end(part, answer)


def seen(part: Part, answer: Answer) -> str:
    """What a program did that did what the page claims."""
    if answer.died is not None:
        return f"The process {answer.died}."
    raised = dict.fromkeys(str(one) for one in answer.raised if not one.lost)
    if raised:
        return f"It raised {'; '.join(raised)}"
    return f"`{part.case.shows}` was true." if part.fix is None and part.case.shows else "It ran to its end."


def told(answer: Answer) -> tuple[str | None, str | None]:
    """What can be kept of the outcome: the class of an exception and its message, or how the process ended."""
    if answer.died is not None or not answer.raised:
        return None, answer.died
    first = answer.raised[0]
    return first.exception, first.message


def _wrong_lines(expected: Expected, part: Part, marks: tuple[int, ...], answer: Answer) -> str | None:
    by_line = {raised.line: raised for raised in reversed(answer.raised)}
    for raised in answer.raised:
        if raised.line not in marks:
            but = f"`expect` is {part.case.expect}" if raised.line in part.marks else "this line is not marked"
            return f"{part.at(raised.line)}: {but}, but raised {raised}."
    for line in marks:
        if line not in by_line:
            return f"{part.at(line)}: this line is marked, but it raised nothing or was not reached."
        if reason := _other_exception(expected, part.case, by_line[line]):
            return f"{part.at(line)}: {reason}, but this line raised {by_line[line]}."
    return None


def _wrong_end(part: Part, answer: Answer) -> str | None:
    """What is not as told after the whole program ran."""
    if answer.mismatch:
        return f"{part.at(1)}: after the fix {answer.mismatch}."
    shows = part.case.shows
    if shows is None:
        return None
    if part.fix is None and not answer.shown:
        return f"{part.at(1)}: `{shows}` is not true after the program{_because(answer)}."
    if part.fix is not None and answer.shown is not False:
        still = "is still true" if answer.shown else "cannot be evaluated"
        return f"{part.at(1)}: after the fix `{shows}` {still}{_because(answer)}."
    return None


def _because(answer: Answer) -> str:
    return f" ({answer.unshown})" if answer.unshown else ""


def _wrong_later(expected: Expected, part: Part, answer: Answer) -> str | None:
    """A late error comes from a line that is not marked."""
    if not answer.raised:
        return f"{part.at(1)}: `expect` is late-error, but nothing was raised."
    for raised in answer.raised:
        if raised.line in part.marks:
            return f"{part.at(raised.line)}: this line should let a later one fail, but raised {raised} itself."
        if reason := _other_exception(expected, part.case, raised):
            return f"{part.at(raised.line)}: {reason}, but this line raised {raised}."
    return None


def _wrong_crash(part: Part, answer: Answer) -> str | None:
    if answer.died is None:
        return f"{part.at(1)}: the interpreter should go down, but did not."
    if not answer.in_time:
        return f"{part.at(1)}: the interpreter should go down, but the process {answer.died}."
    if answer.died_at and not set(answer.died_at) & set(part.marks):
        return f"{part.at(answer.died_at[0])}: this line is not marked, but the process {answer.died} on it."
    return None


def _other_exception(expected: Expected, case: Case, raised: Raised) -> str | None:
    if raised.lost:
        return None
    exception = case.exception or expected.exception
    if exception is not None and exception not in raised.kinds:
        return f"expected {exception}"
    pattern = case.message or (expected.message if exception == expected.exception else None)
    if pattern is not None and not re.search(pattern, raised.message):
        return f"expected a message that matches {pattern!r}"
    return None
