"""All safe repairs of a file: the same result in any order, once and for all, and nothing else touched."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from shardlint.check import Snapshot, check
from shardlint.fixes.edits import apply
from shardlint.fixes.repair import fix_all, repairs
from shardlint.model import Safety
from shardlint.text import Text

Snap = Callable[..., Snapshot]

OLD = '''\
"""A bridge.  # not a comment"""
import jax, torch   # both
import jax.numpy as jnp
from jax import dlpack as jax_dlpack
from jax.dlpack import from_dlpack, to_dlpack  # to_dlpack is gone
from torch.utils import dlpack as torch_dlpack
from torch.utils.dlpack import to_dlpack as torch_to


def to_torch(array):
\treturn torch_dlpack.from_dlpack(jax_dlpack.to_dlpack(array))   # 1


def to_jax(tensor, *, again=lambda t: from_dlpack(torch_to(t))):
    return from_dlpack(torch_dlpack.to_dlpack(tensor.contiguous()));


x = jnp.arange(16.0)
a = [torch.from_dlpack(
    # the array
    to_dlpack(x),  # as a capsule
), to_dlpack(x)]; b = to_torch(x)
c = torch.from_dlpack(jax.dlpack.to_dlpack(from_dlpack(torch_to(to_torch(x)))))
text = f"{to_dlpack(x)} é"
'''

NEW = '''\
"""A bridge.  # not a comment"""
import jax, torch   # both
import jax.numpy as jnp
from jax.dlpack import from_dlpack  # to_dlpack is gone
from torch.utils import dlpack as torch_dlpack


def to_torch(array):
\treturn torch_dlpack.from_dlpack(array)   # 1


def to_jax(tensor, *, again=lambda t: from_dlpack(t.detach())):
    return from_dlpack(tensor.contiguous().detach());


x = jnp.arange(16.0)
a = [torch.from_dlpack(
    # the array
    x,  # as a capsule
), x.__dlpack__()]; b = to_torch(x)
c = torch.from_dlpack(from_dlpack(to_torch(x).detach()))
text = f"{x.__dlpack__()} é"
'''


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_everything_safe_is_repaired(snapshot: Snap, newline: str) -> None:
    """Removed functions go from everywhere, and the imports that they alone needed; the rest stays byte for byte."""
    text, fixes = fix_all(snapshot(OLD.replace("\n", newline)))
    assert text == NEW.replace("\n", newline)
    assert {fix.safety for fix in fixes} == {Safety.SAFE}


def test_a_second_time_changes_nothing(snapshot: Snap) -> None:
    """What is repaired stays as it is, and has no finding."""
    assert fix_all(snapshot(NEW)) == (NEW, ())
    assert check(snapshot(NEW)).findings == ()


@pytest.mark.parametrize("seed", range(8))
def test_the_order_does_not_matter(snapshot: Snap, seed: int) -> None:
    """Whoever applies the safe repairs one by one, whichever comes next, ends with the same text."""
    choose = random.Random(seed)
    program = snapshot(OLD)
    while True:
        found = list(check(program).findings)
        choose.shuffle(found)
        safe = (fix for finding in found for fix in repairs(program, finding) if fix.safety is Safety.SAFE)
        fix = next(safe, None)
        if fix is None:
            break
        program = replace(program, text=Text(apply(program.text.source, fix.edits)))
    assert program.text.source == NEW


def test_what_costs_is_left(snapshot: Snap) -> None:
    """A copy or a move is nobody's choice but the user's."""
    source = (
        "import jax\nimport jax.numpy as jnp\nimport torch\n"
        "x = jax.device_put(jnp.arange(16.0), jax.NamedSharding(jax.make_mesh((8,), ('d',)), jax.P('d')))\n"
        "t = torch.from_dlpack(x)\nu = jax.dlpack.from_dlpack(jnp.arange(3), device=jax.devices()[1], copy=False)\n"
    )
    assert len(check(snapshot(source)).findings) == 2
    assert fix_all(snapshot(source)) == (source, ())


def test_many_are_repaired_at_once(snapshot: Snap) -> None:
    """There is no number of repairs behind which it stops."""
    head = "import jax\nimport torch\n"
    source = head + "".join(f"a{n} = torch.from_dlpack(jax.dlpack.to_dlpack(x{n}))\n" for n in range(60))
    text, fixes = fix_all(snapshot(source))
    assert text == head + "".join(f"a{n} = torch.from_dlpack(x{n})\n" for n in range(60))
    assert len(fixes) == 60


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_one_in_another_is_repaired(snapshot: Snap, depth: int) -> None:
    """Hand-offs in hand-offs are peeled one after another."""
    code = "x"
    for _ in range(depth):
        code = f"jax.dlpack.from_dlpack(torch.from_dlpack(jax.dlpack.to_dlpack({code})).__dlpack__())"
    text, _ = fix_all(snapshot(f"import jax\nimport jax.numpy as jnp\nimport torch\nx = jnp.ones(3)\ny = {code}\n"))
    assert text.endswith("y = " + "jax.dlpack.from_dlpack(torch.from_dlpack(" * depth + "x" + "))" * depth + "\n")


def test_new_variables_do_not_meet(with_example: Callable[..., Snapshot]) -> None:
    """A rule of a user's own may call a repair with a new variable safe: each gets a name of its own."""
    put = "jax.device_put(x, jax.devices()[0])"
    head = (
        "import jax\nimport jax.numpy as jnp\nimport torch\n"
        "x = jax.device_put(jnp.arange(16.0), jax.NamedSharding(jax.make_mesh((8,), ('d',)), jax.P('d')))\n"
    )
    example = f"# before\nt = torch.from_dlpack(x)\n# after\nx = {put}\nt = torch.from_dlpack(x)\n"
    program = with_example(example, head + "t = torch.from_dlpack(x)\nu = torch.from_dlpack(x)\n", Safety.SAFE)
    text, _ = fix_all(program)
    one, two = (f"x_{n} = {put}\n{name} = torch.from_dlpack(x_{n})\n" for n, name in ((2, "t"), (3, "u")))
    assert text == head + one + two


def test_broken_code_elsewhere_does_not_matter(snapshot: Snap) -> None:
    """A statement that does not parse stays as it is, and what it may use stays imported."""
    head = "import torch\nfrom jax import dlpack as jd\n"
    broken = "\n\ndef g(:\n    return jd.to_dlpack(\n"
    text, _ = fix_all(snapshot(f"{head}\n\ndef f(x):\n    return torch.from_dlpack(jd.to_dlpack(x))\n{broken}"))
    assert text == f"{head}\n\ndef f(x):\n    return torch.from_dlpack(x)\n{broken}"


@pytest.mark.parametrize(
    "source", ["", "import jax", "x = " + "(" * 150 + "1" + ")" * 150, "a = " + "-" * 5000 + "1\n"]
)
def test_nothing_to_repair_is_no_trouble(snapshot: Snap, source: str) -> None:
    """Empty, short and absurd files come back as they are."""
    assert fix_all(snapshot(source)) == (source, ())
