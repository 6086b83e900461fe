"""Values that are sent into generators: a generator runs once more for each, from its beginning, and what it yields to the first
that asks for one is no answer.
"""

from __future__ import annotations

import ast

from shardlint.placement.domain import UNKNOWN, Constant, Elements, Function, Value
from shardlint.placement.frame import Frame
from shardlint.placement.machine import Arguments, Machine
from shardlint.placement.survey import own_nodes
from shardlint.syntax.scopes import FunctionNode
from shardlint.syntax.tree import Node

SENT = "yield"
"""The variable, which no program can name, that holds what a generator is sent."""
_ANSWERS = "yield answers"


def looks_at_sent(function: FunctionNode) -> bool:
    """Whether a generator uses the value of one of its `yield` expressions."""
    nodes = list(own_nodes(function))
    dropped = sum(isinstance(one, ast.Expr) and isinstance(one.value, ast.Yield) for one in nodes)
    return dropped < sum(isinstance(one, ast.Yield) for one in nodes)


def yielded(value: Value, frame: Frame) -> Value:
    """Note a value that the running generator yields; what it is sent."""
    variables = frame.state.variables
    sent = variables.get(SENT)
    if sent is None or _ANSWERS in variables:
        frame.yields.append(value)
    variables[_ANSWERS] = Constant(True)
    return UNKNOWN if sent is None else sent


def send(generator: Elements, arguments: Arguments, node: Node, frame: Frame, machine: Machine) -> Value:
    """`generator.send(value)`: what it then yields."""
    resume, value = generator.resume, arguments.get(0)
    if resume is None or value is None or not isinstance(resume.function, Function):
        return UNKNOWN
    given = Arguments(resume.arguments, dict(resume.keywords), sent=value)
    answers = machine.run(resume.function, given, node, frame)
    return answers.item if isinstance(answers, Elements) else UNKNOWN
