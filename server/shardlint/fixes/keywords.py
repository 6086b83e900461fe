"""Changing, adding and dropping keyword arguments of a call, with everything between the others left as it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from shardlint.fixes.surroundings import Surroundings
from shardlint.model import Edit
from shardlint.text import Span, Text

_COMMA = re.compile(r"\s*,[ \t]*")
_COMMENT = re.compile(r"(?:#[^\r\n]*)?(?=\r|\n|\Z)")


def changed_call(call: ast.Call, changes: Mapping[str, ast.expr | None]) -> ast.Call:
    """The call as it is to be: keywords of `changes` with their new values, without those that are None."""
    old = [keyword for keyword in call.keywords if changes.get(keyword.arg or "", keyword.value) is not None]
    kept = [ast.keyword(k.arg, changes.get(k.arg or "") or k.value) for k in old]
    given = {keyword.arg for keyword in call.keywords}
    new = [ast.keyword(name, value) for name, value in changes.items() if value is not None and name not in given]
    return ast.Call(call.func, call.args, [*kept, *new])


def edits(call: ast.Call, changes: Mapping[str, ast.expr | None], around: Surroundings) -> list[Edit]:
    """The edits that make `changed_call` of the text."""
    made: list[Edit] = []
    given = {keyword.arg: keyword for keyword in call.keywords}
    for name, value in changes.items():
        keyword = given.get(name)
        if value is not None and keyword is not None:
            made.append(Edit(around.span(keyword.value), ast.unparse(value)))
        elif value is not None:
            made.append(_added(call, f"{name}={ast.unparse(value)}", around))
        elif keyword is not None:
            made.append(Edit(_dropped(call, keyword, around), ""))
    return made


def _added(call: ast.Call, argument: str, around: Surroundings) -> Edit:
    """Behind the last argument; on a line of its own where the arguments have lines of their own."""
    text = around.tree.text
    close = around.span(call).end - 1
    arguments = _arguments(call)
    if not arguments:
        return Edit(Span(close, close), argument)
    line = text.line_of(close)
    last = max((around.span(part) for part in arguments), key=lambda span: span.end)
    comma = _COMMA.match(text.source, last.end)
    if comma and text.line_of(last.end) < line and not text.source[text.line_starts[line] : close].strip():
        above = text.line_text(text.line_of(last.start))
        indent = above[: len(above) - len(above.lstrip())]
        return Edit(Span(text.line_starts[line], text.line_starts[line]), f"{indent}{argument},{text.newline}")
    separator = " " if text.source[:close].rstrip().endswith(",") else ", "
    at = len(text.source[:close].rstrip())
    return Edit(Span(at, at), separator + argument)


def _dropped(call: ast.Call, keyword: ast.keyword, around: Surroundings) -> Span:
    """The keyword with its comma; the lines that it has to itself, with the comment on them."""
    text, span = around.tree.text, around.span(keyword)
    first = text.line_starts[text.line_of(span.start)]
    comma = _COMMA.match(text.source, span.end)
    end = comma.end() if comma else span.end
    comment = _COMMENT.match(text.source, end)
    if not text.source[first : span.start].strip() and comma and comment:
        return Span(first, _next_line(text, comment.end()))
    behind = [around.span(part).start for part in _arguments(call) if around.span(part).start > span.start]
    if behind:
        return Span(span.start, min(behind) if not text.source[end : min(behind)].strip() else end)
    start = around.span(call).start
    before = re.search(r"\s*,\s*\Z", text.source[start : span.start])
    return Span(start + before.start(), span.end) if before else Span(span.start, end)


def _next_line(text: Text, offset: int) -> int:
    line = text.line_of(offset)
    return text.line_starts[line + 1] if line + 1 < len(text.line_starts) else len(text.source)


def _arguments(call: ast.Call) -> list[ast.expr | ast.keyword]:
    return [*call.args, *call.keywords]
