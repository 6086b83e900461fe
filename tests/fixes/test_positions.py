"""What a repair makes of the text around a hand-off, in every place where Python lets one stand."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from shardlint.check import Snapshot, check
from shardlint.fixes.edits import apply
from shardlint.fixes.repair import repairs

DATA = tomllib.loads(Path(__file__).with_name("positions.toml").read_text(encoding="utf-8"))
PRELUDE, POSITIONS, OPERANDS = DATA["prelude"], DATA["positions"], DATA["operands"]

MOVE = "Move to one device (copies from 8 devices)"
COPY = "Copy to host memory"
NAMED = "Move to one device under a name of its own (copies from 8 devices)"
ITSELF = "Hand over the array itself"
CAPSULE = "Ask the array for the capsule"
TENSOR = "Hand over the tensor itself, detached"
LET_COPY = "Let JAX copy to the other device"

HEAD = """\
import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("d",))
x = jax.device_put(np.arange(16.0), NamedSharding(mesh, P("d")))
"""
ONE = """\
import jax
import jax.numpy as jnp
import torch

x = jnp.arange(16.0)
"""
PUT = "jax.device_put(x, jax.local_devices()[0])"

Repaired = Callable[..., list[str]]


@pytest.mark.parametrize(
    ("title", "before", "after"),
    [
        # comments and layout within the edit
        (
            ITSELF,
            "t = torch.from_dlpack(\n    jax.dlpack.to_dlpack(  # old\n        x,  # the array\n    ),\n)\n",
            "t = torch.from_dlpack(\n    # old\n        x  # the array\n    ,\n)\n",
        ),
        (
            CAPSULE,
            "c = jax.dlpack.to_dlpack(  # old\n    x + 1,  # the array\n)\n",
            "c = (  # old\n    (x + 1).__dlpack__()  # the array\n)\n",
        ),
        (CAPSULE, "c = jax.dlpack.to_dlpack(\n    x,\n)  # why\n", "c = x.__dlpack__()  # why\n"),
        (CAPSULE, "c = jax.dlpack.to_dlpack(\n    x\n    + 1\n)\n", "c = (x\n    + 1).__dlpack__()\n"),
        (CAPSULE, "c = jax.dlpack.to_dlpack \\\n    (x)\n", "c = x.__dlpack__()\n"),
        (CAPSULE, "c = jax.dlpack . to_dlpack( x )\n", "c = x.__dlpack__()\n"),
        (
            ITSELF,
            "t = torch.from_dlpack(jax.dlpack.to_dlpack(\n    x  # a '#' and a \"\n))\n",
            "t = torch.from_dlpack(x  # a '#' and a \"\n)\n",
        ),
        # brackets where they are needed and nowhere else
        (CAPSULE, "c = jax.dlpack.to_dlpack(x if x.size else -x)\n", "c = (x if x.size else -x).__dlpack__()\n"),
        (CAPSULE, "c = jax.dlpack.to_dlpack(-x)\n", "c = (-x).__dlpack__()\n"),
        (CAPSULE, "c = jax.dlpack.to_dlpack(x[0])\n", "c = x[0].__dlpack__()\n"),
        (CAPSULE, "c = jax.dlpack.to_dlpack(y := x)\n", "c = (y := x).__dlpack__()\n"),
        (ITSELF, "t = torch.from_dlpack(jax.dlpack.to_dlpack(y := x))\n", "t = torch.from_dlpack(y := x)\n"),
        (
            ITSELF,
            "t = torch.from_dlpack(ext_tensor=jax.dlpack.to_dlpack(y := x))\n",
            "t = torch.from_dlpack(ext_tensor=(y := x))\n",
        ),
        (
            ITSELF,
            "t = torch.from_dlpack(jax.dlpack.to_dlpack(x if x.size else -x))\n",
            "t = torch.from_dlpack(x if x.size else -x)\n",
        ),
        (
            CAPSULE,
            "async def f(g):\n    return jax.dlpack.to_dlpack(await g())\n",
            "async def f(g):\n    return (await g()).__dlpack__()\n",
        ),
        # arguments by name
        (CAPSULE, "c = jax.dlpack.to_dlpack(x=x)\n", "c = x.__dlpack__()\n"),
        # two in one
        (
            ITSELF,
            "a, b = torch.from_dlpack(jax.dlpack.to_dlpack(x)), jax.dlpack.to_dlpack(x)\n",
            "a, b = torch.from_dlpack(x), jax.dlpack.to_dlpack(x)\n",
        ),
    ],
)
def test_a_removed_function_goes(repaired: Repaired, title: str, before: str, after: str) -> None:
    """What is left is the array in brackets where its new place needs them; comments that stood inside stay."""
    assert repaired(ONE + before, title) == [ONE + after]


@pytest.mark.parametrize(
    "before",
    [
        "args = [x]\nc = jax.dlpack.to_dlpack(*args)\n",
        "args = {}\nc = jax.dlpack.to_dlpack(x, **args)\n",
        "c = jax.dlpack.to_dlpack(x, src_device=1)\n",
        "cs = list(map(jax.dlpack.to_dlpack, [x]))\n",
        "to = jax.dlpack.to_dlpack\n",
        'a = f"{jax.dlpack.to_dlpack(x)=}"\n',
    ],
)
def test_what_the_example_does_not_show_is_left_alone(snapshot: Callable[..., Snapshot], before: str) -> None:
    """Arguments that cannot be seen, or that the example does not have, a bare name, and text that shows the code."""
    program = snapshot(ONE + before)
    [finding] = check(program).findings
    assert repairs(program, finding) == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = np.from_dlpack(x)\n", f"a = np.from_dlpack({PUT})\n"),
        ("a = np.from_dlpack((x))\n", f"a = np.from_dlpack(({PUT}))\n"),
        ("a = np.from_dlpack(x=x)\n", f"a = np.from_dlpack(x={PUT})\n"),
        ("c = x.__dlpack__()\n", f"c = {PUT}.__dlpack__()\n"),
        ("c = (x).__dlpack__()\n", f"c = ({PUT}).__dlpack__()\n"),
        (
            "a = np.from_dlpack(x + 1)\n",
            "a = np.from_dlpack(jax.device_put(x + 1, jax.local_devices()[0]))\n",
        ),
        (
            "c = (x + 1).__dlpack__()\n",
            "c = (jax.device_put(x + 1, jax.local_devices()[0])).__dlpack__()\n",
        ),
        (
            "a = np.from_dlpack(\n    x\n    + 1,  # one\n)\n",
            "a = np.from_dlpack(\n    jax.device_put(x\n    + 1, jax.local_devices()[0]),  # one\n)\n",
        ),
        (
            "a = np.from_dlpack(y := x)\n",
            "a = np.from_dlpack(jax.device_put(y := x, jax.local_devices()[0]))\n",
        ),
        ("a = f'{np.from_dlpack(x)}'\n", f"a = f'{{np.from_dlpack({PUT})}}'\n"),
        ('a = f"""\n{np.from_dlpack(x)!r:>9}\n"""\n', f'a = f"""\n{{np.from_dlpack({PUT})!r:>9}}\n"""\n'),
        ("def f(a=np.from_dlpack(x)): return a\n", f"def f(a=np.from_dlpack({PUT})): return a\n"),
        ("a = \\\n  np.from_dlpack(x)\n", f"a = \\\n  np.from_dlpack({PUT})\n"),
    ],
)
def test_an_operand_is_wrapped_where_it_stands(repaired: Repaired, before: str, after: str) -> None:
    """Nothing but the operand is written anew."""
    assert repaired(HEAD + before, MOVE) == [HEAD + after]


GATHERED = f"gathered = {PUT}"
READY = f"gathered = jax.block_until_ready({PUT})"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("i = x.__cuda_array_interface__\n", f"{GATHERED}\ni = gathered.__cuda_array_interface__\n"),
        ("if mesh: i = x.__cuda_array_interface__\n", f"if mesh: {GATHERED}; i = gathered.__cuda_array_interface__\n"),
        (
            "a = 1; i = x.__cuda_array_interface__; b = 2\n",
            f"a = 1; {GATHERED}; i = gathered.__cuda_array_interface__; b = 2\n",
        ),
        (
            "if mesh: \\\n    i = x.__cuda_array_interface__\n",
            f"if mesh: \\\n    {GATHERED}; i = gathered.__cuda_array_interface__\n",
        ),
        (
            "if mesh:\n\tif mesh:\n\t\ti = x.__cuda_array_interface__\n",
            f"if mesh:\n\tif mesh:\n\t\t{GATHERED}\n\t\ti = gathered.__cuda_array_interface__\n",
        ),
        (
            "gathered = 1\ni = x.__cuda_array_interface__\n",
            f"gathered = 1\ngathered_2 = {PUT}\ni = gathered_2.__cuda_array_interface__\n",
        ),
        (
            "# gathered_2\ngathered = 1\ni = x.__cuda_array_interface__\n",
            f"# gathered_2\ngathered = 1\ngathered_3 = {PUT}\ni = gathered_3.__cuda_array_interface__\n",
        ),
        (
            "if x.__cuda_array_interface__:\n    pass\n",
            f"{GATHERED}\nif gathered.__cuda_array_interface__:\n    pass\n",
        ),
        (
            "for k in x.__cuda_array_interface__:\n    pass\n",
            f"{GATHERED}\nfor k in gathered.__cuda_array_interface__:\n    pass\n",
        ),
        (
            "i = (x + abs(1)).__cuda_array_interface__\n",
            "gathered = jax.device_put(x + abs(1), jax.local_devices()[0])\ni = (gathered).__cuda_array_interface__\n",
        ),
        (
            "# why\ni = (  # here\n    x.__cuda_array_interface__\n)\n",
            f"# why\n{GATHERED}\ni = (  # here\n    gathered.__cuda_array_interface__\n)\n",
        ),
        (
            'a = f"{x.__cuda_array_interface__}"\n',
            f'{GATHERED}\na = f"{{gathered.__cuda_array_interface__}}"\n',
        ),
        (
            "def f():\n    i = x.__cuda_array_interface__\n    use(i)\n    return 1\n",
            f"def f():\n    {GATHERED}\n    i = gathered.__cuda_array_interface__\n    use(i)\n    return 1\n",
        ),
        (
            "def f():\n    print(1, x.__cuda_array_interface__)\n",
            f"def f():\n    {GATHERED}\n    print(1, gathered.__cuda_array_interface__)\n",
        ),
        (
            "d = {}\nd[print()] = x.__cuda_array_interface__\n",
            f"d = {{}}\n{GATHERED}\nd[print()] = gathered.__cuda_array_interface__\n",
        ),
        (
            "def f():\n    i = x.__cuda_array_interface__\n    p = i['data']\n    use(p)\n",
            f"def f():\n    {GATHERED}\n    i = gathered.__cuda_array_interface__\n    p = i['data']\n    use(p)\n",
        ),
        (
            "for n in range(2):\n    i = x.__cuda_array_interface__\n    use(i)\n",
            f"for n in range(2):\n    {GATHERED}\n    i = gathered.__cuda_array_interface__\n    use(i)\n",
        ),
        ("p = x.unsafe_buffer_pointer()\n", f"{READY}\np = gathered.unsafe_buffer_pointer()\n"),
        (
            "def f(a):\n    use(x.unsafe_buffer_pointer() + a)\n",
            f"def f(a):\n    {READY}\n    use(gathered.unsafe_buffer_pointer() + a)\n",
        ),
    ],
)
def test_a_statement_is_put_ahead(repaired: Repaired, before: str, after: str) -> None:
    """On a line of its own, or on the same line where another statement has that; under a name that nothing has."""
    assert repaired(HEAD + before, NAMED) == [HEAD + after]


@pytest.mark.parametrize(
    "before",
    [
        "f = lambda: x.__cuda_array_interface__\n",
        "a = [x.__cuda_array_interface__ for _ in [1]]\n",
        "a = [1 for _ in [1] if x.__cuda_array_interface__]\n",
        "a = 1 if flag else x.__cuda_array_interface__\n",
        "a = mesh and x.__cuda_array_interface__\n",
        "a = 1 < 0 < x.__cuda_array_interface__['data'][0]\n",
        "while x.__cuda_array_interface__:\n    pass\n",
        "if not mesh:\n    pass\nelif x.__cuda_array_interface__:\n    pass\n",
        "class A:\n    i = x.__cuda_array_interface__\n",
        "def f(a=x.__cuda_array_interface__):\n    pass\n",
        "a = [(x := x + 1), x.__cuda_array_interface__]\n",
        "def g():\n    global x\n    x = x + 1\n\n\na = [g(), x.__cuda_array_interface__]\n",
        "a = [print(), jax.numpy.abs(x).__cuda_array_interface__]\n",
        "box = [x]\na = [print(), box[0].__cuda_array_interface__]\n",
        "a = (y := jax.numpy.abs(x)).__cuda_array_interface__\n",
        "assert x.__cuda_array_interface__\n",
        "def f():\n    return x.__cuda_array_interface__\n",
        "def f():\n    i = x.__cuda_array_interface__\n    return i['data'][0]\n",
        "def f():\n    i = x.__cuda_array_interface__\n    p, n = i['data'][0], 1\n    return p\n",
        "def f():\n    for p in x.__cuda_array_interface__['data']:\n        yield p\n",
        "def f():\n    i = x.__cuda_array_interface__\n    return lambda: i\n",
        "def f():\n    i = x.__cuda_array_interface__\n\n    def g():\n        use(i)\n\n    return g\n",
        "def f(known):\n    known.append(x.__cuda_array_interface__)\n",
        "known = []\nfor n in range(2):\n    known.append(x.__cuda_array_interface__)\n",
        "known = []\nfor n in range(2):\n    i = x.__cuda_array_interface__\n    known = [*known, i]\n",
        "i = None\nwhile True:\n    if i: use(i)\n    i = x.__cuda_array_interface__\n",
        "def f():\n    for n in range(2):\n        i = x.__cuda_array_interface__\n    use(i)\n",
        "def f(known):\n    i = x.__cuda_array_interface__\n    known['x'] = i\n",
        "def f():\n    p = x.unsafe_buffer_pointer()\n    q = p + 4\n    return q\n",
        "def f():\n    a = np.ctypeslib.as_array(c.from_address(x.unsafe_buffer_pointer()))\n    b = a[1:]\n    return b\n",
        "def f():\n    yield x.__cuda_array_interface__\n",
        "def f(self):\n    self.i = x.__cuda_array_interface__\n",
        "def f():\n    global i\n    i = x.__cuda_array_interface__\n",
    ],
)
def test_no_statement_is_put_where_it_would_run_otherwise(snapshot: Callable[..., Snapshot], before: str) -> None:
    """Where the expression may not run, runs more than once, runs behind what changes it, or where its address leaves the
    function or the turn of a loop that alone holds the new array, nothing is offered.
    """
    program = snapshot(HEAD + before)
    [finding] = check(program).findings
    assert repairs(program, finding) == ()


CALL = "z = jax.dlpack.from_dlpack"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{CALL}(x, device=d, copy=False)\n", f"{CALL}(x, device=d)\n"),
        (f"{CALL}(x, device=d, copy=False, )\n", f"{CALL}(x, device=d, )\n"),
        (f"{CALL}((x), copy=(False), device=(d))\n", f"{CALL}((x), device=(d))\n"),
        (f"{CALL}(copy=False, device=d, external_array=x)\n", f"{CALL}(device=d, external_array=x)\n"),
        (f"{CALL}(x , device = d , copy = False)\n", f"{CALL}(x , device = d)\n"),
        (
            f"{CALL}(\n    x,  # a\n    device=d,  # b\n    copy=False,  # c\n)\n",
            f"{CALL}(\n    x,  # a\n    device=d,  # b\n)\n",
        ),
        (
            f"{CALL}(\n    x,  # a\n    copy=False,  # b\n    device=d  # c\n)\n",
            f"{CALL}(\n    x,  # a\n    device=d  # c\n)\n",
        ),
        (
            f"{CALL}(\n    x,  # a\n    device=d,  # b\n    copy=False\n)\n",
            f"{CALL}(\n    x,  # a\n    device=d,  # b\n    \n)\n",
        ),
        (f"{CALL}(x, copy=False,  # a\n  device=d)\n", f"{CALL}(x, # a\n  device=d)\n"),
        (
            "a = f'{jax.dlpack.from_dlpack(x, device=d, copy=False)}'\n",
            "a = f'{jax.dlpack.from_dlpack(x, device=d)}'\n",
        ),
    ],
)
def test_a_keyword_goes_with_its_comma(repaired: Repaired, before: str, after: str) -> None:
    """Other arguments, their brackets and their comments stay."""
    head = ONE + "d = jax.devices()[1]\n"
    assert repaired(head + before, LET_COPY) == [head + after]


def test_line_ends_stay(repaired: Repaired) -> None:
    """New lines end as the file's lines do."""
    source = (HEAD + "if mesh:\n\ti = x.__cuda_array_interface__\n").replace("\n", "\r\n")
    [text] = repaired(source, NAMED)
    assert text == source.replace("\ti = x", f"\t{GATHERED}\r\n\ti = gathered")


