"""Sentences for people as Markdown that also reads well where it is shown raw, or as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_OPENING = {"(": ")", "[": "]", "{": "}"}
_NAME = re.compile(r"(?<![\w./])\*{0,2}[A-Za-z_]\w*")
_ATTRIBUTE = re.compile(r"\.[A-Za-z_]\w+|(?<=\w\w)\.[A-Za-z_]")
"""One of one letter only behind a longer name: `e.g.` is no code."""
_PLURAL = "(s)"
_WHOLE = re.compile(
    r"""
    `[^`]*`                                      # code already
    | <?https?://[^\s>]+>?                       # an address
    | "[^"\n]*"(?!\w) | (?<!\w)'[^'\s]*'(?!\w)   # a quotation; a single quote may be an apostrophe
    | <[A-Za-z/][^<>\n]*> | <[A-Za-z/]\S*        # what Markdown would take for HTML
    """,
    re.VERBOSE,
)
_EMPHASIS = re.compile(r"(?<![\w*])(?:\*{1,2}\w|_\w|\w+_(?!\w))|(?<=\w)\*+(?!\w)")
"""What Markdown would, or might, take for the mark of an emphasis."""
_EMPHATIC_WORD = re.compile(r"(?<![\w*])(?:\*{1,2}\w+|_\w+|\w+_(?!\w))")


@dataclass(frozen=True, slots=True)
class Markup:
    """How a text is written: as Markdown, or plain."""

    rich: bool

    def strong(self, text: str) -> str:
        return f"**{text}**" if self.rich else text

    def code(self, text: str) -> str:
        if not self.rich:
            return text
        return f"`` {text} ``" if "`" in text else f"`{text}`"

    def prose(self, text: str, literal: re.Pattern[str] | None = None) -> str:
        """A sentence that may speak of code: the code in it is marked as such, and what `literal` finds as one piece."""
        if not self.rich:
            return text
        if literal is not None and (found := literal.search(text)):
            return self.prose(text[: found.start()]) + self.code(found[0]) + self.prose(text[found.end() :])
        return "".join(self.code(part) if is_code else part for part, is_code in _parts(text))

    def link(self, text: str, url: str) -> str:
        return f"[{text}]({url})" if self.rich else f"{text}: {url}"


MARKDOWN = Markup(rich=True)
PLAIN = Markup(rich=False)


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """The text cut in pieces, and of each whether it is code that has to be marked."""
    told = at = 0
    while at < len(text):
        end, is_code = _piece(text, at)
        if is_code:
            yield text[told:at], False
            yield text[at:end], True
            told = end
        at = end
    yield text[told:], False


def _piece(text: str, at: int) -> tuple[int, bool]:
    """Where the piece that begins at an offset ends, and whether it is code that has to be marked."""
    if whole := _WHOLE.match(text, at):
        return whole.end(), _must_be_marked(whole[0])
    if name := _NAME.match(text, at):
        end = _expression_end(text, name.end())
        if end > name.end():
            return end, True
    if word := _EMPHATIC_WORD.match(text, at):
        return word.end(), True
    return (name.end() if name else at + 1), False


def _must_be_marked(whole: str) -> bool:
    if whole[0] in "\"'":  # a quotation stays as it is, or is code as a whole: marks inside would tear it apart
        return _EMPHASIS.search(whole) is not None or "<" in whole
    return whole[0] == "<" and not whole.startswith("<http")


def _expression_end(text: str, at: int) -> int:
    """Where the attributes, calls and items end that follow a name which ends at an offset."""
    while True:
        if attribute := _ATTRIBUTE.match(text, at):
            at = attribute.end()
        elif text[at : at + 1] in {"(", "["} and not text.startswith(_PLURAL, at) and (end := _closed(text, at)):
            at = end
        else:
            return at


def _closed(text: str, at: int) -> int | None:
    """The offset behind the bracket that closes the one at an offset, or None if it stays open."""
    awaited: list[str] = []
    quote = ""
    for index in range(at, len(text)):
        char = text[index]
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in _OPENING:
            awaited.append(_OPENING[char])
        elif awaited and char == awaited[-1]:
            awaited.pop()
            if not awaited:
                return index + 1
    return None
