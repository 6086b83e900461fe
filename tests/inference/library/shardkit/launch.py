"""Runs a program's function with what it asks for by the names of its parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec, SingleDeviceSharding

import jax
from shardkit.bridge import capsule
from shardkit.meshes import ALONE, AXIS, MESH
from shardkit.settings import Settings
from shardkit.trainer import Loader, Trainer


def run(function: Callable[..., Any]) -> Any:
    given = {
        "x": jnp.arange(8.0),
        "host": np.arange(8.0),
        "mesh": MESH,
        "alone": ALONE,
        "sharding": NamedSharding(MESH, PartitionSpec(AXIS)),
        "layout": NamedSharding(MESH, PartitionSpec()),
        "single": SingleDeviceSharding(jax.devices()[0]),
        "capsule": capsule(jnp.arange(8.0)),
        "device": jax.devices()[1],
        "loader": Loader(),
        "trainer": Trainer(MESH),
        "settings": Settings(),
        "pair": (MESH, NamedSharding(MESH, PartitionSpec(AXIS))),
    }
    names = [name for name, one in inspect.signature(function).parameters.items() if one.default is one.empty]
    return function(**{name: given[name] for name in names})
