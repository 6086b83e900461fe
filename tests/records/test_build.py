"""The build puts the frozen catalogue into the wheel, or fails with the sentences that say why."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from shardlint.records.catalogue import read

pytest.importorskip("hatchling", reason="the build's own tool is not installed")

ROOT = Path(__file__).parents[2]
BUILD = "import sys; from hatchling import build; print(getattr(build, sys.argv[1])(sys.argv[2]))"


@pytest.fixture
def project(tmp_path: Path, source: Path) -> Path:
    """A copy of the project without its own rules and pages: only the versions are in `records/`."""
    for name in ("pyproject.toml", ".gitignore"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("README.md", "LICENSE", "CHANGELOG.md"):
        (tmp_path / name).write_text("For the build alone.\n", encoding="utf-8")
    generated = shutil.ignore_patterns("__pycache__", "frozen.json", "pages")
    shutil.copytree(ROOT / "server", tmp_path / "server", ignore=generated)
    return tmp_path


def _build(project: Path, kind: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BUILD, kind, str(project / "dist")]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)


def _built(project: Path, kind: str) -> Path:
    done = _build(project, kind)
    assert done.returncode == 0, done.stderr
    return project / "dist" / done.stdout.split()[-1]


def _contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_wheel_holds_the_catalogue_and_the_pages(project, source, write_rule):
    """Built from a checkout in which nothing was frozen before."""
    write_rule(source)
    contents = _contents(_built(project, "build_wheel"))
    (project / "frozen.json").write_bytes(contents["shardlint/records/frozen.json"])
    assert set(read(project / "frozen.json").rules) == {"taken-as-one"}
    assert contents["shardlint/records/pages/taken-as-one.md"].startswith(b"# taken-as-one\n")
    assert not [name for name in contents if not name.startswith("shardlint")]


def test_a_wheel_from_the_source_distribution_is_the_same(project, source, write_rule):
    """The source distribution carries the rule folders and the build step, and needs no checkout."""
    write_rule(source)
    direct = _contents(_built(project, "build_wheel"))
    with tarfile.open(_built(project, "build_sdist")) as archive:
        archive.extractall(project / "unpacked", filter="data")
    [unpacked] = (project / "unpacked").iterdir()
    assert not (unpacked / "server" / "shardlint" / "records" / "frozen.json").exists()
    assert _contents(_built(unpacked, "build_wheel")) == direct


def test_an_editable_build_freezes_into_the_checkout(project, source, write_rule):
    """Installed for development, the package is read where it lies, so that is where the catalogue must be."""
    write_rule(source)
    _built(project, "build_editable")
    assert set(read(project / "server" / "shardlint" / "records" / "frozen.json").rules) == {"taken-as-one"}


def test_a_bad_record_fails_the_build_with_its_sentence(project, source, write_rule):
    """Nobody can install a catalogue that was not validated."""
    write_rule(source, record_changes={"schemaVersion": 1})
    done = _build(project, "build_wheel")
    assert done.returncode != 0
    assert "record.json: `schemaVersion` must be 2." in done.stderr
    assert "Traceback" not in done.stderr


def test_a_checkout_is_frozen_by_the_command_that_the_error_names(project, source, write_rule):
    """After a change to a record, one command brings the catalogue up to date or says what is wrong."""
    command = [sys.executable, "-m", "shardlint.records.freeze"]
    server = project / "server"

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=server, capture_output=True, text=True, check=False)

    folder = write_rule(source)
    assert (run().returncode, run().stderr) == (0, "")
    assert set(read(server / "shardlint" / "records" / "frozen.json").rules) == {"taken-as-one"}
    (folder / "cases.md").unlink()
    failed = run()
    assert (failed.returncode, failed.stderr) == (1, f"{folder / 'cases.md'}: does not exist.\n")
