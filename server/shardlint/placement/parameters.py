"""Which value each parameter of a function of the program gets."""

from __future__ import annotations

import ast
from collections.abc import Hashable

from shardlint.placement.domain import UNKNOWN, Elements, Function, Ids, Mapping, Sequence, Value
from shardlint.placement.frame import Code
from shardlint.placement.lattice import one_of
from shardlint.placement.machine import Arguments
from shardlint.syntax.scopes import parameters


def bound_arguments(function: Function, code: Code, arguments: Arguments, ids: Ids) -> dict[str, Value]:
    """The parameters' values by name; `ids` is the identity of the dict that `**named` makes."""
    signature = code.node.args
    positional = [*signature.posonlyargs, *signature.args]
    bound = {parameter.arg: value for parameter, value in zip(positional, arguments.positional, strict=False)}
    if signature.vararg is not None:
        bound[signature.vararg.arg] = _starred(arguments.positional[len(positional) :], arguments)
    declared = {parameter.arg for parameter in (*signature.args, *signature.kwonlyargs)}
    extra: list[tuple[Hashable, Value]] = []
    for name, value in arguments.keywords.items():
        if name in declared:
            bound[name] = value
        else:
            extra.append((name, value))
    if signature.kwarg is not None:
        bound[signature.kwarg.arg] = Mapping(tuple(extra), UNKNOWN if arguments.open else None, ids)
    defaults = dict(function.defaults)
    for parameter in parameters(signature):
        name = parameter.arg
        if name not in bound:
            missing = defaults.get(name, UNKNOWN)
            may_be_given = arguments.rest if parameter in positional else None
            if may_be_given is not None:
                missing = one_of([may_be_given, missing]) if name in defaults else may_be_given
            elif arguments.open:
                missing = UNKNOWN
            bound[name] = missing
    return bound


def positional_defaults(function: Function) -> list[tuple[str, Value]]:
    """The defaults of the parameters that may be given by position, in their order: `function.__defaults__`."""
    by_keyword = function.code.node.args.kwonlyargs if isinstance(function.code, Code) else []
    names = {parameter.arg for parameter in by_keyword}
    return [(name, value) for name, value in function.defaults if name not in names]


def _starred(values: tuple[Value, ...], arguments: Arguments) -> Value:
    if arguments.rest is not None:
        return Elements(one_of([*values, arguments.rest]))
    return Elements(one_of([*values, UNKNOWN])) if arguments.open else Sequence(values)


def default_nodes(arguments: ast.arguments) -> list[tuple[str, ast.expr]]:
    """The parameters that have a default, with its expression."""
    positional = [*arguments.posonlyargs, *arguments.args]
    with_default = positional[len(positional) - len(arguments.defaults) :]
    found = [(parameter.arg, node) for parameter, node in zip(with_default, arguments.defaults, strict=True)]
    for parameter, node in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if node is not None:
            found.append((parameter.arg, node))
    return found
