"""The true bugs that `inject.py` writes into real code: where the array comes from, how it flows, and how it is handed over.

A source is an expression, with what it needs around it, whose value is on all devices of the machine. A flow is code that brings
the value of `ARRAY` to a `HANDOFF(...)`. Both tell in `why` why that raises as soon as there is more than one device; `inject.py
--prove` runs every flow with every source on eight devices. How often each is drawn follows what was counted in public code:
arrays reach a hand-off by a parameter in 51 of 100 cases, and so on.
"""

from __future__ import annotations

from dataclasses import dataclass

JAX, JNP, NP, TORCH = "import jax", "import jax.numpy as jnp", "import numpy as np", "import torch"
DLPACK, PARTIAL, UTILS = "import torch.utils.dlpack", "from functools import partial", "from flax import jax_utils"
SHARDING, MESH = "from jax.sharding import NamedSharding", "from jax.sharding import Mesh"
SPEC = "from jax.sharding import PartitionSpec as P"


@dataclass(frozen=True, slots=True)
class Source:
    """`array` is an expression; `heads` are statements of a module, one of which is drawn, `functions` come among its functions, `before` stands
    before the statement that holds the expression, and `init` in the `__init__` of the class around it, if it needs one.
    """

    name: str
    weight: int
    why: str
    array: str
    imports: tuple[str, ...] = ()
    head: str = ""
    functions: str = ""
    before: str = ""
    init: str = ""


@dataclass(frozen=True, slots=True)
class Flow:
    """`shared` is a function that may stand in another module; `functions` stand in the module of `body`, `methods` and `init` in
    the class of `body`; `body` stands inside a function, or a method, that is there.
    """

    kind: str
    name: str
    weight: int
    why: str
    body: str
    shared: str = ""
    functions: str = ""
    methods: str = ""
    init: str = ""


@dataclass(frozen=True, slots=True)
class Sink:
    """`call` hands `VALUE` over; `function` does so when it is called with an array, if there is such a one."""

    weight: int
    call: str
    imports: tuple[str, ...]
    function: str = ""


KINDS = {
    "parameter": 51,
    "same function": 23,
    "call result": 10,
    "loop": 7,
    "pytree map": 4,
    "self attribute": 4,
    "closure": 1,
}
"""How often an array reaches a hand-off so, in a hundred cases."""

AUTO_MESHES = (
    ("mesh_N = Mesh(np.array(jax.devices()), ('d',))\n", (MESH, NP)),
    ("mesh_N = Mesh(jax.devices(), ('d',))\n", (MESH,)),
    ("mesh_N = jax.make_mesh((jax.device_count(),), ('d',), axis_types=(jax.sharding.AxisType.Auto,))\n", ()),
)
MESHES = (
    *AUTO_MESHES,
    ("mesh_N = jax.make_mesh((jax.device_count(),), ('d',))\n", ()),
    ("devices_N = jax.devices()\nmesh_N = jax.make_mesh((len(devices_N),), ('d',))\n", ()),
)
"""A mesh over all devices, as modules write it, and what is imported for it beside jax. Those of `make_mesh` have explicit axes by
default, which a constraint refuses.
"""

_NAMED = (SHARDING, SPEC)
_HELD = "sharding_N = NamedSharding(mesh_N, P('d'))\n"

