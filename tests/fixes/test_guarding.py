"""Guards for hand-offs of who knows what: what is inserted, where there is none, and that it holds on real JAX."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from shardlint.check import Snapshot, check
from shardlint.fixes.edits import apply
from shardlint.fixes.guarding import guards
from shardlint.verify.process import Job, run_jobs

MOVED = "jax.device_put(x, jax.local_devices()[0])"
MANY = "len(x.sharding.device_set) > 1"
ANYTHING = f"isinstance(x, jax.Array) and {MANY}"


def guarded(snapshot: Callable[..., Snapshot], source: str) -> list[str]:
    """The texts that the guards of all hand-offs make, one by one."""
    program = snapshot(source)
    found = [fix for hand_off in check(program).hand_offs for fix in guards(program, hand_off)]
    return [apply(source, fix.edits) for fix in found]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "def f(x):\n    return torch.from_dlpack(x)\n",
            f"def f(x):\n    x_2 = {MOVED} if {ANYTHING} else x\n    return torch.from_dlpack(x_2)\n",
        ),
        (
            "def f(x: jax.Array):\n    return torch.from_dlpack(x)\n",
            f"def f(x: jax.Array):\n    x_2 = {MOVED} if {MANY} else x\n    return torch.from_dlpack(x_2)\n",
        ),
        (
            "f = lambda x: torch.from_dlpack(x)\n",
            f"f = lambda x: torch.from_dlpack({MOVED} if {ANYTHING} else x)\n",
        ),
        (
            "def f(x): return memoryview(x)\n",
            f"def f(x): x_2 = np.asarray(x) if {ANYTHING} else x; return memoryview(x_2)\n",
        ),
    ],
    ids=["an argument", "an array of JAX", "a lambda", "a buffer"],
)
def test_a_guard_does_what_the_record_says(snapshot: Callable[..., Snapshot], before: str, after: str) -> None:
    """The `if` of the record's `validationCode`, with a question ahead of it for what may be no array of JAX."""
    head = "import jax\nimport numpy as np\nimport torch\n\n\n"
    assert guarded(snapshot, head + before) == [head + after]


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return torch.from_dlpack(x.T)\n",
        "def f(x):\n    try:\n        return torch.from_dlpack(x)\n    except BufferError:\n        return None\n",
        "x = jax.numpy.ones(3)\nt = torch.from_dlpack(x)\n",
        "x = torch.ones(3)\nt = torch.from_dlpack(x)\n",
        "@jax.jit\ndef f(x):\n    return x\n",
    ],
    ids=["no name", "handled", "on one device", "of another library", "no hand-off"],
)
def test_what_needs_no_guard_gets_none(snapshot: Callable[..., Snapshot], source: str) -> None:
    """What has no name would be evaluated twice; the others cannot fail, or are dealt with."""
    assert guarded(snapshot, "import jax\nimport torch\n\n\n" + source) == []


def test_a_guarded_hand_off_is_not_guarded_again(snapshot: Callable[..., Snapshot]) -> None:
    """What the guard makes is known to be on one device."""
    [once] = guarded(snapshot, "import jax\nimport torch\n\n\ndef f(x: jax.Array):\n    return torch.from_dlpack(x)\n")
    assert guarded(snapshot, once) == []


@pytest.mark.jax
def test_guards_hold_on_real_jax(snapshot: Callable[..., Snapshot]) -> None:
    """Arrays on one device, on several, copies on each, and those of other libraries arrive whole."""
    pytest.importorskip("jax")
    pytest.importorskip("torch")
    bridges = ("torch.from_dlpack(x)", "memoryview(x)", "np.from_dlpack(x)")
    head = (
        "import jax\nimport numpy as np\nimport torch\nfrom jax.sharding import NamedSharding, PartitionSpec as P\n\n\n"
    )
    tail = (
        "\n\nmesh = jax.make_mesh((8,), ('d',))\nbase = np.arange(16, dtype=np.float32)\n"
        "for x in (jax.numpy.asarray(base), jax.device_put(base, NamedSharding(mesh, P('d'))),\n"
        "          jax.device_put(base, NamedSharding(mesh, P())), base):\n"
        "    np.testing.assert_array_equal(np.asarray(f(x)), base)\n"
    )
    jobs: list[Job] = []
    for number, bridge in enumerate(bridges):
        [made] = guarded(snapshot, f"{head}def f(x):\n    return {bridge}\n")
        jobs.append(Job(number, made + tail, (), None, None))
    answers = run_jobs(Path(sys.executable), 8, jobs, 120.0)
    assert [(answers[job.id].raised, answers[job.id].died) for job in jobs] == [((), None)] * len(jobs)
