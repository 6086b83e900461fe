"""What a name means where it stands, and the functions that definitions make."""

from __future__ import annotations

import ast
import builtins

from shardlint.placement.domain import UNKNOWN, Function, OneOf, Symbol, Value
from shardlint.placement.frame import Code, Frame
from shardlint.placement.lattice import alternatives
from shardlint.placement.machine import Machine
from shardlint.placement.parameters import default_nodes
from shardlint.syntax.scopes import FunctionNode

_BUILTINS = frozenset(dir(builtins))


def value_of(node: ast.Name, frame: Frame, machine: Machine) -> Value:
    """The value of a name; the use of a removed one is recorded."""
    value = lookup(node.id, frame, machine)
    if value is None:
        return Symbol(f"builtins.{node.id}") if node.id in _BUILTINS else UNKNOWN
    for alternative in alternatives(value):
        if isinstance(alternative, Symbol) and not isinstance(value, OneOf):
            machine.canonical_symbol(alternative.name, node, frame)
    return machine.imported(value, node, frame)


def lookup(name: str, frame: Frame, machine: Machine) -> Value | None:
    """The value of a name by Python's scoping rules, or None where the program does not bind it.

    What is looked up outside of `frame` is noted among its reads.
    """
    current: Frame | None = frame if name in frame.comprehended else frame.owner(name)
    while current is not None:
        value = frame.variable(current, name)
        if current.enclosing is None and current is not frame and (current, name) not in frame.state.outer:
            machine.journal.read(current, name, value)
        if current is not frame and not (value is not None and machine.steady(current, name)):
            frame.reads.setdefault((current, name), value)
        if value is not None:
            return value
        if name in current.locals and current.enclosing is not None:
            return UNKNOWN
        current = current.enclosing
    return None


def is_builtin(node: ast.expr, name: str, frame: Frame, machine: Machine) -> bool:
    """Whether an expression is this builtin, and not something else that has its name."""
    return isinstance(node, ast.Name) and node.id == name and lookup(name, frame, machine) is None


def defined(node: FunctionNode, name: str, frame: Frame, machine: Machine) -> Function:
    """The function that a definition or a lambda makes here, its defaults evaluated."""
    defaults = tuple((parameter, machine.evaluate(default, frame)) for parameter, default in default_nodes(node.args))
    around = frame.scope or frame
    if frame.definition is not None and frame.enclosing is not None:
        around = frame.enclosing  # a method sees the names around the class, not those inside it
    function = Function(Code(frame.chunk, node, name, frame.definition), around, defaults)
    machine.define(function)
    return function
