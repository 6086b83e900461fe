"""Putting the pieces of bugs into a module that is there: among its functions, in its classes, inside its functions."""

from __future__ import annotations

import ast
import io
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from inject_bugs import MARK, Pieces, bound_by

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_CLOSED = ("Module", "Tuple", "Dict", "Enum", "Protocol", "Struct")
Definition = ast.FunctionDef | ast.ClassDef
Owner = ast.ClassDef | None


@dataclass(eq=False)
class Module:
    """A real module and what is to be put into it, by the line before which it comes (from 0)."""

    source: str
    added: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])

    @cached_property
    def tree(self) -> ast.Module:
        """Raises SyntaxError, and ValueError for a file with null bytes."""
        return ast.parse(self.source)

    @cached_property
    def _lines(self) -> list[str]:
        return list(io.StringIO(self.source))  # form feeds and the like end no line

    @cached_property
    def names(self) -> Counter[str]:
        """All names that anything in the module binds, other than by the imports that the bugs use themselves."""
        found: Counter[str] = Counter()
        for node in ast.walk(self.tree):
            match node:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                    found[name] += 1
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    found[name] += 1
                case ast.Import(names=names):
                    found.update(bound_by(f"import {one.asname or one.name}") for one in names if not _ours(None, one))
                case ast.ImportFrom(module=module, names=names, level=0):
                    found.update(one.asname or one.name for one in names if not _ours(module, one))
                case ast.ImportFrom(names=names):
                    found.update(one.asname or one.name for one in names)
                case _:
                    pass
        return found

    def fits(self, imports: Iterable[str]) -> bool:
        """Whether what the imports bind means nothing else anywhere in the module, and there is a place for them."""
        return self._head is not None and not any(self.names[bound_by(line)] or self.names["*"] for line in imports)

    @cached_property
    def _head(self) -> int | None:
        """The line of the first function or class, before which the module has imported what it needs."""
        return next((self._start(node) for node in self.tree.body if self._stands_alone(node)), None)

    @cached_property
    def bodies(self) -> list[tuple[Owner, ast.FunctionDef]]:
        """The functions and methods that something can be put into: plain ones, which no transformation gets."""
        handed = _handed_on(self.tree)
        found: list[tuple[Owner, ast.FunctionDef]] = []
        for node in self.tree.body:
            for owner, one in [(node, one) for one in node.body] if isinstance(node, ast.ClassDef) else [(None, node)]:
                if (
                    isinstance(one, ast.FunctionDef)
                    and not one.decorator_list
                    and one.name not in handed
                    and self._places(one)
                ):
                    found.append((owner, one))
        return found

    def classes(self) -> dict[ast.ClassDef, list[ast.FunctionDef]]:
        """The classes with an `__init__` of their own that runs to its end, and their other methods."""
        found: dict[ast.ClassDef, list[ast.FunctionDef]] = {}
        for owner, one in self.bodies:
            if owner is not None and _has_self(one) and _takes_attributes(owner):
                found.setdefault(owner, []).append(one)
        return {
            owner: [one for one in methods if one.name != "__init__"]
            for owner, methods in found.items()
            if len(methods) > 1 and any(one.name == "__init__" for one in methods)
        }

    def add(
        self, pieces: Pieces, chance: random.Random, owner: Owner = None, into: ast.FunctionDef | None = None
    ) -> None:
        """Put pieces in: each at a place drawn by chance among those that fit."""
        assert self._head is not None
        present = set(map(str.strip, self._lines))
        for line in sorted(pieces.imports - present):
            self.add_import(line)
        if pieces.head:
            self._put(self._head, 1, pieces.head)
        if pieces.functions:
            user = owner or into or self.tree.body[-1]  # what it may run in is not there before
            places = [self._start(node) for node in self.tree.body if self._stands_alone(node)]
            places = [place for place in places if place <= self._start(user)]
            self._put(chance.choice(places), 2, pieces.functions.rstrip("\n") + "\n\n\n")
        if owner is not None:
            methods = [one for one in owner.body if isinstance(one, ast.FunctionDef) and self._stands_alone(one)]
            if pieces.methods:
                self._put_before(chance.choice(methods), pieces.methods + "\n")
            if pieces.init:
                start = next(one for one in methods if one.name == "__init__")
                self._put_before(self._places(start)[0], pieces.init)
        if into is not None and pieces.body:
            self._put_before(chance.choice(self._places(into)), pieces.body)

    def add_import(self, line: str) -> None:
        """Import something before the first function."""
        assert self._head is not None
        if (self._head, 0, f"{line}\n") not in self.added:
            self._put(self._head, 0, f"{line}\n")

    def text(self) -> tuple[str, dict[int, list[int]]]:
        """The module with all that was put in, and the guilty lines of each bug, from 1."""
        lines = list(self._lines)
        added = self.added if self._head is None else [*self.added, (self._head, 2, "\n\n")]
        for line, _, text in sorted(added, key=lambda one: one[:2], reverse=True):
            lines[line:line] = text.splitlines(keepends=True)
        guilty: dict[int, list[int]] = {}
        for number, line in enumerate(lines, 1):
            if MARK in line:
                kept, *marks = line.rstrip("\n").split(MARK)
                guilty.setdefault(int(marks[0]), []).append(number)
                lines[number - 1] = kept + "\n"
        return "".join(lines), guilty

    def _put(self, line: int, order: int, text: str) -> None:
        self.added.append((line, order, text))

    def _put_before(self, node: ast.stmt, text: str) -> None:
        first = self._lines[node.lineno - 1]
        indent = first[: len(first) - len(first.lstrip())]
        lines = text.splitlines(keepends=True)
        step = "\t" if "\t" in indent else "    "
        moved = (indent + line.replace("    ", step) if line.strip() else line for line in lines)
        self._put(self._start(node), 3, "".join(moved))

    def _start(self, node: ast.stmt) -> int:
        decorators = node.decorator_list if isinstance(node, Definition) else []
        return min([node.lineno, *(one.lineno for one in decorators)]) - 1

    def _stands_alone(self, node: ast.stmt) -> bool:
        """Whether a definition begins its line."""
        return isinstance(node, Definition) and not self._lines[node.lineno - 1][: node.col_offset].strip()

    def _places(self, function: ast.FunctionDef) -> list[ast.stmt]:
        """The statements of a body before which something can be put that surely runs if the function does not raise."""
        if any(isinstance(node, ast.Yield | ast.YieldFrom | ast.Global) for node in ast.walk(function)):
            return []
        found: list[ast.stmt] = []
        for node in function.body:
            alone = (
                node.lineno > function.lineno and not self._lines[node.lineno - 1].encode()[: node.col_offset].strip()
            )
            if alone and not (node is function.body[0] and _is_text(node)):
                found.append(node)
            if any(isinstance(one, ast.Return | ast.Raise | ast.While) for one in ast.walk(node)):
                break
        return found if len(function.body) > 1 or not _is_stub(function.body[0]) else []


