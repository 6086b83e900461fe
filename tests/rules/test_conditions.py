"""The questions that no shipped rule asks yet, put to programs by a rule that is made for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shardlint.check import Snapshot, check
from shardlint.model import Severity, Target
from shardlint.records.catalogue import Catalogue
from shardlint.text import Text

HEAD = "import jax, jax.numpy as jnp, numpy as np, ml_dtypes, torch\nstep = jax.jit(lambda a, b: a + b, donate_argnums=0)\n"
X = "x = jnp.arange(16.0)\n"


def found(catalogue: Catalogue, when: dict[str, Any], program: str) -> list[Severity]:
    """The severities of what a rule with this condition finds, in the order of the lines."""
    rule = replace(catalogue.rules["sharded-dlpack-export"], name="made", when=when)
    snapshot = Snapshot(
        "program.py",
        Text(HEAD + program),
        Target(("0.10.2",), True, "the test"),
        Catalogue({"made": rule}, catalogue.jax_versions),
    )
    return [one.severity for one in check(snapshot).findings]


@pytest.mark.parametrize(
    "expression",
    [
        "jnp.zeros(3, jnp.bfloat16)",
        "jnp.ones(3, dtype='bfloat16')",
        "jnp.arange(3).astype(jnp.bfloat16)",
        "jnp.arange(3).view(ml_dtypes.bfloat16)",
        "jnp.zeros(3, jnp.bfloat16).reshape(3, 1)[0]",
        "jnp.zeros(3, jnp.bfloat16) * 2 + jnp.ones(3, jnp.bfloat16)",
        "jax.jit(lambda a: a)(jnp.zeros(3, jnp.bfloat16))",
        "jnp.zeros_like(jnp.full(3, 1, jnp.bfloat16))",
    ],
)
def test_a_dtype_that_the_program_says(catalogue: Catalogue, expression: str) -> None:
    """Where the dtype is written, and through what keeps it."""
    assert found(catalogue, {"dtype": ["bfloat16"]}, f"np.from_dlpack({expression})") == [Severity.ERROR]
    assert found(catalogue, {"dtype": ["float16"]}, f"np.from_dlpack({expression})") == []


@pytest.mark.parametrize(
    "expression",
    [
        "jnp.zeros(3)",
        "jnp.zeros(3, dtype=dtype)",
        "jnp.zeros(3, jnp.bfloat16).astype(jnp.float32)",
        "jnp.zeros(3, jnp.bfloat16) + jnp.zeros(3)",
        "jnp.argmax(jnp.zeros(3, jnp.bfloat16))",
        "jnp.zeros(3, jnp.bfloat16) > 0",
        "jnp.zeros_like(jnp.zeros(3, jnp.bfloat16), dtype=jnp.float32)",
    ],
)
def test_a_dtype_that_is_another_or_not_known(catalogue: Catalogue, expression: str) -> None:
    """Nothing is said where the dtype may be another."""
    assert found(catalogue, {"dtype": ["bfloat16"]}, f"np.from_dlpack({expression})") == []


GONE: dict[str, list[Severity]] = {
    "x.delete()\nnp.from_dlpack(x)": [Severity.ERROR],
    "y = step(x, 1.0)\nnp.from_dlpack(x)\nnp.from_dlpack(y)": [Severity.WARNING],
    "y = step(b=1.0, a=x)\nnp.from_dlpack(x)": [Severity.WARNING],
    "y = step(x, x)\nx = y\nnp.from_dlpack(x)": [],
    "x = step(x, 1.0)\nnp.from_dlpack(x)": [],
    "y = step(1.0, x)\nnp.from_dlpack(x)": [],
    "y = step(x, 1.0)\nif not x.is_deleted():\n    np.from_dlpack(x)": [],
    "if len(str(x)) > 3:\n    x.delete()\nnp.from_dlpack(x)": [Severity.WARNING],
    "for _ in range(3):\n    x = step(x, 1.0)\nnp.from_dlpack(x)": [],
    "f = jax.jit(lambda a: a + 1, donate_argnames='a')\ny = f(x)\nnp.from_dlpack(x)": [Severity.WARNING],
    "f = jax.jit(lambda a: a + 1, **options)\ny = f(x)\nnp.from_dlpack(x)": [],
    "t = {'w': x}\ny = jax.jit(lambda a: a, donate_argnums=(0,))(t)\nnp.from_dlpack(t['w'])": [Severity.WARNING],
}


@pytest.mark.parametrize("program", GONE)
def test_what_is_deleted(catalogue: Catalogue, program: str) -> None:
    """`delete` is sure, a donation is not; what was bound again is there."""
    assert found(catalogue, {"deleted": True}, X + program) == GONE[program]


PROCESSES = """
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding
base = np.arange(16.0)
def spread(*spec, devices=None):
    mesh = Mesh(np.array(jax.devices() if devices is None else devices), ("d",))
    return jax.device_put(base, NamedSharding(mesh, P(*spec)))
