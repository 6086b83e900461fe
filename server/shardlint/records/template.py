"""Compiling a record's `exampleFix`: what differs between before and after becomes a change that fits other programs.

Both parts are parsed. Statements that are in both, and imports, tell only what names mean. What is left of `before` must be
one statement; in `after` the statement that replaces it may have new assignments ahead of it. The smallest expressions that
hold the difference, and from which every name of `after` can be told, are the change; names of `before` are its holes.
"""

from __future__ import annotations

import ast
import builtins
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from shardlint.records.alignment import Pair, alike, names_in, way_to_difference
from shardlint.records.examples import split_example
from shardlint.records.libraries import LibraryError, libraries_of

_BUILTINS = frozenset(dir(builtins))


class TemplateError(ValueError):
    """The example cannot be compiled; the message is a clause that helps its author."""


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled example.

    `changes` are pairs of an expression of `before` and what takes its place, the smallest first; the ones around it are for
    programs of which only more can be recognised. `call` is the innermost call of `before` around the smallest, if any.
    `operand_only` says that the smallest is a hole alone, so that the change fits every hand-off; `position` is then its
    place among the call's arguments (from 0; None for the owner of a method or attribute). `inserted` are (name, expression)
    assignments that come ahead of the statement; such a name ends in `#` and a number, so that it is no name of the example.
    `keywords` is set instead where only keyword arguments differ: name to new expression, or None to drop it. `modules` says
    what library names mean and `imports` by which statement each is imported.
    """

    changes: tuple[tuple[ast.expr, ast.expr], ...]
    call: ast.Call | None
    operand_only: bool
    position: int | None
    inserted: tuple[tuple[str, ast.expr], ...]
    keywords: Mapping[str, ast.expr | None]
    modules: Mapping[str, str] = field(default_factory=dict[str, str])
    imports: Mapping[str, str] = field(default_factory=dict[str, str])

    def holes(self, pattern: ast.expr) -> frozenset[str]:
        """The names in a pattern that stand for anything: neither libraries nor functions of Python itself."""
        called = _called(pattern)
        return frozenset(
            name.id
            for name in names_in(pattern)
            if name.id not in self.modules and not (name.id in _BUILTINS and name in called)
        )


def compile_example(text: str) -> Template:
    """The template of a before/after text. Raises `TemplateError`."""
    try:
        return _compile(text)
    except (RecursionError, MemoryError):
        raise TemplateError("it nests expressions too deeply") from None


def _compile(text: str) -> Template:
    example = split_example(text)
    if example is None:
        raise TemplateError("it needs a part marked `# before` and a part marked `# after`")
    before, after = _statements(example.before, "before"), _statements(example.after, "after")
    try:
        modules, imports = libraries_of([*before, *after])
    except LibraryError as reason:
        raise TemplateError(str(reason)) from None
    old, new, ahead = _changed(before, after)
    inserted, last = _assignments(ahead, new, modules)
    way = way_to_difference(*_values(old, last))
    if alike(*way[-1]):
        raise TemplateError("before and after differ in nothing but the name that is assigned")
    known = {*modules, *(name for name, _ in inserted)}
    missing: set[str] = set()
    changes: list[tuple[ast.expr, ast.expr]] = []
    for depth in range(len(way) - 1, -1, -1):
        pattern, replacement = way[depth]
        if isinstance(pattern, ast.expr) and isinstance(replacement, ast.expr) and _stands(way, depth, modules):
            missing = _unexplained(pattern, [replacement, *(value for _, value in inserted)], known)
            if not missing:
                changes.append((pattern, replacement))
    if missing and not changes:
        raise TemplateError(f"after uses `{min(missing)}`, which neither before nor an import explains")
    if not changes:
        raise TemplateError("what differs is no call, attribute or argument that another program could have as well")
    return _template(way, changes, inserted, modules, imports)


def _statements(code: str, part: str) -> list[ast.stmt]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a record's invalid escapes are not the user's business
            body = ast.parse(code).body
        for statement in body:
            ast.unparse(statement)  # a number may be too large to be written down
    except (SyntaxError, ValueError) as error:
        raise TemplateError(f"its {part} part is no valid Python") from error
    return body


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _changed(before: list[ast.stmt], after: list[ast.stmt]) -> tuple[ast.stmt, ast.stmt, list[ast.stmt]]:
    """The statement that changes, what it becomes, and the new statements ahead of it."""
    dumps = {ast.dump(node) for node in before}, {ast.dump(node) for node in after}
    old = [node for node in before if ast.dump(node) not in dumps[1] and not _is_import(node)]
    new = [node for node in after if ast.dump(node) not in dumps[0] and not _is_import(node)]
    if len(old) == 1 and new:
        return old[0], new[-1], new[:-1]
    if not old and new:
        # after only gives a name of before another value: the next statement that reads it is the one that changes
        behind = after[after.index(new[-1]) + 1 :]
        given = {name.id for node in new for name in names_in(node) if isinstance(name.ctx, ast.Store)}
        for node in behind:
            if any(name.id in given and isinstance(name.ctx, ast.Load) for name in names_in(node)):
                return node, node, new
    raise TemplateError(
        f"before and after must differ in one statement, and {len(old)} of before's have no counterpart"
    )


def _assignments(
    ahead: Iterable[ast.stmt], last: ast.stmt, modules: Mapping[str, str]
) -> tuple[tuple[tuple[str, ast.expr], ...], ast.stmt]:
    """The new assignments under names of their own, and the last statement with these names for the given ones."""
    own: dict[str, str] = {}
    made: list[tuple[str, ast.expr]] = []
    for number, node in enumerate(ahead):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in modules:
                made.append((f"{name}#{number}", _Renamer(own).visit(value)))
                own[name] = f"{name}#{number}"
            case _:
                raise TemplateError(
                    "what after adds ahead of the changed statement must be assignments to single names"
                )
    again = ast.parse(ast.unparse(last)).body[0]  # the same statement may stand in before: it is not to be renamed
    return tuple(made), _Renamer(own).visit(again) if own else last


class _Renamer(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        read = isinstance(node.ctx, ast.Load)
        return ast.Name(self._names.get(node.id, node.id), node.ctx) if read else node


def _values(old: ast.stmt, new: ast.stmt) -> Pair:
    """The expressions of two statements whose value alone can change, else the statements themselves."""
    match old, new:
        case (ast.Assign(targets=[ast.Name()]) | ast.Expr(), ast.Assign(targets=[ast.Name()]) | ast.Expr()):
            return old.value, new.value
        case _:
            return old, new


def _stands(way: list[Pair], depth: int, modules: Mapping[str, str]) -> bool:
    """Whether the pattern at `depth` can be recognised in another program: neither a bare value nor part of a name."""
    pattern = way[depth][0]
    holder = way[depth - 1][0] if depth else None
    if isinstance(holder, ast.Call) and holder.func is pattern:
        return False
    if isinstance(pattern, ast.Name):
        is_hole = pattern.id not in modules and isinstance(pattern.ctx, ast.Load)
        return is_hole and isinstance(holder, ast.Call | ast.Attribute)
    told = isinstance(pattern, ast.Call) or any(name.id not in modules for name in names_in(pattern))
    assigned = isinstance(getattr(pattern, "ctx", None), ast.Store | ast.Del)
    return told and not assigned and not isinstance(pattern, ast.Starred)


def _unexplained(pattern: ast.expr, made: Iterable[ast.expr], known: set[str]) -> set[str]:
    """The names that what is `made` reads and that neither the pattern nor a library nor Python itself gives."""
    explained = {*known, *(name.id for name in names_in(pattern)), *_BUILTINS}
    missing: set[str] = set()
    for expression in made:
        bound = {name.id for name in names_in(expression) if isinstance(name.ctx, ast.Store)}
        bound |= {node.arg for node in ast.walk(expression) if isinstance(node, ast.arg)}
        missing |= {name.id for name in names_in(expression)} - explained - bound
    return missing


def _template(
    way: list[Pair],
    changes: list[tuple[ast.expr, ast.expr]],
    inserted: tuple[tuple[str, ast.expr], ...],
    modules: Mapping[str, str],
    imports: Mapping[str, str],
) -> Template:
    pattern, replacement = changes[0]
    for name in _called(pattern):
        if name.id not in modules and name.id not in _BUILTINS:
            raise TemplateError(f"it calls `{name.id}`, and no import tells what that is")
    depth = next(i for i, pair in enumerate(way) if pair[0] is pattern)
    call = next((node for node, _ in reversed(way[: depth + 1]) if isinstance(node, ast.Call)), None)
    operand_only = isinstance(pattern, ast.Name)
    position = call.args.index(pattern) if operand_only and call is not None and pattern in call.args else None
    keywords = {} if inserted else _keyword_change(pattern, replacement, modules)
    return Template(tuple(changes), call, operand_only, position, inserted, keywords, modules, imports)


def _called(node: ast.AST) -> set[ast.Name]:
    """The names that are called as they are."""
    return {child.func for child in ast.walk(node) if isinstance(child, ast.Call) and isinstance(child.func, ast.Name)}


def _keyword_change(pattern: ast.expr, replacement: ast.expr, modules: Mapping[str, str]) -> dict[str, ast.expr | None]:
    """The keywords that change, where nothing else does and the new values are the same in every program."""
    if not isinstance(pattern, ast.Call) or not isinstance(replacement, ast.Call):
        return {}
    same_rest = (
        ast.Call(pattern.func, pattern.args, _stars(pattern)),
        ast.Call(replacement.func, replacement.args, _stars(replacement)),
    )
    if not alike(*same_rest):
        return {}
    old = {keyword.arg: keyword.value for keyword in pattern.keywords if keyword.arg}
    new = {keyword.arg: keyword.value for keyword in replacement.keywords if keyword.arg}
    dropped: dict[str, ast.expr | None] = {name: None for name in old if name not in new}
    changed = {name: v for name, v in new.items() if name not in old or not alike(old[name], v)}
    fixed = all(name.id in modules for value in changed.values() for name in names_in(value))
    return {**dropped, **changed} if fixed else {}


def _stars(call: ast.Call) -> list[ast.keyword]:
    return [keyword for keyword in call.keywords if keyword.arg is None]
