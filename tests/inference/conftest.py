"""Folders of made-up packages, and a jedi that reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from shardlint.inference.door import Inference

BUDGET = 60.0
"""Seconds; a slow machine must not fail a test that is not about time."""

JAX = {
    "jax/__init__.py": "from jax._src.array import Array as Array\nfrom jax import dlpack as dlpack, numpy as numpy\n",
    "jax/_src/__init__.py": "",
    "jax/_src/array.py": "class Array: ...\n",
    "jax/_src/dlpack.py": "def from_dlpack(x): ...\n",
    "jax/dlpack.py": "from jax._src.dlpack import from_dlpack as from_dlpack\n",
    "jax/numpy.py": "from jax._src.array import Array as ndarray\ndef asarray(x): ...\n",
}
"""A JAX from which `to_dlpack` is gone, as it is since 0.7."""

Write = Callable[[Mapping[str, str]], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write files, by their paths below one folder, and give that folder."""

    def make(files: Mapping[str, str]) -> Path:
        root = tmp_path / "packages"
        for name, content in files.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(dedent(content), encoding="utf-8")
        return root

    return make


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that the tests share, so that jedi reads its own stubs once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def inference(cache: Path) -> Iterator[Inference]:
    """A session in which nothing has failed, checked at its end too."""
    with Inference(cache, BUDGET) as session:
        yield session
        assert session.problems == ()


@pytest.fixture
def ask(write: Write, inference: Inference) -> Callable[..., str | None]:
    """Ask what one name means, given the files of the packages that are installed beside JAX."""

    def answer(name: str, files: Mapping[str, str]) -> str | None:
        return inference.answer([name], [write({**JAX, **files})]).get(name)

    return answer
