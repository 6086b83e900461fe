"""Values of expressions."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping
from dataclasses import replace

from shardlint.placement.domain import (
    ONE,
    OPEN,
    UNKNOWN,
    Array,
    Constant,
    Elements,
    Fact,
    Foreign,
    Function,
    Host,
    Method,
    OneOf,
    Sequence,
    Slice,
    Symbol,
    Value,
    Version,
    alternatives,
    each,
    join,
    one_of,
)
from shardlint.placement.domain import (
    Mapping as MappingValue,
)
from shardlint.placement.handoffs import attribute_read
from shardlint.placement.iteration import element
from shardlint.placement.machine import Arguments, Code, Frame, Machine
from shardlint.placement.operators import binary, compare, negate, subscript
from shardlint.syntax.scopes import targets

_BUILTINS = frozenset(dir(builtins))


class Evaluator:
    """Evaluates expressions; recursion over the tree, everything else through the machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        handler = _HANDLERS.get(type(node))
        return UNKNOWN if handler is None else handler(self, node, frame)

    def name(self, node: ast.Name, frame: Frame) -> Value:
        value = lookup(node.id, frame)
        if value is None:
            return Symbol(f"builtins.{node.id}") if node.id in _BUILTINS else UNKNOWN
        for alternative in alternatives(value):
            if isinstance(alternative, Symbol) and not isinstance(value, OneOf):
                self._machine.canonical_symbol(alternative.name, node, frame)
        return value

    def attribute(self, node: ast.Attribute, frame: Frame) -> Value:
        owner = self._machine.evaluate(node.value, frame)
        return each(owner, lambda value: self._attribute_of(value, node, frame))

    def _attribute_of(self, owner: Value, node: ast.Attribute, frame: Frame) -> Value:
        name = node.attr
        match owner:
            case Symbol():
                return self._machine.canonical_symbol(f"{owner.name}.{name}", node, frame)
            case Array():
                return self._array_attribute(owner, node, frame)
            case Fact():
                return _fact_attribute(owner, name)
            case Method(Array() as array, "shard") if name == "data":
                return array
            case _:
                attribute_read(self._machine, owner, node, frame)
                return Method(owner, name)

    def _array_attribute(self, array: Array, node: ast.Attribute, frame: Frame) -> Value:
        attribute_read(self._machine, array, node, frame)
        reads = self._machine.table.attributes.get(f"jax.Array.{node.attr}")
        if reads == "like":
            return Array(array.count, array.key, array.device, array.traced, array.trace)
        if reads == "shards":
            return Elements(Method(Array(ONE, frame.fresh(node), trace=None), "shard"))
        if reads == "sharding":
            return Fact("sharding", array.key, frame.count(array), array.trace)
        return Method(array, node.attr)

    def call(self, node: ast.Call, frame: Frame) -> Value:
        function = self._machine.evaluate(node.func, frame)
        arguments = self.arguments(node, frame)
        if not frame.state.alive:
            return UNKNOWN
        return self._machine.call(function, arguments, node, frame)

    def arguments(self, node: ast.Call, frame: Frame) -> Arguments:
        positional: list[Value] = []
        open_ = False
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                value = self._machine.evaluate(argument.value, frame)
                if isinstance(value, Sequence):
                    positional.extend(value.items)
                else:
                    open_ = True
            elif not open_:
                positional.append(self._machine.evaluate(argument, frame))
            else:
                self._machine.evaluate(argument, frame)
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self._machine.evaluate(keyword.value, frame)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, MappingValue):
                keywords.update({key: item for key, item in value.items if isinstance(key, str)})
            else:
                open_ = True
        return Arguments(tuple(positional), keywords, open_)

    def constant(self, node: ast.Constant, _frame: Frame) -> Value:
        return Constant(node.value)

    def sequence(self, node: ast.Tuple | ast.List | ast.Set, frame: Frame) -> Value:
        items: list[Value] = []
        for element_node in node.elts:
            if isinstance(element_node, ast.Starred):
                value = self._machine.evaluate(element_node.value, frame)
                if not isinstance(value, Sequence):
                    rest = [self._machine.evaluate(e, frame) for e in node.elts if not isinstance(e, ast.Starred)]
                    return Elements(one_of([element(value, element_node, frame), *rest]))
                items.extend(value.items)
            else:
                items.append(self._machine.evaluate(element_node, frame))
        return Sequence(tuple(items))

    def dictionary(self, node: ast.Dict, frame: Frame) -> Value:
        items: dict[object, Value] = {}
        literal = True
        for key_node, value_node in zip(node.keys, node.values, strict=True):
            value = self._machine.evaluate(value_node, frame)
            if key_node is None:
                if isinstance(value, MappingValue):
                    items.update(dict(value.items))
                else:
                    literal = False
                continue
            key = self._machine.evaluate(key_node, frame)
            if isinstance(key, Constant):
                items[key.value] = value
            else:
                literal = False
                items[key_node] = value
        if not literal:
            return Elements(one_of(items.values()))
        return MappingValue(tuple(items.items()))

    def subscript(self, node: ast.Subscript, frame: Frame) -> Value:
        owner = self._machine.evaluate(node.value, frame)
        index = self._machine.evaluate(node.slice, frame)
        return each(owner, lambda value: subscript(value, index, node, frame))

    def slice(self, node: ast.Slice, frame: Frame) -> Value:
        parts = [
            Constant(None) if part is None else self._machine.evaluate(part, frame)
            for part in (node.lower, node.upper, node.step)
        ]
        low, high, step = (
            part.value if isinstance(part, Constant) and isinstance(part.value, int | None) else OPEN for part in parts
        )
        return Slice(low, high, step)

    def binary(self, node: ast.BinOp, frame: Frame) -> Value:
        left, right = self._machine.evaluate(node.left, frame), self._machine.evaluate(node.right, frame)
        return binary(left, node.op, right, node, frame)

    def unary(self, node: ast.UnaryOp, frame: Frame) -> Value:
        value = self._machine.evaluate(node.operand, frame)
        if isinstance(node.op, ast.Not):
            return each(value, negate)
        if isinstance(node.op, ast.USub) and isinstance(value, Constant) and isinstance(value.value, int | float):
            return Constant(-value.value)
        return value if isinstance(value, Array | Host | Foreign) else UNKNOWN

    def boolean(self, node: ast.BoolOp, frame: Frame) -> Value:
        """The operands in order, each on the path on which the ones before did not decide."""
        stop = isinstance(node.op, ast.Or)
        before = frame.state.copy()
        values: list[Value] = []
        for operand in node.values:
            value = self._machine.evaluate(operand, frame)
            values.append(value)
            if isinstance(value, Constant) and bool(value.value) == stop:
                break
            self._machine.assume(operand, not stop, frame)
            if not frame.state.alive:
                break
        frame.state = before
        decided = [value for value in values if not isinstance(value, Constant)]
        if not decided:
            return values[-1]
        if any(isinstance(value, Version) for value in decided):
            return Version(None, opaque=True)
        return join(decided[0], one_of(decided[1:])) if len(decided) > 1 else decided[0]

    def comparison(self, node: ast.Compare, frame: Frame) -> Value:
        operands = [self._machine.evaluate(operand, frame) for operand in (node.left, *node.comparators)]
        if len(operands) != 2:
            return UNKNOWN
        return compare(operands[0], node.ops[0], operands[1], self._machine.target)

    def conditional(self, node: ast.IfExp, frame: Frame) -> Value:
        before = frame.state
        values: list[Value] = []
        for truth, branch in ((True, node.body), (False, node.orelse)):
            frame.state = before.copy()
            self._machine.assume(node.test, truth, frame)
            if frame.state.alive:
                values.append(self._machine.evaluate(branch, frame))
        frame.state = before
        return one_of(values)

    def named(self, node: ast.NamedExpr, frame: Frame) -> Value:
        value = self._machine.evaluate(node.value, frame)
        self._machine.bind(node.target, value, frame)
        return value

    def function(self, node: ast.Lambda, frame: Frame) -> Value:
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self._machine.evaluate(default, frame)
        code = code_of(node, "lambda", frame)
        frame.defined.append((code, frame))
        return Function(code, frame)

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, frame: Frame) -> Value:
        return self._comprehend(node.generators, frame, lambda: Elements(self._machine.evaluate(node.elt, frame)))

    def dict_comprehension(self, node: ast.DictComp, frame: Frame) -> Value:
        def make() -> Value:
            self._machine.evaluate(node.key, frame)
            return Elements(self._machine.evaluate(node.value, frame))

        return self._comprehend(node.generators, frame, make)

    def _comprehend(self, generators: list[ast.comprehension], frame: Frame, make: Callable[[], Value]) -> Value:
        before = frame.state.copy()
        bound = {name for generator in generators for name in targets(generator.target)}
        for generator in generators:
            values = self._machine.evaluate(generator.iter, frame)
            self._machine.bind(generator.target, element(values, generator.target, frame), frame)
            for test in generator.ifs:
                self._machine.assume(test, True, frame)
        value = make() if frame.state.alive else Elements(UNKNOWN)
        walrus = {name: v for name, v in frame.state.variables.items() if name not in bound}
        frame.state = before
        for name, bound_value in walrus.items():
            frame.state.variables[name] = bound_value
        return value

    def formatted(self, node: ast.JoinedStr, frame: Frame) -> Value:
        for value in node.values:
            if isinstance(value, ast.FormattedValue):
                self._machine.evaluate(value.value, frame)
        return UNKNOWN

    def awaited(self, node: ast.Await | ast.Starred, frame: Frame) -> Value:
        return self._machine.evaluate(node.value, frame)

    def yielded(self, node: ast.Yield | ast.YieldFrom, frame: Frame) -> Value:
        value = UNKNOWN if node.value is None else self._machine.evaluate(node.value, frame)
        frame.yields.append(element(value, node, frame) if isinstance(node, ast.YieldFrom) else value)
        return UNKNOWN


