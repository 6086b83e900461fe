"""Chains of calls of any depth, in the room of a few calls.

Where functions have called each other as deeply as there is room for, the runs are given up until one that has room for as many
again. The call that was too deep is run from there, then those that were given up, from the innermost on: each finds the summary of
what it calls. So every run is done twice at most for each chain of calls that it leads to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from shardlint.placement.domain import Ids, Value
from shardlint.placement.frame import Code, Frame
from shardlint.placement.summary import Summary
from shardlint.syntax.scopes import FunctionNode
from shardlint.syntax.tree import Node

_DEEP = 24
_RESUMED = 8
DEEPEST = 40
"""At this depth calls are not followed that cannot be resumed."""


@dataclass(eq=False, slots=True)
class Call:
    """A call that is to be run: what of, from where, the summaries that are `known` in its context, and in how many other runs of
    the same function it lies. It is `lasting` if it will be the same call when who calls is run again. `mark` stands for it among
    the contexts of its function.
    """

    code: Code
    closure: Frame
    bound: dict[str, Value]
    node: Node
    frame: Frame
    known: list[Summary]
    running: int
    lasting: bool
    mark: object = field(default_factory=object)


class TooDeep(BaseException):
    """A call is so deep that the runs that led to it are given up. Of `calls` it is the first, theirs follow, innermost first."""

    def __init__(self, call: Call) -> None:
        super().__init__()
        self.calls = [call]


def is_lasting(closure: Frame, pattern: list[Ids]) -> bool:
    """Whether a call of a function that was defined in `closure`, with objects of these ids, has nothing in it that the run from
    which it comes has made: then that run, when it is done again, calls the same.
    """
    return closure.enclosing is None and not any(isinstance(key, int) for ids in pattern for key in ids)


def resumed(call: Call, once: Callable[[Call, int], Summary], running: dict[FunctionNode, int]) -> Summary:
    """What a call gives: `once` runs it with its function at a depth, and raises TooDeep at calls that are too deep.

    `running` are the runs of each function that have begun: those that were given up still count until they are done again.
    """
    if call.frame.depth >= _DEEP and call.lasting:
        raise TooDeep(call)
    if call.frame.depth != _RESUMED:
        return once(call, call.frame.depth + 1)
    waiting = [call]
    try:
        while True:
            last = waiting[-1]
            try:
                summary = once(last, _RESUMED + 1) if last.lasting or last is call else None
            except TooDeep as deep:
                waiting += reversed(deep.calls[:-1])
                continue
            if last is call and summary is not None:
                return summary
            waiting.pop()
            running[last.code.node] = last.running
    finally:
        for last in reversed(waiting):
            running[last.code.node] = last.running
