"""Where a repair puts the import that it needs, which it takes out, and which names it must not touch."""

from __future__ import annotations

from collections.abc import Callable

import pytest

MOVE = "Move to one device (copies from 8 devices)"
COPY = "Copy to host memory"
ITSELF = "Hand over the array itself"

Repaired = Callable[..., list[str]]

MAKE = 'x = device_put(jnp.arange(16.0), NamedSharding(make_mesh((8,), ("d",)), P("d")))\n'
FROM_JAX = (
    "from jax import device_put, make_mesh, numpy as jnp\nfrom jax.sharding import NamedSharding, PartitionSpec as P\n"
)
PUT = "torch.from_dlpack(device_put(x, jax.local_devices()[0]))\n"
TAIL = MAKE + "t = torch.from_dlpack(x)\n"
MOVED = MAKE + "t = " + PUT
COPIED = MAKE + "t = torch.from_dlpack(np.array(x))\n"
TORCH = "import torch\n" + FROM_JAX


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TORCH + TAIL, TORCH + "import jax\n" + MOVED),
        (TORCH + "\n\n" + TAIL, TORCH + "import jax\n\n\n" + MOVED),
        (TORCH + "# on it\n" + TAIL, TORCH + "import jax\n# on it\n" + MOVED),
        ('"""What it is."""\n\n' + TORCH + TAIL, '"""What it is."""\n\n' + TORCH + "import jax\n" + MOVED),
        ('"""What it is."""; A = 1\n' + TORCH + TAIL, '"""What it is."""; import jax; A = 1\n' + TORCH + MOVED),
        (
            "from __future__ import annotations; A = 1\n" + TORCH + TAIL,
            "from __future__ import annotations; import jax; A = 1\n" + TORCH + MOVED,
        ),
        (
            '"""What."""\nfrom __future__ import annotations\nA = 1\n' + TORCH + TAIL,
            '"""What."""\nfrom __future__ import annotations\nimport jax\nA = 1\n' + TORCH + MOVED,
        ),
        ("import torch; A = 1\n" + FROM_JAX + TAIL, "import torch; import jax; A = 1\n" + FROM_JAX + MOVED),
        ("A = 1\n" + TORCH + TAIL, "import jax\nA = 1\n" + TORCH + MOVED),
        (
            "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nA = 1\n" + TORCH + TAIL,
            "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nimport jax\nA = 1\n" + TORCH + MOVED,
        ),
        (
            "\n# -*- coding: utf-8 -*-\nA = 1\n" + TORCH + TAIL,
            "\n# -*- coding: utf-8 -*-\nimport jax\nA = 1\n" + TORCH + MOVED,
        ),
        (
            "# (c) somebody\n\n# the first of all\nA = 1\n" + TORCH + TAIL,
            "# (c) somebody\n\nimport jax\n# the first of all\nA = 1\n" + TORCH + MOVED,
        ),
        (
            '"""What."""\n@id\ndef f(): pass\n' + TORCH + TAIL,
            '"""What."""\n\nimport jax\n@id\ndef f(): pass\n' + TORCH + MOVED,
        ),
        ("@id\ndef f(): pass\n" + TORCH + TAIL, "import jax\n@id\ndef f(): pass\n" + TORCH + MOVED),
        (
            "try:\n    import yaml\nexcept ImportError:\n    yaml = None\n" + TORCH + TAIL,
            "import jax\ntry:\n    import yaml\nexcept ImportError:\n    yaml = None\n" + TORCH + MOVED,
        ),
        (
            "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import jax\n" + TORCH + TAIL,
            "from typing import TYPE_CHECKING\nimport jax\n\nif TYPE_CHECKING:\n    import jax\n" + TORCH + MOVED,
        ),
        (TORCH + TAIL + "import jax\n", TORCH + "import jax\n" + MOVED + "import jax\n"),
        (
            TORCH + "if P: import jax\n" + TAIL,
            TORCH + "import jax\nif P: import jax\n" + MOVED,
        ),
        ("\ufeff" + TORCH + TAIL, "\ufeff" + TORCH + "import jax\n" + MOVED),
        (
            "import torch\nfrom jax import (\n    device_put,  # one\n    make_mesh,\n    numpy as jnp,\n)  # two\n"
            "from jax.sharding import NamedSharding, \\\n    PartitionSpec as P\n" + TAIL,
            "import torch\nfrom jax import (\n    device_put,  # one\n    make_mesh,\n    numpy as jnp,\n)  # two\n"
            "from jax.sharding import NamedSharding, \\\n    PartitionSpec as P\nimport jax\n" + MOVED,
        ),
    ],
)
def test_a_module_import_comes_where_it_belongs(repaired: Repaired, before: str, after: str) -> None:
    """Behind the leading imports, docstring, `__future__`, shebang and encoding; never under a condition."""
    assert repaired(before, MOVE) == [after]
    crlf = [text.replace("\n", "\r\n") for text in (before, after)]
    assert repaired(crlf[0], MOVE) == [crlf[1]]


