"""Running statements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from shardlint.placement import flow
from shardlint.placement.addresses import deleted
from shardlint.placement.annotations import assigned_as
from shardlint.placement.asking import unpacking_asked
from shardlint.placement.definition import fields_of
from shardlint.placement.domain import UNKNOWN, Class, Constant, Elements, Fact, Symbol, Unknown, Value
from shardlint.placement.domain import Mapping as MappingValue
from shardlint.placement.domain import Sequence as SequenceValue
from shardlint.placement.external import opened
from shardlint.placement.facts import learn, settled
from shardlint.placement.frame import Frame
from shardlint.placement.giving import settle
from shardlint.placement.iteration import unpacked
from shardlint.placement.lattice import copied, is_container
from shardlint.placement.machine import Arguments, Machine
from shardlint.placement.mutation import change_ids
from shardlint.placement.names import defined
from shardlint.placement.objects import set_attribute, special_method
from shardlint.placement.operations import OPERATORS, operated, written
from shardlint.placement.operators import binary
from shardlint.placement.sharing import unnamed
from shardlint.placement.storing import delete_item, store_item
from shardlint.placement.telling import exactly
from shardlint.placement.widening import forget_bound, root_name
from shardlint.syntax.scopes import absolute, targets


class Executor:
    """Executes statements; the state of the frame is replaced as it goes."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def execute(self, body: Sequence[ast.stmt], frame: Frame) -> None:
        """Run statements. One that is nested too deeply costs what it binds and no more."""
        for statement in body:
            if not frame.state.alive:
                return
            handler = _HANDLERS.get(type(statement))
            if handler is None:
                continue
            depths = len(frame.loops), len(frame.attempts), frame.handlers, frame.comprehended, frame.turn, frame.traced
            try:
                handler(self, statement, frame)
                if frame.donations:
                    settle(statement, frame, self._machine)
            except RecursionError:
                frame.donations.clear()
                del frame.loops[depths[0] :], frame.attempts[depths[1] :]
                _, _, frame.handlers, frame.comprehended, frame.turn, frame.traced = depths
                forget_bound([statement], frame)
                frame.may_raise()

    def bind(self, target: ast.expr, value: Value, frame: Frame) -> None:
        value = self._owned(settled(value, frame))
        value = self._machine.claiming.bound(target, value, frame)
        match target:
            case ast.Name(id=name):
                self._bind_name(name, value, frame)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                if isinstance(value, Fact) and not any(isinstance(one, ast.Starred) for one in elements):
                    self._count_unpacked(value, target, len(elements), frame)
                value = opened(value, elements, target, frame, self._machine)
                for element_target, item in zip(elements, unpacked(value, elements, target, frame), strict=True):
                    self.bind(element_target, item, frame)
            case ast.Starred(value=inner):
                self.bind(inner, value, frame)
            case ast.Subscript():
                self._store(target, value, frame)
            case ast.Attribute(value=owner, attr=name):
                object_ = self._machine.evaluate(owner, frame)
                set_attribute(object_, name, value, target, owner, frame, self._machine)
                if (root := root_name(target)) is not None:
                    frame.state.forget_conditions(root)
            case _:
                pass

    def _store(self, target: ast.Subscript, value: Value, frame: Frame) -> None:
        owner = self._machine.evaluate(target.value, frame)
        special = special_method(owner, "__setitem__", target, frame, self._machine)
        if special is None:
            store_item(target, value, frame, self._machine)
            if frame.state.written:
                unnamed(target, frame, self._machine)
        else:
            index = self._machine.evaluate(target.slice, frame)
            self._machine.call(special, Arguments((index, value)), target, frame)

    def _owned(self, value: Value) -> Value:
        """A container that a library gave is an object of its own."""
        if is_container(value) and not value.ids:
            return copied(value, self._machine.new_ids())
        return value

    def _bind_name(self, name: str, value: Value, frame: Frame) -> None:
        if name not in frame.comprehended:
            frame.assign(frame.owner(name), name, value)
            return
        frame.state.variables[name] = value
        if frame.scope is not None:
            frame.scope.state.variables[name] = value

    def _count_unpacked(self, fact: Fact, target: ast.expr, number: int, frame: Frame) -> None:
        """`device, = x.devices()` raises unless there is one."""
        frame.may_raise()
        unpacking_asked(self._machine, fact, target, number, frame)
        if fact.what in ("device_set", "shards"):
            learn(dict(exactly(fact, number)), frame)

    def expression(self, node: ast.Expr, frame: Frame) -> None:
        self._machine.evaluate(node.value, frame)
        if frame.state.written:
            unnamed(node.value, frame, self._machine)

    def assign(self, node: ast.Assign, frame: Frame) -> None:
        value = self._machine.evaluate(node.value, frame)
        if frame.state.alive:
            for target in node.targets:
                self.bind(target, value, frame)

    def annotated(self, node: ast.AnnAssign, frame: Frame) -> None:
        if node.value is not None:
            value = self._machine.evaluate(node.value, frame)
            if frame.state.alive:
                self.bind(node.target, assigned_as(node, value, frame, self._machine), frame)

    def augmented(self, node: ast.AugAssign, frame: Frame) -> None:
        left = self._machine.evaluate(node.target, frame)
        right = self._machine.evaluate(node.value, frame)
        if frame.state.alive:
            name = f"i{OPERATORS.get(type(node.op), '')}"
            operated(name, left, right, (node.target, node.value), node.target, frame, self._machine)
            written("operator.inplace", left, node.target, node.target, frame, self._machine)
            result = binary(left, node.op, right, node.target, frame)
            if isinstance(left, ListOrDict) and isinstance(result, ListOrDict) and left.ids:
                result = copied(result, left.ids)  # a list that grows, a dict that is filled: the same object
                change_ids(left.ids, result, frame, sure=True)
            self.bind(node.target, result, frame)

    def returned(self, node: ast.Return, frame: Frame) -> None:
        value = Constant(None) if node.value is None else self._machine.evaluate(node.value, frame)
        if frame.state.alive:
            frame.returns.append((settled(value, frame), frame.state.copy()))
        frame.state.alive = False

    def raised(self, node: ast.Raise, frame: Frame) -> None:
        for part in (node.exc, node.cause):
            if part is not None:
                self._machine.evaluate(part, frame)
        frame.may_raise()
        frame.state.alive = False

    def asserted(self, node: ast.Assert, frame: Frame) -> None:
        before = frame.state.copy()
        self._machine.assume(node.test, False, frame)
        if frame.state.alive:
            frame.may_raise()
        frame.state = before
        self._machine.assume(node.test, True, frame)

    def branch(self, node: ast.If, frame: Frame) -> None:
        flow.branch(node, frame, self._machine)

    def match(self, node: ast.Match, frame: Frame) -> None:
        flow.match(node, frame, self._machine)

    def repeat(self, node: ast.For | ast.AsyncFor | ast.While, frame: Frame) -> None:
        flow.repeat(node, frame, self._machine)

    def leave_loop(self, node: ast.Break | ast.Continue, frame: Frame) -> None:
        flow.leave_loop(node, frame)

    def attempt(self, node: ast.Try | ast.TryStar, frame: Frame) -> None:
        flow.attempt(node, frame, self._machine)

    def manage(self, node: ast.With | ast.AsyncWith, frame: Frame) -> None:
        flow.manage(node, frame, self._machine)

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
        value: Value = defined(node, node.name, frame, self._machine)
        for decorator in reversed(node.decorator_list):
            value = self._machine.call(self._machine.evaluate(decorator, frame), Arguments((value,)), decorator, frame)
        frame.assign(frame.owner(node.name), node.name, value)

    def define_class(self, node: ast.ClassDef, frame: Frame) -> None:
        """A class body runs in a frame of its own; its functions see the names around the class, not those inside it."""
        for keyword in node.keywords:
            self._machine.evaluate(keyword.value, frame)
        definition = self._machine.definition(node, node.name, frame)
        definition.derive(tuple(self._machine.evaluate(_origin(base), frame) for base in node.bases))
        state = replace(frame.state.copy(), variables={})
        body = Frame(
            frame.chunk, None, frame, frozenset(), state, handlers=frame.handlers, traced=frame.traced, entry=frame.entry,
            depth=frame.depth, reads=frame.reads, born=frame.born, definition=definition,
        )  # fmt: skip
        self.execute(node.body, body)
        definition.end(body.state.variables, fields_of(node, body.state.variables))
        frame.state.outer = {place: value for place, value in body.state.outer.items() if place[0] is not frame}
        for (target, name), value in body.state.outer.items():
            if target is frame:
                frame.state.variables[name] = value
        value: Value = Class(definition)
        for decorator in reversed(node.decorator_list):
            made = self._machine.call(self._machine.evaluate(decorator, frame), Arguments((value,)), decorator, frame)
            value = value if isinstance(made, Unknown) else made  # nearly all give back the class
        frame.assign(frame.owner(node.name), node.name, value)

    def import_(self, node: ast.Import, frame: Frame) -> None:
        frame.may_raise()
        for alias in node.names:
            top = alias.name.partition(".")[0]
            if alias.asname:
                value = self._machine.canonical_symbol(alias.name, alias, frame)
                frame.assign(frame.owner(alias.asname), alias.asname, value)
            else:
                frame.assign(frame.owner(top), top, Symbol(top))

    def import_from(self, node: ast.ImportFrom, frame: Frame) -> None:
        frame.may_raise()
        known = absolute(node, self._machine.module_of(frame).package)
        for alias in node.names:
            if alias.name == "*":
                for name, value in self._machine.everything(known, alias, frame):
                    frame.assign(frame.owner(name), name, value)
                continue
            name = alias.asname or alias.name
            value = UNKNOWN
            if known and not known.startswith("."):
                value = self._machine.canonical_symbol(f"{known}.{alias.name}", alias, frame)
                value = self._machine.as_of_now(value, alias, frame)
            frame.assign(frame.owner(name), name, value)

    def forget(self, node: ast.Delete, frame: Frame) -> None:
        for target in node.targets:
            for name in targets(target):
                owner = frame.owner(name)
                if owner is frame:
                    deleted(frame.state.variables.pop(name, None), frame.place(node), frame)
                else:
                    frame.assign(owner, name, UNKNOWN)
            if isinstance(target, ast.Subscript):
                delete_item(target, frame, self._machine)

    def declare(self, node: ast.Global | ast.Nonlocal, frame: Frame) -> None:
        if isinstance(node, ast.Global):
            frame.globals |= frozenset(node.names)
        else:
            frame.nonlocals |= frozenset(node.names)