def joined():
    jax.distributed.initialize()
"""
JOINED = "jax.distributed.initialize()\n"
SPANS: dict[str, list[Severity]] = {
    "np.from_dlpack(spread('d'))": [],
    JOINED + "np.from_dlpack(spread('d'))": [Severity.ERROR],
    JOINED + "np.from_dlpack(spread())": [Severity.ERROR],
    JOINED + "np.from_dlpack(spread('d') + 1)": [Severity.ERROR],
    JOINED + "np.from_dlpack(jnp.sum(spread('d')))": [Severity.ERROR],
    JOINED + "np.from_dlpack(jax.jit(lambda a: a.sum())(spread('d')))": [Severity.ERROR],
    "joined()\nnp.from_dlpack(spread('d'))": [Severity.ERROR],
    "def main():\n    joined()\n    np.from_dlpack(spread('d'))\nif __name__ == '__main__':\n    main()": [
        Severity.ERROR
    ],
    JOINED + "def later(x):\n    np.from_dlpack(jax.device_put(x, jax.devices()[0]))": [Severity.ERROR],
    "if jax.process_count() > 1:\n    joined()\nnp.from_dlpack(spread('d'))": [Severity.WARNING],
    "try:\n    joined()\nexcept ValueError:\n    pass\nnp.from_dlpack(spread('d'))": [Severity.WARNING],
    JOINED + "np.from_dlpack(spread('d', devices=jax.local_devices()))": [],
    JOINED + "np.from_dlpack(spread('d', devices=[d for d in jax.devices() if d.process_index == 0]))": [],
    JOINED + "np.from_dlpack(jnp.zeros(3))": [],
    JOINED + "np.from_dlpack(jax.device_put(base, jax.devices()[0]))": [Severity.ERROR],
    JOINED + "np.from_dlpack(jax.device_put(base, SingleDeviceSharding(jax.devices()[1])))": [Severity.ERROR],
    JOINED + "np.from_dlpack(jax.device_put(base, jax.local_devices()[0]))": [],
    JOINED + "np.from_dlpack(jax.device_put(base, jax.devices()[jax.process_index()]))": [],
    JOINED + "if jax.process_index() == 0:\n    np.from_dlpack(jax.device_put(base, jax.devices()[0]))": [],
    JOINED + "if jax.process_index() == 0:\n    np.from_dlpack(spread('d'))": [Severity.ERROR],
    JOINED + "np.from_dlpack(jax.device_put(base, jax.devices('cpu')[0]))": [],
    JOINED + "np.from_dlpack(spread('d').addressable_data(0))": [],
    JOINED + "[np.from_dlpack(one.data) for one in spread('d').addressable_shards]": [],
    JOINED + "x = spread('d')\nif x.is_fully_addressable:\n    np.from_dlpack(x)": [],
    JOINED + "x = spread('d')\nif x.sharding.is_fully_addressable:\n    np.from_dlpack(x)": [],
    JOINED + "x = spread('d')\nif not x.is_fully_addressable:\n    np.from_dlpack(x)": [Severity.ERROR],
    "x = spread('d')\nif not x.is_fully_addressable:\n    np.from_dlpack(x)": [],
    "if jax.process_count() > 1:\n    joined()\nx = spread('d')\nif not x.is_fully_addressable:\n    np.from_dlpack(x)": [
        Severity.ERROR
    ],
    JOINED + "x = spread('d')\nassert jax.process_count() == 1\nnp.from_dlpack(x)": [],
    JOINED + "x = spread('d')\nif jax.process_count() > 1:\n    np.from_dlpack(x)": [Severity.ERROR],
    JOINED + "x = spread('d')\nif jax.process_count() > 1:\n    pass\nelse:\n    np.from_dlpack(x)": [],
    JOINED + "from jax.experimental import multihost_utils as mu\nx = spread('d')\n"
    "np.from_dlpack(mu.process_allgather(x, tiled=True))": [],
    "def f(x):  # shardlint: placement(x)=spans-processes\n    np.from_dlpack(x)": [Severity.ERROR],
}


@pytest.mark.parametrize("program", SPANS)
def test_arrays_that_span_processes(catalogue: Catalogue, program: str) -> None:
    """Arrays on all devices of a program that joins others, and on the first of all; not on those of this process."""
    severities = found(catalogue, {"spans-processes": True}, PROCESSES + program)
    assert severities == SPANS[program]


GRID = """
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
base = np.arange(16.0).reshape(4, 4)
def on(mesh, *spec):
    return jax.device_put(base, NamedSharding(mesh, P(*spec)))
