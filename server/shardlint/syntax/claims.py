"""What comments claim of where values live: the grammar, and which part of the program each claim speaks of.

    # shardlint: placement=WORD
    # shardlint: placement(NAME)=WORD, placement(return)=WORD

WORD is one of `model.PLACEMENT_WORDS`. A comment speaks of the line on which it stands, one that stands alone of the next line of code. Without a
NAME it speaks of the only parameter on the line; on the line with the colon of a `def`, and above the whole of it, of what the
function returns; and of the only variable that an assignment, a `for` or a `with` on the line binds. A NAME is a parameter of the
function whose header the line belongs to, `return`, or a variable that is bound on the line, as the program spells it.
"""

from __future__ import annotations

import ast
import difflib
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from shardlint.model import PLACEMENT_WORDS
from shardlint.syntax.comments import Comment, comments
from shardlint.syntax.headers import Lines, header
from shardlint.syntax.scopes import parameters
from shardlint.syntax.tree import Chunk, Tree
from shardlint.text import Span

_KEY = "placement"
_ITEM = re.compile(r"(?P<key>[\w-]+)\s*(?:\((?P<name>[^()]*)\))?\s*=\s*(?P<word>[^\s,]*)")
_LIKE_ITEM = re.compile(r"([\w-]+)\s*[=(]")
RETURN = "return"
_NOTHING = "there is no parameter, no assignment and no end of a `def` on its line."

Function = ast.FunctionDef | ast.AsyncFunctionDef
Claimed = ast.arg | ast.FunctionDef | ast.AsyncFunctionDef | ast.expr
"""A parameter, a function for what it returns, or the target of an assignment."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a person says of a value. `word` is one of `model.PLACEMENT_WORDS`, `by` tells in words where it is said, and `span` is the comment
    in the text that says it (None: it is said elsewhere).
    """

    word: str
    by: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Misread:
    """A comment that claims nothing, and a sentence that says why."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a text by the node that each speaks of, the functions in which those stand, and the comments that could not be
    understood.
    """

    by_node: Mapping[Claimed, Claim]
    functions: frozenset[Function] = frozenset()
    misread: tuple[Misread, ...] = ()

    def over(self, others: Claims) -> Claims:
        """These together with `others`, which count where these say nothing."""
        if not others.by_node:
            return self
        return Claims({**others.by_node, **self.by_node}, self.functions | others.functions, self.misread)


def claims(tree: Tree) -> Claims:
    """Read the comments of a text."""
    found: dict[Claimed, Claim] = {}
    functions: set[Function] = set()
    misread: list[Misread] = []
    lines = _Lines(tree)
    for comment in comments(tree):
        items = _items(comment)
        if isinstance(items, str):
            misread.append(Misread(comment.span, items))
            continue
        line = _line_meant(tree, comment) if items else None
        place = None if line is None else lines.at(line, above=comment.alone)
        for name, word in items:
            node = "it stands before no code." if place is None else place.meant(name)
            if isinstance(node, str):
                misread.append(Misread(comment.span, f"this placement comment is not used: {node}"))
                break
            found[node] = Claim(word, "a comment", comment.span)
            functions.update(() if place is None else place.around)
    return Claims(found, frozenset(functions), tuple(misread))


def named(tree: Tree, words: Mapping[str, str], by: str) -> Claims:
    """The claims that are made by name: `words` by the dotted names of functions, their parameters and variables in the text."""
    found: dict[Claimed, Claim] = {}
    functions: set[Function] = set()
    for name, node, around in _named(tree):
        if name in words:
            found[node] = Claim(words[name], by)
            functions.update(around)
    return Claims(found, frozenset(functions))


def claimable(tree: Tree) -> frozenset[str]:
    """The names of all that can be spoken of in a text."""
    return frozenset(name for name, _, _ in _named(tree))


