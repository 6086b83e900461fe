"""Which names of an example are libraries, and by which statement each is imported."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

_CONVENTIONS: Mapping[str, tuple[str, str]] = {
    "jax": ("jax", "import jax"),
    "jnp": ("jax.numpy", "import jax.numpy as jnp"),
    "np": ("numpy", "import numpy as np"),
    "numpy": ("numpy", "import numpy"),
    "torch": ("torch", "import torch"),
    "cp": ("cupy", "import cupy as cp"),
    "cupy": ("cupy", "import cupy"),
    "tf": ("tensorflow", "import tensorflow as tf"),
    "wp": ("warp", "import warp as wp"),
    "numba": ("numba", "import numba"),
}


class LibraryError(ValueError):
    """The imports of the example contradict each other; the message is a clause."""


def libraries_of(statements: Iterable[ast.stmt]) -> tuple[dict[str, str], dict[str, str]]:
    """What library names mean (dotted) and their import statements, by name.

    An example's own imports tell; for those that it leaves out, convention does. Raises `LibraryError`.
    """
    meanings: dict[str, str] = {}
    imports: dict[str, str] = {}
    nodes = [node for statement in statements for node in ast.walk(statement)]
    for name, meaning, statement in (found for node in nodes for found in _imported(node)):
        if meanings.setdefault(name, meaning) != meaning:
            raise LibraryError(f"it imports two things as `{name}`")
        # `import a.b` and `import a` both bind `a`; the longer one brings more
        imports[name] = max(imports.get(name, ""), statement, key=len)
    bound = set(_bound(nodes))
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    for name in used - bound - meanings.keys():
        if name in _CONVENTIONS:
            meanings[name], imports[name] = _CONVENTIONS[name]
    return meanings, imports


def _imported(node: ast.AST) -> Iterator[tuple[str, str, str]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            top = alias.name.partition(".")[0]
            statement = ast.unparse(ast.Import([alias]))
            yield alias.asname or top, alias.name if alias.asname else top, statement
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
            if alias.name != "*":
                statement = ast.unparse(ast.ImportFrom(node.module, [alias], 0))
                yield alias.asname or alias.name, f"{node.module}.{alias.name}", statement


def _bound(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
