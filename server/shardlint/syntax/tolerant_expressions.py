"""From tree-sitter's expression nodes to `ast` expressions. What has no counterpart becomes a tuple of its parts."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TypeVar

import tree_sitter

_Node = TypeVar("_Node", bound=ast.AST)


def bytes_of(node: tree_sitter.Node) -> str:
    """The source text of a node."""
    return (node.text or b"").decode("utf-8", "surrogatepass")


def located(made: _Node, node: tree_sitter.Node) -> _Node:
    """`made` with the position of `node`: lines from 1, columns in UTF-8 bytes from 0, as `ast` has them."""
    setattr(made, "lineno", node.start_point.row + 1)  # noqa: B010 - not every node class declares positions
    setattr(made, "col_offset", node.start_point.column)  # noqa: B010
    setattr(made, "end_lineno", node.end_point.row + 1)  # noqa: B010
    setattr(made, "end_col_offset", node.end_point.column)  # noqa: B010
    return made


class Expressions:
    """The converter. Every method returns nodes that carry positions."""

    def unknown(self, node: tree_sitter.Node | None) -> ast.expr:
        """A name that nothing defines, for what cannot be read."""
        name = ast.Name("?", ast.Load())
        if node is not None:
            return located(name, node)
        return ast.copy_location(
            name, ast.Name("?", ast.Load(), lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
        )

    def required(self, node: tree_sitter.Node | None) -> ast.expr:
        return self.unknown(None) if node is None else self.convert(node)

    def convert(self, node: tree_sitter.Node) -> ast.expr:
        make = _MAKERS.get(node.type)
        if make is None:
            parts = [self.convert(child) for child in node.named_children if child.type != "comment"]
            return located(ast.Tuple(parts, ast.Load()), node)
        return located(make(self, node), node)

    def parenthesized(self, node: tree_sitter.Node) -> ast.expr:
        inner = [child for child in node.named_children if child.type != "comment"]
        return self.convert(inner[0]) if inner else self.unknown(node)

    def arguments(self, node: tree_sitter.Node) -> tuple[list[ast.expr], list[ast.keyword]]:
        positional: list[ast.expr] = []
        keywords: list[ast.keyword] = []
        if node.type == "generator_expression":
            return [self.convert(node)], []
        for child in node.named_children:
            if child.type == "keyword_argument":
                name = child.child_by_field_name("name")
                value = self.required(child.child_by_field_name("value"))
                keywords.append(located(ast.keyword(bytes_of(name) if name else None, value), child))
            elif child.type == "dictionary_splat":
                keywords.append(located(ast.keyword(None, self.convert(child.named_children[0])), child))
            elif child.type != "comment":
                positional.append(self.convert(child))
        return positional, keywords

    def parameters(self, node: tree_sitter.Node | None) -> ast.arguments:
        made = ast.arguments(
            posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
        )
        keyword_only = False
        for child in [] if node is None else node.named_children:
            kind = child.type
            if kind == "keyword_separator":
                keyword_only = True
            elif kind == "positional_separator":
                made.posonlyargs, made.args = made.args, []
            elif kind in ("comment", "ERROR"):
                continue
            else:
                keyword_only = self._parameter(made, child, keyword_only)
        return made

    def _parameter(self, made: ast.arguments, node: tree_sitter.Node, keyword_only: bool) -> bool:
        name_node = node.child_by_field_name("name") or node
        inner = name_node.named_children[0] if name_node.type == "typed_parameter" else name_node
        annotation = node.child_by_field_name("type")
        note = None if annotation is None or annotation.has_error else self.convert(annotation)
        default = node.child_by_field_name("value")
        value = None if default is None else self.unknown(default) if default.has_error else self.convert(default)
        if inner.type in ("list_splat_pattern", "dictionary_splat_pattern"):
            names = inner.named_children
            arg = located(ast.arg(bytes_of(names[0]) if names else "", note), node)
            if inner.type == "list_splat_pattern":
                made.vararg = arg
                return True
            made.kwarg = arg
            return keyword_only
        arg = located(ast.arg(bytes_of(inner), note), node)
        if keyword_only:
            made.kwonlyargs.append(arg)
            made.kw_defaults.append(value)
        else:
            made.args.append(arg)
            if value is not None:
                made.defaults.append(value)
            elif made.defaults:
                made.defaults.append(self.unknown(node))
        return keyword_only

    def comprehension(self, node: tree_sitter.Node) -> list[ast.comprehension]:
        made: list[ast.comprehension] = []
        for child in node.named_children:
            if child.type == "for_in_clause":
                target = self.required(child.child_by_field_name("left"))
                values = self.required(child.child_by_field_name("right"))
                is_async = int(any(part.type == "async" for part in child.children))
                made.append(ast.comprehension(target, values, [], is_async))
            elif child.type == "if_clause" and made and child.named_children:
                made[-1].ifs.append(self.convert(child.named_children[0]))
        return made


_Maker = Callable[[Expressions, tree_sitter.Node], ast.expr]


def _call(to: Expressions, node: tree_sitter.Node) -> ast.expr:
    arguments = node.child_by_field_name("arguments")
    positional, keywords = ([], []) if arguments is None else to.arguments(arguments)
    return ast.Call(to.required(node.child_by_field_name("function")), positional, keywords)


def _attribute(to: Expressions, node: tree_sitter.Node) -> ast.expr:
    name = node.child_by_field_name("attribute")
    return ast.Attribute(to.required(node.child_by_field_name("object")), bytes_of(name) if name else "", ast.Load())


def _subscript(to: Expressions, node: tree_sitter.Node) -> ast.expr:
    parts = [to.convert(child) for child in node.children_by_field_name("subscript")]
    index = parts[0] if len(parts) == 1 else located(ast.Tuple(parts, ast.Load()), node)
    return ast.Subscript(to.required(node.child_by_field_name("value")), index, ast.Load())


def _slice(to: Expressions, node: tree_sitter.Node) -> ast.expr:
    parts: list[ast.expr | None] = [None]
    for child in node.children:
        if child.type == ":":
            parts.append(None)
        elif child.is_named and child.type != "comment":
            parts[-1] = to.convert(child)
    lower, upper, step = (*parts, None, None)[:3]
    return ast.Slice(lower, upper, step)


def _binary(to: Expressions, node: tree_sitter.Node) -> ast.expr:
    operator = node.child_by_field_name("operator")
    made = _BINARY.get(operator.type if operator else "", ast.Add)()
    return ast.BinOp(
        to.required(node.child_by_field_name("left")), made, to.required(node.child_by_field_name("right"))
    )


def _boolean(to: Expressions, node: tree_sitter.Node) -> ast.expr:
    operator = node.child_by_field_name("operator")
    made = ast.Or() if operator is not None and operator.type == "or" else ast.And()
    parts = [to.required(node.child_by_field_name("left")), to.required(node.child_by_field_name("right"))]
    return ast.BoolOp(made, parts)


def _comparison(to: Expressions, node: tree_sitter.Node) -> ast.expr:
    operands = [to.convert(child) for child in node.named_children]
    operators = [_COMPARE.get(child.type, ast.Eq)() for child in node.children_by_field_name("operators")]
    if len(operators) != len(operands) - 1:
        return ast.Tuple(operands, ast.Load())
    return ast.Compare(operands[0], operators, operands[1:])


def _unary(to: Expressions, node: tree_sitter.Node) -> ast.expr:
    operator = node.child_by_field_name("operator")
    kind = {"-": ast.USub, "+": ast.UAdd, "~": ast.Invert}.get(operator.type if operator else "", ast.UAdd)
    return ast.UnaryOp(kind(), to.required(node.child_by_field_name("argument")))


def _conditional(to: Expressions, node: tree_sitter.Node) -> ast.expr:
    parts = [to.convert(child) for child in node.named_children if child.type != "comment"]
    return ast.IfExp(parts[1], parts[0], parts[2]) if len(parts) == 3 else ast.Tuple(parts, ast.Load())


def _named(to: Expressions, node: tree_sitter.Node) -> ast.expr:
    target = to.required(node.child_by_field_name("name"))
    value = to.required(node.child_by_field_name("value"))
    return ast.NamedExpr(target, value) if isinstance(target, ast.Name) else value


def _dictionary(to: Expressions, node: tree_sitter.Node) -> ast.expr:
    keys: list[ast.expr | None] = []
    values: list[ast.expr] = []
    for child in node.named_children:
        if child.type == "pair":
            keys.append(to.required(child.child_by_field_name("key")))
            values.append(to.required(child.child_by_field_name("value")))
        elif child.type == "dictionary_splat":
            keys.append(None)
            values.append(to.convert(child.named_children[0]))
    return ast.Dict(keys, values)


def _string(to: Expressions, node: tree_sitter.Node) -> ast.expr:
    interpolations = [
        inner
        for child in node.named_children
        if child.type == "interpolation" and (inner := child.child_by_field_name("expression")) is not None
    ]
    if interpolations:
        values: list[ast.expr] = [located(ast.FormattedValue(to.convert(i), -1, None), i) for i in interpolations]
        return ast.JoinedStr(values)
    return _literal(bytes_of(node))


def _literal(text: str) -> ast.Constant:
    """The constant that a number or string literal means; one that Python refuses stands for its own text."""
    try:
        parsed = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ast.Constant(text)
    return parsed if isinstance(parsed, ast.Constant) else ast.Constant(text)


def _comprehension(make: Callable[[ast.expr, list[ast.comprehension]], ast.expr]) -> _Maker:
    return lambda to, node: make(to.required(node.child_by_field_name("body")), to.comprehension(node))


def _dict_comprehension(to: Expressions, node: tree_sitter.Node) -> ast.expr:
    pair = node.child_by_field_name("body")
    key = to.required(pair.child_by_field_name("key") if pair else None)
    value = to.required(pair.child_by_field_name("value") if pair else None)
    return ast.DictComp(key, value, to.comprehension(node))


def _sequence(kind: type[ast.Tuple] | type[ast.List]) -> _Maker:
    return lambda to, node: kind([to.convert(c) for c in node.named_children if c.type != "comment"], ast.Load())


def _first(to: Expressions, node: tree_sitter.Node) -> ast.expr:
    return to.convert(node.named_children[0]) if node.named_children else to.unknown(node)


_BINARY: Mapping[str, type[ast.operator]] = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv, "%": ast.Mod, "**": ast.Pow,
    "@": ast.MatMult, "&": ast.BitAnd, "|": ast.BitOr, "^": ast.BitXor, "<<": ast.LShift, ">>": ast.RShift,
}  # fmt: skip
_COMPARE: Mapping[str, type[ast.cmpop]] = {
    "==": ast.Eq, "!=": ast.NotEq, "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE,
    "in": ast.In, "not in": ast.NotIn, "is": ast.Is, "is not": ast.IsNot,
}  # fmt: skip
_MAKERS: Mapping[str, _Maker] = {
    "identifier": lambda _to, node: ast.Name(bytes_of(node), ast.Load()),
    "keyword_identifier": lambda _to, node: ast.Name(bytes_of(node), ast.Load()),
    "integer": lambda _to, node: _literal(bytes_of(node)),
    "float": lambda _to, node: _literal(bytes_of(node)),
    "true": lambda _to, _node: ast.Constant(True),
    "false": lambda _to, _node: ast.Constant(False),
    "none": lambda _to, _node: ast.Constant(None),
    "ellipsis": lambda _to, _node: ast.Constant(...),
    "string": _string,
    "concatenated_string": lambda to, node: _string(to, node),
    "type": _first,
    "parenthesized_expression": Expressions.parenthesized,
    "call": _call,
    "attribute": _attribute,
    "subscript": _subscript,
    "slice": _slice,
    "binary_operator": _binary,
    "boolean_operator": _boolean,
    "comparison_operator": _comparison,
    "unary_operator": _unary,
    "not_operator": lambda to, node: ast.UnaryOp(ast.Not(), to.required(node.child_by_field_name("argument"))),
    "conditional_expression": _conditional,
    "named_expression": _named,
    "dictionary": _dictionary,
    "set": lambda to, node: ast.Set([to.convert(child) for child in node.named_children]),
    "list": _sequence(ast.List),
    "list_pattern": _sequence(ast.List),
    "tuple": _sequence(ast.Tuple),
    "tuple_pattern": _sequence(ast.Tuple),
    "pattern_list": _sequence(ast.Tuple),
    "expression_list": _sequence(ast.Tuple),
    "list_splat": lambda to, node: ast.Starred(_first(to, node), ast.Load()),
    "list_splat_pattern": lambda to, node: ast.Starred(_first(to, node), ast.Load()),
    "as_pattern_target": _first,
    "await": lambda to, node: ast.Await(_first(to, node)),
    "yield": lambda to, node: ast.Yield(_first(to, node) if node.named_children else None),
    "lambda": lambda to, node: ast.Lambda(
        to.parameters(node.child_by_field_name("parameters")), to.required(node.child_by_field_name("body"))
    ),
    "list_comprehension": _comprehension(ast.ListComp),
    "set_comprehension": _comprehension(ast.SetComp),
    "generator_expression": _comprehension(ast.GeneratorExp),
    "dictionary_comprehension": _dict_comprehension,
}
