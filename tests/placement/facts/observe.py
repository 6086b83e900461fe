"""Evaluates expressions on the JAX of the Python that executes this file: JSON on stdin, JSON on stdout.

The input is a list of tables, each with a `prelude`, a `context` (an expression, or null) and `rows`, a list of expressions. The
output is a list of answers for each table: the number of devices, "host", or what was raised. It needs no more than JAX.
"""

from __future__ import annotations

import json
import sys
import warnings
from contextlib import nullcontext
from typing import Any


def answers(table: dict[str, Any]) -> list[int | str]:
    """The answer to each row, evaluated in a copy of the prelude's names."""
    names: dict[str, Any] = {"__name__": "facts"}
    exec(compile(table["prelude"], "<prelude>", "exec"), names)
    return [answer(row, table["context"], dict(names)) for row in table["rows"]]


def answer(expression: str, context: str | None, names: dict[str, Any]) -> int | str:
    """What one expression gives."""
    import jax

    try:
        with eval(context, names) if context else nullcontext():
            value = eval(compile(expression, "<row>", "eval"), names)
            if isinstance(value, jax.Array):
                return len(value.sharding.device_set)
            if isinstance(value, bool):
                return str(value).lower()
    except Exception as error:  # noqa: BLE001 - whatever an expression raises is its answer
        return f"raises {type(error).__name__}: {str(error).partition(chr(10))[0][:80]}"
    return "host"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    json.dump([answers(table) for table in json.load(sys.stdin)], sys.stdout)
