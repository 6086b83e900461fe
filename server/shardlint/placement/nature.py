"""What is known of an array beside where it is: its dtype, and whether its memory is still there.

A dtype is known where the program says it, and where an operation surely keeps it; elsewhere nothing is said of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from shardlint.placement.trace import Trace

KEY = "key"
"""The dtype of typed keys of random numbers, whichever generator they are for: they are no numbers, and nothing can export them."""

DTYPE_MODULES = frozenset({"jax.numpy", "numpy", "ml_dtypes"})


class Gone(IntEnum):
    """Whether the memory of an array was given up: donation does so only where JAX finds a use for the memory."""

    NO = 0
    MAYBE = 1
    SURE = 2


@dataclass(frozen=True, slots=True)
class Nature:
    """`dtype` is NumPy's name for it, KEY, or None where it is not known. `trace` is the evidence of this. An array that is `meshed` was
    put on one device by a sharding of a mesh.
    """

    dtype: str | None = None
    gone: Gone = Gone.NO
    trace: Trace | None = field(default=None, compare=False)
    meshed: bool = False


PLAIN = Nature()
