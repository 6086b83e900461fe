"""What changes where new arrays are made: the mesh in force and the default device."""

from __future__ import annotations

from shardlint.placement.counts import ANY, Spans
from shardlint.placement.devices import destination
from shardlint.placement.domain import UNKNOWN, Array, Constant, Device, Sequence, Spec, Value
from shardlint.placement.site import Site
from shardlint.placement.tracing import Tracing


def default_device(site: Site) -> Value:
    """`jax.default_device(d)`, until the `with` statement ends."""
    device = site.argument(0)
    site.frame.state.default = device.id if isinstance(device, Device) else None
    return UNKNOWN


def configure(site: Site) -> Value:
    """`jax.config.update`, of which only the default device matters here."""
    if site.argument(0) == Constant("jax_default_device"):
        device = site.argument(1)
        site.frame.state.default = device.id if isinstance(device, Device) else None
    return UNKNOWN


def set_mesh(site: Site) -> Value:
    """The setter form; the context manager form is undone by the `with` statement."""
    mesh = destination(site.argument(0, "mesh"), site)
    state = site.frame.state
    state.mesh = ANY if mesh is None else mesh.count
    state.mesh_trace = site.step(None if mesh is None else mesh.trace, f"{site.short} puts new arrays on the mesh")
    return UNKNOWN


def distributed(site: Site) -> Value:
    """`jax.distributed.initialize()`: from here on `jax.devices()` are those of several processes."""
    site.frame.may_raise()
    state = site.frame.state
    state.processes, state.processes_trace = (
        Spans.SURE,
        site.step(None, f"{site.short} makes this one of several processes"),
    )
    return Constant(None)


def spec(site: Site) -> Value:
    """A `PartitionSpec`, which means a sharding together with a mesh."""
    given = [
        one for value in site.arguments.positional for one in (value.items if isinstance(value, Sequence) else (value,))
    ]
    plain = all(isinstance(one, Constant) and isinstance(one.value, str | None) for one in given)
    axes = frozenset(one.value for one in given if isinstance(one, Constant) and isinstance(one.value, str))
    return Spec(axes, closed=plain and not site.arguments.open and site.arguments.rest is None)


def concrete(site: Site) -> Value:
    """`jax.ensure_compile_time_eval()` and `jax.disable_jit()`, until the `with` statement ends: what is made of arrays is one."""
    site.frame.traced = Tracing.MAYBE
    return UNKNOWN


def trace_state(site: Site) -> Value:
    """`jax.core.trace_state_clean()`."""
    return Constant(False) if site.frame.traced is Tracing.SURE else UNKNOWN


def is_concrete(site: Site) -> Value:
    """`jax.core.is_concrete(x)`."""
    value = site.argument(0)
    return Constant(False) if isinstance(value, Array) and value.traced is Tracing.SURE else UNKNOWN
