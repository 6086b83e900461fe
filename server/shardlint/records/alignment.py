"""Where two statements differ: the way from the whole of them down to the smallest pair of nodes that holds every difference."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import cast

Pair = tuple[ast.AST, ast.AST]


def alike(left: ast.AST, right: ast.AST) -> bool:
    """Whether two nodes say the same, wherever they stand. Raises RecursionError for trees that are too deep."""
    return left is right or ast.dump(left) == ast.dump(right)


def way_to_difference(old: ast.AST, new: ast.AST) -> list[Pair]:
    """Corresponding nodes from (`old`, `new`) downwards, each holding all that differs, the smallest last."""
    way = [(old, new)]
    while True:
        pairs = _children(*way[-1])
        differing = [] if pairs is None else [pair for pair in pairs if not alike(*pair)]
        if len(differing) != 1:
            return way
        way.append(differing[0])


def _children(old: ast.AST, new: ast.AST) -> list[Pair] | None:
    """Corresponding child nodes, or None where the two nodes themselves are of different make."""
    if type(old) is not type(new):
        return None
    pairs: list[Pair] = []
    for name in old._fields:
        found = _corresponding(getattr(old, name, None), getattr(new, name, None))
        if found is None:
            return None
        pairs += found
    return pairs


def _corresponding(old: object, new: object) -> list[Pair] | None:
    equal = type(old) is type(new) and old == new
    if isinstance(old, ast.AST) and isinstance(new, ast.AST):
        return [(old, new)]
    if not isinstance(old, list) or not isinstance(new, list):
        return [] if equal else None
    some, others = cast("list[object]", old), cast("list[object]", new)
    if len(some) != len(others):
        return None
    found = [_corresponding(a, b) for a, b in zip(some, others, strict=True)]
    return None if None in found else [pair for pairs in found if pairs for pair in pairs]


def names_in(node: ast.AST) -> Iterator[ast.Name]:
    """All names in a node, in no particular order."""
    return (child for child in ast.walk(node) if isinstance(child, ast.Name))
