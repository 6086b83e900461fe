"""A check whose questions are answered finds what the check alone cannot see."""

from __future__ import annotations

import subprocess
import sys

import pytest

from shardlint.check import Report, check
from shardlint.inference.door import Inference, settle

JAX = {"jax/__init__.py": "from jax import dlpack", "jax/dlpack.py": "def from_dlpack(x): ..."}
COMPAT = {"lib/__init__.py": "", "lib/compat.py": "import jax.dlpack as jdl\nfrom jax.dlpack import to_dlpack\n"}
BY_NAME = "import jax.numpy as jnp\nfrom lib.compat import to_dlpack\n\ncapsule = to_dlpack(jnp.ones(3))\n"
BY_MODULE = "import jax.numpy as jnp\nimport lib.compat as c\n\ncapsule = c.jdl.to_dlpack(jnp.ones(3))\n"


def lines(report: Report, source: str) -> dict[int, str]:
    return {source.count("\n", 0, one.location.span.start) + 1: one.rule for one in report.findings}


@pytest.mark.parametrize(("source", "found"), [(BY_NAME, {2, 4}), (BY_MODULE, {4})], ids=["name", "module"])
def test_a_removed_name_behind_another_package_is_found(source, found, snapshot, write, inference) -> None:
    """`to_dlpack` that another package passes on is found with jedi's answers, on the JAX that lacks it, and not without."""
    root = write({**JAX, **COMPAT})
    assert check(snapshot(source)).findings == ()
    report, settled = settle(snapshot(source), inference, [root])
    assert lines(report, source) == dict.fromkeys(found, "removed-to-dlpack")
    assert check(settled) == report
    assert settle(snapshot(source, "0.6.2"), inference, [root])[0].findings == ()


def test_the_answers_stay_with_the_snapshot(snapshot, write, inference) -> None:
    """What is settled is checked again without asking."""
    root = write({**JAX, **COMPAT})
    report, settled = settle(snapshot(BY_MODULE), inference, [root])
    assert settled.answers["lib.compat.jdl"] == "jax.dlpack"
    assert settle(settled, None)[0] == report


@pytest.mark.parametrize(
    "compat",
    [
        "def to_dlpack(x): ...",
        "try:\n    from jax.dlpack import to_dlpack\nexcept ImportError:\n    def to_dlpack(x): ...",
    ],
    ids=["own", "fallback"],
)
def test_a_function_of_the_packages_own_is_no_finding(compat, snapshot, write, inference) -> None:
    """A package that has the function itself, or has one where JAX has none, is left in peace."""
    root = write({**JAX, **COMPAT, "lib/compat.py": compat})
    report, _ = settle(snapshot(BY_NAME), inference, [root])
    assert report.findings == ()


def test_a_parameter_of_a_passed_on_type_is_known(snapshot, write, inference) -> None:
    """A parameter annotated with another package's name for `jax.Array` is an array."""
    root = write({"lib/__init__.py": "", "lib/types.py": "import jax\nArray = jax.Array\n"})
    source = "import torch\nfrom lib.types import Array\n\ndef f(x: Array):\n    return torch.from_dlpack(x)\n"
    alone = check(snapshot(source)).hand_offs
    (seen,) = settle(snapshot(source), inference, [root])[0].hand_offs
    assert seen not in alone


def test_without_an_inference_it_is_a_plain_check(snapshot) -> None:
    """No inference, no questions: the report and the snapshot are the check's own."""
    given = snapshot(BY_NAME)
    assert settle(given, None) == (check(given), given)


def test_what_is_known_is_used_without_waiting(snapshot, write, cache) -> None:
    """Without waiting no process is started: answers count as soon as somebody has waited for them."""
    root = write({**JAX, **COMPAT})
    with Inference(cache, 60.0, lambda folder: (sys.executable, "-c", "")) as inference:
        report, _ = settle(snapshot(BY_NAME), inference, [root], wait=False)
        assert report == check(snapshot(BY_NAME))
        assert inference.problems == ()
    with Inference(cache, 60.0) as inference:
        waited, _ = settle(snapshot(BY_NAME), inference, [root])
        assert waited.findings
        assert settle(snapshot(BY_NAME), inference, [root], wait=False)[0] == waited


def test_questions_come_to_an_end(snapshot, write, inference) -> None:
    """A check that brings up new questions for ever is asked a few times only."""
    root = write({f"m{number}.py": "import jax as asarray" for number in range(100)})
    asked = []

    def curious(given):
        asked.append(len(asked))
        return Report((), (), (), (f"m{len(asked)}.asarray",))

    settle(snapshot(""), inference, [root], curious)
    assert 2 < len(asked) < 10


def test_a_failure_leaves_the_plain_check(snapshot, tmp_path) -> None:
    """Where jedi fails, the findings of the check alone remain."""
    source = BY_NAME + "import jax\njax.dlpack.to_dlpack(jnp.ones(3))\n"
    with Inference(None, 60.0, lambda folder: (sys.executable, "-c", "")) as inference:
        report, _ = settle(snapshot(source), inference, [tmp_path])
        assert len(inference.problems) == 1
    assert report == check(snapshot(source))
    assert lines(report, source) == {6: "removed-to-dlpack"}


def test_nothing_of_jedi_is_loaded_here() -> None:
    """The program that asks never imports jedi; it is loaded in its own process alone."""
    program = (
        "import sys\nfrom pathlib import Path\nfrom shardlint.inference.door import Inference\n"
        "with Inference(None, 60.0) as inference:\n    answers = inference.answer(['json.decoder.asarray'], [])\n"
        "print(inference.problems, sorted({'jedi', 'parso', 'pydantic', 'pygls', 'asyncio'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "() []\n", done.stderr
