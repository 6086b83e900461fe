"""Runs programs of `programs.toml`, one after another, and tells of each what it did and where its data are afterwards.

`python -P cuda_child.py run JOBS RESULTS [ADDRESS COUNT INDEX]` reads one job a line and writes JSON lines: `{"started": id}` before a
program runs and its answer after it, so that the file tells which program took the interpreter down. With ADDRESS it is one
of COUNT processes of a `jax.distributed` job, and stays, as the others may still need it, until its stdin is closed.

`python -P cuda_child.py probe` prints what there is: `devices` (of JAX, by platform), `torch` (whether it sees a GPU).

Where the CPU plays the GPU, the folder `stand_ins` is on the path, and what it has is used for jobs with `plays_gpu`.
"""

from __future__ import annotations

import ctypes
import faulthandler
import importlib
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

ON_GPU, ON_HOST, SPREAD = "gpu", "host", "spread"
_OF_CPU, _OF_CUDA = (1, 3), (2, 13)
"""How DLPack numbers devices: the CPU with its pinned memory, and CUDA with its managed memory."""


class Witness:
    """Counts what JAX hands over while a program runs: by wrapping the methods that other libraries call, which changes nothing else.

    `host_reads` are calls of `__array__`: an array whose memory NumPy cannot see is gathered in host memory for each. `exported` are
    the arrays that were asked for their memory by `__dlpack__`, `__cuda_array_interface__` or `unsafe_buffer_pointer`, by their
    addresses.
    """

    def __init__(self) -> None:
        import jax.numpy as jnp

        self.host_reads = 0
        self.exported: dict[int, Any] = {}
        self._asleep = False
        kind: Any = type(jnp.zeros(1))
        read, export, point = kind.__array__, kind.__dlpack__, kind.unsafe_buffer_pointer
        self._point, self._kind, self._interface = point, kind, kind.__cuda_array_interface__

        def counted(array: Any, *args: Any, **kwargs: Any) -> Any:
            self.host_reads += 0 if self._asleep else 1
            return read(array, *args, **kwargs)

        def handed_over(array: Any, *args: Any, **kwargs: Any) -> Any:
            capsule = export(array, *args, **kwargs)
            self._keep(array)
            return capsule

        def pointed(array: Any) -> Any:
            address = point(array)
            self._keep(array)
            return address

        kind.__array__, kind.__dlpack__, kind.unsafe_buffer_pointer = counted, handed_over, pointed

    def _keep(self, array: Any) -> None:
        if not self._asleep and len(array.devices()) == 1:
            self.exported[self._point(array)] = array

    def begin(self, interface: Any) -> None:
        """A program is about to run; `interface` stands in for JAX's own `__cuda_array_interface__`, where there is no GPU."""
        self.host_reads, self.exported, self._asleep = 0, {}, False
        asked = self._interface if interface is None else interface(self._interface)

        def shown(array: Any) -> Any:
            told = asked.__get__(array)
            self._keep(array)
            return told

        self._kind.__cuda_array_interface__ = property(shown)

    def end(self) -> None:
        """What is looked at from now on is no part of the program."""
        self._asleep = True


def main(arguments: list[str]) -> None:
    command, *rest = arguments
    if command == "probe":
        sys.stdout.write(json.dumps(probe()) + "\n")
        return
    faulthandler.enable()
    jobs, results, *group = rest
    done = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what programs print is not for the one that waits
    if group:
        address, count, index = group
        _join(address, int(count), int(index))
    witness = Witness()
    with Path(jobs).open(encoding="utf-8") as lines, Path(results).open("w", encoding="utf-8") as out:
        for number, line in enumerate(lines):
            job = json.loads(line)
            _tell(out, {"started": job["id"]})
            _tell(out, {"id": job["id"], **run_program(job, Path(f"program_{number}.py").absolute(), witness)})
    if group:
        done.write("done\n")
        done.flush()
        sys.stdin.read()
        os._exit(0)  # JAX would wait for the others, of which some may be dead


def _join(address: str, count: int, index: int) -> None:
    """Make this process one of a job; the program asks for it once more in its own words."""
    import jax

    module: Any = jax
    module.config.update("jax_cpu_collectives_implementation", "gloo")
    module.distributed.initialize(address, count, index)
    module.distributed.initialize = lambda *_, **__: None


def probe() -> dict[str, Any]:
    import jax

    found: dict[str, Any] = {"devices": [], "torch": False}
    for platform in ("cuda", "cpu"):
        try:
            found["devices"] += [[one.platform, one.device_kind] for one in jax.devices(platform)]
        except RuntimeError as error:  # how JAX tells that it has no such platform
            found["problem"] = str(error).splitlines()[0]
    if importlib.util.find_spec("torch") is not None:
        import torch

        found["torch"] = torch.cuda.is_available()
    return found


