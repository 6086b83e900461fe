"""What JAX and Numba's simulator lack on a machine without a GPU, for programs in which the CPU plays it.

An array on one CPU device tells of its memory by `__cuda_array_interface__`, as one on a GPU does; for one on several devices JAX
itself answers. The simulator gets `as_cuda_array`, which does as Numba's own: what has no such interface is refused.
"""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from typing import Any


def interface(own: Any) -> property:
    """`__cuda_array_interface__` of a `jax.Array`, of which `own` is JAX's."""
    if os.environ.get("NUMBA_ENABLE_CUDASIM") == "1" and importlib.util.find_spec("numba") is not None:
        _complete_the_simulator()

    def told(array: Any) -> dict[str, Any]:
        if len(array.devices()) > 1:
            return own.__get__(array)
        pointer = (array.unsafe_buffer_pointer(), False)
        return {"shape": array.shape, "typestr": array.dtype.str, "data": pointer, "strides": None, "version": 2}

    return property(told)


@cache
def _complete_the_simulator() -> None:
    import numpy as np
    from numba import cuda
    from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray

    class Described:
        def __init__(self, interface: dict[str, Any]) -> None:
            self.__array_interface__ = {**interface, "version": 3}

    def as_cuda_array(obj: Any, sync: bool = True) -> Any:
        if not hasattr(obj, "__cuda_array_interface__"):
            raise TypeError("*obj* doesn't implement the cuda array interface.")
        return FakeCUDAArray(np.asarray(Described(obj.__cuda_array_interface__)))

    module: Any = cuda
    module.as_cuda_array = as_cuda_array
