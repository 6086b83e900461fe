"""Parsing one chunk whatever its state.

First `ast`. If that fails, tree-sitter, which knows newer grammar than the Python that runs us: no error there means that
the chunk is fine and merely new, or wrong only in what does not keep it from being read. A chunk that is truly broken is
read again by `ast` with its faulty lines taken out, one by one; only if that leads nowhere, tree-sitter's tree is used
without its error nodes.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

from shardlint.syntax import tolerant
from shardlint.text import Span, Text

_MOST_LINES_TAKEN_OUT = 24
_NEVER_FORGIVEN = re.compile(
    "expected 'except' or 'finally' block|positional argument follows|non-default argument follows"
    "|parameter without a default follows|leading zeros"
)
_EMPTY_BLOCK = re.compile(r"expected an indented block after .* on line (\d+)")


@dataclass(frozen=True, slots=True)
class Parsed:
    """The statements of a chunk, and the spans (code points in the chunk) that had to be left out."""

    body: tuple[ast.stmt, ...]
    broken: tuple[Span, ...] = ()


def parse_chunk(text: Text) -> Parsed:
    """The statements of `text`; never fails."""
    body = _parse(text.source)
    if not isinstance(body, SyntaxError):
        return Parsed(body)
    newer = tolerant.parse(text)
    if newer is not None and not newer.broken:
        return Parsed(newer.body, newer.read_past or _surely_wrong(text, body))
    mended = _without_faulty_lines(text, body)
    if mended is not None:
        return mended
    if newer is not None:
        return Parsed(newer.body, newer.broken)
    return Parsed((), (Span(0, len(text.source)),))


def _parse(source: str) -> tuple[ast.stmt, ...] | SyntaxError:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in the user's strings are not our business
            return tuple(ast.parse(source).body)
    except SyntaxError as error:
        return error
    except ValueError as error:  # NUL bytes (before Python 3.12)
        return SyntaxError(str(error))
    except (RecursionError, MemoryError):  # nesting that the parser refuses
        return SyntaxError("nested too deeply")


def _without_faulty_lines(text: Text, error: SyntaxError) -> Parsed | None:
    lines = [text.source[start:end] for start, end in _line_ranges(text)]
    broken: list[Span] = []
    touched: set[tuple[int, str]] = set()
    for _ in range(min(_MOST_LINES_TAKEN_OUT, len(lines) + 1)):
        mend = _mend(lines, error)
        if mend is None:
            return None
        line, new = mend
        if (line, new) in touched:
            return None
        touched.add((line, new))
        lines[line] = new
        broken.append(text.line_span(line))
        body = _parse("".join(lines))
        if not isinstance(body, SyntaxError):
            return Parsed(body, tuple(sorted(set(broken))))
        error = body
    return None


def _mend(lines: list[str], error: SyntaxError) -> tuple[int, str] | None:
    """The 0-based line to replace and its replacement, or None where the error names no line."""
    empty = _EMPTY_BLOCK.match(error.msg or "")
    if empty:
        line = int(empty.group(1)) - 1
        code, ending = _split_ending(lines[line])
        comment = code.find("#")
        head = code if comment < 0 else code[:comment]
        return line, head.rstrip() + " pass" + ending
    if error.lineno is None or not 1 <= error.lineno <= len(lines):
        return None
    line = error.lineno - 1
    while line > 0 and not lines[line].strip():
        line -= 1
    code, ending = _split_ending(lines[line])
    if error.msg == "expected ':'" and not code.rstrip().endswith(":"):
        return line, code.rstrip() + ":" + ending
    if code.strip() in ("pass", ""):
        return None
    indent = code[: len(code) - len(code.lstrip())]
    if (error.msg or "").startswith("unexpected indent"):
        return line, "#" + ending
    return line, indent + "pass" + ending


def _surely_wrong(text: Text, error: SyntaxError) -> tuple[Span, ...]:
    """The line of an error that no version of Python forgives, as tree-sitter does."""
    message = error.msg or ""
    if not isinstance(error, IndentationError) and _NEVER_FORGIVEN.match(message) is None:
        return ()
    empty = _EMPTY_BLOCK.match(message)
    line = min(int(empty.group(1)) if empty else error.lineno or 1, len(text.line_starts)) - 1
    while line > 0 and not text.line_text(line).strip():
        line -= 1
    return (text.line_span(line),)


def _line_ranges(text: Text) -> list[tuple[int, int]]:
    starts = text.line_starts
    return list(zip(starts, (*starts[1:], len(text.source)), strict=True))


def _split_ending(line: str) -> tuple[str, str]:
    code = line.rstrip("\r\n")
    return code, line[len(code) :]
