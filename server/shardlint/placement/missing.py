"""Uses of what a `jax.Array`, a function of JAX or a NumPy array does not have: attributes, calls of attributes, keyword arguments.

Which ones is data: the timeline and its neighbours in api.toml. What a module does not have is seen where its name is looked up.
"""

from __future__ import annotations

import ast

from shardlint.placement.domain import Constant, Fact, Host, Method, Symbol, Value
from shardlint.placement.frame import Frame
from shardlint.placement.lattice import alternatives
from shardlint.placement.machine import Arguments, Machine
from shardlint.placement.noting import array_of, arrays, is_caught, note, possible

_ATTRIBUTE_ERRORS = frozenset({"AttributeError", "Exception", "BaseException", "*"})
NUMPY = "numpy.ndarray"


def attribute_missed(machine: Machine, owner: Value, node: ast.Attribute, frame: Frame) -> None:
    """Note the read of an attribute that some JAX does not have on arrays, or that a NumPy array has not."""
    full = f"jax.Array.{node.attr}"
    changing, lacking = full in machine.table.timeline, node.attr in machine.table.only_arrays
    if not changing and not lacking:
        return
    choices = possible(owner, frame)
    found = arrays(choices) if changing else []
    if found:
        mixed = len(found) < len(choices)
        note(machine, frame, "name", full, node, value=found[0], mixed=mixed, operand=node.value)
        frame.may_raise()
        if not mixed and has_no(machine, full) and is_caught(frame, _ATTRIBUTE_ERRORS):
            frame.state.alive = False
    made = [one for one in choices if lacking and isinstance(one, Host) and one.made is not None]
    if made:
        mixed = len(made) < len(choices)
        note(machine, frame, "name", f"{NUMPY}.{node.attr}", node, value=made[0], mixed=mixed, operand=node.value)
        frame.may_raise()


def has_no(machine: Machine, name: str) -> bool:
    """Whether no version of the target has this name."""
    versions = machine.target.versions
    return bool(versions) and machine.table.exists(name, versions) is False


def told_of_attribute(machine: Machine, owner: Value, name: str) -> Value | None:
    """`hasattr(owner, name)` where the tables tell it, else None."""
    exists: bool | None = None
    match owner:
        case Host(made) if made is not None and name in machine.table.only_arrays:
            exists = False
        case Method() | Symbol():
            return None
        case _ if f"jax.Array.{name}" in machine.table.timeline and arrays((owner,)):
            exists = machine.table.exists(f"jax.Array.{name}", machine.target.versions)
        case _:
            return None
    return None if exists is None else Constant(exists)


def call_missed(machine: Machine, function: Value, arguments: Arguments, node: ast.Call, frame: Frame) -> None:
    """Note the call of an attribute that was a method once, and keyword arguments that a function does not take."""
    choices = alternatives(function)
    called = [one for one in choices if isinstance(one, Fact) and one.what == "device"]
    if called:
        operand = node.func.value if isinstance(node.func, ast.Attribute) else None
        value, mixed = array_of(called[0]), len(called) < len(choices)
        note(machine, frame, "name", "jax.Array.device.__call__", node, value=value, mixed=mixed, operand=operand)
    if not isinstance(function, Symbol):
        return
    for keyword in machine.table.keywords.get(function.name, {}):
        if keyword in arguments.keywords:
            operand = node.args[0] if node.args and not isinstance(node.args[0], ast.Starred) else None
            note(
                machine,
                frame,
                "name",
                f"{function.name}.{keyword}.__keyword__",
                node,
                operand=operand,
                arguments=arguments,
            )


def entry_missed(machine: Machine, node: ast.expr, frame: Frame) -> None:
    """Note a function of which some JAX gives nothing that a `with` statement could enter."""
    function = machine.evaluate(node.func, frame) if isinstance(node, ast.Call) else None
    if isinstance(function, Symbol) and f"{function.name}.__enter__" in machine.table.timeline:
        note(machine, frame, "name", f"{function.name}.__enter__", node)