def _named(tree: Tree) -> Iterator[tuple[str, Claimed, tuple[Function, ...]]]:
    """All that can be spoken of by a dotted name, with the functions around it."""
    stack: list[tuple[ast.AST, str, tuple[Function, ...]]] = [
        (statement, "", ()) for chunk in tree.chunks for statement in chunk.body
    ]
    while stack:
        node, prefix, around = stack.pop()
        if isinstance(node, Function):
            around = (*around, node)
            yield prefix + node.name, node, around
            for one in parameters(node.args):
                yield f"{prefix}{node.name}.{one.arg}", one, around
        elif isinstance(node, ast.stmt):
            for one in _targets(node):
                yield prefix + _spelled(one), one, around
        if isinstance(node, Function | ast.ClassDef):
            prefix = f"{prefix}{node.name}."
        stack.extend((child, prefix, around) for child in _blocks(node))


def nearest(given: str, known: Iterable[str]) -> str:
    """A clause that leads from a wrong word to a right one."""
    known = tuple(known)
    alike = difflib.get_close_matches(given, known, n=1)
    return f"did you mean {alike[0]!r}?" if alike else f"known: {', '.join(known)}."


def _items(comment: Comment) -> list[tuple[str | None, str]] | str:
    """The names and words of a comment, none for one that is about something else; a sentence where it is wrong."""
    text = comment.text
    first = _LIKE_ITEM.match(text)
    if first is None:
        word = re.match(r"[\w-]*", text)
        is_key = word is not None and bool(difflib.get_close_matches(word[0], (_KEY,), n=1, cutoff=0.8))
        return f"`{text}` says no placement; write `{_KEY}=` and one of {', '.join(PLACEMENT_WORDS)}." if is_key else []
    items: list[tuple[str | None, str]] = []
    position = 0
    while True:
        item = _ITEM.match(text, position)
        if item is None:
            return f"`{text[position:]}` is no claim; write `{_KEY}(NAME)=WORD`, with commas between several."
        if item["key"] != _KEY:
            return f"shardlint has no comment {item['key']!r}; {nearest(item['key'], (_KEY,))}"
        if item["word"] not in PLACEMENT_WORDS:
            return f"{_KEY} cannot be {item['word']!r}; {nearest(item['word'], PLACEMENT_WORDS)}"
        items.append((None if item["name"] is None else item["name"].strip(), item["word"]))
        rest = re.compile(r"\s*,\s*").match(text, item.end())
        if rest is None:
            return items  # what follows is the person's reason
        position = rest.end()


def _line_meant(tree: Tree, comment: Comment) -> int | None:
    """The 0-based line of which a comment speaks, None if there is none."""
    if not comment.alone:
        return comment.line
    cells = [tree.text.line_of(cell.start) for cell in tree.text.cells if tree.text.line_of(cell.start) > comment.line]
    for line in range(comment.line + 1, min([len(tree.text.line_starts), *cells])):
        code = tree.text.line_text(line).strip()
        if code and not code.startswith("#"):
            return line
    return None


@dataclass(frozen=True)
class _Line:
    """What stands on a line: the functions whose header it belongs to, innermost last, those `around` it, the parameters on it, and
    what is bound. `speaks_of_result` tells that a claim without a name is about what the function returns.
    """

    functions: tuple[Function, ...]
    around: tuple[Function, ...]
    parameters: tuple[ast.arg, ...]
    bound: tuple[ast.expr, ...]
    speaks_of_result: bool

    def meant(self, name: str | None) -> Claimed | str:
        """The part of the program that a claim speaks of; a clause that says why there is none."""
        function = self.functions[-1] if self.functions else None
        if name is not None:
            return self._named(name, function)
        if function is not None and self.speaks_of_result:
            return function
        choices = self.parameters or self.bound
        if len(choices) == 1:
            return choices[0]
        if not choices:
            return _NOTHING
        names = ", ".join(_spelled(one) for one in choices)
        return f"its line has several names ({names}); write `{_KEY}({_spelled(choices[0])})=...`."

    def _named(self, name: str, function: Function | None) -> Claimed | str:
        known: dict[str, Claimed] = {_spelled(one): one for one in self.bound}
        if function is not None:
            known |= {RETURN: function, **{one.arg: one for one in parameters(function.args)}}
        if name in known:
            return known[name]
        return f"there is no {name!r} on its line; {nearest(name, sorted(known))}" if known else _NOTHING


