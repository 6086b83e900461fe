"""An environment with one version of JAX, made for one run and thrown away after it: a virtual environment, filled by pip."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from shardlint.verify.process import VerifyError

_MINORS = range(9, 30)
_ASK = "import sys; print('%d.%d' % sys.version_info[:2], sys.version_info[:3] >= (3, 9, 0))"
_ASK_LIMIT = 30.0
_MOST_WORDS = 300


@contextmanager
def throwaway(jax: str, packages: Sequence[str], base: Path | None, tell: Callable[[str], None]) -> Generator[Path]:
    """The interpreter of a new environment that holds this JAX and the other `packages` (requirements as pip takes them).

    It is made from `base`, or else from the first Python on this machine for which pip can install all of it: this one comes first,
    then the newest. `tell` is told what is tried. pip goes by its own settings. Raises `VerifyError` with what pip said if there is none.
    """
    tried: list[str] = []
    with tempfile.TemporaryDirectory(prefix="shardlint-jax-") as folder:
        for version, python in _candidates(base, os.environ).items():
            tell(f"installing JAX {jax} for Python {version}")
            place = Path(folder) / version
            reason = _made(python, place, jax, packages)
            if reason is None:
                yield _interpreter(place)
                return
            tried.append(f"{version} ({reason})")
            shutil.rmtree(place, ignore_errors=True)
    found = "; ".join(tried) or "none"
    raise VerifyError(
        f"JAX {jax} could not be installed for any Python that was found here; tried: {found}. Name another with --python."
    )


def _candidates(base: Path | None, environ: Mapping[str, str]) -> dict[str, Path]:
    """The Pythons to try by their version, each version once. Raises `VerifyError` for a `base` that is none."""
    if base is not None:
        version = _version(base)
        if version is None:
            raise VerifyError(f"{base} is no Python that can be started.")
        return {version: base}
    found: dict[str, Path] = {"{}.{}".format(*sys.version_info): Path(sys.executable)}
    others: dict[str, Path] = {}
    for python in _pythons(environ):
        version = _version(python)
        if version is not None and version not in found:
            others.setdefault(version, python)
    return found | dict(sorted(others.items(), key=lambda item: int(item[0].partition(".")[2]), reverse=True))


def _pythons(environ: Mapping[str, str]) -> Iterator[Path]:
    """Interpreters where people and their tools put them: on the PATH, pyenv's and uv's."""
    for minor in reversed(_MINORS):
        if found := shutil.which(f"python3.{minor}", path=environ.get("PATH")):
            yield Path(found)
    home = Path.home()
    for root in (
        Path(environ.get("PYENV_ROOT") or home / ".pyenv") / "versions",
        Path(environ.get("UV_PYTHON_INSTALL_DIR") or home / ".local" / "share" / "uv" / "python"),
    ):
        yield from sorted(root.glob("*/bin/python3"), reverse=True)


def _version(python: Path) -> str | None:
    """The version of an interpreter as `3.13`, or None for what is none that can be used."""
    try:
        done = subprocess.run([python, "-I", "-c", _ASK], capture_output=True, timeout=_ASK_LIMIT, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    version, _, usable = done.stdout.decode("utf-8", "replace").strip().partition(" ")
    return version if usable == "True" else None


def _made(python: Path, place: Path, jax: str, packages: Sequence[str]) -> str | None:
    """Make the environment. Returns None, or a clause that tells why it could not be made."""
    interpreter = _interpreter(place)
    for command in (
        [python, "-I", "-m", "venv", place],
        [interpreter, "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", f"jax=={jax}", *packages],
    ):  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)
        except OSError as error:
            return f"cannot be started: {error.strerror}"
        if done.returncode:
            return _reason(done.stderr + done.stdout, jax)
    return None


def _interpreter(place: Path) -> Path:
    return place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _reason(output: bytes, jax: str) -> str:
    """What Python JAX requires, if pip says that it is that; else what pip calls the error, or its last line."""
    text = output.decode("utf-8", "replace")
    of_index = re.search(rf"(?<![\w.]){re.escape(jax)} Requires-Python ([^;\n]+)", text)
    of_package = re.search(r"'jax' requires a different Python: \S+ not in '([^']+)'", text)
    if requires := of_index or of_package:
        return f"JAX {jax} requires Python {requires[1].strip()}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    words = next(iter(errors or lines[-1:]), "pip gave no reason")
    words = re.sub(r"\s*\(from versions: .*?\)", "", words)
    return words if len(words) <= _MOST_WORDS else f"{words[:_MOST_WORDS]}…"
