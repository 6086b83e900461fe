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
