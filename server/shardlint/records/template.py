"""Compiling a record's `exampleFix`: what differs between before and after becomes a change that fits other programs.

Both parts are parsed. Statements that are in both, and imports, tell only what names mean. What is left of `before` must be
one statement; in `after` the statement that replaces it may have new assignments ahead of it. The smallest expressions that
differ, with the names of `before` as holes, are the change.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from shardlint.records.examples import split_example

_CONVENTIONS: Mapping[str, str] = {
    "jax": "jax",
    "jnp": "jax.numpy",
    "np": "numpy",
    "numpy": "numpy",
    "torch": "torch",
    "cp": "cupy",
    "cupy": "cupy",
    "tf": "tensorflow",
    "wp": "warp",
    "numba": "numba",
}


class TemplateError(ValueError):
    """The example cannot be compiled; the message is a clause that helps its author."""


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled example.

    `pattern` is the smallest expression of `before` that changes, `replacement` what takes its place; names that are no
    libraries are holes. `call` is the innermost call of `before` that holds the pattern, if any: `operand_only` says that the
    pattern is a hole alone, so that the change fits every hand-off. `inserted` are (name, expression) assignments that come
    ahead of the statement. `keywords` is set instead of a pattern where only keyword arguments differ: name to new
    expression, or None to drop it. `modules` says what library names mean.
    """

    pattern: ast.expr
    replacement: ast.expr
    call: ast.Call | None
    operand_only: bool
    inserted: tuple[tuple[str, ast.expr], ...]
    keywords: Mapping[str, ast.expr | None]
    modules: Mapping[str, str] = field(default_factory=dict[str, str])

    def holes(self) -> frozenset[str]:
        """The names in the pattern that stand for anything."""
        return frozenset(name for name in _names(self.pattern) if name not in self.modules)


def compile_example(text: str) -> Template:
    """The template of a before/after text. Raises `TemplateError`."""
    example = split_example(text)
    if example is None:
        raise TemplateError("it needs a part marked `# before` and a part marked `# after`")
    before, after = _statements(example.before, "before"), _statements(example.after, "after")
    modules = _modules([*before, *after])
    common = {ast.dump(node) for node in before} & {ast.dump(node) for node in after}
    old = [node for node in before if ast.dump(node) not in common and not _is_import(node)]
    new = [node for node in after if ast.dump(node) not in common and not _is_import(node)]
    if len(old) != 1 or not new:
        raise TemplateError(
            f"before and after must differ in one statement, and {len(old)} of before's have no counterpart"
        )
    inserted = tuple(_assignment(node) for node in new[:-1])
    pattern, replacement, call = _smallest(old[0], new[-1])
    for name in _names(replacement):
        known = name in modules or name in set(_names(pattern)) or name in {given for given, _ in inserted}
        if not known and name not in set(_names(old[0])):
            raise TemplateError(f"after uses `{name}`, which neither before nor an import explains")
    keywords = _keyword_change(pattern, replacement)
    operand_only = isinstance(pattern, ast.Name) and pattern.id not in modules
    return Template(pattern, replacement, call, operand_only, inserted, keywords, modules)


def _statements(code: str, part: str) -> list[ast.stmt]:
    try:
        return ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise TemplateError(f"its {part} part is no valid Python") from error


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _modules(statements: list[ast.stmt]) -> dict[str, str]:
    """Names of libraries, by the example's own imports and, where these are left out, by convention."""
    used = {name for statement in statements for name in _names(statement)}
    assigned = {
        target.id
        for s in statements
        if isinstance(s, ast.Assign)
        for target in s.targets
        if isinstance(target, ast.Name)
    }
    modules = {name: module for name, module in _CONVENTIONS.items() if name in used - assigned}
    for statement in statements:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                top = alias.name.partition(".")[0]
                modules[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            for alias in statement.names:
                modules[alias.asname or alias.name] = f"{statement.module}.{alias.name}"
    return modules


def _assignment(node: ast.stmt) -> tuple[str, ast.expr]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return name, value
        case _:
            raise TemplateError("what after adds ahead of the changed statement must be assignments to single names")


def _smallest(old: ast.AST, new: ast.AST) -> tuple[ast.expr, ast.expr, ast.Call | None]:
    """The smallest differing pair of expressions, and the innermost call of `old` around or at it."""
    call: ast.Call | None = None
    while True:
        if isinstance(old, ast.Call):
            call = old
        pairs = _children(old, new)
        differing = None if pairs is None else [pair for pair in pairs if ast.dump(pair[0]) != ast.dump(pair[1])]
        if differing is None or len(differing) != 1 or isinstance(differing[0][0], ast.keyword):
            break
        old, new = differing[0]
    if not isinstance(old, ast.expr) or not isinstance(new, ast.expr):
        raise TemplateError("before and after differ in more than one expression")
    return old, new, call


def _children(old: ast.AST, new: ast.AST) -> list[tuple[ast.AST, ast.AST]] | None:
    """Corresponding child nodes, or None where the two nodes themselves are of different make."""
    if type(old) is not type(new):
        return None
    pairs: list[tuple[ast.AST, ast.AST]] = []
    for name in old._fields:
        ours, theirs = getattr(old, name, None), getattr(new, name, None)
        if isinstance(ours, ast.AST) and isinstance(theirs, ast.AST):
            pairs.append((ours, theirs))
        elif isinstance(ours, list) and isinstance(theirs, list):
            some, others = cast("list[object]", ours), cast("list[object]", theirs)
            if len(some) != len(others):
                return None
            pairs.extend(
                (a, b) for a, b in zip(some, others, strict=True) if isinstance(a, ast.AST) and isinstance(b, ast.AST)
            )
        elif ours != theirs:
            return None
    return pairs


def _keyword_change(pattern: ast.expr, replacement: ast.expr) -> dict[str, ast.expr | None]:
    if not isinstance(pattern, ast.Call) or not isinstance(replacement, ast.Call):
        return {}
    if ast.dump(pattern.func) != ast.dump(replacement.func) or _dumps(pattern.args) != _dumps(replacement.args):
        return {}
    old = {keyword.arg: keyword.value for keyword in pattern.keywords if keyword.arg}
    new = {keyword.arg: keyword.value for keyword in replacement.keywords if keyword.arg}
    dropped: dict[str, ast.expr | None] = {name: None for name in old if name not in new}
    changed = {name: v for name, v in new.items() if name not in old or ast.dump(old[name]) != ast.dump(v)}
    return {**dropped, **changed}


def _dumps(nodes: list[ast.expr]) -> list[str]:
    return [ast.dump(node) for node in nodes]


def _names(node: ast.AST) -> Iterator[str]:
    for child in ast.walk(node):
        if isinstance(child, ast.Name):
            yield child.id
