"""Writing an expression in the place of another: holes keep their text, comments stay, brackets come where they may be needed.

Which of the ways to write it is right, is not decided here: see `intent`.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from shardlint.fixes.surroundings import Surroundings
from shardlint.model import Edit
from shardlint.text import Span

_LEXEME = re.compile(
    r"""(?P<string>"{3}.*?"{3} | '{3}.*?'{3} | "(?:\\.|[^"\\\r\n])*" | '(?:\\.|[^'\\\r\n])*') | (?P<comment>\#[^\r\n]*)""",
    re.VERBOSE | re.DOTALL,
)
_MARK = "__hole_{}__"

Spell = Callable[[ast.expr], ast.expr | None]


class Filler(ast.NodeTransformer):
    """Puts expressions in the place of names, and writes library names as a function that knows the program spells them."""

    def __init__(self, names: Mapping[str, ast.expr], spell: Spell) -> None:
        self._names = names
        self._spell = spell

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in self._names:
            return self._names[node.id]
        return self._spell(node) or node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return self._spell(node) or self.generic_visit(node)


def filled(expression: ast.expr, names: Mapping[str, ast.expr], spell: Spell) -> ast.expr:
    """A copy of an example's expression with the program's expressions and spellings in it."""
    made: ast.expr = Filler(names, spell).visit(copy.deepcopy(expression))
    return made


def pieces(
    expression: ast.expr, holes: Mapping[str, ast.expr], names: Mapping[str, ast.expr], spell: Spell
) -> tuple[list[str], list[str]]:
    """The text of an example's expression cut at its holes, and the holes between the parts. `names` are no holes."""
    number = 0
    while any(_MARK.format(f"{number}{name}") in ast.unparse(expression) for name in holes):
        number += 1
    marks = {_MARK.format(f"{number}{name}"): name for name in holes}
    marked = {name: ast.Name(mark, ast.Load()) for mark, name in marks.items()}
    text = ast.unparse(filled(expression, {**names, **marked}, spell))
    parts = re.split("|".join(rf"\b({re.escape(mark)})\b" for mark in marks), text) if marks else [text]
    kept = [part for part in parts if part is not None]
    return kept[::2], [marks[mark] for mark in kept[1::2]]


def ways(
    node: ast.expr, parts: list[str], order: list[str], holes: Mapping[str, ast.expr], around: Surroundings
) -> Iterator[list[Edit]]:
    """The ways to write the pieces in the place of `node`, the plainest first."""
    found = _anew(node, parts, order, holes, around)
    if len(order) == 1:
        bound, whole = around.span(holes[order[0]]), around.span(node)
        if whole.start <= bound.start and bound.end <= whole.end:
            found = _in_place(whole, bound, parts, around)
    for edits in found:
        fitting = in_strings(edits, around)
        if fitting is not None:
            yield fitting


def _in_place(whole: Span, bound: Span, parts: list[str], around: Surroundings) -> Iterator[list[Edit]]:
    """Around the only hole, whose text is not touched. Comments between it and the ends of `node` stay."""
    text = around.tree.text
    ahead = _comments(text.source[whole.start : bound.start])
    behind = _comments(text.source[bound.end : whole.end])
    line = text.line_of(whole.start)
    if not text.source[text.line_starts[line] : whole.start].strip():
        ahead = ahead.lstrip(" \t")
    for left, right in (("", ""), ("(", ")")):
        for first, last in (("", ""), ("(", ")")):
            edits = [
                Edit(Span(whole.start, bound.start), first + ahead + parts[0] + left),
                Edit(Span(bound.end, whole.end), right + parts[1] + behind + last),
            ]
            yield [edit for edit in edits if edit.text or edit.span.start < edit.span.end]


def _anew(
    node: ast.expr, parts: list[str], order: list[str], holes: Mapping[str, ast.expr], around: Surroundings
) -> Iterator[list[Edit]]:
    """All of it, with the text of the holes put in. A comment outside of them would be lost, so there may be none."""
    whole = around.span(node)
    text = around.tree.text.source
    edges = sorted((around.span(holes[name]) for name in holes), key=lambda span: span.start)
    gaps = zip([whole.start, *(span.end for span in edges)], [*(span.start for span in edges), whole.end], strict=True)
    if any(_comments(text[start:end]) for start, end in gaps):
        return
    for brackets in (False, True):
        written = joined(parts, order, holes, around, brackets=brackets)
        yield [Edit(whole, written)]
        yield [Edit(whole, f"({written})")]


def joined(
    parts: list[str], order: list[str], holes: Mapping[str, ast.expr], around: Surroundings, *, brackets: bool = False
) -> str:
    """The pieces as one text, with the holes' own text between them."""
    written = parts[0]
    for name, part in zip(order, parts[1:], strict=True):
        source = around.source(holes[name])
        written += (f"({source})" if brackets and not isinstance(holes[name], ast.Name) else source) + part
    return written


def in_strings(edits: list[Edit], around: Surroundings) -> list[Edit] | None:
    """The edits, with other quotes where they stand in an f-string that has the same ones; None where that does not help.

    Before Python 3.12 the expressions in an f-string cannot hold its quotes, a backslash, a comment or (in some) a line end.
    """
    strings = [around.source(part) for part in around.path if isinstance(part, ast.JoinedStr)]
    if not strings:
        return edits
    taken = {quote for quote in "\"'" if any(quote in text for text in strings)}
    made: list[Edit] = []
    for edit in edits:
        used = {char for char in edit.text if char in "\"'"}
        if any(char in edit.text for char in "\\#\r\n") or len(used) > 1 or (used and len(taken) > 1):
            return None
        other = edit.text.translate(str.maketrans("\"'", "'\"")) if used & taken else edit.text
        made.append(replace(edit, text=other))
    return made


def _comments(text: str) -> str:
    """What is left of a text when all but its comments go: each with its line end and the indentation behind it."""
    kept = ""
    for match in _LEXEME.finditer(text):
        if match.lastgroup == "comment":
            behind = re.match(r"[ \t]*(?:\r\n|\r|\n)[ \t]*", text[match.end() :])
            kept += "  " + match.group() + (behind.group() if behind else "")
    return kept
