"""Names for types."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np
from jax.sharding import Mesh as Mesh
from jax.sharding import NamedSharding as Layout
from typing_extensions import CapsuleType as Capsule

import jax

Array: TypeAlias = jax.Array
Batch = Array
Host = np.ndarray
Placed = Annotated[jax.Array, "on the mesh"]
Chip = jax.Device
Tree = Any

__all__ = ["Array", "Batch", "Capsule", "Chip", "Host", "Layout", "Mesh", "Placed", "Tree"]
