"""What functions give and what objects hold, by the definitions in other people's modules.

An annotation is believed; without one all that a function may return, or that is ever assigned to an attribute, must lead to one path.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from shardlint.inference.bindings import Assigned, Declared, Way, assignments, bound_in
from shardlint.inference.scopes import Module, Rest, Scope, agreed
from shardlint.placement.annotations import parts_of, unquoted
from shardlint.placement.parameters import default_nodes
from shardlint.placement.paths import CALL
from shardlint.placement.survey import own_nodes
from shardlint.syntax.scopes import parameters

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_PROPERTIES = frozenset({"builtins.property", "functools.cached_property", "abc.abstractproperty"})
_OF_CLASSES = frozenset({"builtins.classmethod", "builtins.staticmethod"})
_MANAGERS = frozenset({"contextlib.contextmanager", "contextlib.asynccontextmanager"})
_TRANSPARENT = _PROPERTIES | _OF_CLASSES | frozenset(
    {
        "functools.cache", "functools.lru_cache", "abc.abstractmethod", "typing.final", "typing.override",
        "typing_extensions.final", "typing_extensions.override", "jax.jit",
    }
)  # fmt: skip
_MOST_BASES = 6
_ENTER = (".__enter__", CALL)
_ABSTRACT = "jax.sharding.Sharding()"
_NO_BASES = frozenset(
    {
        "builtins.object",
        "abc.ABC",
        "typing.Protocol",
        "typing.Generic",
        "typing.NamedTuple",
        "typing_extensions.Protocol",
    }
)


def defined(node: ast.stmt, module: Module, rest: Rest) -> str | None:
    """Where `rest` of a function or class leads that the module defines."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return _result(node, module.scope, rest[1:], None) if rest[:1] == (CALL,) else None
        case ast.ClassDef() if rest[:1] == (CALL,):
            return _instance(node, module, rest[1:])
        case ast.ClassDef() if rest:
            return _of_class(node, module, rest)
        case _:
            return None


def _instance(node: ast.ClassDef, module: Module, rest: Rest) -> str | None:
    """What is read from an instance."""
    if not rest:
        return _inherited(node, module, (CALL,))
    if rest[0] == CALL:
        rest = (".__call__", *rest)
    if not rest[0].startswith("."):
        return None
    name, rest = rest[0][1:], rest[1:]
    functions = _functions(node, name)
    if functions:
        (function, *others) = functions
        decorators = _decorators(function, module.scope)
        if others or decorators is None:
            return None
        if decorators & _PROPERTIES:
            return _result(function, module.scope, rest, node)
        return _result(function, module.scope, rest[1:], node) if rest[:1] == (CALL,) else None
    held = [*_declared(node, name, module.scope), *_stored(node, name, module)]
    if held:
        return _of_ways(held, name, rest)
    return _inherited(node, module, (CALL, f".{name}", *rest))


def _of_class(node: ast.ClassDef, module: Module, rest: Rest) -> str | None:
    """What is read from the class itself."""
    if not rest[0].startswith("."):
        return None
    name, rest = rest[0][1:], rest[1:]
    functions = _functions(node, name)
    if len(functions) == 1 and rest[:1] == (CALL,):
        if (_decorators(functions[0], module.scope) or frozenset()) & _OF_CLASSES:
            return _result(functions[0], module.scope, rest[1:], node)
        return None
    held = [] if functions else _declared(node, name, module.scope)
    if held:
        return _of_ways(held, name, rest)
    return None if functions else _inherited(node, module, (f".{name}", *rest))


def _of_ways(held: Sequence[tuple[Way, Scope]], name: str, rest: Rest) -> str | None:
    """Where an attribute leads; an annotation counts for more than what is assigned."""
    annotations = [(way, scope) for way, scope in held if isinstance(way, Declared)]
    told = agreed([scope.of_way(way, name, rest) for way, scope in annotations or held])
    for way, scope in held:
        if isinstance(way, Assigned | Declared) and way.value is not None:
            told = scope.unless_one(told, [way.value])
    return told


