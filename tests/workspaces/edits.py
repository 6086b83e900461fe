"""Random edits of a workspace: as people and their tools make them, and worse."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

Files = dict[str, str]

START: Files = {
    "app/__init__.py": "from .bridges import *\nfrom .models import Model\n",
    "app/layout.py": """import jax
from jax.sharding import NamedSharding, PartitionSpec as P

MESH = jax.make_mesh((8,), ("d",))
ONE = jax.make_mesh((1,), ("d",))


def sharding(mesh=MESH):
    return NamedSharding(mesh, P("d"))


def place(x):
    return jax.device_put(x, sharding())


def gather(x):
    if len(x.sharding.device_set) == 1:
        return x
    return jax.device_put(x, jax.devices()[0])
""",
    "app/bridges.py": """import numpy as np
import torch


def to_torch(x):
    return torch.from_dlpack(x)


def to_numpy(x):
    if len(x.devices()) != 1:
        raise ValueError("several devices")
    return np.from_dlpack(x)


def both(x, y):
    return to_torch(x), to_numpy(y)
""",
    "app/models.py": """from dataclasses import dataclass, field

import jax.numpy as jnp

from . import layout
from .bridges import to_torch


class Model:
    kept = None

    def __init__(self, x):
        self.x = x
        self.bias = jnp.zeros(3)

    def spread(self):
        self.x = layout.place(self.x)
        return self

    def export(self):
        return to_torch(self.x)

    def export_bias(self):
        return to_torch(self.bias)


@dataclass
class Batch:
    image: object
    names: list = field(default_factory=list)

    def send(self):
        return to_torch(self.image)
""",
    "app/train.py": """import jax.numpy as jnp

from app.layout import gather, place
from app.models import Batch, Model


def make(n):
    return place(jnp.zeros(n))


def step(model: Model, batch: Batch):
    model.spread()
    return batch.send()


def run():
    model = Model(make(8))
    model.export()
    batch = Batch(gather(make(8)))
    return step(model, batch)
""",
    "main.py": """import jax.numpy as jnp

import app
from app import to_torch
from app.train import make, run

run()
to_torch(jnp.zeros(3))
value = make(8)


def late(x=None):
    if x is None:
        x = value
    return to_torch(x)


def outer():
    seen = []

    def inner(x):
        seen.append(x)
        return app.to_numpy(seen[0])

    return inner(make(4))
""",
}

SNIPPETS = (
    "    x = jnp.zeros(8)",
    "    x = place(x)",
    "    x = gather(x)",
    "    return to_torch(x)",
    "    return x",
    "    if len(x.devices()) == 1:\n        return to_torch(x)",
    "    self.x = layout.gather(self.x)",
    "    self.bias = self.x",
    "    Model.kept = make(8)",
    "    global value\n    value = make(8)",
    "def extra(x):\n    return to_torch(x)",
    "class Extra(Model):\n    def export(self):\n        return to_torch(self.x), super().export()",
    "extra = make(8)",
    "to_torch(make(8))",
    "from app.layout import ONE as MESH",
    "import torch",
    "    x.__dlpack__()",
    "@staticmethod",
    "    for x in [make(8), jnp.zeros(2)]:\n        to_torch(x)",
    "    try:\n        return to_torch(x)\n    except BufferError:\n        return None",
)
BREAKS = ("def (", "    ]", '"""', "if x", "\t  return", "class :", "x = = 3")
NAMES = ("place", "gather", "to_torch", "make", "Model", "export", "MESH", "value", "x", "sharding")

Edit = Callable[[Files, random.Random], None]


def insert(files: Files, rng: random.Random) -> None:
    """A line or a few, somewhere."""
    _into(files, rng, rng.choice(SNIPPETS))


def break_(files: Files, rng: random.Random) -> None:
    """Half-typed code."""
    _into(files, rng, rng.choice(BREAKS))


def _into(files: Files, rng: random.Random, text: str) -> None:
    name = rng.choice(sorted(files))
    lines = files[name].split("\n")
    lines[rng.randrange(len(lines) + 1) : 0] = text.split("\n")
    files[name] = "\n".join(lines)


def delete(files: Files, rng: random.Random) -> None:
    """A few lines less."""
    name = rng.choice(sorted(files))
    lines = files[name].split("\n")
    at = rng.randrange(len(lines))
    del lines[at : at + rng.choice((1, 1, 2, 5))]
    files[name] = "\n".join(lines)


def move(files: Files, rng: random.Random) -> None:
    """A block of lines, elsewhere."""
    name = rng.choice(sorted(files))
    blocks = files[name].split("\n\n")
    block = blocks.pop(rng.randrange(len(blocks)))
    blocks.insert(rng.randrange(len(blocks) + 1), block)
    files[name] = "\n\n".join(blocks)


def shift(files: Files, rng: random.Random) -> None:
    """Everything one line further down."""
    name = rng.choice(sorted(files))
    files[name] = f"# {rng.random()}\n{files[name]}"


def rename(files: Files, rng: random.Random) -> None:
    """A name for another, in one file or in all."""
    old, new = rng.choice(NAMES), rng.choice((*NAMES, "other"))
    for name in sorted(files) if rng.random() < 0.5 else [rng.choice(sorted(files))]:
        files[name] = re.sub(rf"\b{old}\b", new, files[name])


def heal(files: Files, rng: random.Random) -> None:
    """A file as it was in the beginning, or one that was deleted."""
    name = rng.choice(sorted(START))
    files[name] = START[name]


def remove(files: Files, rng: random.Random) -> None:
    """A file less, but never the last two."""
    if len(files) > 2:
        del files[rng.choice(sorted(files))]


EDITS: tuple[Edit, ...] = (
    insert,
    insert,
    insert,
    break_,
    delete,
    delete,
    move,
    shift,
    rename,
    heal,
    heal,
    heal,
    remove,
)