def test_a_file_of_one_line_gets_its_import(repaired: Repaired) -> None:
    """Nothing comes behind the last character of a file without a line end."""
    line = (TORCH + TAIL).strip().replace("\n", "; ")
    [text] = repaired(line, MOVE)
    assert text == line.replace("; x = ", "; import jax; x = ").replace(
        "(x)", "(device_put(x, jax.local_devices()[0]))"
    )


LOCAL = "def f():\n    " + (TORCH + MAKE).replace("\n", "\n    ") + "return torch.from_dlpack(x)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (LOCAL, LOCAL.replace("import torch", "import jax\n    import torch").replace("(x)", PUT[17:-1])),
        (
            'def f():\n    """What."""\n    import torch; '
            + FROM_JAX.replace("\n", "; ")
            + MAKE.strip()
            + "\n    return torch.from_dlpack(x)\n",
            'def f():\n    """What."""\n    import jax\n    import torch; '
            + FROM_JAX.replace("\n", "; ")
            + MAKE.strip()
            + "\n    return "
            + PUT,
        ),
        (
            FROM_JAX + MAKE + "def f(): import torch; return torch.from_dlpack(x)\n",
            FROM_JAX + MAKE + "def f(): import jax; import torch; return " + PUT,
        ),
    ],
)
def test_an_import_goes_into_the_function_that_imports(repaired: Repaired, before: str, after: str) -> None:
    """Where the consumer is imported in the function, so is what the repair needs."""
    assert repaired(before, MOVE) == [after]


def test_an_import_behind_the_hand_off_is_no_place_for_another(repaired: Repaired) -> None:
    """What a function imports later is not there yet."""
    code = "def f():\n    if P:\n        from torch import from_dlpack as take\n    t = take(x)\n    import os\n"
    [text] = repaired(FROM_JAX + MAKE + code, MOVE)
    assert text == FROM_JAX + "import jax\n" + MAKE + code.replace("(x)", PUT[17:-1])


@pytest.mark.parametrize(
    ("before", "device"),
    [
        (TORCH + "import jax as j\n" + TAIL, "j.local_devices()[0]"),
        (TORCH + "from jax import local_devices as here\n" + TAIL, "here()[0]"),
        (TORCH + "import jax.numpy\n" + TAIL, "jax.local_devices()[0]"),
        ("try:\n    import jax\nexcept ImportError:\n    jax = None\n" + TORCH + TAIL, "jax.local_devices()[0]"),
        (TORCH + "with open('a'):\n    import jax as j\n" + TAIL, "j.local_devices()[0]"),
        (
            TORCH + MAKE + "def f():\n    return torch.from_dlpack(x)\n\n\nimport jax as late\n",
            "late.local_devices()[0]",
        ),
        (TORCH + MAKE + "if P:\n    import jax as j\n    t = torch.from_dlpack(x)\n", "j.local_devices()[0]"),
    ],
)
def test_the_files_own_names_are_used(repaired: Repaired, before: str, device: str) -> None:
    """An alias that surely is in force at the hand-off is taken, whatever it is called, and no import is added."""
    assert repaired(before, MOVE) == [
        before.replace("torch.from_dlpack(x)", f"torch.from_dlpack(device_put(x, {device}))")
    ]


