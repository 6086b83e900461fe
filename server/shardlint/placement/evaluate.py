"""Values of expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Mapping

from shardlint.placement.addresses import passed
from shardlint.placement.asking import attribute_asked, comparison_asked
from shardlint.placement.attributes import attribute
from shardlint.placement.comprehend import comprehension, dict_comprehension
from shardlint.placement.computations import computed_together
from shardlint.placement.domain import (
    OPEN,
    UNKNOWN,
    Constant,
    Elements,
    Host,
    Ids,
    Method,
    Sequence,
    Slice,
    Symbol,
    Unknown,
    Value,
)
from shardlint.placement.domain import Mapping as MappingValue
from shardlint.placement.external import item
from shardlint.placement.facts import settled
from shardlint.placement.frame import Frame
from shardlint.placement.generators import yielded
from shardlint.placement.giving import used
from shardlint.placement.handoffs import attribute_read
from shardlint.placement.iteration import element
from shardlint.placement.lattice import each, is_container, one_of, without_none
from shardlint.placement.machine import Arguments, Machine
from shardlint.placement.merging import merge_all
from shardlint.placement.missing import attribute_missed
from shardlint.placement.names import defined, value_of
from shardlint.placement.objects import iterated, special_method
from shardlint.placement.operations import COMPARISONS, OPERATORS, operated, worded
from shardlint.placement.operators import binary, compare, compared
from shardlint.placement.sharing import given, seen
from shardlint.placement.state import State
from shardlint.placement.storing import default_item
from shardlint.placement.subscripts import subscript
from shardlint.placement.telling import correlated, junction, negation
from shardlint.placement.widening import root_name


class Evaluator:
    """Evaluates expressions; recursion over the tree, everything else through the machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        handler = _HANDLERS.get(type(node))
        return UNKNOWN if handler is None else handler(self, node, frame)

    def name(self, node: ast.Name, frame: Frame) -> Value:
        value = value_of(node, frame, self._machine)
        if frame.state.written:
            seen(value, node, frame, self._machine)
        return value

    def attribute(self, node: ast.Attribute, frame: Frame) -> Value:
        owner = without_none(self._machine.evaluate(node.value, frame))
        attribute_read(self._machine, owner, node, frame)
        attribute_missed(self._machine, owner, node, frame)
        attribute_asked(self._machine, owner, node, frame)
        found = each(owner, lambda value: attribute(value, node.attr, node, frame, self._machine))
        if isinstance(found, Method) and isinstance(found.owner, Unknown | Method | Symbol):
            frame.may_raise()
        if frame.state.written:
            seen(found, node, frame, self._machine)
        return found

    def call(self, node: ast.Call, frame: Frame) -> Value:
        function = self._machine.evaluate(node.func, frame)
        arguments = self.arguments(node, frame)
        if not frame.state.alive:
            return UNKNOWN
        for part in (node.func, *node.args) if frame.state.conditions else ():
            if (root := root_name(part)) is not None:
                frame.state.forget_conditions(root, only_attributes=True)
        if frame.state.written:
            given(arguments.values(), node, frame, self._machine)
        passed(function, arguments, frame, self._machine)
        return self._machine.call(function, arguments, node, frame)

    def arguments(self, node: ast.Call, frame: Frame) -> Arguments:
        positional: list[Value] = []
        rest: list[Value] = []
        open_ = False
        for argument in node.args:
            value = self._machine.evaluate(argument, frame)
            if isinstance(argument, ast.Starred):
                if isinstance(value, Sequence) and not rest:
                    positional.extend(value.items)
                else:
                    rest.append(element(value, argument, frame))
            elif rest:
                rest.append(value)
            else:
                positional.append(value)
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self._machine.evaluate(keyword.value, frame)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, MappingValue):
                keywords.update({key: item for key, item in value.items if isinstance(key, str)})
                open_ = open_ or value.rest is not None
            else:
                open_ = True
        return Arguments(tuple(positional), keywords, open_ or bool(rest), one_of(rest) if rest else None, node)

    def constant(self, node: ast.Constant, _frame: Frame) -> Value:
        return Constant(node.value)

    def sequence(self, node: ast.Tuple | ast.List | ast.Set, frame: Frame) -> Value:
        ids: Ids = frozenset() if isinstance(node, ast.Tuple) else self._machine.new_ids()
        items: list[Value] = []
        known = True
        for element_node in node.elts:
            value = self._machine.evaluate(element_node, frame)
            if not isinstance(element_node, ast.Starred):
                items.append(value)
            elif isinstance(value, Sequence):
                items.extend(value.items)
            else:
                known = False
                items.append(element(value, element_node, frame))
        return Sequence(tuple(items), ids) if known else Elements(one_of(items), ids)

    def dictionary(self, node: ast.Dict, frame: Frame) -> Value:
        items: dict[Hashable, Value] = {}
        rest: Value | None = None
        for key_node, value_node in zip(node.keys, node.values, strict=True):
            key = Constant(None) if key_node is None else self._machine.evaluate(key_node, frame)
            value = self._machine.evaluate(value_node, frame)
            if key_node is None and isinstance(value, MappingValue) and value.rest is None:
                items.update(dict(value.items))
            elif key_node is not None and isinstance(key, Constant):
                items[key.value] = value
            else:
                other = element(value, value_node, frame) if key_node is None else value
                if key_node is None:
                    other = UNKNOWN if not isinstance(value, Elements) else value.item
                rest = other if rest is None else one_of([rest, other])
                items = {held: one_of([item, other]) for held, item in items.items()}
        return MappingValue(tuple(items.items()), rest, self._machine.new_ids())

    def subscript(self, node: ast.Subscript, frame: Frame) -> Value:
        owner = self._machine.evaluate(node.value, frame)
        index = self._machine.evaluate(node.slice, frame)
        if (special := special_method(owner, "__getitem__", node, frame, self._machine)) is not None:
            return self._machine.call(special, Arguments((index,)), node, frame)
        if (made := default_item(owner, index, node, frame, self._machine)) is not None:
            return made
        operated("getitem", owner, index, (node.value, node.slice), node, frame, self._machine)
        found = each(owner, lambda value: each(index, lambda at: self._item(value, at, node, frame)))
        if isinstance(found, Unknown):
            frame.may_raise()
        if frame.state.written:
            seen(found, node, frame, self._machine)
        if not is_container(owner):
            used((owner,), "operator.getitem", node, frame, self._machine)
        return found

    def _item(self, owner: Value, index: Value, node: ast.Subscript, frame: Frame) -> Value:
        if isinstance(owner, Symbol) and self._is_kernel(owner.name):
            return owner
        return item(owner, index, node, frame, self._machine) or subscript(owner, index, node, frame)

    def _is_kernel(self, name: str) -> bool:
        """Whether it is a function that is told in brackets how it is to be launched."""
        row = self._machine.table.classes.get(name)
        return row is not None and row.kind == "kernel"

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
        """Long sums lean to the left: their spine is walked, not descended into."""
        spine = [node]
        while isinstance(spine[-1].left, ast.BinOp):
            spine.append(spine[-1].left)
        value = self._machine.evaluate(spine[-1].left, frame)
        for part in reversed(spine):
            value = self._operated(value, part, frame)
        return value

    def _operated(self, left: Value, node: ast.BinOp, frame: Frame) -> Value:
        right = self._machine.evaluate(node.right, frame)
        name = OPERATORS.get(type(node.op), "")
        for owner, other, method in ((left, right, f"__{name}__"), (right, left, f"__r{name}__")):
            if (special := special_method(owner, method, node, frame, self._machine)) is not None:
                return self._machine.call(special, Arguments((other,)), node, frame)
        operated(name, left, right, (node.left, node.right), node, frame, self._machine)
        used((left, right), f"operator.{name}", node, frame, self._machine)
        computed_together((left, right), node, frame, self._machine)
        return binary(left, node.op, right, node, frame)

    def unary(self, node: ast.UnaryOp, frame: Frame) -> Value:
        value = self._machine.evaluate(node.operand, frame)
        if isinstance(node.op, ast.Not):
            return each(value, negation)
        if isinstance(node.op, ast.USub) and isinstance(value, Constant) and isinstance(value.value, int | float):
            return Constant(-value.value)
        return each(value, lambda one: binary(one, ast.Mult(), Host(), node, frame))

    def boolean(self, node: ast.BoolOp, frame: Frame) -> Value:
        """The operands in order, each on the path on which the ones before did not decide."""
        stop = isinstance(node.op, ast.Or)
        values: list[Value] = []
        ends: list[State] = []
        for operand in node.values:
            values.append(settled(self._machine.evaluate(operand, frame), frame))
            if not frame.state.alive:
                break
            going_on = frame.state.copy()
            self._machine.assume(operand, stop, frame)
            ends.append(frame.state)
            frame.state = going_on
            self._machine.assume(operand, not stop, frame)
            if not frame.state.alive:
                break
        else:
            ends.append(frame.state)
        frame.state = merge_all(ends) or frame.state
        return junction(values, stop=stop)

    def comparison(self, node: ast.Compare, frame: Frame) -> Value:
        nodes = (node.left, *node.comparators)
        operands = [self._machine.evaluate(operand, frame) for operand in nodes]
        for place, kind in enumerate(node.ops):
            if (name := COMPARISONS.get(type(kind))) is not None:
                pair = (nodes[place], nodes[place + 1])
                operated(name, operands[place], operands[place + 1], pair, node, frame, self._machine)
        comparison_asked(self._machine, operands, node, frame)
        if len(node.ops) == 1 and (made := compared(operands, node.ops[0], node, frame)) is not None:
            return made
        links = zip(operands, node.ops, operands[1:], strict=False)
        answers = [compare(left, operator, right, self._machine.target) for left, operator, right in links]
        return answers[0] if len(answers) == 1 else junction(answers, stop=False)

    def conditional(self, node: ast.IfExp, frame: Frame) -> Value:
        before = frame.state
        ends: list[State] = []
        values: list[Value] = []
        for truth, branch in ((True, node.body), (False, node.orelse)):
            frame.state = before.copy()
            self._machine.assume(node.test, truth, frame)
            value = self._machine.evaluate(branch, frame) if frame.state.alive else UNKNOWN
            if frame.state.alive:
                values.append(settled(value, frame))
                ends.append(frame.state)
        if not ends:
            return UNKNOWN
        frame.state = merge_all(ends) or before
        return correlated([(value, end.facts) for value, end in zip(values, ends, strict=True)])

    def named(self, node: ast.NamedExpr, frame: Frame) -> Value:
        value = self._machine.evaluate(node.value, frame)
        self._machine.bind(node.target, value, frame)
        return value

    def function(self, node: ast.Lambda, frame: Frame) -> Value:
        return defined(node, "lambda", frame, self._machine)

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, frame: Frame) -> Value:
        return comprehension(node, frame, self._machine)

    def dict_comprehension(self, node: ast.DictComp, frame: Frame) -> Value:
        return dict_comprehension(node, frame, self._machine)

    def formatted(self, node: ast.JoinedStr, frame: Frame) -> Value:
        for value in node.values:
            if isinstance(value, ast.FormattedValue):
                shown = self._machine.evaluate(value.value, frame)
                worded(shown, value.value, frame, self._machine)
        return UNKNOWN

    def awaited(self, node: ast.Await | ast.Starred, frame: Frame) -> Value:
        return self._machine.evaluate(node.value, frame)

    def yielded(self, node: ast.Yield | ast.YieldFrom, frame: Frame) -> Value:
        value = Constant(None) if node.value is None else self._machine.evaluate(node.value, frame)
        if isinstance(node, ast.YieldFrom):
            frame.yields.append(element(iterated(value, node, frame, self._machine), node, frame))
            return UNKNOWN
        return yielded(value, frame)


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