def run_program(job: dict[str, Any], path: Path, witness: Witness) -> dict[str, Any]:
    """Run one program in fresh names, from a file at `path`, as Warp reads the source of its kernels. `raised` is what ended it, if anything did; the other keys tell of the name `job["result"]`.

    `mismatch` is a clause if its data are not `job["value"]`, `place` where they are, `shares` the names of the program's arrays that
    lie in the same memory ("handed over" is one that has no name).
    """
    path.write_text(job["source"], encoding="utf-8")
    names: dict[str, Any] = {"__name__": "__main__", "__file__": str(path)}
    raised = None
    witness.begin(importlib.import_module("plays_gpu").interface if job["plays_gpu"] else None)
    try:
        exec(compile(job["source"], str(path), "exec", dont_inherit=True), names)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever is raised is the outcome
        raised = _raised(error, str(path))
    host_reads = witness.host_reads
    witness.end()
    answer: dict[str, Any] = {"raised": raised, "host_reads": host_reads, "mismatch": None, "place": None, "shares": []}
    if raised is not None:
        return answer
    try:
        return answer | _looked_at(names, job, witness)
    except Exception as error:  # noqa: BLE001 - a result that cannot be read is no right result, whatever the reason
        return answer | {
            "mismatch": f"`{job['result']}` cannot be looked at: {type(error).__name__}: {error}".splitlines()[0]
        }


def _raised(error: BaseException, path: str) -> dict[str, Any]:
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    kinds = [kind.__name__ for kind in type(error).__mro__[:-1]]
    return {"line": line, "kinds": kinds, "message": (str(error).splitlines() or [""])[0]}


def _looked_at(names: dict[str, Any], job: dict[str, Any], witness: Witness) -> dict[str, Any]:
    result = names[job["result"]]
    place, address, data = _seen(result)
    known = {**{one: ("handed over", array) for one, array in witness.exported.items()}, **_arrays_of(names, result)}
    if address in known and data is None:
        place, _, data = _seen(known[address][1])
    return {
        "place": place,
        "shares": sorted({name for where, (name, _) in known.items() if where == address}),
        "mismatch": _mismatch(job, data),
    }


def _arrays_of(names: dict[str, Any], result: Any) -> dict[int, tuple[str, Any]]:
    """The arrays under names of the program, but for the result, by their addresses."""
    found: dict[int, tuple[str, Any]] = {}
    for name, value in names.items():
        if value is not result and type(value).__module__.partition(".")[0] in ("jaxlib", "torch", "numpy", "warp"):
            try:
                address = _seen(value, read=False)[1]
            except (AttributeError, RuntimeError, TypeError, ValueError):
                continue  # no array, or one that is gone
            if address is not None:
                found[address] = (name, value)
    return found


def _seen(value: Any, *, read: bool = True) -> tuple[str | None, int | None, Any]:
    """Where the data of a value are, their address, and the data on the host if they can be and shall be read."""
    import numpy as np

    import jax

    library = type(value).__module__.partition(".")[0]
    if isinstance(value, jax.Array):
        (platform,) = {one.platform for one in value.devices()}
        if len(value.devices()) > 1:
            return SPREAD, None, np.asarray(value) if read else None
        on = ON_HOST if platform == "cpu" else ON_GPU
        return on, value.unsafe_buffer_pointer(), np.asarray(value) if read else None
    if type(value).__name__ == "PyCapsule":
        import torch

        return _seen(torch.utils.dlpack.from_dlpack(value))
    if library == "torch":
        return ON_GPU if value.is_cuda else ON_HOST, value.data_ptr(), _of_torch(value) if read else None
    if library == "warp":
        return ON_GPU if value.device.is_cuda else ON_HOST, value.ptr, value.numpy() if read else None
    if library == "numpy" or isinstance(value, np.ndarray):
        return ON_HOST, value.ctypes.data, value
    if library == "cupy":
        return ON_GPU, value.data.ptr, value.get() if read else None
    if library == "numba":
        return ON_GPU, _of_numba(value), value.copy_to_host() if read else None
    if type(value).__name__ == "StridedMemoryView":
        return ON_GPU if value.is_device_accessible else ON_HOST, value.ptr, None
    if isinstance(value, dict):
        return None, value["data"][0], None
    if isinstance(value, tuple):
        kind = int(value[0])
        return ON_GPU if kind in _OF_CUDA else ON_HOST if kind in _OF_CPU else None, None, value
    if isinstance(value, bool):
        return None, None, value
    return None, int(value), None


def _of_torch(tensor: Any) -> Any:
    import ml_dtypes
    import torch

    plain = tensor.detach().resolve_conj().resolve_neg().cpu()
    if plain.dtype is torch.bfloat16:
        return plain.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return plain.numpy()


def _of_numba(array: Any) -> int:
    """The address of an array of Numba on a device, or of what its simulator keeps in place of one."""
    if hasattr(array, "device_ctypes_pointer"):
        pointer: ctypes.c_void_p = array.device_ctypes_pointer
        return int(pointer.value or 0)
    return array._ary.ctypes.data


def _mismatch(job: dict[str, Any], data: Any) -> str | None:
    import ml_dtypes
    import numpy as np

    import jax

    if job["value"] is None:
        return None
    if data is None:
        return f"nothing that the program holds lies where `{job['result']}` points"
    known = {"np": np, "ml_dtypes": ml_dtypes, "process": jax.process_index()}
    got, want = np.asarray(data), np.asarray(eval(job["value"], known))
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"`{job['result']}` is {got.dtype} of shape {got.shape}, not {want.dtype} of shape {want.shape}"
    if not np.array_equal(got, want):
        return f"`{job['result']}` is {' '.join(str(got).split())}, not {' '.join(str(want).split())}"
    return None


def _tell(out: Any, data: dict[str, Any]) -> None:
    out.write(json.dumps(data) + "\n")
    out.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
