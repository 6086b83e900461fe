"""What a name of another package means: names are followed to what their modules import, and never guessed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Ask = Callable[..., str | None]

FOLLOWED = {
    "an import of what is gone": (
        "lib.compat.to_dlpack",
        {"lib/__init__.py": "", "lib/compat.py": "from jax.dlpack import to_dlpack"},
        "jax.dlpack.to_dlpack",
    ),
    "an import under another name": (
        "lib.compat.export",
        {
            "lib/__init__.py": "",
            "lib/compat.py": "from jax.dlpack import (\n    from_dlpack,\n    to_dlpack as export,\n)",
        },
        "jax.dlpack.to_dlpack",
    ),
    "an import in the package itself": (
        "lib.to_dlpack",
        {"lib/__init__.py": "from jax.dlpack import to_dlpack"},
        "jax.dlpack.to_dlpack",
    ),
    "a chain of modules": (
        "lib.to_dlpack",
        {
            "lib/__init__.py": "from lib.outer import export as to_dlpack",
            "lib/outer.py": "from other.inner import to_dlpack as export",
            "other/__init__.py": "",
            "other/inner.py": "from jax.dlpack import to_dlpack",
        },
        "jax.dlpack.to_dlpack",
    ),
    "relative imports": (
        "lib.sub.to_dlpack",
        {
            "lib/__init__.py": "",
            "lib/sub/__init__.py": "from .near import to_dlpack",
            "lib/sub/near.py": "from ..far import to_dlpack",
            "lib/far.py": "from jax.dlpack import to_dlpack",
        },
        "jax.dlpack.to_dlpack",
    ),
    "a module under another name": (
        "lib.compat.jdl",
        {"lib/__init__.py": "", "lib/compat.py": "import jax.dlpack as jdl"},
        "jax.dlpack",
    ),
    "what is gone from a module under another name": (
        "lib.compat.jdl.to_dlpack",
        {"lib/__init__.py": "", "lib/compat.py": "import jax.dlpack as jdl"},
        "jax.dlpack.to_dlpack",
    ),
    "a plain import of the package": (
        "lib.jax.dlpack.to_dlpack",
        {"lib.py": "import jax.dlpack"},
        "jax.dlpack.to_dlpack",
    ),
    "an own module imported by its package": (
        "lib.compat.to_dlpack",
        {"lib/__init__.py": "from . import compat", "lib/compat.py": "from jax.dlpack import to_dlpack"},
        "jax.dlpack.to_dlpack",
    ),
    "an own module under another name": (
        "lib.compat.to_dlpack",
        {"lib/__init__.py": "from lib import _compat as compat", "lib/_compat.py": "from jax.dlpack import to_dlpack"},
        "jax.dlpack.to_dlpack",
    ),
    "a module assigned": ("lib.jdl", {"lib.py": "import jax\njdl = jax.dlpack"}, "jax.dlpack"),
    "a module of JAX that JAX has from elsewhere": (
        "lib.where",
        {"lib.py": "import jax.sharding as where", "jax/__init__.py": "from jax._src import sharding as sharding"},
        "jax.sharding",
    ),
    "a function of JAX that JAX has from elsewhere": (
        "lib.asarray",
        {"lib.py": "from jax.numpy import anything as asarray", "jax/numpy.py": "from jax._src import anything"},
        "jax.numpy.anything",
    ),
    "a function assigned": (
        "lib.to_dlpack",
        {"lib.py": "import jax.dlpack as jdl\nto_dlpack = export = jdl.to_dlpack"},
        "jax.dlpack.to_dlpack",
    ),
    "a type assigned": (
        "lib.types.Array",
        {"lib/__init__.py": "", "lib/types.py": "import jax\nArray = jax.Array"},
        "jax.Array",
    ),
    "a type assigned with an annotation": (
        "lib.Array",
        {"lib.py": "import jax\nfrom typing import TypeAlias\nArray: TypeAlias = jax.Array"},
        "jax.Array",
    ),
    "a type of which the import is for type checkers": (
        "lib.Array",
        {"lib.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from jax import Array"},
        "jax.Array",
    ),
    "a name that stays bound or ends the import": (
        "lib.to_dlpack",
        {
            "lib.py": "try:\n    from jax.dlpack import to_dlpack\nexcept ImportError as e:\n    raise ImportError('no JAX') from e"
        },
        "jax.dlpack.to_dlpack",
    ),
    "the same import twice": (
        "lib.to_dlpack",
        {"lib.py": "from jax.dlpack import to_dlpack\nfrom jax.dlpack import to_dlpack"},
        "jax.dlpack.to_dlpack",
    ),
    "an import in a with block": (
        "lib.to_dlpack",
        {"lib.py": "import warnings\nwith warnings.catch_warnings():\n    from jax.dlpack import to_dlpack"},
        "jax.dlpack.to_dlpack",
    ),
    "a star import of a module that imports it": (
        "lib.to_dlpack",
        {"lib/__init__.py": "from .compat import *", "lib/compat.py": "from jax.dlpack import to_dlpack"},
        "jax.dlpack.to_dlpack",
    ),
    "star imports in a chain": (
        "lib.from_dlpack",
        {
            "lib/__init__.py": "from .a import *\nfrom .c import *",
            "lib/a.py": "from .b import *",
            "lib/b.py": "from jax.dlpack import *",
            "lib/c.py": "",
        },
        "jax.dlpack.from_dlpack",
    ),
    "a namespace package": (
        "space.lib.to_dlpack",
        {"space/lib.py": "from jax.dlpack import to_dlpack"},
        "jax.dlpack.to_dlpack",
    ),
    "a function that another module defines": (
        "lib.asarray",
        {"lib/__init__.py": "from .impl import asarray", "lib/impl.py": "def asarray(x): ..."},
        "lib.impl.asarray",
    ),
    "an import from what is not installed": (
        "lib.asarray",
        {"lib.py": "from absent.arrays import asarray"},
        "absent.arrays.asarray",
    ),
    "a stub of a module that says nothing itself": (
        "lib.to_dlpack",
        {"lib.py": "def __getattr__(name): ...", "lib.pyi": "from jax.dlpack import to_dlpack as to_dlpack"},
        "jax.dlpack.to_dlpack",
    ),
    "a file with a statement that cannot be read": (
        "lib.to_dlpack",
        {"lib.py": "from jax.dlpack import to_dlpack\n\ndef other(:\n    pass\n\nx = 1\n"},
        "jax.dlpack.to_dlpack",
    ),
}

OBJECTS = {
    "an array": ("lib.x", "import jax.numpy as jnp\nx = jnp.asarray(1)", "jax.numpy.asarray()"),
    "an instance of a class": ("lib.Array()", "import jax\nArray = jax.Array", "jax.Array()"),
    "an instance of a subclass": (
        "lib.M()",
        "from jax.sharding import Mesh\nclass M(Mesh): ...",
        "jax.sharding.Mesh()",
    ),
    "an annotated result": ("lib.f()", "import jax\ndef f() -> jax.Array: ...", "jax.Array()"),
    "a quoted annotation": ("lib.f()", "import jax\ndef f() -> 'jax.Array': ...", "jax.Array()"),
    "a result without an annotation": (
        "lib.f()",
        "import jax\ndef f(a):\n    if a:\n        raise ValueError\n    m = jax.make_mesh((8,), 'd')\n    return m",
        "jax.make_mesh()",
    ),
    "a result of a local import": ("lib.f()", "def f():\n    import jax\n    return jax.devices()", "jax.devices()"),
    "the result of an awaited function": ("lib.f()", "import jax\nasync def f() -> jax.Array: ...", "jax.Array()"),
    "the same in both branches": (
        "lib.f()",
        "import jax\ndef f(a):\n    if a:\n        return jax.devices()\n    else:\n        return jax.devices()",
        "jax.devices()",
    ),
    "an item of a tuple": ("lib.f()[1]", "import jax\ndef f():\n    return 1, jax.devices()", "jax.devices()"),
    "an item of an annotated tuple": ("lib.f()[1]", "import jax\ndef f() -> tuple[int, jax.Array]: ...", "jax.Array()"),
    "an item of an annotated list": ("lib.f()[0]", "import jax\ndef f() -> list[jax.Array]: ...", "jax.Array()"),
    "an item of a global": ("lib.b", "import jax\na, b = 1, jax.devices()", "jax.devices()"),
    "jaxtyping": (
        "lib.f()",
        "from jaxtyping import Array, Float\ndef f() -> Float[Array, 'n']: ...",
        "jaxtyping.Array()",
    ),
    "a name for a type of jaxtyping": (
        "lib.F()",
        "from jaxtyping import Array, Float\nF = Float[Array, 'n']",
        "jaxtyping.Array()",
    ),
    "an annotated global": ("lib.M", "from jax.sharding import Mesh\nM: Mesh = unknown()", "jax.sharding.Mesh()"),
    "a field": ("lib.C().m", "from jax.sharding import Mesh\nclass C:\n    m: Mesh", "jax.sharding.Mesh()"),
    "what a constructor assigns": (
        "lib.C().m",
        "from jax.sharding import Mesh\nclass C:\n    def __init__(self, m: Mesh):\n        self.m = m",
        "jax.sharding.Mesh()",
    ),
    "a property": (
        "lib.C().m",
        "from jax.sharding import Mesh\nclass C:\n    @property\n    def m(self) -> Mesh: ...\n    @m.setter\n    def m(self, m): ...",
        "jax.sharding.Mesh()",
    ),
    "a method of a base in another module": (
        "lib.C().f()",
        "from base import B\nclass C(B): ...",
        "jax.Array()",
    ),
    "a method of the second base": (
        "lib.C().f()",
        "from base import B\nfrom other import D\nclass C(D, B): ...",
        "jax.Array()",
    ),
    "a method of a base of the second base": (
        "lib.C().f()",
        "from base import B\nfrom other import D\nclass A(B): ...\nclass C(D, A): ...",
        "jax.Array()",
    ),
    "a method that gives its object": (
        "lib.C().me().m",
        "import jax\nclass C:\n    m: jax.Array\n    def me(self):\n        return self",
        "jax.Array()",
    ),
    "a class method": (
        "lib.C.make().m",
        "import jax\nclass C:\n    m: jax.Array\n    @classmethod\n    def make(cls):\n        return cls()",
        "jax.Array()",
    ),
    "an instance that is a global": ("lib.C.m", "import jax\nclass K:\n    m: jax.Array\nC = K()", "jax.Array()"),
    "a context manager": (
        "lib.f().__enter__()",
        "import contextlib, jax\n@contextlib.contextmanager\ndef f():\n    yield jax.devices()",
        "jax.devices()",
    ),
    "a sharding whose type says more than its annotation": (
        "lib.f()",
        "from jax.sharding import *\nimport jax\ndef f() -> jax.sharding.Sharding:\n    return jax.sharding.NamedSharding(m, p)",
        "jax.sharding.NamedSharding()",
    ),
    "a stub beside a compiled module": ("native.f()", "", "jax.Array()"),
}

UNTOLD = {
    "a result that may be none": ("lib.f()", "import jax\ndef f(a):\n    if a:\n        return jax.devices()"),
    "a union": ("lib.f()", "import jax\ndef f() -> jax.Array | None: ..."),
    "two results": ("lib.f()", "import jax\ndef f(a):\n    if a:\n        return jax.devices()\n    return 1"),
    "a parameter": ("lib.f()", "def f(a):\n    return a"),
    "a parameter that is bound again": ("lib.f()", "import jax\ndef f(a: jax.Array):\n    a = a.x\n    return a"),
    "a generator": ("lib.f()", "import jax\ndef f():\n    yield jax.devices()"),
    "a decorator that nobody knows": ("lib.f()", "import jax, other\n@other.wrap\ndef f() -> jax.Array: ..."),
    "a function that is not called": ("lib.f.x", "import jax\ndef f() -> jax.Array: ..."),
    "a method that is not called": ("lib.C().f", "import jax\nclass C:\n    def f(self) -> jax.Array: ..."),
    "an attribute that is assigned otherwise": (
        "lib.C().m",
        "import jax\nclass C:\n    def a(self):\n        self.m = jax.devices()\n    def b(self):\n        self.m = None",
    ),
    "two bases of which the first is not there": (
        "lib.C().f()",
        "from base import B\nfrom absent import D\nclass C(D, B): ...",
    ),
    "an instance of two bases": ("lib.C()", "import jax\nfrom other import D\nclass C(D, jax.Array): ..."),
    "two functions of one name": ("lib.f()", "import jax\ndef f() -> jax.Array: ...\ndef f() -> jax.Array: ..."),
    "a function that is made of itself": ("lib.f()", "def f():\n    return f()"),
    "a function that is made of more of itself": ("lib.f()", "def f():\n    return f().x"),
    "a way that grows too long": (
        "lib.x",
        "import base\nfrom base import one as f\ny = f()[1].a.b.c.d.e.f.g.h\nx = y.a.b.c.d.e.f",
    ),
    "an item that is none": ("lib.x", "import jax\nx = jax.devices()[True]"),
    "functions made of each other": ("lib.f()", "def f():\n    return g()\ndef g():\n    return f()"),
    "a global made of itself": ("lib.a", "import jax\na = jax.sharding.NamedSharding(a.mesh, a)\na = b = a"),
    "one device": ("lib.M", "import jax\nM = jax.sharding.Mesh(jax.devices()[:1], 'd')"),
    "one device by a name": ("lib.M", "import jax\nd = jax.devices()[0]\nM = jax.sharding.Mesh([d], 'd')"),
    "one device by a shape": ("lib.M", "import jax\nM = jax.make_mesh((1,), 'd')"),
    "one device in a function with an annotation": (
        "lib.f()",
        "import jax\ndef f() -> jax.sharding.Mesh:\n    return jax.make_mesh((1, 1), 'dm')",
    ),
    "one device in another module": (
        "lib.S",
        "import jax, base\nS = jax.sharding.NamedSharding(base.one(), jax.P())",
    ),
    "anything": ("lib.f()", "from typing import Any\ndef f() -> Any: ..."),
    "a type variable": ("lib.f()", "from typing import TypeVar\nT = TypeVar('T')\ndef f(x: T) -> T: ..."),
    "a class of Python's own": ("lib.f()", "def f() -> list[int]: ..."),
}

SILENT = {
    "a function of its own": ("lib.to_dlpack", "def to_dlpack(x): ..."),
    "a class of its own": ("lib.Array", "class Array: ..."),
    "a name that is not there": ("lib.to_dlpack", "import jax"),
    "a package that is not there": ("absent.to_dlpack", ""),
    "a fallback for a failed import": (
        "lib.to_dlpack",
        "try:\n    from jax.dlpack import to_dlpack\nexcept ImportError:\n    to_dlpack = None",
    ),
    "another import for a failed one": (
        "lib.to_dlpack",
        "try:\n    from jax.dlpack import to_dlpack\nexcept ImportError:\n    from torch.utils.dlpack import to_dlpack",
    ),
    "perhaps nothing": ("lib.to_dlpack", "try:\n    from jax.dlpack import to_dlpack\nexcept ImportError:\n    pass"),
    "a choice by version": (
        "lib.to_dlpack",
        "import jax\nif jax.__version_info__ < (0, 7):\n    from jax.dlpack import to_dlpack\nelse:\n    def to_dlpack(x): ...",
    ),
    "a binding under a condition": ("lib.to_dlpack", "import os\nif os.name:\n    from jax.dlpack import to_dlpack"),
    "a later definition": ("lib.to_dlpack", "from jax.dlpack import to_dlpack\ndef to_dlpack(x): ..."),
    "a later assignment": ("lib.to_dlpack", "from jax.dlpack import to_dlpack\nto_dlpack, other = 1, 2"),
    "a name taken away": ("lib.to_dlpack", "from jax.dlpack import to_dlpack\ndel to_dlpack"),
    "a function that sets it": (
        "lib.to_dlpack",
        "from jax.dlpack import to_dlpack\ndef setup():\n    global to_dlpack\n    to_dlpack = None",
    ),
    "a loop": ("lib.to_dlpack", "from jax.dlpack import to_dlpack\nfor to_dlpack in []:\n    pass"),
    "a match": ("lib.to_dlpack", "from jax.dlpack import to_dlpack\nmatch [1]:\n    case [to_dlpack]:\n        pass"),
    "a with block": ("lib.to_dlpack", "from jax.dlpack import to_dlpack\nwith open('x') as to_dlpack:\n    pass"),
    "the value of a call": ("lib.to_dlpack", "import jax\nto_dlpack = wrapped(jax.dlpack.to_dlpack)"),
    "a choice of values": ("lib.to_dlpack", "import jax\nto_dlpack = jax.dlpack.to_dlpack if jax else None"),
    "a choice of arrays": ("lib.asarray", "import jax.numpy as jnp\nasarray = jnp.asarray(1) if jnp else None"),
    "a union of types": ("lib.Array", "import jax\nfrom typing import Union\nArray = Union[jax.Array, int]"),
    "an attribute of a class": (
        "lib.K.to_dlpack",
        "from jax.dlpack import to_dlpack\nclass K:\n    def to_dlpack(self): ...",
    ),
    "a name made of itself": ("lib.asarray", "asarray = asarray.asarray"),
    "a name made of ever more of itself": ("lib.asarray", "import lib\nasarray = lib.asarray.asarray"),
    "names made of each other": ("lib.asarray", "asarray = b.c\nb = asarray.d"),
    "an import above the top": ("lib.to_dlpack", "from ...jax.dlpack import to_dlpack"),
    "a star import of what is not there": ("lib.to_dlpack", "from absent import *"),
    "a star import beside one of what is not there": (
        "lib.from_dlpack",
        "from absent import *\nfrom jax.dlpack import *",
    ),
    "a star import of what has it in two ways": ("lib.asarray", "from both import *\nfrom third import *"),
    "a star import of what does not have it": ("lib.to_dlpack", "from jax.dlpack import *"),
    "a star import under a condition": (
        "lib.from_dlpack",
        "try:\n    from jax.dlpack import *\nexcept ImportError:\n    pass",
    ),
    "two star imports that bring it": ("lib.asarray", "from jax.numpy import *\nfrom other import *"),
    "a statement that cannot be read and names it": (
        "lib.to_dlpack",
        "from jax.dlpack import to_dlpack\n\nif broken(:\n    to_dlpack = None\n",
    ),
    "a file that is not text": ("lib.to_dlpack", "# -*- coding: nonsense -*-\nfrom jax.dlpack import to_dlpack"),
    "a file that names no known word": ("lib.asarray", "\N{GREEK SMALL LETTER ALPHA} = 1"),
}


@pytest.mark.parametrize("case", FOLLOWED.values(), ids=FOLLOWED.keys())
def test_names_are_followed(case: tuple[str, dict[str, str], str], ask: Ask) -> None:
    """A name that a module has from elsewhere means what the module's statement says, installed or not."""
    name, files, meaning = case
    assert ask(name, files) == meaning


