"""Reading the frozen catalogue, and choosing the observation that fits a target."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from shardlint.model import Severity
from shardlint.records import catalogue
from shardlint.records.catalogue import CatalogueError, Match, Observation, Rule, observation_for, read
from shardlint.records.freeze import freeze


def _run(
    jax: str, *, consumer: str = "lib.take", version: str = "1.0", platform: str = "cpu", kind: str = "raises"
) -> Observation:
    return Observation(platform, jax, consumer, version, kind, "BufferError", "only one", ())


def _rule(*observed: Observation, jax: str = "") -> Rule:
    return Rule(
        name="taken-as-one",
        summary="s",
        family="A",
        jax=jax,
        severity=Severity.ERROR,
        possible=Severity.WARNING,
        severity_by={},
        jax_by={},
        message="m",
        match=Match(("dlpack",), "export", ()),
        when={},
        handled_by=(),
        tags=(),
        fixes=(),
        record={},
        page="",
        observed=observed,
    )


def test_a_missing_catalogue_says_what_to_run(tmp_path):
    """In a fresh checkout nothing is frozen yet."""
    with pytest.raises(CatalogueError, match=r"python -m shardlint\.records\.freeze"):
        read(tmp_path / "frozen.json")


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff", b'{"format": 1, "rules": [{}], "jax_versions": []}'])
def test_a_damaged_catalogue_says_what_to_run(tmp_path, content):
    """A file that was cut off or overwritten is told like a missing one."""
    (tmp_path / "frozen.json").write_bytes(content)
    with pytest.raises(CatalogueError, match=r"python -m shardlint\.records\.freeze"):
        read(tmp_path / "frozen.json")


def test_a_catalogue_of_another_version_is_refused(tmp_path):
    """A format that this version does not know is not read by chance."""
    (tmp_path / "frozen.json").write_text('{"format": 999}', encoding="utf-8")
    with pytest.raises(CatalogueError, match="another version"):
        read(tmp_path / "frozen.json")


def test_load_reads_the_frozen_catalogue_without_pydantic(tmp_path, source, write_rule):
    """The frozen file needs no validation, so starting up does not pay for pydantic."""
    write_rule(source)
    package = tmp_path / "server" / "shardlint"
    here = Path(catalogue.__file__).parents[1]
    for name in (
        "__init__.py",
        "text.py",
        "model.py",
        "records/__init__.py",
        "records/catalogue.py",
        "records/checks.py",
    ):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_bytes((here / name).read_bytes())
    assert freeze(source, package / "records") == []
    program = (
        f"import sys; sys.path.insert(0, {str(package.parent)!r})\n"
        "from shardlint.records.catalogue import load, page_path\n"
        "rule = load().rules['taken-as-one']\n"
        "assert load() is load()\n"
        "assert page_path(rule.name).read_text(encoding='utf-8').startswith('# taken-as-one')\n"
        "print(sorted(name for name in sys.modules if name.startswith('pydantic')))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.parametrize(
    ("observed", "target", "expected"),
    [
        (["0.7.2", "0.8.3", "0.10.2"], ["0.8.3"], "0.8.3"),
        (["0.7.2", "0.8.3", "0.10.2"], ["0.9.0"], "0.8.3"),
        (["0.7.2", "0.8.3", "0.10.2"], ["0.11"], "0.10.2"),
        (["0.8.3", "0.10.2"], ["0.7.0"], "0.8.3"),
        (["0.9.2", "0.10.2"], ["0.8.3", "0.9.2", "0.10.0"], "0.9.2"),
        (["0.7.2", "0.8.3"], ["0.7.2", "0.8.3"], "0.8.3"),
        (["0.8.3"], ["0.8.3.dev20260101"], "0.8.3"),
    ],
)
def test_the_nearest_version_is_chosen(observed, target, expected):
    """Exactly the target if it was run, else the nearest older version, else the nearest newer one."""
    found = observation_for(_rule(*map(_run, observed)), "lib.take", target)
    assert found is not None
    assert found.jax == expected


def test_a_version_on_which_the_rule_does_not_hold_is_no_evidence():
    """A removed API still worked on the older version; that run says nothing of the newer."""
    rule = _rule(_run("0.6.2", kind="none"), _run("0.8.3"), jax=">=0.7.0")
    found = observation_for(rule, "lib.take", ["0.7.2"])
    assert found is not None
    assert found.jax == "0.8.3"


def test_only_the_same_consumer_and_platform_count():
    """What one library does says nothing of another, nor what a CPU does of a GPU where a platform is asked for."""
    rule = _rule(_run("0.10.2", consumer="lib.give"), _run("0.9.2", platform="gpu"))
    assert observation_for(rule, "lib.take", ["0.10.2"], platform="cpu") is None
    found = observation_for(rule, "lib.take", ["0.10.2"], platform="gpu")
    assert found is not None
    assert found.jax == "0.9.2"


def test_the_newest_version_of_the_consumer_counts():
    """1.10 is newer than 1.9, though it sorts before it as text."""
    rule = _rule(_run("0.10.2", version="1.10"), _run("0.10.2", version="1.9"), _run("0.10.2", version="unknown"))
    found = observation_for(rule, "lib.take", ["0.10.2"])
    assert found is not None
    assert found.consumer_version == "1.10"


@pytest.mark.parametrize("target", [[], ["newest"]])
def test_without_a_usable_target_nothing_fits(target):
    """A target that is no version cannot be near to any."""
    assert observation_for(_rule(_run("0.10.2")), "lib.take", target) is None
