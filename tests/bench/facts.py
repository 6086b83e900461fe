"""The rules against executed hazards: `python tests/bench/facts.py FOLDER [ID ...]`.

FOLDER holds `facts.json` (its `hazards` have `code`, `fixes`, what was `observed` on which JAX version and the `affected_versions`)
and `prelude.py`, the program that defines the names of the code. All rules are selected. Every hazard is checked for every
version on which it was run: it must be flagged on the affected ones and on no other. Each fix must be clean on the versions on which
it worked: no error and no warning, and nothing of the rules that flagged the hazard.

One line a hazard, one column a version: `+` flagged as it should be, `.` silent as it should be, `M` missed, `F` flagged though it
is fine there, nothing where it was not run. A hazard that could not be run anywhere is expected to be flagged on all.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shardlint.check import Snapshot, check
from shardlint.model import Severity, Target
from shardlint.records.catalogue import load
from shardlint.text import Text

LOUD = (Severity.ERROR, Severity.WARNING)
_NOT_OF_THIS_VERSION = frozenset({"leaving-jax-api"})
"""What tells of later versions says nothing of the one that is measured."""
GLOBAL = "jax.distributed.initialize()\nmesh = Mesh(np.array(jax.devices()), ('d',))\n"
NAMES = {
    "StridedMemoryView": "from cuda.core.utils import StridedMemoryView",
    "base64": "base64 = base.astype(np.float64)",
    "comm": "from mpi4py import MPI\ncomm = MPI.COMM_WORLD",
    "complex_x": "complex_x = jnp.array(base).astype(jnp.complex64)",
    "cp": "import cupy as cp",
    "cuda": "from numba import cuda",
    "func": (
        "import pycuda.autoinit\nimport pycuda.compiler\n"
        "func = pycuda.compiler.SourceModule('__global__ void f(float *a) {}').get_function('f')"
    ),
    "g": GLOBAL + "g = jax.make_array_from_callback((16,), NamedSharding(mesh, P('d')), lambda at: base[at])",
    "grep": GLOBAL + "grep = jax.make_array_from_callback((16,), NamedSharding(mesh, P()), lambda at: base[at])",
    "jax2tf": "from jax.experimental import jax2tf",
    "kernel": "from numba import cuda\n@cuda.jit\ndef kernel(a):\n    a[0] = 1",
    "mkref": (
        "try:\n    from jax import new_ref\nexcept ImportError:\n    from jax._src.core import mutable_array as new_ref\n"
        "def mkref():\n    return new_ref(jnp.arange(16.))"
    ),
    "freeze": "from jax import freeze",
    "multihost_utils": "from jax.experimental import multihost_utils",
    "numba": "import numba",
    "nvmath": "import nvmath",
    "tf": "import tensorflow as tf",
    "wp": "import warp as wp",
    "x_bf16": "x_bf16 = jnp.ones(16, jnp.bfloat16)",
    "x_gpu": "x_gpu = jax.device_put(base, jax.devices('gpu')[0])",
    "x_tpu": "x_tpu = jax.device_put(base, jax.devices('tpu')[0])",
    "rd": (
        "def rd(pointer, n=16):\n    return np.ctypeslib.as_array((ctypes.c_float * n).from_address(pointer)).copy()"
    ),
    "colmajor": (
        "from jax.experimental.layout import Format, Layout\n"
        "colmajor = jax.device_put(jnp.ones((8, 4)), Format(Layout((1, 0)), jax.sharding.SingleDeviceSharding(jax.devices()[0])))"
    ),
    "emesh": "def emesh():\n    return jax.make_mesh((8,), ('d',), axis_types=(jax.sharding.AxisType.Explicit,))",
    "unred": (
        "def unred():\n"
        "    m = emesh()\n"
        "    a = jax.device_put(jnp.ones((8, 8)), NamedSharding(m, P(None, 'd')))\n"
        "    b = jax.device_put(jnp.ones((8, 8)), NamedSharding(m, P('d', None)))\n"
        "    return jnp.matmul(a, b, out_sharding=NamedSharding(m, P(None, None, unreduced={'d'})))"
    ),
}
"""What defines a name that the code uses and the prelude does not have."""
BY_LIBRARY = {
    "t": {"tf": "t = tf.constant(base)", "": "t = torch.arange(16.)"},
    "v": {"wp": "v = wp.array(base, dtype=wp.float32)", "tf": "v = tf.Variable(base)", "": ""},
}
"""The same for names that mean another thing with each library."""


@dataclass(frozen=True)
class Seen:
    """What one check of one program showed: the rules that speak, and those that do so with an error or a warning."""

    rules: frozenset[str]
    loud: frozenset[str]


@dataclass(frozen=True)
class Row:
    """What was measured of one hazard: a mark for each version, the rules that flagged it, and its fixes that are not clean."""

    marks: str
    rules: frozenset[str]
    quiet: bool
    fixes: int
    dirty: tuple[str, ...]

    @property
    def right(self) -> bool:
        return not set("MF") & set(self.marks)


def main() -> int:
    """Measure and print. Returns 1 if a fix is not clean or a version is flagged that is not affected."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "ids", nargs="*", metavar="ID", help="measure these hazards alone; an ending `*` stands for any rest"
    )
    arguments = parser.parse_args()
    facts = json.loads((arguments.folder / "facts.json").read_text(encoding="utf-8"))
    prelude = (arguments.folder / "prelude.py").read_text(encoding="utf-8")
    hazards = [one for one in facts["hazards"] if _wanted(one["id"], arguments.ids)]
    versions = list(dict.fromkeys(version for one in facts["hazards"] for version in one["observed"]))
    print("versions: " + " ".join(versions))
    rows: dict[str, Row] = {}
    for hazard in hazards:
        row = rows[hazard["id"]] = measure(hazard, prelude, versions)
        fixes = f"{row.fixes - len(row.dirty)}/{row.fixes}"
        rules = ", ".join(sorted(row.rules)) + (" (information)" if row.quiet else "")
        print(f"{row.marks:<{len(versions)}}  fixes {fixes:>5}  {hazard['id']}: {rules or '-'}")
        for one in row.dirty:
            print(f"{'':<{len(versions)}}  {one}")
    _totals(rows.values())
    return 1 if any(row.dirty or "F" in row.marks for row in rows.values()) else 0