@pytest.mark.parametrize("case", SILENT.values(), ids=SILENT.keys())
def test_nothing_is_guessed(case: tuple[str, str], ask: Ask) -> None:
    """A name that has no other, or may be bound in more than one way, is left without an answer."""
    name, source = case
    both = "from jax.numpy import *\nfrom other import *"
    others = {"other.py": "def asarray(x): ...", "both.py": both, "third.py": "def asarray(x): ..."}
    assert ask(name, {"lib.py": source, **others}) is None


BESIDE = {
    "base.py": "import jax\nclass B:\n    def f(self) -> jax.Array: ...\ndef one():\n    return jax.make_mesh((1,), 'd')\n",
    "other.py": "class D: ...\n",
    "native.pyi": "import jax\ndef f() -> jax.Array: ...\n",
}


@pytest.mark.parametrize("case", OBJECTS.values(), ids=OBJECTS.keys())
def test_objects_are_followed(case: tuple[str, str, str], ask: Ask) -> None:
    """What a function gives and what an object holds is told by annotations, or by all that is returned and assigned."""
    path, source, meaning = case
    assert ask(path, {"lib.py": source, **BESIDE}) == meaning


@pytest.mark.parametrize("case", UNTOLD.values(), ids=UNTOLD.keys())
def test_no_object_is_guessed(case: tuple[str, str], ask: Ask) -> None:
    """What may be several things, may be on one device, or is not known is left without an answer that says what it is."""
    path, source = case
    answer = ask(path, {"lib.py": source, **BESIDE})
    assert answer is None or not answer.startswith(("jax.", "builtins.", "typing.", "base.one"))


