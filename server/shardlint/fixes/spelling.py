"""How a program writes the library names of a template: by its own imports, or by new ones."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterable

from shardlint.fixes.evaluation import bound_in
from shardlint.fixes.fitting import NoFitError, as_written
from shardlint.fixes.imports import Added, add
from shardlint.fixes.names import Names
from shardlint.records.template import Template

_BUILTINS = frozenset(dir(builtins))


class Speller:
    """Spells the names of one template for one place, and keeps the imports that this takes."""

    def __init__(self, template: Template, names: Names) -> None:
        self._template = template
        self._names = names
        self._added: dict[str, Added] = {}
        expressions = [value for _, value in template.inserted] + [new for _, new in template.changes]
        self._bound = {name for expression in expressions for name in bound_in(expression)}

    @property
    def added(self) -> tuple[Added, ...]:
        return tuple(self._added.values())

    def __call__(self, node: ast.expr) -> ast.expr | None:
        """A library's name as the program writes it, None for any other expression. Raises `NoFitError`."""
        dotted = as_written(node, self._template.modules)
        if dotted is None:
            return None
        statement = self._template.imports[_root(node)]
        spelled = self._names.spelled(dotted, _loaded(statement))
        if spelled is None:
            added = self._added.get(statement) or add(statement, self._names)
            if added is None:
                raise NoFitError(f"there is no room for `{statement}`")
            self._added[statement] = added
            spelled = added.name + dotted.removeprefix(added.meaning)
        if spelled.partition(".")[0] in self._bound:
            raise NoFitError(f"the example gives `{spelled}` another meaning")
        return ast.parse(spelled, mode="eval").body

    def check(self, expressions: Iterable[ast.expr], given: Collection[str]) -> None:
        """Raises `NoFitError` where a function of Python itself has another meaning here; `given` are names of other kinds."""
        for expression in expressions:
            own = {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}
            for name in sorted(own - {*given, *self._template.modules}):
                if name in _BUILTINS and self._names.is_bound(name):
                    raise NoFitError(f"`{name}` is a name of the program here")


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    assert isinstance(node, ast.Name)
    return node.id


def _loaded(statement: str) -> str:
    """What must have been imported so that the statement is not needed."""
    head = statement.partition(" as ")[0]
    if head.startswith("import "):
        return head.removeprefix("import ")
    module, _, name = head.removeprefix("from ").partition(" import ")
    return f"{module}.{name}"
