"""An environment for one version of JAX: made by pip from a folder of wheels, here with a JAX that is none."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import pytest

from shardlint.cli.commands import run
from shardlint.verify import VerifyError, packages_used, throwaway, verify

CASES = """\
# Taking

## It raises

```toml
consumer = "jax.take"
exception = "ValueError"
needs = ["pluggy"]
```

```python
import jax
import pluggy
jax.take(1)  # error: [rule]
```
"""


@pytest.fixture(autouse=True)
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """For pip there is nothing but a JAX 9.9, which raises, and one that wants a Python that nobody has."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    _wheel(folder, "jax", "9.9", "__version__ = '9.9'\n\ndef take(x):\n    raise ValueError('only one')\n", ">=3.9")
    _wheel(folder, "jax", "9.10", "", ">=3.99")
    _wheel(folder, "pluggy", "1.0", "", ">=3.9")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def _wheel(folder: Path, name: str, version: str, source: str, python: str) -> None:
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}/__init__.py", source)
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Python: {python}\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    folder = tmp_path / "rules" / "rule"
    folder.mkdir(parents=True)
    (folder / "record.json").write_text(json.dumps({"errorClass": "ValueError", "messagePattern": "only one"}))
    (folder / "rule.toml").write_text('jax = ">=0.4.30"\n')
    (folder / "cases.md").write_text(CASES)
    return folder.parent


def test_a_rule_is_run_on_the_version_asked_for(rules: Path) -> None:
    """The environment holds that JAX and what the examples need, and is gone afterwards."""
    told: list[str] = []
    with throwaway("9.9", ["pluggy"], Path(sys.executable), told.append) as python:
        report = verify(rules, (), python, lambda *_: None)
        assert (report.jax, report.failed) == ("9.9", ())
        (seen,) = report.runs["rule"].observations
        assert (seen.jax, seen.consumer, seen.exception) == ("9.9", "jax.take", "ValueError")
    assert not python.exists()
    assert told == [f"installing JAX 9.9 for Python {sys.version_info[0]}.{sys.version_info[1]}"]


def test_a_python_that_is_too_old_is_told() -> None:
    """Nothing is passed over: the sentence says which Pythons were tried and what JAX requires."""
    with (
        pytest.raises(VerifyError, match=r"tried: 3\.\d+ \(JAX 9\.10 requires Python >=3\.99\)\. Name another with"),
        throwaway("9.10", [], Path(sys.executable), lambda _: None),
    ):
        pass


def test_what_does_not_exist_is_told_in_pips_words() -> None:
    """A version that the index does not have, and an interpreter that is none."""
    with (
        pytest.raises(VerifyError, match=r"Could not find a version that satisfies the requirement jax==1\.2"),
        throwaway("1.2", [], Path(sys.executable), lambda _: None),
    ):
        pass
    with (
        pytest.raises(VerifyError, match="is no Python that can be started"),
        throwaway("9.9", [], Path("/no/python"), lambda _: None),
    ):
        pass


def test_the_examples_packages_come_in_the_versions_that_are_here(rules: Path) -> None:
    """What the examples need is asked for as it is installed here, JAX and NumPy left to pip."""
    import pluggy

    assert packages_used(rules, ()) == (f"pluggy=={pluggy.__version__}",)


def test_the_command_makes_the_environment(
    rules: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--jax-version` with `--write` keeps what was seen on that version; a wrong version is refused before anything is made."""
    import pluggy

    _wheel(wheels, "pluggy", pluggy.__version__, "", ">=3.9")
    arguments = ["records", "verify", "--rules-dir", str(rules), "--python", sys.executable]
    assert run([*arguments, "--jax-version", "9.9", "--write"]) == 0
    kept = json.loads((rules / "rule" / "observed.json").read_text())["observations"]
    assert [(one["jax"], one["exception"]) for one in kept] == [("9.9", "ValueError")]
    assert "JAX 9.9: 1 observed, 0 failed, 0 not observed." in capsys.readouterr().out
    assert run([*arguments, "--jax-version", "newest"]) == 2
    assert "Invalid value for '--jax-version'" in capsys.readouterr().err
