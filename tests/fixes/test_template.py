"""Examples of records that nobody has seen before: what they compile to, what they do to programs, and why others are refused."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardlint.check import Snapshot, check
from shardlint.fixes.repair import repairs
from shardlint.placement import tables
from shardlint.records.template import TemplateError, compile_example
from shardlint.rules import own

HEAD = """\
import cupy as cp
import jax
import jax.numpy as jnp
import lib
import numpy as np
import torch

x = jax.device_put(jnp.arange(16.0), jax.NamedSharding(jax.make_mesh((8,), ("d",)), jax.P()))
zeros = np.zeros(4)
"""
PUT = "jax.device_put(x, jax.devices()[0])"

ByExample = Callable[[str, str], list[str]]


def example(before: str, after: str) -> str:
    return f"# before\n{before}\n# after\n{after}\n"


WRAP = example("t = torch.from_dlpack(x)", f"t = torch.from_dlpack({PUT})")
REBIND = example("t = torch.from_dlpack(x)", f"x = {PUT}\nt = torch.from_dlpack(x)")
NEW_NAME = example("import cupy as cp\nc = cp.asarray(s)", "y = jax.device_put(s, jax.devices()[0])\nc = cp.asarray(y)")
CHAIN = example("t = torch.from_dlpack(x)", f"a = {PUT}\nb = jnp.copy(a)\nt = torch.from_dlpack(b)")
SECOND = example("t = lib.f(a, b)", "t = lib.f(a, np.array(b))").replace("# before", "# before\nimport lib")
BOTH = example("import lib\nt = lib.f(x, d)", "t = lib.f(lib.g(x, d), d)")
SWAP = example("import lib\nt = lib.f(x, y)", "t = lib.g(y, x)")
DROP = example("import lib\nt = lib.f(x, y)", "t = lib.g(x)")
TWICE = example("import lib\nt = lib.f(x)", "t = lib.g(x, x)")
ONCE = example("import lib\nt = lib.f(x, x)", "t = lib.g(x)")
OPERATOR = example("import lib\nt = lib.f(x, y)", "t = x @ y")
DISPLAY = example("import lib\nt = lib.f(a, b, c, d)", "t = {a: c, b: d}")
BRANCH = example("import lib\nt = lib.f(x, y)", "t = lib.g(x, y) if x.size else None")
SHARDS = example("t = torch.from_dlpack(x)", "t = [torch.from_dlpack(s.data) for s in x.addressable_shards]")
LAMBDA = example("import lib\nt = lib.f(x)", "t = lib.g(lambda a: lib.h(a, x))")
COLLIDE = example("t = torch.from_dlpack(x)", "np_2 = np.array(x)\nt = torch.from_dlpack(np_2)")
CAPTURE = example("import lib\nt = lib.f(x)", "t = lib.g(lambda a: np.array(a), x)")
AWAIT = example("import lib\nt = lib.f(x)", "t = await lib.g(x)")
BUILTIN = example("t = torch.tensor(x)", "t = torch.tensor(float(x))")
ADD = example("t = jnp.asarray(x)", "t = jnp.asarray(x, copy=True)")
TEXT = example("t = torch.from_dlpack(x)", "t = torch.from_dlpack(x, device='cpu')")
OTHER_MODULE = example("t = np.asarray(x)", "t = jnp.asarray(x)")
GATHER = example(
    "t = np.asarray(x)",
    "from jax.experimental import multihost_utils\nt = np.asarray(multihost_utils.process_allgather(x, tiled=True))",
)
RENAMED = example("from lib import take\nt = take(x)", "from lib import grab\nt = grab(x)")
BY_NAME = example("import lib\nt = lib.f(x, device=lib.g(y))", "t = lib.f(x, device=lib.h(y))")
IN_A_LIST = example("import lib\nt = lib.f([x, y], x)", "t = lib.f([np.array(x), y], x)")
IN_A_FUNCTION = example("def f(x):\n    return torch.from_dlpack(x)", f"def f(x):\n    return torch.from_dlpack({PUT})")


@pytest.mark.parametrize(
    ("record", "before", "after"),
    [
        (WRAP, "torch.from_dlpack(x)\n", f"torch.from_dlpack({PUT})\n"),
        (IN_A_FUNCTION, "torch.from_dlpack(x)\n", f"torch.from_dlpack({PUT})\n"),
        (REBIND, "t = torch.from_dlpack(x)\n", f"x_2 = {PUT}\nt = torch.from_dlpack(x_2)\n"),
        (REBIND, "f = lambda: torch.from_dlpack(x)\n", f"f = lambda: torch.from_dlpack({PUT})\n"),
        (REBIND, "a = [torch.from_dlpack(x) for _ in x]\n", f"a = [torch.from_dlpack({PUT}) for _ in x]\n"),
        (REBIND, "def f(t=torch.from_dlpack(x)): pass\n", f"def f(t=torch.from_dlpack({PUT})): pass\n"),
        (REBIND, "class A:\n    t = torch.from_dlpack(x)\n", f"class A:\n    t = torch.from_dlpack({PUT})\n"),
        (REBIND, "while torch.from_dlpack(x): pass\n", f"while torch.from_dlpack({PUT}): pass\n"),
        (REBIND, "def f(): return torch.from_dlpack(x)\n", f"def f(): x_2 = {PUT}; return torch.from_dlpack(x_2)\n"),
        (NEW_NAME, "y = 1\nc = cp.asarray(x)\n", f"y = 1\ny_2 = {PUT}\nc = cp.asarray(y_2)\n"),
        (NEW_NAME, "c = cp.asarray(a=x)\n", f"y = {PUT}\nc = cp.asarray(a=y)\n"),
        (CHAIN, "t = torch.from_dlpack(x)\n", f"a = {PUT}\nb = jnp.copy(a)\nt = torch.from_dlpack(b)\n"),
        (CHAIN, "f = lambda: torch.from_dlpack(x)\n", f"f = lambda: torch.from_dlpack(jnp.copy({PUT}))\n"),
        (SECOND, "lib.f(1, x)\n", "lib.f(1, np.array(x))\n"),
        (BOTH, "lib.f(x, k)\n", "lib.f(lib.g(x, k), k)\n"),
        (SWAP, "lib.f(x, 1)\n", "lib.g(1, x)\n"),
        (DROP, "lib.f(x, 1)\n", "lib.g(x)\n"),
        (TWICE, "lib.f(x)\n", "lib.g(x, x)\n"),
        (ONCE, "lib.f(x, x)\n", "lib.g(x)\n"),
        (OPERATOR, "a = 2 * lib.f(x + 1, x)\n", "a = 2 * ((x + 1) @ x)\n"),
        (OPERATOR, "a = lib.f(x, x).sum()\n", "a = (x @ x).sum()\n"),
        (DISPLAY, "lib.f(x, 1, 2, 3)\n", "{x: 2, 1: 3}\n"),
        (SHARDS, "torch.from_dlpack(x)\n", "[torch.from_dlpack(s.data) for s in x.addressable_shards]\n"),
        (LAMBDA, "lib.f(x)\n", "lib.g(lambda a: lib.h(a, x))\n"),
        (CAPTURE, "lib.f(x)\n", "lib.g(lambda a: np.array(a), x)\n"),
        (AWAIT, "async def f():\n    lib.f(x)\n", "async def f():\n    await lib.g(x)\n"),
        (BUILTIN, "torch.tensor(x)\n", "torch.tensor(float(x))\n"),
        (ADD, "jnp.asarray(x)\n", "jnp.asarray(x, copy=True)\n"),
        (ADD, "jnp.asarray((x),)\n", "jnp.asarray((x), copy=True)\n"),
        (ADD, "jnp.asarray(\n    x,  # a\n)\n", "jnp.asarray(\n    x,  # a\n    copy=True,\n)\n"),
        (TEXT, "a = f'{torch.from_dlpack(x)}'\n", "a = f'{torch.from_dlpack(x, device=\"cpu\")}'\n"),
        (TEXT, 'a = f"{torch.from_dlpack(x)}"\n', "a = f\"{torch.from_dlpack(x, device='cpu')}\"\n"),
        (OTHER_MODULE, "np.asarray(x)\n", "jnp.asarray(x)\n"),
        (BY_NAME, "lib.g(x)\n", "lib.h(x)\n"),
    ],
)
def test_an_example_is_applied(by_example: ByExample, record: str, before: str, after: str) -> None:
    """What the example does to its names is done to the program's expressions."""
    assert by_example(record, HEAD + before) == [HEAD + after]


