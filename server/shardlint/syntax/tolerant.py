"""From tree-sitter's Python tree to `ast` statements, leaving out what does not parse.

Used for chunks that `ast` refuses: because they are half-typed, or because their grammar is newer than the Python that runs
us. A simple statement with an error in it is left out whole; of a compound statement the header's broken expression becomes
an unknown name, and its body stays.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import tree_sitter
import tree_sitter_python

from shardlint.syntax.tolerant_expressions import Expressions, bytes_of, located
from shardlint.text import Span, Text, Unit

_Stmt = TypeVar("_Stmt", bound=ast.stmt)


@dataclass(frozen=True, slots=True)
class Tolerated:
    """Statements, the spans (code points in the text) that were left out, and those of errors that were read past."""

    body: tuple[ast.stmt, ...]
    broken: tuple[Span, ...]
    read_past: tuple[Span, ...] = ()


@cache
def _language() -> tree_sitter.Language:
    return tree_sitter.Language(tree_sitter_python.language())


def parse(text: Text) -> Tolerated | None:
    """The statements of `text`, or None if it is nested too deeply to be walked."""
    # tree-sitter counts lines by LF alone; a lone CR is a line end for Python and is one byte as well.
    source = text.source.replace("\r\n", " \n").replace("\r", "\n").encode("utf-8", "surrogatepass")
    root = tree_sitter.Parser(_language()).parse(source).root_node
    statements = _Statements(text)
    try:
        body = statements.block(root)
    except RecursionError:
        return None
    errors = () if statements.broken else (statements.span(node) for node in _errors(root))
    return Tolerated(tuple(body), tuple(sorted(statements.broken)), tuple(sorted(errors)))


def _errors(root: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The outermost nodes that are errors, or stand for what is missing."""
    waiting = [root] if root.has_error else []
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            yield node
        else:
            waiting += [child for child in node.children if child.has_error or child.is_missing]