@pytest.mark.parametrize(
    "code",
    [
        "import jax as j\nj = None\n" + TAIL,
        "if P: import jax as j\n" + TAIL,
        "try:\n    P()\nexcept TypeError:\n    import jax as j\n" + TAIL,
        MAKE + "def f(t=torch.from_dlpack(x)):\n    import jax as j\n",
        "import jax as j\n" + MAKE + "def f(j):\n    return torch.from_dlpack(x)\n",
        "import jax as j\n" + MAKE + "def f():\n    t = torch.from_dlpack(x)\n    j = 1\n",
        "import jax as j\n" + MAKE + "def f():\n    t = torch.from_dlpack(x)\n    for j in t: pass\n",
        "import jax as j\n" + MAKE + "f = lambda j: torch.from_dlpack(x)\n",
        "import jax as j\n" + MAKE + "f = [torch.from_dlpack(x) for j in [1]]\n",
        "import jax as j\n" + MAKE + "class A:\n    j = 1\n    t = torch.from_dlpack(x)\n",
        "import jax as j\n" + MAKE + "def g():\n    global j\n    j = 1\n\n\nt = torch.from_dlpack(x)\n",
        "import jax as j\n" + MAKE + "t = torch.from_dlpack(x)\ndel j\n",
        MAKE + "def f():\n    t = torch.from_dlpack(x)\n    import jax as j\n",
        MAKE + "class A:\n    import jax as j\n    def f(self):\n        return torch.from_dlpack(x)\n",
        "from .compat import jax as j\n" + TAIL,
        "import jax as j\nfrom .compat import j\n" + TAIL,
        TAIL + "import jax as j\n",
    ],
)
def test_a_name_that_may_mean_something_else_is_not_used(repaired: Repaired, code: str) -> None:
    """Hidden, rebound, conditional or late names: the repair brings its own import."""
    [text] = repaired(TORCH + code, MOVE)
    assert "import jax\n" in text
    assert "torch.from_dlpack(device_put(x, jax.local_devices()[0]))" in text


@pytest.mark.parametrize(
    ("title", "code", "added", "call"),
    [
        (MOVE, MAKE + "def f(jax):\n    return torch.from_dlpack(x)\n", "import jax as jax_2\n", "jax_2.local"),
        (MOVE, "jax = 1\n" + TAIL, "import jax as jax_2\n", "jax_2.local"),
        (MOVE, "print(jax)\n" + TAIL, "import jax as jax_2\n", "jax_2.local"),
        (MOVE, "jax_2 = jax = 1\n" + TAIL, "import jax as jax_3\n", "jax_3.local"),
        (MOVE, "def f():\n    global jax\n" + TAIL, "import jax as jax_2\n", "jax_2.local"),
        (MOVE, "def f(jax):\n    return jax\n" + TAIL, "import jax\n", "jax.local"),
        (COPY, "np = 1\n" + TAIL, "import numpy\n", "numpy.array"),
        (COPY, "np = numpy = 1\n" + TAIL, "import numpy as np_2\n", "np_2.array"),
        (COPY, "y = jnp + (np\n" + TAIL, "import numpy\n", "numpy.array"),
        (COPY, TAIL, "import numpy as np\n", "np.array"),
    ],
)
def test_a_new_import_takes_no_name(repaired: Repaired, title: str, code: str, added: str, call: str) -> None:
    """A name that the file uses for something else, or that nobody knows, is left to it."""
    [text] = repaired(TORCH + code, title)
    assert TORCH + added in text
    assert call in text


BRIDGE = "def to_torch(x):\n    return torch_dlpack.from_dlpack(jd.to_dlpack(x))\n"
AFTER = "def to_torch(x):\n    return torch_dlpack.from_dlpack(x)\n"
OTHER = "from torch.utils import dlpack as torch_dlpack\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from jax import dlpack as jd\n", ""),
        ("from jax import dlpack as jd  # old\n", ""),
        ("import jax.dlpack as jd\n", ""),
        ("import numpy as np, jax.dlpack as jd\n", "import numpy as np\n"),
        ("import jax.dlpack as jd, numpy as np\n", "import numpy as np\n"),
        ("from jax import (dlpack as jd, numpy as jnp)\n", "from jax import (numpy as jnp)\n"),
        (
            "from jax import (\n    numpy as jnp,  # kept\n    dlpack as jd,  # old\n)\n",
            "from jax import (\n    numpy as jnp,  # kept\n)\n",
        ),
        (
            "from jax import (\n    dlpack as jd,  # old\n    numpy as jnp,  # kept\n)\n",
            "from jax import (\n    numpy as jnp,  # kept\n)\n",
        ),
        ("from jax import numpy as jnp, \\\n    dlpack as jd\n", "from jax import numpy as jnp\n"),
        ("import numpy as np; from jax import dlpack as jd\n", "import numpy as np\n"),
        ("from jax import dlpack as jd; import numpy as np\n", "import numpy as np\n"),
        ("import jax; from jax import dlpack as jd; import numpy as np\n", "import jax; import numpy as np\n"),
        ("from jax import dlpack as jd;\n", ""),
        ("if OLD:\n    from jax import dlpack as jd\n", "if OLD:\n    pass\n"),
        ("if OLD: from jax import dlpack as jd\n", "if OLD: pass\n"),
        ("if OLD:\n    import a\n    from jax import dlpack as jd\n", "if OLD:\n    import a\n"),
    ],
)
def test_an_import_that_nothing_needs_any_more_goes(repaired: Repaired, before: str, after: str) -> None:
    """With the comment on it; other names, statements and comments stay."""
    assert repaired(OTHER + before + BRIDGE, ITSELF) == [OTHER + after + AFTER]


