"""Three bridges between JAX and PyTorch, as they stand in many code bases. Today each of them fails."""

import jax.numpy as jnp
import torch
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from torch.utils import dlpack as torch_dlpack

import jax
from jax import dlpack as jax_dlpack


def to_torch(x):
    return torch.from_dlpack(x)


def old_to_torch(x):
    return torch_dlpack.from_dlpack(jax_dlpack.to_dlpack(x))


def old_to_jax(t):
    return jax_dlpack.from_dlpack(torch_dlpack.to_dlpack(t))


mesh = jax.make_mesh((8,), ("batch",))
batch = jax.device_put(jnp.arange(16.0), NamedSharding(mesh, P("batch")))
weights = old_to_jax(torch.ones(16))
bias = old_to_torch(jnp.ones(3))
loss = jnp.mean(batch * 2)
print("loss", to_torch(loss), "bias", bias, "weights", weights.shape)