def _inherited(node: ast.ClassDef, module: Module, rest: Rest) -> str | None:
    """The same of the base that a class has it from."""
    bases = _bases(node, module.scope)
    if len(bases) > 1:
        names = [step.removeprefix(".") for step in rest[:2] if step != CALL]
        bases = [_first_with(names[0], bases, module.scope)] if names else []
    return bases[0] + "".join(rest) if bases and bases[0] is not None else None


def _bases(node: ast.ClassDef, scope: Scope) -> list[str | None]:
    named = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
    return [path for path in (scope.path(base) for base in named) if path not in _NO_BASES]


def _first_with(name: str, bases: Sequence[str | None], scope: Scope) -> str | None:
    """The first of several bases that has an attribute; None where that is not sure, as one of them cannot be looked into."""
    for base in bases:
        has = None if base is None else _has(name, base, scope, 0)
        if has is not False:
            return base if has else None
    return None


def _has(name: str, path: str, scope: Scope, depth: int) -> bool | None:
    """Whether a class has an attribute, itself or from a base; None where that is not known."""
    found = scope.finder(path) if depth < _MOST_BASES else None
    node = None if found is None else Module(found[0]).definition(found[1])
    if found is None or not isinstance(node, ast.ClassDef):
        return None
    module = Module(found[0])
    if _functions(node, name) or _declared(node, name, found[0]) or any(_stored(node, name, module)):
        return True
    for base in _bases(node, found[0]):
        has = None if base is None else _has(name, base, found[0], depth + 1)
        if has is not False:
            return has
    return False


def _functions(node: ast.ClassDef, name: str) -> list[_Function]:
    """The methods of this name; what sets or deletes a property is none."""
    found: list[_Function] = []
    for one in node.body:
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name == name:
            ends = [decorator.attr for decorator in one.decorator_list if isinstance(decorator, ast.Attribute)]
            if not {"setter", "deleter"} & set(ends):
                found.append(one)
    return found


def _declared(node: ast.ClassDef, name: str, scope: Scope) -> list[tuple[Way, Scope]]:
    """How the body of a class binds a name, or what it says of an attribute of this name."""
    found: list[tuple[Way, Scope]] = []
    for statement in node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=target), annotation=annotation, value=value) if target == name:
                found.append((Declared(annotation, value), scope))
            case ast.Assign(targets=assigned, value=value):
                ways = [way for target in assigned for bound, way in assignments(target, value) if bound == name]
                found.extend((way, scope) for way in ways)
            case _:
                pass
    return found


def _stored(node: ast.ClassDef, name: str, module: Module) -> Iterator[tuple[Way, Scope]]:
    """What the methods of a class assign to an attribute of `self`."""
    for function in node.body:
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) or not function.args.args:
            continue
        own, scope = function.args.args[0].arg, _inside(function, module.scope, node)
        for part in ast.walk(function):
            match part:
                case ast.AnnAssign(target=target, annotation=annotation, value=value):
                    if _is_attribute(target, own, name):
                        yield Declared(annotation, value), scope
                case ast.Assign(targets=assigned, value=value):
                    for target in assigned:
                        if _is_attribute(target, own, name):
                            yield Assigned(value), scope
                        elif isinstance(target, ast.Tuple | ast.List):
                            for index, item in enumerate(target.elts):
                                if _is_attribute(item, own, name):
                                    yield Assigned(value, index), scope
                case (
                    ast.AugAssign(target=target)
                    | ast.For(target=target)
                    | ast.withitem(optional_vars=ast.expr() as target)
                ):
                    if _is_attribute(target, own, name):
                        yield None, scope
                case _:
                    pass


