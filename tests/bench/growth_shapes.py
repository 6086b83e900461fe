"""Programs of any size, each of one shape, with as many true bugs as are told: what `growth.py` measures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

HEAD = """\
import jax
import jax.numpy as jnp
import numpy as np
import torch
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("d",))
batch = jax.device_put(jnp.arange(64.0), NamedSharding(mesh, P("d")))


def to_torch(array):
    return torch.from_dlpack(array)
"""
PART = '''

class Layer{n}:
    """One layer."""

    def __init__(self, width, scale=1.0, *, name="layer{n}"):
        self.width = width
        self.scale = scale
        self.name = name
        self.weights = {{"kernel": jnp.ones((width, width)), "bias": jnp.zeros(width)}}

    def apply(self, inputs, train=False):
        if inputs.ndim != 2:
            raise ValueError(f"{{self.name}}: {{inputs.shape}}")
        outputs = inputs @ self.weights["kernel"] + self.weights["bias"]
        for step in range(3):
            outputs = jnp.tanh(outputs) * self.scale
        return outputs if train else jax.lax.stop_gradient(outputs)


def normalised_{n}(values, axis=-1, eps=1e-6):
    mean = jnp.mean(values, axis=axis, keepdims=True)
    try:
        spread = jnp.std(values, axis=axis, keepdims=True)
    except TypeError:
        spread = 1.0
    result = []
    for index, row in enumerate(values):
        if index % 2 == 0 and row is not None:
            result.append((row - mean) / (spread + eps))
        else:
            result.append(row)
    return jnp.stack(result)


def export_{n}(array, options=None):
    options = dict(options or {{}})
    return torch.from_dlpack(array)


def step_{n}(state, count={n}):
    loss = jnp.mean(batch * count + state["bias"])
    table = {{key: value for key, value in state.items() if not key.startswith("_")}}
    if count > 3:
        loss = loss + 1
    with jax.named_scope("step"):
        result = export_{n}(loss, table)
    return result, normalised_{n}(jnp.zeros((4, 4)))
'''


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of program: `make` writes one of a size, `bugs` tells how many lines of it are guilty. A program of several
    modules is a dict of their texts by name.
    """

    name: str
    make: Callable[[int], str | dict[str, str]]
    sizes: tuple[int, ...]
    bugs: Callable[[int], int]


def realistic(lines: int) -> str:
    """Classes, functions, bridges and hand-offs, a part after the other."""
    parts = (lines - HEAD.count("\n")) // PART.count("\n")
    return HEAD + "".join(PART.format(n=number) for number in range(parts))


def chain(depth: int) -> str:
    """Each function hands the array to the next; the last one hands it over."""
    links = "".join(f"\n\ndef f{number}(x):\n    return f{number + 1}(x)\n" for number in range(depth))
    return f"{HEAD}{links}\n\ndef f{depth}(x):\n    return torch.from_dlpack(x)\n\n\nf0(batch)\n"


def chain_upwards(depth: int) -> str:
    """The same with the last function written first."""
    links = "".join(f"\n\ndef f{number}(x):\n    return f{number - 1}(x)\n" for number in range(1, depth + 1))
    return f"{HEAD}\n\ndef f0(x):\n    return torch.from_dlpack(x)\n{links}\n\nf{depth}(batch)\n"


def result_chain(depth: int) -> str:
    """The array comes back through every function before it is handed over."""
    links = "".join(f"\n\ndef f{number}():\n    return f{number + 1}() * 2\n" for number in range(depth))
    return f"{HEAD}{links}\n\ndef f{depth}():\n    return batch\n\n\nto_torch(f0())\n"


def method_chain(depth: int) -> str:
    """The same inside a class."""
    links = "".join(f"    def f{number}(self, x):\n        return self.f{number + 1}(x)\n\n" for number in range(depth))
    last = f"    def f{depth}(self, x):\n        return torch.from_dlpack(x)\n"
    return f"{HEAD}\n\nclass Chain:\n{links}{last}\n\nChain().f0(batch)\n"


def attributes(number: int) -> str:
    """A class with as many attributes, and a method for each that reads it."""
    first = "".join(f"        self.v{n} = batch * {n}\n" for n in range(number))
    rest = "".join(f"\n    def get_{n}(self):\n        return to_torch(self.v{n})\n" for n in range(number))
    return f"{HEAD}\n\nclass Held:\n    def __init__(self):\n{first}{rest}"


