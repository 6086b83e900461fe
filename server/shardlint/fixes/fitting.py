"""Recognising a template's pattern in a program: which expression changes and what the holes stand for."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from shardlint.fixes.intent import same
from shardlint.fixes.names import Names
from shardlint.records.template import Template


class NoFitError(Exception):
    """The template does not fit here; the message is a clause that says why."""


@dataclass(frozen=True)
class Fit:
    """An expression that matches `pattern`, what is to stand in its place, and the expressions in the holes by name."""

    node: ast.expr
    pattern: ast.expr
    replacement: ast.expr
    holes: Mapping[str, ast.expr]


def fit(template: Template, node: ast.expr, operand: ast.expr | None, names: Names) -> Fit | None:
    """The smallest change of the template that fits the hand-off `node`, or what it hands over."""
    if template.operand_only:
        pattern, replacement = template.changes[0]
        found = _argument(template, node, operand, names)
        if isinstance(pattern, ast.Name) and found is not None and not isinstance(found, ast.Starred):
            return Fit(found, pattern, replacement, {pattern.id: found})
    for pattern, replacement in template.changes:
        matcher = _Matcher(template, template.holes(pattern), names, {})
        for candidate in (operand, node):
            matcher.bound.clear()
            if candidate is not None and not isinstance(pattern, ast.Name) and matcher.matches(pattern, candidate):
                return Fit(candidate, pattern, replacement, dict(matcher.bound))
    return None


def _argument(template: Template, node: ast.expr, operand: ast.expr | None, names: Names) -> ast.expr | None:
    """The argument that changes: the one that the example shows if the example is of this very function."""
    example, place = template.call, template.position
    if example is not None and place is not None and isinstance(node, ast.Call):
        own = dotted(example.func, template.modules, names)
        starred = any(isinstance(argument, ast.Starred) for argument in node.args[: place + 1])
        if own is not None and own == names.meaning(node.func) and place < len(node.args) and not starred:
            return node.args[place]
    return operand


def dotted(node: ast.AST, modules: Mapping[str, str], names: Names) -> str | None:
    """The canonical name of a dotted library name of an example."""
    written = as_written(node, modules)
    return None if written is None else names.table.canonical(written)


def as_written(node: ast.AST, modules: Mapping[str, str]) -> str | None:
    """The dotted library name that an expression of an example is, without its own aliases."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in modules:
        return None
    return ".".join([modules[node.id], *reversed(parts)])


@dataclass(frozen=True)
class _Matcher:
    template: Template
    holes: frozenset[str]
    names: Names
    bound: dict[str, ast.expr]

    def matches(self, pattern: ast.AST, node: ast.AST) -> bool:
        if isinstance(pattern, ast.Name) and pattern.id in self.holes:
            if not isinstance(node, ast.expr) or isinstance(node, ast.Starred):
                return False
            known = self.bound.setdefault(pattern.id, node)
            return known is node or same(known, node)
        wanted = dotted(pattern, self.template.modules, self.names)
        if wanted is not None:
            return self.names.meaning(node) == wanted
        if isinstance(pattern, ast.Name):
            return isinstance(node, ast.Name) and node.id == pattern.id and not self.names.is_bound(node.id)
        if isinstance(pattern, ast.Call) and isinstance(node, ast.Call):
            return self._call(pattern, node)
        return type(pattern) is type(node) and all(
            self._field(getattr(pattern, name, None), getattr(node, name, None)) for name in pattern._fields
        )

    def _field(self, pattern: object, value: object) -> bool:
        equal = type(pattern) is type(value) and pattern == value
        if isinstance(pattern, ast.AST) and isinstance(value, ast.AST):
            return self.matches(pattern, value)
        if isinstance(pattern, list) and isinstance(value, list):
            some, others = cast("list[object]", pattern), cast("list[object]", value)
            return len(some) == len(others) and all(self._field(a, b) for a, b in zip(some, others, strict=True))
        return equal

    def _call(self, pattern: ast.Call, node: ast.Call) -> bool:
        """Keywords match in any order, and the array of a hand-off also where only one of the two names it."""
        args, named = list(node.args), {keyword.arg: keyword.value for keyword in node.keywords}
        row = self.names.table.consumers.get(dotted(pattern.func, self.template.modules, self.names) or "")
        if row is not None and len(args) == row.array.position < len(pattern.args) and row.array.keyword in named:
            args.append(named.pop(row.array.keyword))
        return (
            len(pattern.args) == len(args)
            and len(node.keywords) == len({keyword.arg for keyword in node.keywords})
            and {keyword.arg for keyword in pattern.keywords} == named.keys()
            and self.matches(pattern.func, node.func)
            and all(self.matches(a, b) for a, b in zip(pattern.args, args, strict=True))
            and all(self.matches(keyword.value, named[keyword.arg]) for keyword in pattern.keywords)
        )