def test_modules_that_import_each_other(ask: Ask) -> None:
    """Names that go round in a circle come to an end."""
    files = {"lib/__init__.py": "", "lib/a.py": "from .b import asarray", "lib/b.py": "from .a import asarray"}
    assert ask("lib.a.asarray", files) == "lib.b.asarray"


def test_the_first_folder_counts(write, inference, tmp_path) -> None:
    """Of two modules of one name the one in the first folder is meant, as Python would take it."""
    site = write({"lib.py": "from jax.dlpack import to_dlpack"})
    first = tmp_path / "first"
    first.mkdir()
    (first / "lib.py").write_text("from torch.utils.dlpack import to_dlpack")
    assert inference.answer(["lib.to_dlpack"], [first, site]) == {"lib.to_dlpack": "torch.utils.dlpack.to_dlpack"}
    assert inference.answer(["lib.to_dlpack"], [site, first]) == {"lib.to_dlpack": "jax.dlpack.to_dlpack"}


@pytest.mark.parametrize(
    "name",
    ["jax.dlpack", "jax.dlpack.to_dlpack", "jax.experimental.dlpack.to_dlpack", "jax.numpy.anything", "torch.anything"],
)
def test_known_names_are_left_alone(name: str, ask: Ask) -> None:
    """What the tables know is answered by them, whatever is installed under that name."""
    package = "import other as anything, other as dlpack, other as experimental, other as numpy"
    assert ask(name, {"jax/__init__.py": package, "torch.py": package}) is None


def test_what_is_no_dotted_name_is_no_question(write, inference) -> None:
    """Texts that are no dotted names are left out, and harm no question."""
    root = write({"lib.py": "import jax as asarray", "array.py": "import jax as asarray"})
    texts = [
        "",
        "\n",
        "\n\nlib.x",
        "asarray",
        "lib..asarray",
        "lib.as array.asarray",
        "lib.asarray; import os",
        "lib.class",
    ]
    assert inference.answer([*texts, "lib.asarray"], [root]) == {"lib.asarray": "jax"}