def _ours(module: str | None, alias: ast.alias) -> bool:
    """Whether an import binds what the bugs' own imports bind too, to the same."""
    bound = alias.asname or alias.name.partition(".")[0]
    meant = f"{module}.{alias.name}" if module else alias.name if alias.asname else bound
    same = {
        "jax": "jax", "jnp": "jax.numpy", "np": "numpy", "torch": "torch", "NamedSharding": "jax.sharding.NamedSharding",
        "Mesh": "jax.sharding.Mesh", "P": "jax.sharding.PartitionSpec", "partial": "functools.partial", "jax_utils": "flax.jax_utils",
    }  # fmt: skip
    return same.get(bound) == meant


def _handed_on(tree: ast.Module) -> set[str]:
    """The names of functions and methods that something may trace: those that the module uses otherwise than to call them, that
    are decorated or nested in others, and what all these call.
    """
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = {name for node in ast.walk(tree) if id(node) not in called for name in _read(node)}
    definitions = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]
    nested = {one for node in definitions for one in ast.walk(node) if one is not node and isinstance(one, _FUNCTIONS)}
    calls: dict[str, set[str]] = {}
    for node in definitions:
        calls.setdefault(getattr(node, "name", ""), set()).update(_called(node))
        if node in nested or isinstance(node, ast.Lambda) or node.decorator_list:
            found |= _called(node)
    rest = list(found)
    while rest:
        new = calls.get(rest.pop(), set()) - found
        found |= new
        rest += new
    return found


def _called(node: ast.AST) -> set[str]:
    return {name for one in ast.walk(node) if isinstance(one, ast.Call) for name in _read(one.func)}


def _read(node: ast.AST) -> list[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name):
            return [name]
        case _:
            return []


def _has_self(function: ast.FunctionDef) -> bool:
    first = [*function.args.posonlyargs, *function.args.args][:1]
    return bool(first) and first[0].arg == "self"


def _takes_attributes(owner: ast.ClassDef) -> bool:
    """Whether nothing is seen that forbids new attributes in `__init__`, as frozen classes and Equinox's modules do."""
    bases = [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in owner.bases]
    slots = any(isinstance(node, ast.Name) and node.id == "__slots__" for node in ast.walk(owner))
    return not owner.decorator_list and not slots and not any(name.endswith(_CLOSED) for name in bases)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_stub(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass | ast.Raise) or _is_text(node)
