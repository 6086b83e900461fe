"""Objects that hold what a run needs."""

from __future__ import annotations

from functools import cached_property
from typing import Self

import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import jax
from shardkit.meshes import AXIS, MESH, whole_mesh
from shardkit.settings import Settings


class Base:
    """What loaders and trainers share."""

    default_mesh: Mesh = MESH

    def layout(self) -> NamedSharding:
        return NamedSharding(self.default_mesh, PartitionSpec(AXIS))

    @property
    def spread(self) -> NamedSharding:
        return self.layout()


class Loader(Base):
    def __init__(self, path: str = "", mesh: Mesh | None = None) -> None:
        self.path = path
        self.mesh = MESH
        self.given = mesh
        self.settings = Settings()
        self.sharding, self.name = NamedSharding(self.mesh, PartitionSpec(AXIS)), "loader"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __call__(self) -> jax.Array:
        return jnp.arange(8.0)

    def batch(self) -> jax.Array:
        return jnp.ones(8)

    def rows(self) -> np.ndarray:
        return np.ones(8)


class Trainer(Base):
    def __init__(self, mesh: Mesh, loader: Loader | None = None) -> None:
        self.mesh = mesh
        self.loader: Loader = loader or Loader()

    @classmethod
    def create(cls) -> Trainer:
        return cls(whole_mesh())

    @staticmethod
    def sharding_of(size: int):
        assert size
        return NamedSharding(MESH, PartitionSpec(AXIS))

    @cached_property
    def state_sharding(self):
        return NamedSharding(self.mesh, PartitionSpec())

    def shardings(self) -> dict[str, NamedSharding]:
        return {"state": self.state_sharding}

    def with_mesh(self, mesh: Mesh) -> Self:
        self.mesh = mesh
        return self
