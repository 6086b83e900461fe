"""Meshes over the machine's devices."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import jax

AXIS = "data"
MESH = Mesh(np.array(jax.devices()), (AXIS,))
ALONE = Mesh(np.array(jax.devices()[:1]), (AXIS,))


def make_mesh(size: int = 0) -> Mesh:
    """A mesh over so many devices, over all without a number."""
    return Mesh(np.array(jax.devices()[:size] if size else jax.devices()), (AXIS,))


def whole_mesh():
    return jax.make_mesh((jax.device_count(),), (AXIS,))


def one_device_mesh() -> Mesh:
    return Mesh(np.array(jax.devices()[:1]), (AXIS,))


def mesh_and_layout():
    mesh = whole_mesh()
    return mesh, NamedSharding(mesh, PartitionSpec(AXIS))


def annotated_pair() -> tuple[Mesh, NamedSharding]:
    pair = [MESH, NamedSharding(MESH, PartitionSpec(AXIS))]
    return tuple(pair)


@contextlib.contextmanager
def layout() -> Iterator[NamedSharding]:
    """The layout while the mesh is in force."""
    with MESH:
        yield NamedSharding(MESH, PartitionSpec(AXIS))