class _Lines:
    """What stands on the lines of a text. Each chunk that is asked about is looked through once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._known: dict[Chunk, _Index] = {}

    def at(self, line: int, *, above: bool) -> _Line:
        """What a comment on a 0-based line, or `above` it, can speak of."""
        tree = self._tree
        number = bisect_right(tree.starts, tree.text.line_starts[line]) - 1
        chunk = tree.chunks[number]
        if chunk not in self._known:
            self._known[chunk] = _Index(chunk)
        return self._known[chunk].at(line - tree.text.line_of(tree.starts[number]) + 1, above=above)


class _Index:
    """The statements of a chunk by the lines of it, from 1, that a comment about them may stand on, with the functions around."""

    def __init__(self, chunk: Chunk) -> None:
        self._headers: dict[Function, Lines] = {}
        self._standing: dict[int, list[tuple[ast.stmt, tuple[Function, ...]]]] = {}
        stack: list[tuple[ast.AST, tuple[Function, ...]]] = [(one, ()) for one in reversed(chunk.body)]
        while stack:
            node, around = stack.pop()
            if isinstance(node, Function):
                around = (*around, node)
                lines = self._headers[node] = header(chunk, node)
                self._add(range(lines.first, lines.last + 1), node, around)
            elif isinstance(node, ast.stmt):
                self._add({node.lineno, _last_line(node)}, node, around)
            stack.extend((child, around) for child in reversed(list(_blocks(node))))

    def _add(self, lines: Iterable[int], node: ast.stmt, around: tuple[Function, ...]) -> None:
        for line in lines:
            self._standing.setdefault(line, []).append((node, around))

    def at(self, line: int, *, above: bool) -> _Line:
        standing = self._standing.get(line, [])
        functions = tuple(node for node, _ in standing if isinstance(node, Function))
        bound = [target for node, _ in standing if not above or node.lineno == line for target in _targets(node)]
        if not functions:
            return _Line((), standing[-1][1] if standing else (), (), tuple(bound), speaks_of_result=False)
        lines = self._headers[functions[-1]]
        here = [one for one in parameters(functions[-1].args) if _is_on(one, line, above)]
        result = line == (lines.first if above else lines.last)
        return _Line(functions, standing[-1][1], tuple(here), tuple(bound), result)


def _blocks(node: ast.AST) -> Iterator[ast.AST]:
    """The statements inside a statement, and what holds such."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield child


def _is_on(parameter: ast.arg, line: int, above: bool) -> bool:
    return line == parameter.lineno or (not above and line == parameter.end_lineno)


def _last_line(node: ast.stmt) -> int:
    return node.lineno if isinstance(node, ast.For | ast.AsyncFor | ast.With | ast.AsyncWith) else node.end_lineno or 0


def _targets(node: ast.stmt) -> Iterator[ast.expr]:
    """What a statement binds, one by one."""
    stack: list[ast.expr]
    match node:
        case ast.Assign(targets=stack):
            stack = list(stack)
        case ast.AnnAssign(target=target) | ast.For(target=target) | ast.AsyncFor(target=target):
            stack = [target]
        case ast.With(items=items) | ast.AsyncWith(items=items):
            stack = [one.optional_vars for one in items if one.optional_vars is not None]
        case _:
            return
    stack.reverse()
    while stack:
        target = stack.pop()
        if isinstance(target, ast.Tuple | ast.List):
            stack.extend(reversed(target.elts))
        elif isinstance(target, ast.Starred):
            stack.append(target.value)
        else:
            yield target


def _spelled(node: Claimed) -> str:
    return node.arg if isinstance(node, ast.arg) else ast.unparse(node)