@pytest.mark.parametrize(
    ("record", "before"),
    [
        (BOTH, "lib.f(x, k())\n"),
        (SWAP, "lib.f(x, k())\n"),
        (DROP, "lib.f(x, k())\n"),
        (TWICE, "lib.f(jnp.abs(x))\n"),
        (TWICE, "lib.f(x + 1)\n"),
        (ONCE, "lib.f(jnp.abs(x), jnp.abs(x))\n"),
        (ONCE, "lib.f(x, x + 1)\n"),
        (BRANCH, "lib.f(x, k())\n"),
        (DISPLAY, "lib.f(x, f(), g(), h())\n"),
        (SHARDS, "s = x\ntorch.from_dlpack(s)\n"),
        (LAMBDA, "a = x\nlib.f(a)\n"),
        (LAMBDA, "lib.f(jnp.abs(x))\n"),
        (CAPTURE, "import numpy as a\nnp = 1\nlib.f(x)\n"),
        (COLLIDE, "np = numpy = 1\ntorch.from_dlpack(x)\n"),
        (AWAIT, "lib.f(x)\n"),
        (AWAIT, "def f():\n    lib.f(x)\n"),
        (BUILTIN, "float = 1\ntorch.tensor(x)\n"),
        (BUILTIN, "def f(float):\n    torch.tensor(x)\n"),
        (OPERATOR, "lib.f(x,  # a\n  1)\n"),
        (ADD, "jnp.asarray(x, **k)\n"),
        (TEXT, "a = f'{torch.from_dlpack(x)} {k[\"a\"]}'\n"),
        (OTHER_MODULE, "np.asarray(x, dtype=k)\n"),
    ],
)
def test_an_example_that_would_change_more_is_not_applied(
    with_example: Callable[[str, str], Snapshot], record: str, before: str
) -> None:
    """Nothing is evaluated twice, in another order, no more, or under a condition; no name changes what it means."""
    program = with_example(record, HEAD + before)
    [finding] = check(program).findings
    assert repairs(program, finding) == ()


