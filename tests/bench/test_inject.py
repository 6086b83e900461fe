"""What `inject.py` puts into modules: valid Python, the same for the same seed, at lines that it knows."""

from __future__ import annotations

import ast
import random
from pathlib import Path
from types import ModuleType

import pytest

MODULE = '''\
"""Text of the module."""

from __future__ import annotations

import numpy as np

LIMIT = 3


class Holder:
\t"""Tabs indent this class."""

\tdef __init__(self, values):
\t\tself.values = values

\tdef total(self):
\t\t"""Their sum."""
\t\tif not self.values:
\t\t\treturn 0
\t\treturn sum(self.values)


def inner(values):
    return [value for value in values]


def outer(values):
    values = inner(values)

    return Holder(values).total()
'''


@pytest.fixture
def inject(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import inject

    return inject


def test_every_flow_with_every_source_stands_in_a_real_module(inject: ModuleType) -> None:
    import inject_prove

    for bug in inject_prove.programs():
        module, other = inject.Module(MODULE), inject.Module(MODULE)
        fitting = [(owner, into) for owner, into in module.bodies if bool(owner) == bug.here.needs_class]
        owner, into = next((owner, into) for owner, into in fitting if into.name != "__init__")
        module.add(bug.here, random.Random(bug.number), owner, into)
        texts = [module.text()]
        if bug.there is not None:
            other.add(bug.there, random.Random(bug.number))
            texts.append(other.text())
        for text, _ in texts:
            assert isinstance(ast.parse(text).body[0], ast.Expr), text
        lines = [text.splitlines()[line - 1] for text, guilty in texts for line in guilty.get(bug.number, ())]
        assert len(lines) == 1, (str(bug), lines)
        assert "dlpack" in lines[0]


def test_the_same_seed_gives_the_same_bugs(inject: ModuleType, tmp_path: Path) -> None:
    texts: list[dict[str, str]] = []
    for turn in ("first", "second"):
        package = tmp_path / turn / "package"
        package.mkdir(parents=True)
        for name in ("one", "two", "three"):
            (package / f"{name}.py").write_text(MODULE, encoding="utf-8")
        copies = [inject.copied(package, tmp_path / turn)]
        bugs = inject.inject(copies, 10, random.Random(7))
        guilty = inject.write(copies)
        assert len(bugs) == 10
        assert guilty.keys() == set(range(10))
        texts.append({path.name: path.read_text(encoding="utf-8") for path in copies[0].files})
    assert texts[0] == texts[1]
    assert all(text != MODULE for text in texts[0].values())


def test_the_kinds_come_in_the_proportions_that_were_counted(inject: ModuleType) -> None:
    kinds = inject.kinds(100, random.Random(1))
    assert len(kinds) == 100
    assert {kind: kinds.count(kind) for kind in inject.KINDS} == inject.KINDS


def test_a_function_that_something_may_trace_is_left_alone(inject: ModuleType) -> None:
    module = inject.Module(
        "import jax\n\n\ndef helper(x):\n    y = x\n    return y\n\n\n@jax.jit\ndef step(x):\n    y = helper(x)\n    return y\n\n\n"
        "def loss(x):\n    y = x\n    return y\n\n\ndef train(x):\n    y = jax.grad(loss)(x)\n    return y\n"
    )
    assert [function.name for _, function in module.bodies] == ["train"]