line = jax.make_mesh((8,), ("d",))
every = Mesh(np.array(jax.devices()), ("d",))
grid = jax.make_mesh((2, 4), ("a", "b"))
thin = jax.make_mesh((1, 8), ("a", "b"))
some = Mesh(np.array(jax.devices()).reshape(-1, n), ("a", "b"))
"""
SPLIT: dict[str, list[Severity]] = {
    "on(line, 'd')": [Severity.ERROR],
    "on(line, None, 'd')": [Severity.ERROR],
    "on(line)": [],
    "on(line, None, None)": [],
    "on(line, axis)": [],
    "on(every, 'd')": [Severity.WARNING],
    "on(grid, 'a')": [Severity.ERROR],
    "on(grid, ('a', 'b'))": [Severity.ERROR],
    "on(thin, 'a')": [],
    "on(thin, 'a', 'b')": [Severity.ERROR],
    "on(some, 'a')": [],
    "on(some, 'a', 'b')": [Severity.WARNING],
    "on(line, 'd') * 2": [Severity.ERROR],
    "on(line, 'd') * on(line, 'd')": [Severity.ERROR],
    "on(line, 'd') * on(line)": [],
    "on(line, 'd') @ on(line, 'd')": [],
    "on(line, 'd').sum()": [],
    "on(line, 'd')[0]": [],
    "jnp.sum(on(line, 'd'))": [],
    "jax.device_put(on(line), on(line, 'd').sharding)": [Severity.ERROR],
    "jax.device_put(on(line, 'd'), on(line).sharding)": [],
    "jax.jit(lambda a: a, out_shardings=NamedSharding(line, P('d')))(base)": [Severity.ERROR],
    "jax.jit(lambda a: a, out_shardings=NamedSharding(line, P()))(on(line, 'd'))": [],
    "jax.device_put(base, jax.devices()[0])": [],
    "on(line, 'd') if flag else on(line)": [Severity.WARNING],
}


@pytest.mark.parametrize("expression", SPLIT)
def test_arrays_of_which_each_device_has_a_part(catalogue: Catalogue, expression: str) -> None:
    """By a spec that surely splits, through what works on each item by itself; nothing is said of what the compiler decides."""
    assert found(catalogue, {"split": True}, f"{GRID}np.from_dlpack({expression})") == SPLIT[expression]


def test_tests_of_replication(catalogue: Catalogue) -> None:
    """Where an array is fully replicated it is not split, and where it is not, it is."""
    body = "def f(x):\n    if x.is_fully_replicated:\n        np.from_dlpack(x)\n    else:\n        np.from_dlpack(x)\n"
    assert found(catalogue, {"split": True}, f"{GRID}{body}f(on(every, 'd'))\nf(on(line))\nf(on(line, axis))") == [
        Severity.ERROR
    ]
