"""What annotations are understood to say; `annotations.md` shows what comes of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from shardlint.check import Snapshot, check

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np, numpy.typing as npt, torch, typing, typing_extensions, chex
from typing import *
from typing import Annotated, Any, Final, List, Optional, Union
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree
from jax.sharding import NamedSharding, PartitionSpec as P

sharding = NamedSharding(jax.make_mesh((8,), ("d",)), P("d"))

def bridge(x: {annotation}):
    return np.from_dlpack({array}.to_device(sharding))
"""


def found(source: str, snapshot: Callable[[str], Snapshot]) -> bool:
    return any(one.rule == "sharded-dlpack-export" for one in check(snapshot(source)).findings)


@pytest.mark.parametrize(
    ("annotation", "array"),
    [
        ("jax.Array", "x"),
        ("'jax.Array'", "x"),
        ("' jax.Array '", "x"),
        ("jnp.ndarray", "x"),
        ("chex.Array", "x"),
        ("PRNGKeyArray", "x"),
        ("Float[Array, 'batch dim']", "x"),
        ("Float[jax.Array, '...']", "x"),
        ("'Float[Array, \"n\"]'", "x"),
        ("Annotated[Float[Array, ''], 'loss']", "x"),
        ("Final[jax.Array]", "x"),
        ("Union[jax.Array, chex.Array]", "x"),
        ("list[jax.Array]", "x[0]"),
        ("List[Int[Array, 'n']]", "x[3]"),
        ("tuple[int, jax.Array]", "x[1]"),
        ("tuple[jax.Array, ...]", "x[5]"),
        ("dict[str, jax.Array]", "x['w']"),
        ("typing.Mapping[str, 'jax.Array']", "x['w']"),
    ],
)
def test_an_array(annotation: str, array: str, snapshot: Callable[[str], Snapshot]) -> None:
    """What is annotated as a JAX array, in whatever words, is one: it can be put on a sharding by a method."""
    assert found(PROGRAM.format(annotation=annotation, array=array), snapshot)


@pytest.mark.parametrize(
    "annotation",
    [
        *("Any", "object", "int", "jax.typing.ArrayLike", "np.ndarray", "npt.NDArray[np.float32]", "torch.Tensor"),
        *(
            "Float[np.ndarray, 'n']",
            "PyTree[Array]",
            "Float",
            "Union[jax.Array, Any]",
            "'broken ['",
            "x",
            "1 + 1",
            "None",
        ),
        *(
            "Callable[[jax.Array], jax.Array]",
            "type[jax.Array]",
            "lambda: 1",
            "''",
            "list",
            "jax.Array()",
            "[jax.Array]",
        ),
    ],
)
def test_no_array(annotation: str, snapshot: Callable[[str], Snapshot]) -> None:
    """What is annotated as something else, or as nothing that is known, is not taken for one."""
    assert not found(PROGRAM.format(annotation=annotation, array="x"), snapshot)


@pytest.mark.parametrize(
    ("parameter", "array"), [("*x: jax.Array", "x[0]"), ("**x: jax.Array", "x['w']"), ("x: jax.Array = None", "x")]
)
def test_other_parameters(parameter: str, array: str, snapshot: Callable[[str], Snapshot]) -> None:
    """The annotation of a starred parameter is that of each of its items; a default of None is another value."""
    source = PROGRAM.replace("x: {annotation}", parameter).format(annotation="", array=array)
    assert found(source, snapshot)


def test_nothing_is_asked_for_what_is_known(snapshot: Callable[[str], Snapshot]) -> None:
    """Annotations by names that the table knows, and those of Python's own types, make no questions."""
    for annotation in (
        "jax.Array",
        "Float[Array, 'n']",
        "Any",
        "int",
        "npt.NDArray[np.float32]",
        "jax.typing.ArrayLike",
    ):
        assert check(snapshot(PROGRAM.format(annotation=annotation, array="x"))).questions == ()