@pytest.mark.parametrize(
    ("record", "code"),
    [
        (ADD, "jnp.asarray(x, copy=False)\n"),
        (ADD, "jnp.asarray(x, copy=True)\n"),
        (SECOND, "lib.f(x, 1)\n"),
        (BOTH, "other.f(x, 1)\n"),
    ],
)
def test_what_a_record_does_not_speak_of_is_not_found(
    with_example: Callable[[str, str], Snapshot], record: str, code: str
) -> None:
    """An argument that cannot be seen, one that the example leaves alone, a call that has what the example adds."""
    assert check(with_example(record, HEAD + code)).findings == ()


@pytest.mark.parametrize(
    ("record", "before", "after"),
    [
        (GATHER, "import numpy as np\n", "import numpy as np\nfrom jax.experimental import multihost_utils\n"),
        (RENAMED, "from lib import take\n", "from lib import grab\n"),
    ],
)
def test_an_examples_own_imports_are_added(by_example: ByExample, record: str, before: str, after: str) -> None:
    """What leads to a library in the example is what the program gets, and what only the old code needed goes."""
    head = "import jax\nimport jax.numpy as jnp\n"
    use = "\nx = jax.device_put(1, jax.NamedSharding(jax.make_mesh((8,), ('d',)), jax.P()))\n"
    call = "take(x)" if "take" in before else "np.asarray(x)"
    [text] = by_example(record, head + before + use + call + "\n")
    assert text.startswith(head + after + use)


def test_a_module_of_a_package_needs_its_own_import(by_example: ByExample) -> None:
    """`import jax` alone does not load `jax.experimental.multihost_utils`; an import of it under another name does."""
    source = HEAD + "import jax.experimental.multihost_utils as mu\nnp.asarray(x)\n"
    [text] = by_example(GATHER, source)
    assert text == source.replace("asarray(x)", "asarray(mu.process_allgather(x, tiled=True))")