def lookup(name: str, frame: Frame) -> Value | None:
    """The value of a name by Python's scoping rules, or None where the program does not bind it.

    What is looked up outside of `frame` is noted among its reads.
    """
    current: Frame | None = frame.module if name in frame.globals else frame
    while current is not None:
        value = current.state.variables.get(name)
        if current is not frame:
            frame.reads.setdefault((current, name), value)
        if value is not None:
            return value
        if name in current.locals and current.enclosing is not None:
            return UNKNOWN
        current = current.enclosing
    return None


def code_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, name: str, frame: Frame) -> Code:
    """The code object of a function node in a frame's chunk."""
    return Code(frame.chunk, node, name)


def _fact_attribute(fact: Fact, name: str) -> Value:
    if fact.what == "sharding" and name in ("device_set", "num_devices", "_device_assignment"):
        return replace(fact, what="count" if name == "num_devices" else "device_set")
    return UNKNOWN


_HANDLERS: Mapping[type[ast.expr], Callable[..., Value]] = {
    ast.Name: Evaluator.name,
    ast.Attribute: Evaluator.attribute,
    ast.Call: Evaluator.call,
    ast.Constant: Evaluator.constant,
    ast.Tuple: Evaluator.sequence,
    ast.List: Evaluator.sequence,
    ast.Set: Evaluator.sequence,
    ast.Dict: Evaluator.dictionary,
    ast.Subscript: Evaluator.subscript,
    ast.Slice: Evaluator.slice,
    ast.BinOp: Evaluator.binary,
    ast.UnaryOp: Evaluator.unary,
    ast.BoolOp: Evaluator.boolean,
    ast.Compare: Evaluator.comparison,
    ast.IfExp: Evaluator.conditional,
    ast.NamedExpr: Evaluator.named,
    ast.Lambda: Evaluator.function,
    ast.ListComp: Evaluator.comprehension,
    ast.SetComp: Evaluator.comprehension,
    ast.GeneratorExp: Evaluator.comprehension,
    ast.DictComp: Evaluator.dict_comprehension,
    ast.JoinedStr: Evaluator.formatted,
    ast.Await: Evaluator.awaited,
    ast.Starred: Evaluator.awaited,
    ast.Yield: Evaluator.yielded,
    ast.YieldFrom: Evaluator.yielded,
}