def many_callers(callers: int) -> str:
    """One bridge, called by as many functions."""
    return HEAD + "".join(f"\n\ndef caller_{number}():\n    return to_torch(batch)\n" for number in range(callers))


def many_calls(calls: int) -> str:
    """One bridge, called as often in one function."""
    return f"{HEAD}\n\ndef caller():\n" + "".join(f"    v{number} = to_torch(batch)\n" for number in range(calls))


def many_kinds(calls: int) -> str:
    """One bridge, called as often with another argument beside the array each time."""
    bridge = "\n\ndef named(array, name):\n    print(name)\n    return torch.from_dlpack(array)\n"
    return f"{HEAD}{bridge}" + "".join(
        f'\n\ndef caller_{number}():\n    return named(batch, "{number}")\n' for number in range(calls)
    )


def arms(number: int) -> str:
    """One `if` with as many `elif`, and a variable of its own in each."""
    tests = "".join(
        f"    {'el' if n else ''}if kind == {n}:\n        v{n} = x + {n}\n        y = v{n}\n" for n in range(number)
    )
    return f"{HEAD}\n\ndef choose(kind):\n    x = batch\n    y = x\n{tests}    return to_torch(y)\n"


def returns(number: int) -> str:
    """As many early returns."""
    tests = "".join(f"    if kind == {n}:\n        return x + {n}\n" for n in range(number))
    return f"{HEAD}\n\ndef choose(kind):\n    x = batch\n{tests}    return x\n\n\nto_torch(choose(1))\n"


def tests(number: int) -> str:
    """As many `if` in a row in one function, and a variable of its own in each."""
    body = "".join(f"    v{n} = x * {n}\n    if flags[{n}]:\n        v{n} = v{n} + 1\n" for n in range(number))
    return f"{HEAD}\n\ndef choose(flags):\n    x = batch\n{body}    return to_torch(v{number - 1})\n"


def loops(number: int) -> str:
    """As many loops in a row in one function, and a variable of its own in each."""
    body = "".join(f"    v{n} = x\n    for i in range(k):\n        v{n} = v{n} * i\n" for n in range(number))
    return f"{HEAD}\n\ndef choose(k):\n    x = batch\n{body}    return to_torch(v{number - 1})\n"


def attempts(number: int) -> str:
    """As many `try` in a row in one function."""
    body = "".join(
        f"    try:\n        v{n} = work(x)\n    except ValueError:\n        v{n} = x\n" for n in range(number)
    )
    return f"{HEAD}\n\ndef choose(work):\n    x = batch\n{body}    return to_torch(x)\n"


def module_level(number: int) -> str:
    """A script without functions: as many names of the module, each tested once."""
    body = "".join(f"v{n} = batch * {n}\nif v{n}.ndim > 1:\n    v{n} = v{n} + 1\n" for n in range(number))
    return f"{HEAD}\n\n{body}to_torch(v{number - 1})\n"


def dictionary(entries: int) -> str:
    """One literal with as many entries."""
    lines = "".join(f'    "key_{n}": ({n}, "word", [1, 2, {n}]),\n' for n in range(entries))
    return f"{HEAD}\n\nTABLE = {{\n{lines}}}\n\n\ndef use(key):\n    return TABLE[key], to_torch(batch)\n"