@pytest.mark.parametrize(
    ("record", "position"), [(WRAP, 0), (SECOND, 1), (BOTH, 0), (ADD, 0), (GATHER, 0), (NEW_NAME, 0)]
)
def test_what_a_record_looks_for(with_example: Callable[[str, str], Snapshot], record: str, position: int) -> None:
    """The array of a hand-off is the argument that the example changes, else the first one that stands for anything."""
    rules = with_example(record, "").catalogue
    [pattern] = own.patterns(rules, tables.load()).values()
    assert pattern.position == position


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("t = f(x)", "`# before`"),
        (example("t = f(", "t = f(x)"), "before part is no valid Python"),
        (example("t = torch.tensor(x)", "t = torch.tensor(\0)"), "after part is no valid Python"),
        (example("t = torch.tensor(x)", "t = torch.tensor('\ud800')"), "after part is no valid Python"),
        (example("t = torch.tensor(x)", f"t = torch.tensor(x, 0x{'f' * 9999})"), "after part is no valid Python"),
        (example("t = torch.tensor(x)", f"t = torch.tensor({'-' * 9999}x)"), "too deeply"),
        (example("t = torch.tensor(x)", f"t = torch.tensor({'x + ' * 9999}x)"), "too deeply"),
        (example("t = torch.tensor(x)", f"t = torch.tensor(x{'.a' * 9999})"), "too deeply"),
        (example("t = torch.tensor(x)", "t = torch.tensor(x)"), "differ in one statement"),
        (example("a = torch.tensor(x)\nb = torch.tensor(y)", "a = 1\nb = 2"), "differ in one statement"),
        (example("x = torch.tensor(y)", "y = torch.tensor(y)"), "name that is assigned"),
        (example("a = torch.tensor(y)", "a, b = torch.tensor(y), 1"), "no call, attribute or argument"),
        (example("t = 1", "t = 2"), "no call, attribute or argument"),
        (example("y = x", "y = np.array(x)"), "no call, attribute or argument"),
        (example("global a", "global b"), "no call, attribute or argument"),
        (example("t = to_torch(x)", "t = torch.from_dlpack(x)"), "calls `to_torch`"),
        (example("t = torch.tensor(x)", "t = torch.tensor(helper(x))"), "uses `helper`"),
        (example("t = torch.tensor(x)", "g = helper(x)\nt = torch.tensor(g)"), "uses `helper`"),
        (example("import lib\nt = lib.f({**a, c: 1})", "t = lib.f({b: a, c: 2})"), "uses `b`"),
        (example("import lib\nt = lib.f(x, copy=False, **a)", "t = lib.f(x, **b)"), "uses `b`"),
        (
            example("t = torch.tensor(x)", "if x.size:\n    x = np.array(x)\nt = torch.tensor(x)"),
            "assignments to single names",
        ),
        (example("t = torch.tensor(x)", "np = np.array(x)\nt = torch.tensor(np)"), "uses `np`"),
        (
            example("import numpy as np\nt = np.array(x)", "import jax.numpy as np\nt = np.asarray(x)"),
            "two things as `np`",
        ),
    ],
)
def test_an_example_that_cannot_be_compiled_says_why(text: str, reason: str) -> None:
    """The reason names what its author has to look at."""
    with pytest.raises(TemplateError, match=reason):
        compile_example(text)


def test_compiling_warns_of_nothing() -> None:
    """An invalid escape in a record is no business of the user's terminal."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_example(example("t = torch.tensor(x)", "t = torch.tensor(x, '\\d')"))


_LINES = st.sampled_from(
    [
        "t = torch.from_dlpack(x)", "t = torch.from_dlpack(np.array(x))", "y = x.a", "y = x.a()", "import a.b", "x = y",
        "from a import *", "from . import b", "f(*x, **y)", "f(x)[0]", "del x", "def f(x): return x", "a[x] = f(x)",
        "x: int", "x += f(x)", "with f(x): pass", "lambda x: f(x)", "[f(x) for x in y]", "(x := f(y))", "f'{f(x)}'",
        "raise f(x)", "match f(x):\n    case y: pass", "x = yield", "await f(x)", "None = 1", "f(a=x)", "f(a=x, **y)",
    ]
)  # fmt: skip


@given(before=st.lists(_LINES, max_size=4), after=st.lists(_LINES, max_size=4), text=st.text(max_size=80))
def test_no_example_does_worse_than_to_be_refused(before: list[str], after: list[str], text: str) -> None:
    """Whatever stands there, it is compiled to a change, or refused with a `TemplateError`."""
    for made in (example("\n".join(before), "\n".join(after)), example(text, "\n".join(after)), text):
        try:
            changes = compile_example(made).changes
        except TemplateError:
            continue
        assert changes
        assert all(ast.dump(pattern) != ast.dump(replacement) for pattern, replacement in changes)
