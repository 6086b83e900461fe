"""jedi reads a workspace; nothing of the workspace is ever imported, loaded or started by it."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from shardlint.inference import seal as inference_seal
from shardlint.inference.door import Inference

SERVER = Path(inference_seal.__file__).parents[2]
SUFFIX = importlib.machinery.EXTENSION_SUFFIXES[0]
CONSTRUCTOR = """
#include <stdio.h>
__attribute__((constructor)) static void spring(void) { FILE *mark = fopen("%s", "w"); if (mark) fclose(mark); }
"""
HOLDS = """
import jax
def make() -> jax.Array:
    open(__file__ + ".ran", "w")
class Holder:
    def __init__(self):
        self.mesh = jax.make_mesh((8,), "d")
HOLDER = Holder()
"""
"""What objects are asked for behind the traps."""
PYTHON_TRAPS = (
    *("sitecustomize", "usercustomize", "conftest", "setup", "jedi/__init__", "parso/__init__", "shardlint/__init__"),
    *("json/__init__", "gi/__init__", "lib/__init__", "lib/compat", "ast", "pickle"),
)


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """The file that a trap makes when it springs."""
    return tmp_path / "mark"


@pytest.fixture
def workspace(tmp_path: Path, mark: Path) -> Path:
    """A folder in which everything that could be run by mistake makes the mark."""
    root = tmp_path / "workspace"
    site = root / ".venv" / "lib" / "python3.12" / "site-packages"
    trap = f"open({str(mark)!r}, 'w')\nfrom jax.dlpack import to_dlpack\n{HOLDS}"
    for folder in (root, site):
        for name in PYTHON_TRAPS:
            put(folder / f"{name}.py", trap)
        put(folder / "trap.pth", f"import os; open({str(mark)!r}, 'w')")
    for name in ("python", "python3", "python3.12"):
        put(root / ".venv" / "bin" / name, f"#!/bin/sh\necho > {mark}\n").chmod(0o755)
    put(root / ".venv" / "pyvenv.cfg", f"home = {root / '.venv' / 'bin'}\n")
    shutil.copytree(root / ".venv" / "bin", root / "bin")
    unsafe = {
        "load_unsafe_extensions": True,
        "environment_path": str(root / ".venv" / "bin" / "python"),
        "sys_path": [str(root)],
        "path": str(root),
    }
    put(root / ".jedi" / "project.json", json.dumps([1, unsafe]))
    put(root / "buildout.cfg", "[buildout]\n")
    return root


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Make a compiled library that makes the given mark when it is loaded."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or os.name == "nt":
        pytest.skip("there is no C compiler to build a booby-trapped library with")

    def build(mark: Path) -> Path:
        folder = tmp_path_factory.mktemp("compiled")
        source = put(folder / "trap.c", CONSTRUCTOR % mark)
        subprocess.run([compiler, "-shared", "-fPIC", "-o", folder / "trap.so", source], check=True)
        return folder / "trap.so"

    return build


def put(file: Path, content: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    return file


def files_of(folder: Path) -> Mapping[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def asked(workspace: Path, *names: str) -> Mapping[str, str]:
    site = workspace / ".venv" / "lib" / "python3.12" / "site-packages"
    with Inference(None, 60.0) as inference:
        answers = inference.answer(names, [workspace, site])
        assert inference.problems == ()
    return answers


def test_no_python_of_the_workspace_runs(workspace, mark, monkeypatch) -> None:
    """In a workspace full of traps, with its environment active, jedi answers, none springs, and no file is changed."""
    monkeypatch.chdir(workspace)
    monkeypatch.setenv("VIRTUAL_ENV", str(workspace / ".venv"))
    monkeypatch.setenv("CONDA_PREFIX", str(workspace / ".venv"))
    monkeypatch.setenv("PATH", str(workspace / ".venv" / "bin"), prepend=os.pathsep)
    monkeypatch.setenv("PYTHONPATH", str(workspace))
    monkeypatch.setenv("PYTHONSTARTUP", str(workspace / "setup.py"))
    before = files_of(workspace)
    names = ("lib.compat.to_dlpack", "lib.to_dlpack", "gi.to_dlpack", "setup.to_dlpack", "jedi.to_dlpack")
    assert asked(workspace, *names, "json.to_dlpack", "ast.to_dlpack") == dict.fromkeys(names, "jax.dlpack.to_dlpack")
    objects = {
        "lib.make()": "jax.Array()",
        "lib.compat.make()": "jax.Array()",
        "gi.Holder().mesh": "jax.make_mesh()",
        "setup.HOLDER.mesh": "jax.make_mesh()",
    }
    assert asked(workspace, *objects) == objects
    assert not mark.exists()
    assert files_of(workspace) == before


@pytest.mark.parametrize("trap", ["lib/compat.py", ".venv/bin/python", "sitecustomize.py"])
def test_the_traps_spring(workspace, mark, trap) -> None:
    """The traps above work: whoever runs one of them makes the mark."""
    runner = [] if "bin" in trap else [sys.executable]
    subprocess.run([*runner, str(workspace / trap)], capture_output=True, check=False)
    assert mark.exists()


def test_no_compiled_module_is_loaded(workspace, mark, compiled) -> None:
    """Compiled modules of the workspace and of its environment stay closed, wherever they lie and whatever they are called."""
    library = compiled(mark)
    site = workspace / ".venv" / "lib" / "python3.12" / "site-packages"
    for folder in (workspace, site, workspace / "lib", site / "lib", workspace / "space"):
        folder.mkdir(exist_ok=True)
        for name in (f"native{SUFFIX}", "native.abi3.so", "native.so", f"_sqlite3{SUFFIX}", f"math{SUFFIX}"):
            shutil.copy(library, folder / name)
    put(workspace / "native.pyi", "import jax\ndef load() -> jax.Array: ...\nMESH: jax.sharding.Mesh\n")
    put(
        workspace / "lib" / "loads.py",
        "from lib import native\nimport native as other\nx, y = native.load(), other.load()\n",
    )
    (workspace / "package").mkdir()
    shutil.copy(library, workspace / "package" / f"__init__{SUFFIX}")
    put(workspace / "passing.py", "from native import asarray\nfrom native import *\nimport lib.native as module\n")
    names = ("native.asarray", "lib.native.asarray", "space.native.asarray", "package.asarray", "_sqlite3.asarray")
    more = ("math.asarray", "passing.asarray", "passing.other", "passing.module.asarray")
    assert asked(workspace, *names, *more) == {
        "passing.asarray": "native.asarray",
        "passing.module.asarray": "lib.native.asarray",
    }
    objects = (
        "lib.native.load()",
        "_sqlite3.connect()",
        "space.native.load()",
        "lib.loads.x",
        "lib.loads.y",
        "package.load()",
    )
    assert asked(workspace, "native.load()", *objects) == {
        "native.load()": "jax.Array()",
        "lib.loads.x": "lib.native.load()",
        "lib.loads.y": "jax.Array()",
    }
    assert not mark.exists()


def test_the_compiled_trap_springs(tmp_path, mark, compiled) -> None:
    """The compiled trap works: Python makes the mark when it tries to import it."""
    shutil.copy(compiled(mark), tmp_path / f"native{SUFFIX}")
    subprocess.run([sys.executable, "-c", "import native"], cwd=tmp_path, capture_output=True, check=False)
    assert mark.exists()


class Trap:
    """What makes the mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self._mark),)


