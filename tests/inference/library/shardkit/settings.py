"""What holds for a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

import jax

from . import meshes
from .meshes import AXIS, MESH


def _default() -> NamedSharding:
    return NamedSharding(MESH, PartitionSpec(AXIS))


@dataclass
class Settings:
    sharding: NamedSharding = field(default_factory=_default)
    mesh: Mesh = field(default_factory=meshes.whole_mesh)
    batch_size: int = 8
    fallback: SingleDeviceSharding = field(default_factory=lambda: SingleDeviceSharding(jax.devices()[0]))
    device: jax.Device = field(default_factory=lambda: jax.devices()[1])
    chosen: NamedSharding | None = None

    def replicated(self):
        return NamedSharding(self.mesh, PartitionSpec())

    @property
    def rows(self) -> NamedSharding:
        return self.sharding


class Pair(NamedTuple):
    sharding: NamedSharding
    name: str


SETTINGS = Settings()
PAIR = Pair(_default(), "data")
ALONE = NamedSharding(meshes.ALONE, PartitionSpec(AXIS))
