"""Chains of calls that are deeper than an interpreter can follow at once."""

from __future__ import annotations

import pytest

from shardlint.check import Memory, Report, Snapshot, check
from shardlint.model import Severity, Target
from shardlint.records.catalogue import Catalogue
from shardlint.text import Text

TARGET = Target(("0.10.2",), True, "the test")
HEAD = """\
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("d",))
many = jax.device_put(jnp.zeros(8), NamedSharding(mesh, P("d")))
one = jnp.zeros(8)
"""
DEEP = 1_000


def _checked(source: str, catalogue: Catalogue, memory: Memory | None = None) -> Report:
    report = check(Snapshot("a.py", Text(HEAD + source), TARGET, catalogue), memory)
    assert not report.problems
    return report


def _guilty(report: Report, source: str) -> list[str]:
    """The lines with an error or a warning."""
    lines = (HEAD + source).splitlines()
    text = Text(HEAD + source)
    loud = [one for one in report.findings if one.severity in (Severity.ERROR, Severity.WARNING)]
    return [lines[text.line_of(one.location.span.start)].strip() for one in loud]


def _chain(depth: int, link: str, end: str) -> str:
    """Functions `f0` to `f{depth}`; a link calls the `{next}` one."""
    links = "".join(f"\ndef f{n}(x):\n" + link.format(n=n, next=f"f{n + 1}") for n in range(depth))
    return f"{links}\ndef f{depth}(x):\n{end}"


PASSED = _chain(DEEP, "    return {next}(x)\n", "    return np.from_dlpack(x)\n")
RETURNED = _chain(DEEP, "    y = {next}(x)\n    return y * 2\n", "    return x\n")


@pytest.mark.parametrize("given", ["many", "one"])
def test_an_array_reaches_the_far_end(given: str, catalogue: Catalogue) -> None:
    """What goes in at one end is known at the other."""
    source = f"{PASSED}\nf0({given})\n"
    report = _checked(source, catalogue)
    assert _guilty(report, source) == (["return np.from_dlpack(x)"] if given == "many" else [])
    if given == "many":
        texts = [step.text for step in report.findings[0].steps]
        assert texts[-1] == f"passed to `x` of f{DEEP}"
        assert any("jax.make_mesh" in text for text in texts)


@pytest.mark.parametrize("given", ["many", "one"])
def test_an_array_comes_back_from_the_far_end(given: str, catalogue: Catalogue) -> None:
    """What comes out at one end is known at the other."""
    source = f"{RETURNED}\nnp.from_dlpack(f0({given}))\n"
    assert _guilty(_checked(source, catalogue), source) == (["np.from_dlpack(f0(many))"] if given == "many" else [])


@pytest.mark.parametrize("depth", [1, *range(6, 10), *range(14, 27), *range(38, 43), 200])
def test_no_depth_is_another(depth: int, catalogue: Catalogue) -> None:
    """There is no depth at which something is lost: not the array, not what becomes of an object, not the other call of a function."""
    source = _chain(
        depth,
        "    x.seen = one\n    {next}(x)\n    other{n}(x.seen)\n    return x\n\ndef other{n}(y):\n    np.from_dlpack(y)  # {n}\n",
        "    x.seen = many\n",
    )
    source += "\nclass Box:\n    pass\n\nbox = Box()\nnp.from_dlpack(f0(box).seen)\n"
    expected = [f"np.from_dlpack(y)  # {n}" for n in range(depth)]
    assert _guilty(_checked(source, catalogue), source) == [*expected, "np.from_dlpack(f0(box).seen)"]


@pytest.mark.parametrize("ring", [1, 2, 7, 23, 24, 25, 60, 150])
def test_a_recursion_that_is_deeper_comes_to_its_end(ring: int, catalogue: Catalogue) -> None:
    """Functions in a ring: each hands on what it gets, and gives back either that or what the next one gives."""
    links = "".join(
        f"\ndef f{n}(x, flags):\n    if flags[{n}]:\n        return x\n"
        f"    np.from_dlpack(x)  # {n}\n    return f{(n + 1) % ring}(x, flags)\n"
        for n in range(ring)
    )
    source = f"{links}\n\ndef start(flags):\n    np.from_dlpack(f0(many, flags))\n"
    expected = [f"np.from_dlpack(x)  # {n}" for n in range(ring)]
    assert _guilty(_checked(source, catalogue), source) == [*expected, "np.from_dlpack(f0(many, flags))"]
    fine = source.replace("f0(many", "f0(one")
    assert _guilty(_checked(fine, catalogue), fine) == []


def test_a_recursion_with_two_calls_comes_to_its_end(catalogue: Catalogue) -> None:
    """Each function of a ring calls its two neighbours: there are more ways around than could be gone."""
    ring = 60
    links = "".join(
        f"\ndef f{n}(x, flags):\n    if flags[{n}]:\n        return np.from_dlpack(x)  # {n}\n"
        f"    f{(n + 1) % ring}(x, flags)\n    f{(n - 1) % ring}(x, flags)\n"
        for n in range(ring)
    )
    source = f"{links}\n\ndef start(flags):\n    f0(many, flags)\n"
    expected = [f"return np.from_dlpack(x)  # {n}" for n in range(ring)]
    assert _guilty(_checked(source, catalogue), source) == expected


def test_a_run_that_was_given_up_leaves_nothing_behind(catalogue: Catalogue) -> None:
    """The functions that it defined see what the run that was done again left behind."""
    source = _chain(
        100,
        "    y = many\n    def show{n}():\n        return np.from_dlpack(y)\n    y = {next}(x)\n    return one if show{n} else x\n",
        "    return one\n",
    )
    source += "\nf0(one)\n"
    assert _guilty(_checked(source, catalogue), source) == []


def test_functions_that_a_deep_run_makes_are_followed(catalogue: Catalogue) -> None:
    """Functions of a run's own, called by it, with another such run inside of them."""
    source = _chain(
        100,
        "    box = [x]\n    def inner():\n        return {next}(box[0])\n    return inner()\n",
        "    return np.from_dlpack(x)\n",
    )
    source += "\nf0(many)\n"
    assert _guilty(_checked(source, catalogue), source) == ["return np.from_dlpack(x)"]


def test_an_edit_at_the_far_end_is_seen_at_the_other(catalogue: Catalogue) -> None:
    """Checking again after an edit finds the same as checking from the beginning."""
    memory = Memory()
    source = f"{_chain(100, '    return {next}(x)', '    return x')}\n\ndef start():\n    np.from_dlpack(f0(many))\n"
    assert _guilty(_checked(source, catalogue, memory), source) == ["np.from_dlpack(f0(many))"]
    for old, new in ((")\n    return x", ")\n    return one"), ("    return one", "    return x")):
        source = source.replace(old, new)
        again, fresh = _checked(source, catalogue, memory), _checked(source, catalogue)
        assert again.findings == fresh.findings
