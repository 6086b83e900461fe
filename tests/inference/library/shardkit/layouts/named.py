from __future__ import annotations

import functools

from jax.sharding import NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding

import jax

from .. import meshes as _meshes

__all__ = ["SHARDED", "any_of_them", "best", "narrow", "on_first", "over", "replicated", "rows", "sharded", "single"]

SHARDED = NamedSharding(_meshes.MESH, PartitionSpec(_meshes.AXIS))


def sharded() -> NamedSharding:
    return SHARDED


def rows():
    return sharded()


@functools.cache
def replicated():
    if _meshes.MESH.empty:
        raise ValueError("no devices")
    return NamedSharding(_meshes.MESH, PartitionSpec())


def over(mesh) -> NamedSharding:
    return NamedSharding(mesh, PartitionSpec(_meshes.AXIS))


def best() -> Sharding:
    """A sharding over all devices, by its type any."""
    return NamedSharding(_meshes.MESH, PartitionSpec(_meshes.AXIS))


def single() -> Sharding:
    return SingleDeviceSharding(jax.devices()[0])


def on_first() -> NamedSharding:
    return NamedSharding(_meshes.one_device_mesh(), PartitionSpec())


def narrow():
    mesh = _meshes.ALONE
    return NamedSharding(mesh, PartitionSpec())


def any_of_them(name: str):
    if name == "single":
        return SingleDeviceSharding(jax.devices()[0])
    return SHARDED
