"""What changes where new arrays are made: the mesh in force and the default device."""

from __future__ import annotations

from shardlint.placement.counts import ANY
from shardlint.placement.devices import destination
from shardlint.placement.domain import UNKNOWN, Array, Constant, Device, Fact, Spec, Value
from shardlint.placement.site import Site
from shardlint.placement.state import THIS_PROCESS
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


def spec(_site: Site) -> Value:
    """A `PartitionSpec`, which means a sharding together with a mesh."""
    return Spec()


def process_index(_site: Site) -> Value:
    """`jax.process_index()`: a test of it parts the processes."""
    return Fact("process index", THIS_PROCESS)


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
