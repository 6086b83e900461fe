"""A stand-in for CuPy where there is no GPU, for the part of its contract that decides what becomes of a `jax.Array`.

Written after CuPy's source: `array` and its like ask for `__cuda_array_interface__` and build from `numpy.array` without it;
`ascontiguousarray` takes nothing but a `cupy.ndarray`; `from_dlpack` asks for `__dlpack_device__` and refuses memory of the host;
`fromDlpack` takes a capsule. The memory of the CPU stands for that of the GPU, but for NumPy's arrays, which are host memory here too.
What this module does was never seen on a GPU, and nothing that comes of it is kept as if it had been.
"""

from __future__ import annotations

from typing import Any

import numpy


class _Pointer:
    def __init__(self, address: int) -> None:
        self.ptr = address


class ndarray:  # noqa: N801 - CuPy's name
    """Memory that plays that of a GPU: NumPy can not read it in passing."""

    def __init__(self, memory: numpy.ndarray, owner: object = None) -> None:
        self._memory = memory
        self._owner = owner
        self.dtype, self.shape = memory.dtype, memory.shape
        self.data = _Pointer(memory.ctypes.data)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        told = dict(self._memory.__array_interface__)
        return {key: told[key] for key in ("shape", "typestr", "data", "strides")} | {"version": 3}

    def __array__(self, *_: object, **__: object) -> numpy.ndarray:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array explicitly."
        )

    def get(self) -> numpy.ndarray:
        return self._memory.copy()


class _Described:
    """NumPy's view of memory that a `__cuda_array_interface__` tells of."""

    def __init__(self, interface: dict[str, Any]) -> None:
        self.__array_interface__ = {**interface, "version": 3}


class _Carrier:
    """A capsule, as NumPy takes one."""

    def __init__(self, capsule: object) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: object) -> object:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def array(obj: Any, dtype: Any = None, copy: bool | None = True) -> ndarray:
    if isinstance(obj, ndarray):
        return obj if not copy else ndarray(obj.get())
    if hasattr(obj, "__cuda_array_interface__"):
        shared = ndarray(numpy.asarray(_Described(obj.__cuda_array_interface__)), obj)
        return array(shared, dtype, copy)
    return ndarray(numpy.array(obj, dtype=dtype))


def asarray(a: Any, dtype: Any = None) -> ndarray:
    return array(a, dtype, copy=None)


def asanyarray(a: Any, dtype: Any = None) -> ndarray:
    return array(a, dtype, copy=None)


def ascontiguousarray(a: Any, dtype: Any = None) -> ndarray:
    if not isinstance(a, ndarray):
        raise TypeError(
            f"Argument 'a' has incorrect type (expected cupy._core.core._ndarray_base, got {type(a).__name__})"
        )
    return a


def from_dlpack(array: Any) -> ndarray:
    if not hasattr(array, "__dlpack_device__"):
        return fromDlpack(array)
    array.__dlpack_device__()
    if isinstance(array, numpy.ndarray):
        raise TypeError(
            "CPU arrays cannot be directly imported to CuPy. Use `cupy.array(numpy.from_dlpack(input))` instead."
        )
    return fromDlpack(array.__dlpack__())


def fromDlpack(dltensor: Any) -> ndarray:  # noqa: N802 - CuPy's name
    if type(dltensor).__name__ != "PyCapsule":
        raise ValueError(
            "A DLPack tensor object cannot be consumed multiple times "
            f"(or object was not a DLPack capsule). Got: {dltensor!r}"
        )
    return ndarray(numpy.from_dlpack(_Carrier(dltensor)))