def test_a_pickle_in_the_cache_is_no_way_in(tmp_path, mark) -> None:
    """Whoever writes into the folder of jedi's trees cannot make it run anything."""
    put(tmp_path / "root" / "lib.py", "from jax.dlpack import to_dlpack")
    for _ in range(2):
        with Inference(tmp_path / "cache", 60.0) as inference:
            answers = inference.answer(["lib.to_dlpack"], [tmp_path / "root"])
            assert answers == {"lib.to_dlpack": "jax.dlpack.to_dlpack"}
            assert inference.problems == ()
        for kept in (tmp_path / "cache").glob("names-*"):
            kept.unlink()
        for tree in (tmp_path / "cache" / "jedi").rglob("*.pkl"):
            tree.write_bytes(pickle.dumps(Trap(mark)))
    assert not mark.exists()
    pickle.loads(pickle.dumps(Trap(mark)))
    assert mark.exists()


def compiled_module() -> str:
    """A compiled module of the standard library."""
    for name in ("_decimal", "_sqlite3", "_ctypes", "_elementtree"):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin not in (None, "built-in"):
            return str(spec.origin)
    pytest.skip("this Python has its compiled modules built in")


def sealed(statement: str, tmp_path: Path) -> str:
    """The name of what a statement raises in a sealed process, "nothing" if it raises nothing."""
    program = f"""
import sys
from pathlib import Path
import parso.cache
standard = [folder for folder in sys.path if "site-packages" not in folder and folder != {str(SERVER)!r}]
from shardlint.inference.seal import seal
sys.path.insert(0, {str(tmp_path)!r})
seal(standard, [Path({str(SERVER)!r}, "shardlint")])
try:
    {statement}
except BaseException as error:
    print(type(error).__name__)
else:
    print("nothing")
"""
    environ = {**os.environ, "PYTHONPATH": str(SERVER), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr


@pytest.mark.parametrize(
    "statement",
    [
        "import subprocess; subprocess.run(['true'])",
        "import os; os.system('true')",
        "import os; os.execv(sys.executable, [sys.executable])",
        "import os; os.fork()",
        "import os; os.posix_spawn('/bin/true', ['true'], {})",
        "import pty; pty.spawn('true')",
        "import ctypes; ctypes.CDLL(None)",
        "import socket; socket.socket()",
        "import stranger",
        "import runpy; runpy.run_path(sys.path[0] + '/stranger.py')",
        "import copied",
        "import pickle, os; pickle.loads(b'cos\\nsystem\\n(Vtrue\\ntR.')",
        "import pickle; pickle.loads(b'\\x80\\x04\\x8c\\x0bparso.cache\\x8c\\x09os.system\\x93.')",
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="the statements are those of POSIX")
def test_the_seal_holds(statement, tmp_path) -> None:
    """A sealed process starts nothing, connects nowhere, and runs, loads and unpickles nothing that is not its own."""
    (tmp_path / "stranger.py").write_text("")
    if "copied" in statement:
        shutil.copy(compiled_module(), tmp_path / f"copied{SUFFIX}")
    assert sealed(statement, tmp_path) == "SealedError"


@pytest.mark.parametrize("statement", ["import decimal, _decimal, sqlite3", "import json, tomllib", "exec('x = 1')"])
def test_the_seal_lets_its_own_pass(statement, tmp_path) -> None:
    """The standard library, compiled or not, can still be imported."""
    assert sealed(statement, tmp_path) == "nothing"
