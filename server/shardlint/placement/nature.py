"""What is known of an array beside where it is: its dtype, whether its memory is still there, and how that memory lies.

Each is known where the program says it, and where an operation surely keeps it; elsewhere nothing is said of it. It is the same for
arrays of every library.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import IntEnum

from shardlint.placement.trace import Trace

KEY = "key"
"""The dtype of typed keys of random numbers, whichever generator they are for: they are no numbers, and nothing can export them."""

PER_PROCESS = "per-process"
"""The mark of numbers that are others in each process."""

MESH_OF_ONE = "mesh-of-one"
"""The mark of an array that was put on one device by a sharding over a mesh."""

DTYPE_MODULES = frozenset({"jax.numpy", "numpy", "ml_dtypes", "torch", "cupy", "tensorflow", "warp"})


class Gone(IntEnum):
    """Whether the memory of an array was given up: donation does so only where JAX finds a use for the memory."""

    NO = 0
    MAYBE = 1
    SURE = 2


@dataclass(frozen=True, slots=True)
class Nature:
    """`dtype` is NumPy's name for it, KEY, or None where it is not known. `marks` are the words of `[[mark]]` in api.toml that hold of
    it, `shares` is the key of the `jax.Array` whose memory it surely shares. `trace` is the evidence of all this.
    """

    dtype: str | None = None
    gone: Gone = Gone.NO
    marks: frozenset[str] = frozenset()
    shares: Hashable | None = None
    trace: Trace | None = field(default=None, compare=False)


PLAIN = Nature()