def numbers(entries: int) -> str:
    """One list with as many numbers, eight a line."""
    lines = "".join("    1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5,\n" for _ in range(entries // 8))
    return f"{HEAD}\n\nTABLE = [\n{lines}]\n\n\ndef use():\n    return np.array(TABLE), to_torch(batch)\n"


def nested(depth: int, head: str) -> str:
    """One statement inside the other."""
    lines = "".join("    " * (n + 1) + head.format(n=n) + "\n" for n in range(depth))
    return f"{HEAD}\n\ndef deep(x, flags):\n    y = batch\n{lines}{'    ' * (depth + 1)}y = y + x\n    return to_torch(y)\n"


def nested_calls(depth: int) -> str:
    """One call inside the other."""
    return f"{HEAD}\n\nto_torch({'jnp.sin(' * depth}batch{')' * depth})\n"


def nested_functions(depth: int) -> str:
    """One function inside the other, each called by the one around it."""
    lines = "".join("    " * n + f"def f{n}(x{n}):\n" for n in range(depth))
    last = "    " * depth + f"return to_torch(x{depth - 1})\n"
    calls = "".join("    " * n + f"return f{n}(x{n - 1})\n" for n in range(depth - 1, 0, -1))
    return f"{HEAD}\n\n{lines}{last}{calls}f0(batch)\n"


def total(terms: int) -> str:
    """One sum of as many terms, one a line."""
    return f"{HEAD}\n\nto_torch(\n    batch\n" + "".join(f"    + {n}\n" for n in range(terms)) + ")\n"


def modules_in_a_chain(number: int) -> dict[str, str]:
    """A package in which each module imports a function from the next, which hands the array on; the last one hands it over."""
    links = {
        f"m{n}.py": f"from package.m{n + 1} import f{n + 1}\n\n\ndef f{n}(x):\n    return f{n + 1}(x)\n"
        for n in range(number)
    }
    last = f"import torch\n\n\ndef f{number}(x):\n    return torch.from_dlpack(x)\n"
    return {
        "__init__.py": "",
        f"m{number}.py": last,
        "main.py": f"{HEAD}\nfrom package.m0 import f0\n\nf0(batch)\n",
        **links,
    }


def modules_with_one_bridge(number: int) -> dict[str, str]:
    """A package of as many modules that all call a bridge in another one."""
    users = {
        f"m{n}.py": f"{HEAD}\nfrom package.bridge import export\n\n\ndef use_{n}():\n    return export(batch)\n"
        for n in range(number)
    }
    return {
        "__init__.py": "",
        "bridge.py": "import torch\n\n\ndef export(x):\n    return torch.from_dlpack(x)\n",
        **users,
    }


def one(_: int) -> int:
    return 1


def _deep(head: str) -> Callable[[int], str]:
    return lambda depth: nested(depth, head)


_DOUBLED = (250, 500, 1_000, 2_000, 4_000)
_DEPTHS = (6, 12, 24, 48)
SHAPES = (
    Shape("realistic", realistic, tuple(1_000 * 2**n for n in range(7)), lambda n: (n - 12) // PART.count("\n")),
    Shape("chain", chain, (625, 1_250, 2_500, 5_000), one),
    Shape("chain upwards", chain_upwards, (625, 1_250, 2_500, 5_000), one),
    Shape("result chain", result_chain, (625, 1_250, 2_500, 5_000), one),
    Shape("method chain", method_chain, (625, 1_250, 2_500, 5_000), one),
    Shape("attributes", attributes, (500, 1_000, 2_000, 4_000), one),
    Shape("many callers", many_callers, (625, 1_250, 2_500, 5_000), one),
    Shape("many calls", many_calls, (625, 1_250, 2_500, 5_000), one),
    Shape("many kinds of call", many_kinds, (625, 1_250, 2_500, 5_000), one),
    Shape("if and elif", arms, _DOUBLED, one),
    Shape("early returns", returns, _DOUBLED, one),
    Shape("ifs in a row", tests, _DOUBLED, one),
    Shape("loops in a row", loops, _DOUBLED, one),
    Shape("tries in a row", attempts, _DOUBLED, one),
    Shape("ifs of a script", module_level, _DOUBLED, one),
    Shape("dict", dictionary, (4_000, 8_000, 16_000, 32_000), one),
    Shape("numbers", numbers, (32_000, 64_000, 128_000, 256_000), one),
    Shape("nested if", _deep("if flags[{n}]:"), _DEPTHS, one),
    Shape("nested for", _deep("for i{n} in flags:"), _DEPTHS, one),
    Shape("nested while", _deep("while flags[{n}]:"), _DEPTHS, one),
    Shape("nested with", _deep("with flags[{n}]:"), _DEPTHS, one),
    Shape("nested calls", nested_calls, (20, 40, 80), one),
    Shape("nested functions", nested_functions, (10, 20, 40), one),
    Shape("sum", total, (250, 500, 1_000, 2_000), one),
    Shape("modules in a chain", modules_in_a_chain, (50, 100, 200, 400), one),
    Shape("modules with one bridge", modules_with_one_bridge, (50, 100, 200, 400), one),
)