@pytest.mark.parametrize(
    "code",
    [
        "from jax import dlpack as jd\n__all__ = ['jd']\n",
        "from jax import dlpack as jd\nold = jd\n",
        "from jax import dlpack as jd\ndef f():\n    return lambda: jd\n",
        "from jax import dlpack as jd\ndef f(a: 'jd.Any'): pass\n",
        "from jax import dlpack as jd\ndef f():\n    '''\n    >>> jd.f()\n    '''\n",
        "from jax import dlpack as jd\ndef f():\n    global jd\n",
        "from jax import dlpack as jd\na = globals()['jd']\n",
        "from jax import dlpack as jd\na = 1  # type: jd.Any\n",
        "from jax import dlpack as jd\na = jd.b +\n",
        "from jax import dlpack as jd  # noqa: F401\n",
        "from jax import dlpack as jd  # pyright: ignore\n",
        "try:\n    from jax import dlpack as jd\nexcept ValueError:\n    jd = None\n",
    ],
)
def test_an_import_that_may_be_needed_stays(repaired: Repaired, code: str) -> None:
    """Exported, mentioned in text that may be code, in code that does not parse, or kept for a linter's sake."""
    assert repaired(OTHER + code + BRIDGE, ITSELF) == [OTHER + code + AFTER]


def test_a_name_imported_as_itself_stays(repaired: Repaired) -> None:
    """That is how a module exports a name."""
    head = "from jax import dlpack as dlpack\nimport torch\n"
    bridge = "def f(x):\n    return torch.from_dlpack({})\n"
    assert repaired(head + bridge.format("dlpack.to_dlpack(x)"), ITSELF) == [head + bridge.format("x")]


def test_the_imports_of_a_package_stay(repaired: Repaired) -> None:
    """Others may import a name from `__init__.py`."""
    code = OTHER + "from jax import dlpack as jd\n"
    assert repaired(code + BRIDGE, ITSELF, path="pkg/__init__.py") == [code + AFTER]


REMOVE = "Remove the import of to_dlpack, which nothing uses"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from jax.dlpack import to_dlpack\nx = 1\n", "x = 1\n"),
        ("from jax.dlpack import from_dlpack, to_dlpack\nx = 1\n", "from jax.dlpack import from_dlpack\nx = 1\n"),
        ("def f():\n    from jax.dlpack import to_dlpack\n", "def f():\n    pass\n"),
        ("try:\n    from jax.dlpack import to_dlpack\nfinally:\n    x = 1\n", "try:\n    pass\nfinally:\n    x = 1\n"),
    ],
)
def test_an_unused_import_of_a_removed_name_goes(repaired: Repaired, before: str, after: str) -> None:
    """It fails by itself, so it is a finding of its own."""
    assert repaired(before, REMOVE) == [after]


@pytest.mark.parametrize(
    "code",
    [
        "from jax.dlpack import to_dlpack\n__all__ = ['to_dlpack']\n",
        "from jax.dlpack import to_dlpack as to_dlpack\n",
        "from jax.dlpack import to_dlpack\nx = map(to_dlpack, [])\n",
    ],
)
def test_a_removed_name_that_is_used_or_exported_stays(repaired: Repaired, code: str) -> None:
    """What others do with it cannot be repaired here."""
    assert repaired(code, REMOVE) == []
