"""Running statements: paths part and meet, loops go to a fixpoint."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Elements,
    Function,
    Symbol,
    Value,
    join,
)
from shardlint.placement.domain import (
    Mapping as MappingValue,
)
from shardlint.placement.domain import (
    Sequence as SequenceValue,
)
from shardlint.placement.evaluate import code_of
from shardlint.placement.iteration import element, unpacked
from shardlint.placement.machine import Arguments, Frame, Machine, State, merge, settled
from shardlint.placement.operators import binary
from shardlint.syntax.scopes import targets

_MOST_ROUNDS = 5
_ANYTHING = frozenset({"*"})
_EXPECTING = frozenset({"raises", "assertRaises", "assertRaisesRegex", "assertRaisesWithLiteralMatch"})


class Executor:
    """Executes statements; the state of the frame is replaced as it goes."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def execute(self, body: Sequence[ast.stmt], frame: Frame) -> None:
        for statement in body:
            if not frame.state.alive:
                return
            handler = _HANDLERS.get(type(statement))
            if handler is not None:
                handler(self, statement, frame)

    def bind(self, target: ast.expr, value: Value, frame: Frame) -> None:
        value = settled(value, frame)
        match target:
            case ast.Name(id=name):
                if name in frame.globals and frame.enclosing is not None:
                    module = frame.module
                    module.state.variables[name] = join(module.state.variables.get(name, value), value)
                else:
                    frame.state.variables[name] = value
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for element_target, item in zip(elements, unpacked(value, elements, target, frame), strict=True):
                    self.bind(element_target, item, frame)
            case ast.Starred(value=inner):
                self.bind(inner, value, frame)
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                key = self._machine.evaluate(index, frame)
                self._store(name, key, value, frame)
            case ast.Subscript() | ast.Attribute():
                self._machine.evaluate(target.value, frame)
            case _:
                pass

    def _store(self, name: str, key: Value, value: Value, frame: Frame) -> None:
        held = frame.state.variables.get(name)
        literal = getattr(key, "value", None)
        if isinstance(held, MappingValue) and isinstance(literal, str | int):
            items = dict(held.items)
            items[literal] = value
            frame.state.variables[name] = MappingValue(tuple(items.items()))
        elif (
            isinstance(held, SequenceValue)
            and isinstance(literal, int)
            and -len(held.items) <= literal < len(held.items)
        ):
            items_list = list(held.items)
            items_list[literal] = value
            frame.state.variables[name] = SequenceValue(tuple(items_list))
        elif isinstance(held, Elements):
            frame.state.variables[name] = Elements(join(held.item, value))
        elif held is not None and not isinstance(held, Array):
            frame.state.variables[name] = UNKNOWN

    def expression(self, node: ast.Expr, frame: Frame) -> None:
        self._machine.evaluate(node.value, frame)

    def assign(self, node: ast.Assign, frame: Frame) -> None:
        value = self._machine.evaluate(node.value, frame)
        for target in node.targets:
            self.bind(target, value, frame)

    def annotated(self, node: ast.AnnAssign, frame: Frame) -> None:
        if node.value is not None:
            self.bind(node.target, self._machine.evaluate(node.value, frame), frame)

    def augmented(self, node: ast.AugAssign, frame: Frame) -> None:
        left = self._machine.evaluate(node.target, frame)
        right = self._machine.evaluate(node.value, frame)
        if isinstance(node.target, ast.Name):
            self.bind(node.target, binary(left, node.op, right, node.target, frame), frame)

    def returned(self, node: ast.Return, frame: Frame) -> None:
        value = UNKNOWN if node.value is None else self._machine.evaluate(node.value, frame)
        if frame.state.alive:
            frame.returns.append((settled(value, frame), frame.state.copy()))
        frame.state.alive = False

    def raised(self, node: ast.Raise, frame: Frame) -> None:
        for part in (node.exc, node.cause):
            if part is not None:
                self._machine.evaluate(part, frame)
        frame.state.alive = False

    def asserted(self, node: ast.Assert, frame: Frame) -> None:
        self._machine.assume(node.test, True, frame)

    def branch(self, node: ast.If, frame: Frame) -> None:
        before = frame.state
        ends: list[State] = []
        for truth, body in ((True, node.body), (False, node.orelse)):
            frame.state = before.copy()
            self._machine.assume(node.test, truth, frame)
            self.execute(body, frame)
            ends.append(frame.state)
        frame.state = merge(ends[0], ends[1])

    def match(self, node: ast.Match, frame: Frame) -> None:
        self._machine.evaluate(node.subject, frame)
        before = frame.state
        end = before.copy()
        for case in node.cases:
            frame.state = before.copy()
            for pattern in ast.walk(case.pattern):
                name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
                if isinstance(name, str):
                    frame.state.variables[name] = UNKNOWN
            if case.guard is not None:
                self._machine.assume(case.guard, True, frame)
            self.execute(case.body, frame)
            end = merge(end, frame.state)
        frame.state = end

    def repeat(self, node: ast.For | ast.AsyncFor | ast.While, frame: Frame) -> None:
        values = UNKNOWN if isinstance(node, ast.While) else self._machine.evaluate(node.iter, frame)
        frame.loops.append(([], []))
        for _ in range(_MOST_ROUNDS):
            before = frame.state.copy()
            if isinstance(node, ast.While):
                self._machine.assume(node.test, True, frame)
            else:
                self.bind(node.target, element(values, node.target, frame), frame)
            self.execute(node.body, frame)
            after = frame.state
            for continued in frame.loops[-1][1]:
                after = merge(after, continued)
            frame.loops[-1][1].clear()
            frame.state = merge(before, after)
            if frame.state.same(before):
                break
        breaks, _ = frame.loops.pop()
        if isinstance(node, ast.While):
            self._machine.assume(node.test, False, frame)
        self.execute(node.orelse, frame)
        for broken in breaks:
            frame.state = merge(frame.state, broken)

    def leave_loop(self, node: ast.Break | ast.Continue, frame: Frame) -> None:
        if frame.loops:
            frame.loops[-1][0 if isinstance(node, ast.Break) else 1].append(frame.state.copy())
        frame.state.alive = False

    def attempt(self, node: ast.Try, frame: Frame) -> None:
        before = frame.state.copy()
        outer = frame.handlers
        caught = frozenset(name for handler in node.handlers for name in self._caught(handler, frame))
        if caught:
            frame.handlers = (*outer, caught)
        self.execute(node.body, frame)
        frame.handlers = outer
        after = frame.state
        entered = after.copy()
        entered.alive = True
        entered = merge(before, entered)
        self.execute(node.orelse, frame)
        end = frame.state
        for handler in node.handlers:
            frame.state = entered.copy()
            if handler.name:
                frame.state.variables[handler.name] = UNKNOWN
            self.execute(handler.body, frame)
            end = merge(end, frame.state)
        frame.state = end
        if node.finalbody:
            alive = end.alive
            frame.state.alive = True
            self.execute(node.finalbody, frame)
            frame.state.alive = frame.state.alive and alive

    def _caught(self, handler: ast.excepthandler, frame: Frame) -> list[str]:
        if not isinstance(handler, ast.ExceptHandler) or handler.type is None:
            return ["BaseException"]
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        return [name for kind in kinds for name in _exception_name(self._machine.evaluate(kind, frame))]

    def manage(self, node: ast.With | ast.AsyncWith, frame: Frame) -> None:
        outer, before = frame.handlers, frame.state.copy()
        for item in node.items:
            value = self._machine.evaluate(item.context_expr, frame)
            frame.handlers = (*frame.handlers, *self._expected(item.context_expr, frame))
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value, frame)
        self.execute(node.body, frame)
        frame.handlers = outer
        frame.state.mesh, frame.state.mesh_trace, frame.state.default = before.mesh, before.mesh_trace, before.default

    def _expected(self, node: ast.expr, frame: Frame) -> list[frozenset[str]]:
        """The exceptions that a context manager swallows or a test expects."""
        if not isinstance(node, ast.Call):
            return []
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in _EXPECTING:
            return [_ANYTHING]
        if name == "suppress":
            return [frozenset(n for arg in node.args for n in _exception_name(self._machine.evaluate(arg, frame)))]
        return []

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self._machine.evaluate(default, frame)
        code = code_of(node, node.name, frame)
        frame.defined.append((code, frame))
        value: Value = Function(code, frame)
        for decorator in reversed(node.decorator_list):
            value = self._machine.call(self._machine.evaluate(decorator, frame), Arguments((value,)), decorator, frame)
        frame.state.variables[node.name] = value

    def define_class(self, node: ast.ClassDef, frame: Frame) -> None:
        for part in [*node.bases, *node.decorator_list, *(keyword.value for keyword in node.keywords)]:
            self._machine.evaluate(part, frame)
        body = Frame(
            frame.chunk, None, frame, frozenset(), frame.state.copy(), handlers=frame.handlers, depth=frame.depth
        )
        self.execute(node.body, body)
        # A method sees the names around the class, not those inside it.
        frame.defined.extend((replace(code, is_method=True), frame) for code, _ in body.defined)
        frame.state.variables[node.name] = UNKNOWN

    def import_(self, node: ast.Import, frame: Frame) -> None:
        for alias in node.names:
            if alias.asname:
                frame.state.variables[alias.asname] = self._machine.canonical_symbol(alias.name, alias, frame)
            else:
                top = alias.name.partition(".")[0]
                frame.state.variables[top] = Symbol(top)

    def import_from(self, node: ast.ImportFrom, frame: Frame) -> None:
        for alias in node.names:
            if alias.name == "*":
                continue
            name = alias.asname or alias.name
            if node.level or not node.module:
                frame.state.variables[name] = UNKNOWN
            else:
                full = f"{node.module}.{alias.name}"
                frame.state.variables[name] = self._machine.canonical_symbol(full, alias, frame)

    def forget(self, node: ast.Delete, frame: Frame) -> None:
        for target in node.targets:
            for name in targets(target):
                frame.state.variables.pop(name, None)

    def declare(self, node: ast.Global | ast.Nonlocal, frame: Frame) -> None:
        if isinstance(node, ast.Global):
            frame.globals = frame.globals | frozenset(node.names)


def _exception_name(value: Value) -> list[str]:
    match value:
        case Symbol(name):
            return [name.rpartition(".")[2]]
        case SequenceValue(items):
            return [name for item in items for name in _exception_name(item)]
        case _:
            return ["*"]


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
