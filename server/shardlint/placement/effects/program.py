"""What matters to the program and not to arrays: versions, calls that do not return, tests that are to fail."""

from __future__ import annotations

from shardlint.placement.domain import UNKNOWN, Constant, Function, Symbol, Value, Version
from shardlint.placement.machine import Arguments, item_of
from shardlint.placement.site import Site


def unknown(_site: Site) -> Value:
    return UNKNOWN


def instance(site: Site) -> Value:
    """An object whose methods the table has under the name of its class."""
    return Symbol(site.effect.gives or site.name)


def version(site: Site) -> Value:
    value = item_of(site.arguments.get(0))
    return value if isinstance(value, Version | Constant) else UNKNOWN


def expect_failure(site: Site) -> Value:
    """A decorator, or what makes one: whatever the function raises is expected. Decorating runs nothing of it."""
    given, frame = site.arguments.get(0), site.frame
    if not isinstance(given, Function):
        return Symbol(site.name)
    handlers, state = frame.handlers, frame.state.copy()
    frame.handlers = (*handlers, frozenset({"*"}))
    site.machine.call(given, Arguments(open=True), site.node, frame)
    frame.handlers, frame.state = handlers, state
    return given


def stop(site: Site) -> Value:
    """A call that does not return."""
    site.frame.may_raise()
    site.frame.state.alive = False
    return UNKNOWN