def _is_attribute(target: ast.expr, own: str, name: str) -> bool:
    match target:
        case ast.Attribute(value=ast.Name(id=owner), attr=attribute):
            return owner == own and attribute == name
        case _:
            return False


def _result(function: _Function, scope: Scope, rest: Rest, owner: ast.ClassDef | None) -> str | None:
    """What calling a function gives; of one that makes context managers, what entering such a one gives."""
    decorators = _decorators(function, scope)
    inside = _inside(function, scope, owner)
    nodes = list(own_nodes(function))
    yields = [node for node in nodes if isinstance(node, ast.Yield | ast.YieldFrom)]
    if decorators is None:
        return None
    if decorators & _MANAGERS:
        return _entered(function, inside, yields, rest[2:]) if rest[:2] == _ENTER else None
    if yields:
        return None
    returned = [node.value for node in nodes if isinstance(node, ast.Return)]
    values = [value for value in returned if value is not None]
    told = inside.annotated(function.returns, rest)
    vague = told is None or inside.table.canonical(told.removesuffix(CALL)) + CALL == _ABSTRACT
    if vague and len(values) == len(returned) and _ends(function.body):
        told = agreed([inside.path(value, rest) for value in values]) or told
    return inside.unless_one(told, values)


def _entered(function: _Function, inside: Scope, yields: Sequence[ast.expr], rest: Rest) -> str | None:
    given = [node.value for node in yields if isinstance(node, ast.Yield) and node.value is not None]
    annotation = unquoted(function.returns)
    if isinstance(annotation, ast.Subscript):
        told = inside.annotated(parts_of(annotation)[0], rest)
    else:
        told = agreed([inside.path(value, rest) for value in given]) if len(given) == len(yields) else None
    return inside.unless_one(told, given)


def _inside(function: _Function, scope: Scope, owner: ast.ClassDef | None) -> Scope:
    """The names that the body of a function sees."""
    own_class = None if owner is None else f"{scope.module}.{owner.name}"
    known: dict[str, str | None] = {}
    for parameter in parameters(function.args):
        known[parameter.arg] = scope.annotated(parameter.annotation)
    static = any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in function.decorator_list)
    if own_class is not None and function.args.args and not static:
        of_class = any(isinstance(one, ast.Name) and one.id == "classmethod" for one in function.decorator_list)
        known[function.args.args[0].arg] = own_class if of_class else own_class + CALL
    starred = (function.args.vararg, function.args.kwarg)
    known.update({one.arg: None for one in starred if one is not None})
    bound = bound_in(function.body, scope.module, package=scope.package)
    ones = {
        name
        for name, default in default_nodes(function.args)
        if isinstance(default, ast.Constant) and default.value == 1
    }
    for name in known.keys() & (bound.keys() | ones):
        known.pop(name)
        bound = {**bound, name: bound.get(name, frozenset[Way]()) | {None}}
    return Scope(scope.module, bound, scope.table, scope.finder, scope.package, scope, known, own_class)


def _decorators(function: _Function, scope: Scope) -> frozenset[str] | None:
    """The decorators of a function, None if there is one of which nobody knows what it makes of the function."""
    called = [one.func if isinstance(one, ast.Call) else one for one in function.decorator_list]
    names = frozenset(path for path in (scope.path(one) for one in called) if path is not None)
    return names if len(names) == len(called) and names <= _TRANSPARENT | _MANAGERS else None


def _ends(body: Sequence[ast.stmt]) -> bool:
    """Whether a body surely ends in a `return` or `raise`."""
    match body[-1]:
        case ast.Return() | ast.Raise():
            return True
        case ast.If(body=one, orelse=other) if other:
            return _ends(one) and _ends(other)
        case ast.With(body=inner) | ast.AsyncWith(body=inner):
            return _ends(inner)
        case ast.Try(body=inner, handlers=handlers, orelse=[]):
            return _ends(inner) and all(_ends(handler.body) for handler in handlers)
        case _:
            return False