SOURCES = (
    Source(
        "constraint",
        12,
        "what jit returns under a constraint has the constraint's sharding",
        "constrained_N(jnp.ones((64, 4)))",
        _NAMED,
        "AUTO",
        "@jax.jit\ndef constrained_N(x):\n    return jax.lax.with_sharding_constraint(x * 2, NamedSharding(mesh_N, P('d')))\n",
    ),
    Source(
        "constraint, inner",
        8,
        "the same with a sharding out of a global, in a lambda",
        "jax.jit(lambda x: jax.lax.with_sharding_constraint(x, sharding_N))(jnp.ones((64, 4)))",
        _NAMED,
        "AUTO" + _HELD,
    ),
    Source(
        "put, global",
        5,
        "device_put obeys the sharding that the global holds",
        "jax.device_put(jnp.ones((64, 4)), sharding_N)",
        _NAMED,
        "MESH" + _HELD,
    ),
    Source(
        "put, helper",
        5,
        "device_put obeys the sharding that the helper returns",
        "jax.device_put(jnp.ones((64, 4)), sharding_N())",
        _NAMED,
        "MESH",
        "def sharding_N():\n    return NamedSharding(mesh_N, P('d'))\n",
    ),
    Source(
        "put, self",
        5,
        "device_put obeys the sharding that __init__ has stored",
        "jax.device_put(jnp.ones((64, 4)), self.sharding_N)",
        _NAMED,
        "MESH",
        init="self.sharding_N = NamedSharding(mesh_N, P())\n",
    ),
    Source(
        "put, local",
        4,
        "device_put obeys the sharding in the variable",
        "jax.device_put(jnp.ones((64, 4)), local_N)",
        _NAMED,
        "MESH",
        before="local_N = NamedSharding(mesh_N, P('d'))\n",
    ),
    Source(
        "put, inline",
        4,
        "device_put obeys the sharding",
        "jax.device_put(jnp.ones((64, 4)), NamedSharding(mesh_N, P('d')))",
        _NAMED,
        "MESH",
    ),
    Source(
        "pmap",
        7,
        "pmap leaves one slice on each device",
        "jax.pmap(lambda x: x * 2)(jnp.ones((jax.local_device_count(), 4)))",
    ),
    Source(
        "pmap, decorator",
        7,
        "pmap leaves one slice on each device",
        "each_N(jnp.ones((jax.local_device_count(), 4)))",
        (PARTIAL,),
        "",
        "@partial(jax.pmap, axis_name='i')\ndef each_N(x):\n    return jax.lax.psum(x, 'i')\n",
    ),
    Source(
        "jit, out_shardings",
        4,
        "jit puts its result where out_shardings tells",
        "placed_N(jnp.ones((64, 4)))",
        _NAMED,
        "MESH" + _HELD + "placed_N = jax.jit(lambda x: x * 2, out_shardings=sharding_N)\n",
    ),
    Source(
        "jit, decorator",
        4,
        "the same for a decorated function",
        "placed_N(jnp.ones((64, 4)))",
        (*_NAMED, PARTIAL),
        "MESH" + _HELD,
        "@partial(jax.jit, out_shardings=sharding_N)\ndef placed_N(x):\n    return x * 2\n",
    ),
    Source(
        "replicate", 7, "flax's replicate puts a copy on each device", "jax_utils.replicate(jnp.ones((4,)))", (UTILS,)
    ),
    Source(
        "shard_map",
        7,
        "shard_map leaves one block on each device of its mesh",
        "mapped_N(jnp.ones((64, 4)))",
        (*_NAMED, PARTIAL),
        "AUTO",
        "@partial(jax.shard_map, mesh=mesh_N, in_specs=P('d'), out_specs=P('d'))\ndef mapped_N(x):\n    return x + 1\n",
    ),
    Source(
        "set_mesh",
        4,
        "under set_mesh a spec means a sharding over that mesh",
        "placed_N",
        (SPEC,),
        "MESH",
        before="with jax.set_mesh(mesh_N):\n    placed_N = jax.device_put(jnp.ones((64, 4)), P('d'))\n",
    ),
    Source(
        "reshard",
        6,
        "reshard obeys the sharding",
        "jax.sharding.reshard(jnp.ones((64, 4)), NamedSharding(mesh_N, P('d')))",
        _NAMED,
        "mesh_N = jax.make_mesh((jax.device_count(),), ('d',))\n",
    ),
)

CHANGES = ("ARRAY", "ARRAY", "ARRAY", "ARRAY * 2", "jnp.sum(ARRAY)", "ARRAY.astype(jnp.bfloat16)", "-ARRAY")
"""What is computed from an array on several devices is on them too."""

_BRIDGE = "def to_torch_N(x):\n    return HANDOFF(x)\n"
_TYPED = "def as_tensor_N(array: jax.Array, name=None):\n    tensor = HANDOFF(array)\n    return tensor if name is None else (name, tensor)\n"
_LOGGED = "def logged_N(name, value, step=0):\n    print(name, step, to_torch_N(value))\n"
_STATE = "state_N = {'w': ARRAY, 'step': 3}\n"

