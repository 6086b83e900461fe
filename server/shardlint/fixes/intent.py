"""What a repair means to make of a program, as a change of its tree, and whether a text is exactly that.

Edits are made of text, to leave comments and formatting alone. This is the proof that they do nothing else than was meant,
wherever a bracket, an f-string, a line continuation or a semicolon stands.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import cast

from shardlint.syntax.tree import Chunk, Tree


@dataclass(frozen=True)
class Intent:
    """A change of a tree: expressions that others take the place of, statements that come ahead of one, and statements
    that become others (None: they go; `pass` stands where a block would be empty).

    Nodes in the new parts may be the program's own ones: they stand for what they are before the change, or for what
    becomes of them if they are not the ones whose place is taken.
    """

    swaps: Mapping[ast.AST, ast.AST] = field(default_factory=dict[ast.AST, ast.AST])
    ahead: Mapping[ast.AST, Sequence[ast.stmt]] = field(default_factory=dict[ast.AST, Sequence[ast.stmt]])
    left: Mapping[ast.AST, ast.stmt | None] = field(default_factory=dict[ast.AST, "ast.stmt | None"])


_NOTHING = Intent()


def merged(intents: Iterable[Intent]) -> Intent:
    """All changes as one; no two may be of the same node."""
    swaps: dict[ast.AST, ast.AST] = {}
    ahead: dict[ast.AST, Sequence[ast.stmt]] = {}
    left: dict[ast.AST, ast.stmt | None] = {}
    for intent in intents:
        swaps |= intent.swaps
        ahead |= intent.ahead
        left |= intent.left
    return Intent(swaps, ahead, left)


def realised(intent: Intent, old: Tree, new: Tree) -> bool:
    """Whether `new` is `old` with just that change."""
    start = _common(old.chunks, new.chunks)
    end = _common(old.chunks[start:][::-1], new.chunks[start:][::-1])
    before = [statement for chunk in old.chunks[start : len(old.chunks) - end] for statement in chunk.body]
    after = [statement for chunk in new.chunks[start : len(new.chunks) - end] for statement in chunk.body]
    met: set[ast.AST] = set()
    return _same(before, after, intent, met) and met >= {*intent.swaps, *intent.ahead, *intent.left}


def _common(some: Sequence[Chunk], others: Sequence[Chunk]) -> int:
    """How many chunks both begin with: those that the parser took over."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], zip(some, others, strict=False)))


def same(left: ast.AST, right: ast.AST) -> bool:
    """Whether two nodes say the same, wherever they stand."""
    return _same(left, right, _NOTHING, set())


def _same(old: object, new: object, intent: Intent, met: set[ast.AST]) -> bool:
    stack: list[tuple[object, object, Intent]] = [(old, new, intent)]
    while stack:
        left, right, change = stack.pop()
        if isinstance(left, ast.AST) and left in change.swaps:
            met.add(left)
            rest = {node: made for node, made in change.swaps.items() if node is not left}
            left, change = change.swaps[left], Intent(rest)
        equal = type(left) is type(right) and left == right
        if isinstance(left, list) and isinstance(right, list):
            wanted, given = _expected(cast("list[object]", left), change, met), cast("list[object]", right)
            if len(wanted) != len(given):
                return False
            stack += [(a, b, inner) for (a, inner), b in zip(wanted, given, strict=True)]
        elif isinstance(left, ast.AST):
            if type(left) is not type(right):
                return False
            stack += [(getattr(left, name, None), getattr(right, name, None), change) for name in left._fields]
        elif not equal:
            return False
    return True


def _expected(nodes: list[object], intent: Intent, met: set[ast.AST]) -> list[tuple[object, Intent]]:
    """What a list of nodes is to become, each with the change that is still to be made within it."""
    found: list[tuple[object, Intent]] = []
    for node in nodes:
        if not isinstance(node, ast.stmt):
            found.append((node, intent))
            continue
        if node in intent.ahead or node in intent.left:
            met.add(node)
        found += [(made, _NOTHING) for made in intent.ahead.get(node, ())]
        left = intent.left.get(node, node)
        if left is not None:
            found.append((left, intent))
    return found