class _Statements:
    def __init__(self, text: Text) -> None:
        self._text = text
        self.broken: list[Span] = []
        self._expressions = Expressions()

    def block(self, node: tree_sitter.Node | None) -> list[ast.stmt]:
        if node is None:
            return []
        return [statement for child in node.named_children for statement in self._statement(child)]

    def _statement(self, node: tree_sitter.Node) -> Iterator[ast.stmt]:
        if node.type in ("comment", "line_continuation"):
            return
        compound = _COMPOUND.get(node.type)
        if compound is not None:
            yield located(compound(self, node), node)
            return
        simple = _SIMPLE.get(node.type)
        if node.type == "ERROR" or simple is None or node.has_error:
            self._leave_out(node)
            return
        for statement in simple(self._expressions, node):
            yield located(statement, node)

    def span(self, node: tree_sitter.Node) -> Span:
        start = self._text.offset(node.start_point.row, node.start_point.column, Unit.UTF8)
        return Span(start, self._text.offset(node.end_point.row, node.end_point.column, Unit.UTF8))

    def _leave_out(self, node: tree_sitter.Node) -> None:
        self.broken.append(self.span(node))

    def _expression(self, node: tree_sitter.Node | None) -> ast.expr:
        if node is None or node.has_error or node.is_missing:
            if node is not None:
                self._leave_out(node)
            return self._expressions.unknown(node)
        return self._expressions.convert(node)

    def _body(self, node: tree_sitter.Node, name: str = "body") -> list[ast.stmt]:
        self._note_errors(node)
        body = self.block(node.child_by_field_name(name))
        return body or [located(ast.Pass(), node)]

    def _note_errors(self, node: tree_sitter.Node) -> None:
        for child in node.children:
            if child.type == "ERROR" or child.is_missing:
                self._leave_out(child)

    def _clause_block(self, node: tree_sitter.Node) -> list[ast.stmt]:
        blocks = [child for child in node.named_children if child.type == "block"]
        return (self.block(blocks[-1]) if blocks else []) or [located(ast.Pass(), node)]

    def if_statement(self, node: tree_sitter.Node) -> ast.stmt:
        alternatives = node.children_by_field_name("alternative")
        otherwise: list[ast.stmt] = []
        for clause in reversed(alternatives):
            if clause.type == "else_clause":
                otherwise = self._body(clause)
            else:
                test = self._expression(clause.child_by_field_name("condition"))
                branch = ast.If(test=test, body=self._body(clause, "consequence"), orelse=otherwise)
                otherwise = [located(branch, clause)]
        test = self._expression(node.child_by_field_name("condition"))
        return ast.If(test=test, body=self._body(node, "consequence"), orelse=otherwise)

    def while_statement(self, node: tree_sitter.Node) -> ast.stmt:
        test = self._expression(node.child_by_field_name("condition"))
        return ast.While(test=test, body=self._body(node), orelse=self._else(node))

    def for_statement(self, node: tree_sitter.Node) -> ast.stmt:
        kind = ast.AsyncFor if _is_async(node) else ast.For
        target = self._expression(node.child_by_field_name("left"))
        values = self._expression(node.child_by_field_name("right"))
        return kind(target=target, iter=values, body=self._body(node), orelse=self._else(node))

    def _else(self, node: tree_sitter.Node) -> list[ast.stmt]:
        clause = node.child_by_field_name("alternative")
        return [] if clause is None else self._body(clause)

    def with_statement(self, node: tree_sitter.Node) -> ast.stmt:
        kind = ast.AsyncWith if _is_async(node) else ast.With
        clauses = [child for child in node.named_children if child.type == "with_clause"]
        items = [
            self._with_item(item) for clause in clauses for item in clause.named_children if item.type == "with_item"
        ]
        return kind(items=items, body=self._body(node))

    def _with_item(self, item: tree_sitter.Node) -> ast.withitem:
        value = item.child_by_field_name("value")
        if value is not None and value.type == "as_pattern" and not value.has_error:
            alias = value.child_by_field_name("alias")
            return ast.withitem(self._expression(value.named_children[0]), self._expression(alias))
        return ast.withitem(self._expression(value), None)

    def try_statement(self, node: tree_sitter.Node) -> ast.stmt:
        handlers: list[ast.ExceptHandler] = []
        otherwise: list[ast.stmt] = []
        last: list[ast.stmt] = []
        for clause in node.named_children:
            if clause.type in ("except_clause", "except_group_clause"):
                handlers.append(self._handler(clause))
            elif clause.type == "else_clause":
                otherwise = self._body(clause)
            elif clause.type == "finally_clause":
                last = self._clause_block(clause)
        if not handlers and not last:
            last = [located(ast.Pass(), node)]
        return ast.Try(body=self._body(node), handlers=handlers, orelse=otherwise, finalbody=last)

    def _handler(self, clause: tree_sitter.Node) -> ast.ExceptHandler:
        kinds = [child for child in clause.named_children if child.type not in ("block", "comment")]
        kind = kinds[0] if kinds else None
        name = None
        if kind is not None and kind.type == "as_pattern" and not kind.has_error:
            alias = kind.child_by_field_name("alias")
            name = bytes_of(alias) if alias is not None else None
            kind = kind.named_children[0]
        caught = None if kind is None else self._expression(kind)
        return located(ast.ExceptHandler(caught, name, self._clause_block(clause)), clause)

    def function_definition(self, node: tree_sitter.Node) -> ast.stmt:
        kind = ast.AsyncFunctionDef if _is_async(node) else ast.FunctionDef
        parameters = node.child_by_field_name("parameters")
        returns = node.child_by_field_name("return_type")
        function = kind(
            name=_name(node),
            args=self._expressions.parameters(parameters),
            body=self._body(node),
            decorator_list=[],
            returns=None if returns is None else self._expression(returns),
        )
        return _with_type_params(function)

    def class_definition(self, node: tree_sitter.Node) -> ast.stmt:
        arguments = node.child_by_field_name("superclasses")
        bases, keywords = (
            ([], []) if arguments is None or arguments.has_error else self._expressions.arguments(arguments)
        )
        made = ast.ClassDef(name=_name(node), bases=bases, keywords=keywords, body=self._body(node), decorator_list=[])
        return _with_type_params(made)

    def decorated_definition(self, node: tree_sitter.Node) -> ast.stmt:
        definition = node.child_by_field_name("definition")
        statements = [] if definition is None else list(self._statement(definition))
        if not statements:
            return ast.Pass()
        decorators = [
            self._expression(child.named_children[0] if child.named_children else None)
            for child in node.named_children
            if child.type == "decorator"
        ]
        made = statements[0]
        if isinstance(made, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            made.decorator_list = decorators
        return made

    def match_statement(self, node: tree_sitter.Node) -> ast.stmt:
        subject = self._expression(node.child_by_field_name("subject"))
        body = node.child_by_field_name("body")
        clauses = [] if body is None else [child for child in body.named_children if child.type == "case_clause"]
        cases = [self._case(clause) for clause in clauses]
        wildcard = ast.match_case(located(ast.MatchAs(None, None), node), None, [located(ast.Pass(), node)])
        return ast.Match(subject=subject, cases=cases or [wildcard])

    def _case(self, clause: tree_sitter.Node) -> ast.match_case:
        # The analysis asks only which names a pattern binds, so a pattern becomes the sequence of its captures.
        patterns = [child for child in clause.named_children if child.type == "case_pattern"]
        names = [name for pattern in patterns for name in _captures(pattern)]
        captures: list[ast.pattern] = [located(ast.MatchAs(None, name), clause) for name in names]
        pattern = located(ast.MatchSequence(captures) if captures else ast.MatchAs(None, None), clause)
        guard = clause.child_by_field_name("guard")
        test = None if guard is None or not guard.named_children else self._expression(guard.named_children[0])
        return ast.match_case(pattern, test, self._body(clause, "consequence"))


def _captures(node: tree_sitter.Node) -> Iterator[str]:
    if node.type == "dotted_name" and node.named_child_count == 1:
        if node.text != b"_":
            yield bytes_of(node)
        return
    for child in node.named_children:
        if child.type not in ("keyword_pattern", "class_pattern"):
            yield from _captures(child)
        else:
            for inner in child.named_children[1:]:
                yield from _captures(inner)


def _with_type_params(node: _Stmt) -> _Stmt:
    if "type_params" in node._fields:  # Python 3.12 and newer
        node.type_params = []  # pyright: ignore[reportAttributeAccessIssue]
    return node


def _is_async(node: tree_sitter.Node) -> bool:
    return any(child.type == "async" for child in node.children)


def _name(node: tree_sitter.Node) -> str:
    name = node.child_by_field_name("name")
    return "" if name is None else bytes_of(name)


def _expression_statement(to: Expressions, node: tree_sitter.Node) -> Iterable[ast.stmt]:
    inner = node.named_children
    if len(inner) == 1 and inner[0].type == "assignment":
        yield _assignment(to, inner[0])
    elif len(inner) == 1 and inner[0].type == "augmented_assignment":
        yield _augmented(to, inner[0])
    else:
        values = [to.convert(child) for child in inner if child.type != "comment"]
        value = values[0] if len(values) == 1 else located(ast.Tuple(values, ast.Load()), node)
        yield ast.Expr(value)


def _assignment(to: Expressions, node: tree_sitter.Node) -> ast.stmt:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    annotation = node.child_by_field_name("type")
    if annotation is not None:
        target = to.required(left)
        value = None if right is None else to.convert(right)
        if isinstance(target, ast.Name | ast.Attribute | ast.Subscript):
            return ast.AnnAssign(target=target, annotation=to.convert(annotation), value=value, simple=1)
        return ast.Pass()
    targets = [to.required(left)]
    while right is not None and right.type == "assignment":
        targets.append(to.required(right.child_by_field_name("left")))
        right = right.child_by_field_name("right")
    return ast.Assign(targets=targets, value=to.required(right))


def _augmented(to: Expressions, node: tree_sitter.Node) -> ast.stmt:
    target = to.required(node.child_by_field_name("left"))
    value = to.required(node.child_by_field_name("right"))
    if isinstance(target, ast.Name | ast.Attribute | ast.Subscript):
        return ast.AugAssign(target=target, op=ast.Add(), value=value)
    return ast.Expr(value)


def _return(to: Expressions, node: tree_sitter.Node) -> Iterable[ast.stmt]:
    yield ast.Return(to.convert(node.named_children[0]) if node.named_children else None)


def _raise(to: Expressions, node: tree_sitter.Node) -> Iterable[ast.stmt]:
    cause = node.child_by_field_name("cause")
    first = node.named_children[0] if node.named_children else None
    raised = None if first is None or first == cause else to.convert(first)
    yield ast.Raise(raised, None if cause is None else to.convert(cause))


def _assert(to: Expressions, node: tree_sitter.Node) -> Iterable[ast.stmt]:
    parts = [to.convert(child) for child in node.named_children]
    yield ast.Assert(parts[0], parts[1] if len(parts) > 1 else None)


def _delete(to: Expressions, node: tree_sitter.Node) -> Iterable[ast.stmt]:
    inner = node.named_children[0]
    targets = inner.named_children if inner.type == "expression_list" else [inner]
    yield ast.Delete([to.convert(target) for target in targets])


def _names(make: Callable[[list[str]], ast.stmt]) -> Callable[[Expressions, tree_sitter.Node], Iterable[ast.stmt]]:
    return lambda _to, node: [make([bytes_of(child) for child in node.named_children])]


def _import(_to: Expressions, node: tree_sitter.Node) -> Iterable[ast.stmt]:
    yield ast.Import([_alias(child) for child in node.children_by_field_name("name")])


def _import_from(_to: Expressions, node: tree_sitter.Node) -> Iterable[ast.stmt]:
    module = node.child_by_field_name("module_name")
    text = "" if module is None else bytes_of(module)
    names = [_alias(child) for child in node.children_by_field_name("name")]
    if any(child.type == "wildcard_import" for child in node.named_children):
        names = [located(ast.alias("*", None), node)]
    level = len(text) - len(text.lstrip("."))
    yield ast.ImportFrom(module=text.lstrip(".") or None, names=names, level=level)


def _alias(node: tree_sitter.Node) -> ast.alias:
    if node.type == "aliased_import":
        name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
        return located(ast.alias(bytes_of(name) if name else "", bytes_of(alias) if alias is not None else None), node)
    return located(ast.alias(bytes_of(node), None), node)


_SIMPLE: Mapping[str, Callable[[Expressions, tree_sitter.Node], Iterable[ast.stmt]]] = {
    "expression_statement": _expression_statement,
    "return_statement": _return,
    "raise_statement": _raise,
    "assert_statement": _assert,
    "delete_statement": _delete,
    "global_statement": _names(lambda names: ast.Global(names)),
    "nonlocal_statement": _names(lambda names: ast.Nonlocal(names)),
    "import_statement": _import,
    "import_from_statement": _import_from,
    "future_import_statement": lambda _to, _node: [],
    "type_alias_statement": lambda _to, _node: [ast.Pass()],
    "pass_statement": lambda _to, _node: [ast.Pass()],
    "break_statement": lambda _to, _node: [ast.Break()],
    "continue_statement": lambda _to, _node: [ast.Continue()],
}
_COMPOUND: Mapping[str, Callable[[_Statements, tree_sitter.Node], ast.stmt]] = {
    "if_statement": _Statements.if_statement,
    "while_statement": _Statements.while_statement,
    "for_statement": _Statements.for_statement,
    "with_statement": _Statements.with_statement,
    "try_statement": _Statements.try_statement,
    "function_definition": _Statements.function_definition,
    "class_definition": _Statements.class_definition,
    "decorated_definition": _Statements.decorated_definition,
    "match_statement": _Statements.match_statement,
}
