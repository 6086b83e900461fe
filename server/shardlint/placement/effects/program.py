"""What matters to the program and not to arrays: versions, and calls that do not return."""

from __future__ import annotations

from shardlint.placement.domain import UNKNOWN, Constant, Value, Version
from shardlint.placement.machine import item_of
from shardlint.placement.site import Site


def unknown(_site: Site) -> Value:
    return UNKNOWN


def version(site: Site) -> Value:
    value = item_of(site.arguments.get(0))
    return value if isinstance(value, Version | Constant) else UNKNOWN


def stop(site: Site) -> Value:
    """A call that does not return."""
    site.frame.may_raise()
    site.frame.state.alive = False
    return UNKNOWN