def _origin(base: ast.expr) -> ast.expr:
    """The class of which `Generic[T]` is a kind."""
    return base.value if isinstance(base, ast.Subscript) else base


ListOrDict = SequenceValue | Elements | MappingValue

_HANDLERS: Mapping[type[ast.stmt], Callable[..., None]] = {
    ast.Expr: Executor.expression,
    ast.Assign: Executor.assign,
    ast.AnnAssign: Executor.annotated,
    ast.AugAssign: Executor.augmented,
    ast.Return: Executor.returned,
    ast.Raise: Executor.raised,
    ast.Assert: Executor.asserted,
    ast.If: Executor.branch,
    ast.Match: Executor.match,
    ast.For: Executor.repeat,
    ast.AsyncFor: Executor.repeat,
    ast.While: Executor.repeat,
    ast.Break: Executor.leave_loop,
    ast.Continue: Executor.leave_loop,
    ast.Try: Executor.attempt,
    ast.TryStar: Executor.attempt,
    ast.With: Executor.manage,
    ast.AsyncWith: Executor.manage,
    ast.FunctionDef: Executor.define,
    ast.AsyncFunctionDef: Executor.define,
    ast.ClassDef: Executor.define_class,
    ast.Import: Executor.import_,
    ast.ImportFrom: Executor.import_from,
    ast.Delete: Executor.forget,
    ast.Global: Executor.declare,
    ast.Nonlocal: Executor.declare,
}
