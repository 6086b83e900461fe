"""Findings for a person at a terminal: what is wrong, the line, how it came to that, and what the repaired line looks like."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from shardlint.fixes.edits import edited
from shardlint.model import Edit, Finding, Fix, Location, Safety, Severity
from shardlint.report.entry import Entry, Sources, place
from shardlint.report.excerpt import cells, excerpt, harmless
from shardlint.report.paint import Paint, Role
from shardlint.text import Span, Text

_ROLES = {
    Severity.ERROR: Role.ERROR,
    Severity.WARNING: Role.WARNING,
    Severity.INFORMATION: Role.INFORMATION,
    Severity.OFF: Role.QUIET,
}
_SIGNS = {"+": Role.ADDED, "-": Role.REMOVED}
_MOST_STEPS = 8
_MOST_REPAIRED = 6
_WIDEST_PLACE = 30


@dataclass(frozen=True, slots=True)
class Look:
    """How it is written: `paint` gives a part its colour, `width` is the number of cells in a line, None for any number. With
    `unsafe` the best repair is the one that is made, whatever it costs.
    """

    paint: Paint
    width: int | None
    unsafe: bool = False

    @property
    def line_limit(self) -> int:
        """How many cells of a source line are shown."""
        return max(40, self.width - 8) if self.width else 160


def render(entries: Iterable[Entry], sources: Sources, look: Look) -> str:
    """One block a finding, each followed by an empty line."""
    return "".join(f"{line}\n" for entry in entries for line in (*_block(entry, sources, look), ""))


def _block(entry: Entry, sources: Sources, look: Look) -> Iterator[str]:
    finding, paint = entry.finding, look.paint
    severity = paint(str(finding.severity), _ROLES[finding.severity])
    yield f"{paint(harmless(place(sources, finding.location)), Role.RULE)}: {severity} {paint(finding.rule, Role.RULE)}"
    yield from _wrapped(harmless(finding.message), "  ", look)
    text = sources.get(finding.location.path)
    if text:
        yield ""
        yield from _marked(text, finding.location.span, _ROLES[finding.severity], look)
    if finding.steps:
        yield ""
        yield paint("  because", Role.QUIET)
        yield from _steps(finding, sources, look)
    if entry.fixes:
        yield ""
    applied = entry.applied(unsafe=look.unsafe)
    for rank, fix in enumerate(entry.fixes):
        flags = "--fix" if fix.safety is Safety.SAFE else "--fix --unsafe-fixes"
        by = flags if fix is applied else "by hand"
        yield f"  {paint('repair', Role.GOOD)} {paint(f'({by})', Role.QUIET)}: {harmless(fix.title)}"
        if text and rank == 0:
            yield from _preview(text, fix, look)


def _marked(text: Text, span: Span, role: Role, look: Look) -> Iterator[str]:
    shown = excerpt(text, span, look.line_limit)
    yield look.paint(f"{shown.line:>5} | ", Role.QUIET) + shown.text
    yield look.paint("      | ", Role.QUIET) + " " * shown.indent + look.paint("^" * shown.width, role)


def _steps(finding: Finding, sources: Sources, look: Look) -> Iterator[str]:
    """Each step's place and text, and below its source line, if that is not the one shown last."""
    steps = finding.steps
    places = [harmless(place(sources, step.location)) for step in steps]
    column = max(map(cells, places))
    column = column if column <= _WIDEST_PLACE else 0
    half = _MOST_STEPS // 2
    last = _line(finding.location, sources)
    for number, (step, where) in enumerate(zip(steps, places, strict=True)):
        if len(steps) > _MOST_STEPS and number == half:
            yield look.paint(f"    ... {len(steps) - _MOST_STEPS} more steps", Role.QUIET)
        if len(steps) > _MOST_STEPS and half <= number < len(steps) - half:
            continue
        gap = " " * (column - cells(where))
        yield f"    {look.paint(where, Role.PLACE)}{gap}  {harmless(step.text)}"
        text, line = sources.get(step.location.path), _line(step.location, sources)
        if text and line != last:
            shown = excerpt(text, step.location.span, look.line_limit - column)
            yield " " * (column + 6) + look.paint(shown.text.strip(), Role.QUIET)
        last = line


def _line(location: Location, sources: Sources) -> tuple[str, int]:
    text = sources.get(location.path)
    return location.path, text.line_of(location.span.start) if text else 0


def _preview(text: Text, fix: Fix, look: Look) -> Iterator[str]:
    """The lines that the fix leaves where it edits, with the numbers that they will have, and those that it takes away."""
    lines = list(_repaired(text, fix.edits))
    for where, sign, line in lines[:_MOST_REPAIRED]:
        shown = excerpt(Text(line), Span(0, 0), look.line_limit)
        yield look.paint(f"{where:>5} {sign} ", Role.QUIET) + look.paint(shown.text, _SIGNS[sign])
    if len(lines) > _MOST_REPAIRED:
        yield look.paint(f"        ... {len(lines) - _MOST_REPAIRED} more lines", Role.QUIET)


def _repaired(text: Text, edits: Sequence[Edit]) -> Iterator[tuple[str, str, str]]:
    """The changed lines after all edits, each with its 1-based number, in its cell of a notebook, and a plus.

    Where they are fewer than before, what was there comes first, with the numbers that it had and a minus.
    """
    whole, moved = edited(text, edits), 0
    for group in _by_lines(text, edits):
        begin = text.line_span(text.line_of(group[0].span.start)).start
        end = text.line_span(text.line_of(group[-1].span.end)).end
        grown = sum(len(edit.text) - (edit.span.end - edit.span.start) for edit in group)
        old, new = Text(text.source[begin:end]), Text(whole.source[begin + moved : end + moved + grown])
        before, after = _lines(old), _lines(new)
        head = _common(before, after)
        tail = _common(before[head:][::-1], after[head:][::-1])
        if len(after) < len(before):
            for index in range(head, len(before) - tail):
                yield _number(text, begin + old.line_starts[index]), "-", before[index]
        for index in range(head, len(after) - tail):
            yield _number(whole, begin + moved + new.line_starts[index]), "+", after[index]
        moved += grown


def _number(text: Text, offset: int) -> str:
    cell, line, _ = text.place(offset)
    return f"{line + 1}" if cell is None else f"  cell {cell + 1}:{line + 1}"


def _lines(text: Text) -> list[str]:
    return [text.line_text(line) for line in range(len(text.line_starts))]


def _by_lines(text: Text, edits: Sequence[Edit]) -> Iterator[list[Edit]]:
    """The edits in groups that share lines."""
    group: list[Edit] = []
    for edit in edits:
        if group and text.line_of(edit.span.start) > text.line_of(group[-1].span.end):
            yield group
            group = []
        group.append(edit)
    if group:
        yield group


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """How many items both begin with."""
    return next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def _wrapped(text: str, indent: str, look: Look) -> Iterator[str]:
    if look.width is None:
        yield indent + text
        return
    yield from textwrap.wrap(
        text,
        max(40, look.width),
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
