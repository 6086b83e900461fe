"""`cases.md` as its readers want it: without the settings of the proof, and with the title of each repair in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from shardlint.records.cases import parse_cases

_FENCE = re.compile(r"^(`{3,})\s*(.*?)\s*$")
_HEADING = re.compile(r"^#{1,6}\s")
_FIX = re.compile(r'^python\s+fix="([^"]+)"$')
_TARGET = re.compile(r'^jax\s*=\s*"([^"]+)"', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CasesPage:
    """The parts of a `cases.md` as Markdown without blank lines around: what stands before its first program's heading, without
    the title, and the sections that follow, their headings one level deeper.
    """

    introduction: str
    examples: str


def cases_page(text: str) -> CasesPage:
    """The two parts of a valid `cases.md`; either may be empty."""
    introduction: list[str] = []
    examples: list[str] = []
    part = introduction
    for piece in _pieces(text):
        if _HEADING.match(piece):
            if piece.startswith("# "):
                continue
            part = examples
            piece = f"#{piece}"
        part.append(piece)
    return CasesPage("\n\n".join(introduction), "\n\n".join(examples))


def values_shown(text: str, title: str) -> tuple[str, ...]:
    """What the data must equal that a repair of this title hands over, as the cases of a valid `cases.md` say it: expressions
    over `np`. `title` may hold placeholders in braces.
    """
    shown = re.compile(".+".join(map(re.escape, re.split(r"\{\w+\}", title))))
    values = (
        case.value
        for case in parse_cases(text, "cases.md")
        if case.value and any(shown.fullmatch(fix.title) for fix in case.fixes)
    )
    return tuple(dict.fromkeys(values))


def _pieces(text: str) -> Iterator[str]:
    """The headings, paragraphs and blocks to show, one by one."""
    lines = iter(text.splitlines())
    paragraph: list[str] = []
    for line in lines:
        fence = _FENCE.match(line)
        if line.strip() and fence is None and not _HEADING.match(line):
            paragraph.append(line)
            continue
        if paragraph:
            yield "\n".join(paragraph)
            paragraph = []
        if fence:
            yield from _block(fence, list(_inside(lines, fence[1])))
        elif line.strip():
            yield line
    if paragraph:
        yield "\n".join(paragraph)


def _block(fence: re.Match[str], body: list[str]) -> Iterator[str]:
    """A block with what leads to it; of settings only what a reader must know."""
    if fence[2] == "toml":
        if target := _TARGET.search("\n".join(body)):
            yield f"Checked for JAX {target[1]}:"
        return
    if fix := _FIX.match(fence[2]):
        yield f"After *{fix[1]}*:"
    yield "\n".join((f"{fence[1]}{fence[2].partition(' ')[0]}", *body, fence[1]))


def _inside(lines: Iterator[str], fence: str) -> Iterator[str]:
    """The lines of a block, up to the fence that ends it."""
    for line in lines:
        end = _FENCE.match(line)
        if end and not end[2] and len(end[1]) >= len(fence):
            return
        yield line