FLOWS = (
    Flow("parameter", "bridge", 5, "the bridge gets the array", "array_N = ARRAY\nto_torch_N(array_N)\n", _BRIDGE),
    Flow("parameter", "bridge, at once", 2, "the bridge gets the array", "tensor_N = to_torch_N(ARRAY)\n", _BRIDGE),
    Flow("parameter", "bridge, typed", 3, "the bridge gets the array", "array_N = ARRAY\nas_tensor_N(array_N, name='w')\n", _TYPED),
    Flow("parameter", "bridge, keyword", 1, "the bridge gets the array", "as_tensor_N(array=ARRAY)\n", _TYPED),
    Flow("parameter", "two deep", 4, "the bridge gets what the function around it got", "logged_N('loss', ARRAY)\n", _BRIDGE, _LOGGED),
    Flow("parameter", "from self", 3, "the attribute is set before any method runs", "to_torch_N(self.state_N)\n", _BRIDGE, init="self.state_N = ARRAY\n"),
    Flow("parameter", "method", 2, "the method gets the array", "self.exported_N(ARRAY)\n", methods="def exported_N(self, x):\n    return HANDOFF(x)\n"),
    Flow("parameter", "dict", 1, "the bridge takes the array out of the dict", _STATE + "saved_N(state_N)\n", "def saved_N(state):\n    return {'w': HANDOFF(state['w'])}\n"),
    Flow("same function", "next line", 5, "the variable holds the array", "array_N = ARRAY\nHANDOFF(array_N)\n"),
    Flow("same function", "in a branch", 2, "process 0 is always there, and BufferError is no ValueError", "array_N = ARRAY\nif jax.process_index() == 0:\n    try:\n        HANDOFF(array_N)\n    except ValueError:\n        array_N = None\n"),
    Flow("same function", "new function", 3, "the variable holds the array", "snapshot_N()\n", functions="def snapshot_N(scale=2):\n    array = ARRAY\n    array = array * scale\n    result = HANDOFF(array)\n    return result\n"),
    Flow("same function", "dict", 1, "the entry holds the array", _STATE + "HANDOFF(state_N['w'])\n"),
    Flow("call result", "maker", 4, "the maker returns the array", "HANDOFF(made_N())\n", "def made_N():\n    return ARRAY\n"),
    Flow("call result", "library", 2, "the call returns the array", "HANDOFF(ARRAY)\n"),
    Flow("call result", "method", 2, "the method returns the array", "HANDOFF(self.made_N())\n", methods="def made_N(self):\n    return ARRAY\n"),
    Flow("call result", "pair", 1, "the first of the pair is the array", "array_N, step_N = made_N()\nHANDOFF(array_N)\n", "def made_N():\n    return ARRAY, 1\n"),
    Flow("loop", "for", 2, "the first item is the array", "for array_N in [ARRAY, None]:\n    HANDOFF(array_N)\n"),
    Flow("loop", "items", 2, "the only value is the array", "state_N = {'w': ARRAY}\ntensors_N = {key: HANDOFF(value) for key, value in state_N.items()}\n"),
    Flow("loop", "appended", 2, "the list holds such arrays alone", "arrays_N = []\nfor _ in range(3):\n    arrays_N.append(ARRAY)\nfor array_N in arrays_N:\n    HANDOFF(array_N)\n"),
    Flow("pytree map", "lambda", 2, "the only leaf is the array", "state_N = {'w': ARRAY}\ntensors_N = jax.tree.map(lambda leaf: HANDOFF(leaf), state_N)\n"),
    Flow("pytree map", "bridge", 2, "the only leaf is the array", "state_N = {'w': [ARRAY]}\njax.tree_util.tree_map(to_torch_N, state_N)\n", _BRIDGE),
    Flow("pytree map", "function", 1, "the only leaf is the array", "state_N = {'w': ARRAY}\njax.tree.map(BYFUNCTION, state_N)\n"),
    Flow("self attribute", "plain", 2, "the attribute is set before any method runs", "HANDOFF(self.kept_N)\n", init="self.kept_N = ARRAY\n"),
    Flow("self attribute", "dict", 1, "the same in a dict", "HANDOFF(self.kept_N['w'])\n", init="self.kept_N = {'w': ARRAY, 'step': 0}\n"),
    Flow("closure", "inner", 1, "the inner function sees the array", "array_N = ARRAY\ndef inner_N():\n    return HANDOFF(array_N)\ninner_N()\n"),
    Flow("closure", "maker", 1, "the function that is returned sees the array", "exporter_N(ARRAY)()\n", "def exporter_N(array):\n    def run():\n        return HANDOFF(array)\n    return run\n"),
)  # fmt: skip

SINKS = (
    Sink(9, "torch.from_dlpack(VALUE)", (TORCH,), "torch.from_dlpack"),
    Sink(5, "torch.utils.dlpack.from_dlpack(VALUE)", (DLPACK,), "torch.utils.dlpack.from_dlpack"),
    Sink(3, "np.from_dlpack(VALUE)", (NP,), "np.from_dlpack"),
    Sink(3, "torch.utils.dlpack.from_dlpack(VALUE.__dlpack__())", (DLPACK,)),
)
