"""To and from other libraries."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import torch
from typing_extensions import CapsuleType

import jax

put = jax.device_put


def capsule(x: Any) -> CapsuleType:
    return x.__dlpack__()


def tensor_capsule(x):
    tensor = torch.from_dlpack(x)
    return torch.utils.dlpack.to_dlpack(tensor)


def array() -> jax.Array:
    return jnp.arange(8.0)


def computed():
    return jnp.linspace(0.0, 8.0, 8)


def host() -> np.ndarray:
    return np.arange(8.0)


def zeros():
    return np.zeros(8)


def tensor() -> torch.Tensor:
    return torch.zeros(8)


class Exporter:
    def __init__(self, x: Any) -> None:
        self.x = x

    def capsule(self) -> CapsuleType:
        return self.x.__dlpack__()

    def __dlpack__(self, **options: Any) -> CapsuleType:
        return self.x.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.x.__dlpack_device__()