def measure(hazard: Mapping[str, Any], prelude: str, versions: Sequence[str]) -> Row:
    """Check one hazard's code and its fixes on every version."""
    affected, run = _affected(hazard, versions)
    seen = {version: _check(prelude, hazard["code"], version) for version in versions if version in run}
    marks = "".join(
        _mark(bool(seen[version].rules), version in affected) if version in seen else " " for version in versions
    )
    rules = frozenset(rule for one in seen.values() for rule in one.rules)
    dirty: list[str] = []
    for fix in hazard["fixes"]:
        code = hazard["code"].replace(fix["before"], fix["after"])
        for version in fix["verified_versions"]:
            after = _check(prelude, code, version)
            speaks = after.loud | (after.rules & rules)
            if speaks:
                dirty.append(
                    f"JAX {version}: {', '.join(sorted(speaks))} after: {'; '.join(fix['after'].splitlines())}"
                )
                break
    quiet = bool(rules) and not any(one.loud for one in seen.values())
    return Row(marks, rules, quiet, len(hazard["fixes"]), tuple(dirty))


def _affected(hazard: Mapping[str, Any], versions: Sequence[str]) -> tuple[set[str], set[str]]:
    """The versions on which the hazard is there, and those on which that is known. Where what it uses is absent nothing is asked."""
    told: str | list[str] = hazard["affected_versions"]
    run = set(hazard["observed"]) or set(versions)
    if isinstance(told, list):
        return set(told), run
    if told.startswith("none"):
        return set(), run
    absent = set(re.findall(r"\d+(?:\.\d+)+", told.partition("absent on")[2]))
    named = set(re.findall(r"\d+(?:\.\d+)+", told.partition("(")[0]))
    return named or run - absent, run - absent


def _check(prelude: str, code: str, version: str) -> Seen:
    head = f"{prelude}\n{_definitions(prelude, code)}"
    text = Text(f"{head}{code}\n")
    target = Target((version,), True, "the measurement")
    catalogue = load()
    findings = check(Snapshot("program.py", text, target, catalogue, _NOT_OF_THIS_VERSION)).findings
    here = [one for one in findings if one.location.span.end > len(head) and one.severity is not Severity.OFF]
    rules = frozenset(one.rule for one in here)
    return Seen(rules, frozenset(one.rule for one in here if one.severity in LOUD))


def _definitions(prelude: str, code: str) -> str:
    """What the code needs before it, in the order in which one needs the other."""
    lines: list[str] = []
    for _ in range(3):
        missing = sorted(_free(f"{prelude}\n{''.join(lines)}{code}"))
        found = [text for name in missing if (text := NAMES.get(name) or _of_library(name, code))]
        if not found:
            break
        lines[:0] = [f"{text}\n" for text in found]
    return "".join(lines)


def _of_library(name: str, code: str) -> str:
    by_library = BY_LIBRARY.get(name, {})
    return next((text for library, text in by_library.items() if f"{library}." in code), "") if by_library else ""


def _free(source: str) -> set[str]:
    """The names that a program uses and nowhere binds; none for what does not parse."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return set()
    used: set[str] = set()
    bound = set(dir(builtins))
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                used.add(name)
            case ast.Name(id=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                bound.add(name)
            case ast.alias(name=name, asname=other):
                bound.add(other or name.partition(".")[0])
            case ast.ExceptHandler(name=str(name)):
                bound.add(name)
            case _:
                pass
    return used - bound


def _mark(flagged: bool, wanted: bool) -> str:
    return ("+" if wanted else "F") if flagged else ("M" if wanted else ".")


def _wanted(name: str, asked: Iterable[str]) -> bool:
    asked = list(asked)
    return not asked or any(name == one or (one.endswith("*") and name.startswith(one[:-1])) for one in asked)


def _totals(rows: Iterable[Row]) -> None:
    rows = list(rows)
    marks = "".join(row.marks for row in rows)
    fixes, dirty = sum(row.fixes for row in rows), sum(len(row.dirty) for row in rows)
    print(
        f"\nhazards: {sum(row.right for row in rows)} of {len(rows)} right on every version, "
        f"{sum('+' in row.marks for row in rows)} flagged where they are"
        f"\nversions: {marks.count('+')} of {marks.count('+') + marks.count('M')} flagged, "
        f"{marks.count('F')} of {marks.count('F') + marks.count('.')} flagged that are fine"
        f"\nfixes: {fixes - dirty} of {fixes} clean"
    )


if __name__ == "__main__":
    sys.exit(main())