@pytest.mark.parametrize("position", POSITIONS)
def test_only_the_hand_off_changes(snapshot: Callable[..., Snapshot], position: str) -> None:
    """In every position a repair is offered whose tree is the old one with another hand-off, and whose comments are the same."""
    old, new = "np.from_dlpack(x)", f"np.from_dlpack({PUT})"
    source, wanted = (PRELUDE + POSITIONS[position].format(E=code) for code in (old, new))
    program = snapshot(source)
    [finding] = check(program).findings
    made = apply(source, repairs(program, finding)[0].edits)
    assert made == wanted
    assert ast.dump(ast.parse(made)) == ast.dump(ast.parse(wanted))


@pytest.mark.parametrize("operand", [name for name in OPERANDS if name != "attribute"])
def test_an_operand_keeps_its_text(repaired: Repaired, operand: str) -> None:
    """Whatever the tensor's expression is, it is handed over as it is written."""
    code = OPERANDS[operand].format(x="t")
    before = f"r = jax.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack({code}))\n"
    [text] = repaired(PRELUDE + before, TENSOR)
    bare = code[1:-1] if code.startswith("(") and code.endswith(")") and "(" not in code[1:] else code
    assert text.startswith(PRELUDE + "r = jax.dlpack.from_dlpack(")
    assert " ".join(bare.strip("()\n ").split()) in " ".join(text.split())


def test_the_second_repair_copies_through_the_host(repaired: Repaired) -> None:
    """The other repair of a sharded array is written with the file's own NumPy."""
    assert repaired(HEAD + "a = np.from_dlpack(x)\n", COPY) == [HEAD + "a = np.from_dlpack(np.array(x))\n"]
