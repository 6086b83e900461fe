"""Answers are kept on disk, as long as the files that they were made from are as they were."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from shardlint.inference.door import Inference
from shardlint.inference.store import Entry, Store, cache_folder

QUESTION = "lib.compat.to_dlpack"
GONE = {QUESTION: "jax.dlpack.to_dlpack"}
FILES = {"lib/__init__.py": "", "lib/compat.py": "from jax.dlpack import to_dlpack\n"}


def no_jedi(folder: Path) -> Sequence[str]:
    """In the place of jedi's process: one that answers nothing."""
    return (sys.executable, "-c", "raise SystemExit(3)")


@pytest.fixture
def own(tmp_path: Path, cache: Path) -> Path:
    """A cache without answers, in which jedi finds the trees of its stubs all the same."""
    folder = tmp_path / "cache"
    folder.mkdir()
    (cache / "jedi").mkdir(exist_ok=True)
    (folder / "jedi").symlink_to(cache / "jedi", target_is_directory=True)
    return folder


def asked(cache: Path | None, root: Path, question: str = QUESTION) -> dict[str, str]:
    with Inference(cache, 60.0) as inference:
        answers = inference.answer([question], [root])
        assert inference.problems == ()
    return answers


def remembered(cache: Path | None, root: Path, question: str = QUESTION) -> dict[str, str] | None:
    """What a session without jedi answers; None if it would have needed jedi."""
    with Inference(cache, 60.0, no_jedi) as inference:
        answers = inference.answer([question], [root])
        return None if inference.problems else answers


def test_a_later_session_needs_no_jedi(own, write) -> None:
    """What one session has learned the next one knows, the names without an answer included."""
    root = write(FILES)
    assert remembered(own, root) is None
    assert asked(own, root) == GONE
    assert asked(own, root, "lib.compat.asarray") == {}
    assert remembered(own, root) == GONE
    assert remembered(own, root, "lib.compat.asarray") == {}


def test_recall_starts_nothing(own, write) -> None:
    """What is known can be asked for without ever starting a process."""
    root = write(FILES)
    with Inference(own, 60.0, no_jedi) as inference:
        assert inference.recall([QUESTION], [root]) == {}
        asked(own, root)
    with Inference(own, 60.0, no_jedi) as inference:
        assert inference.recall([QUESTION, "lib.other"], [root]) == GONE
        assert inference.problems == ()


@pytest.mark.parametrize(
    ("name", "content", "answers"),
    [
        ("lib/compat.py", "from torch.utils.dlpack import to_dlpack\n", {QUESTION: "torch.utils.dlpack.to_dlpack"}),
        ("lib/compat.py", "def to_dlpack(x): ...\n", {}),
        ("lib/__init__.py", "import other as compat\n", {QUESTION: "other.to_dlpack"}),
        ("lib/compat/__init__.py", "from torch import to_dlpack\n", {QUESTION: "torch.to_dlpack"}),
    ],
)
def test_a_change_is_seen(own, write, name, content, answers) -> None:
    """A changed file, and a new one that comes before it, are read in the same session and in the next."""
    root = write(FILES)
    with Inference(own, 60.0) as inference:
        assert inference.answer([QUESTION], [root]) == GONE
        write({name: content})
        assert inference.answer([QUESTION], [root]) == answers
        assert inference.problems == ()
    assert remembered(own, root) == answers


@pytest.mark.parametrize(
    ("before", "question"),
    [
        ({"other.py": ""}, QUESTION),
        ({"lib/__init__.py": ""}, QUESTION),
        ({"lib/__init__.py": ""}, "lib.compat.jdl"),
        ({"lib/__init__.py": "from .compat import *"}, "lib.to_dlpack"),
    ],
)
def test_a_module_installed_later_is_seen(own, write, before, question) -> None:
    """An answer that nothing is there does not outlive the absence."""
    root = write(before)
    assert asked(own, root, question) == {}
    later = {**FILES, "lib/compat.py": "from jax.dlpack import to_dlpack\nimport jax.dlpack as jdl\n"}
    write({name: content for name, content in later.items() if name not in before})
    assert asked(own, root, question).popitem()[1] in ("jax.dlpack", "jax.dlpack.to_dlpack")


OBJECT = "lib.C().make()"
OBJECTS = {
    "lib.py": "from base import Base\nclass C(Base): ...\n",
    "base.py": "from types_ import Result\nclass Base:\n    def make(self) -> Result: ...\n",
    "types_.py": "from jax import Array as Result\n",
}


@pytest.mark.parametrize(
    ("name", "content", "answers"),
    [
        ("types_.py", "from numpy import ndarray as Result\n", {OBJECT: "numpy.ndarray()"}),
        ("base.py", "class Base: ...\n", {OBJECT: "base.Base().make()"}),
        ("lib.py", "import jax\nclass C:\n    make = jax.devices\n", {OBJECT: "jax.devices()"}),
        ("base/__init__.py", "class Base:\n    def make(self): ...\n", {OBJECT: "base.Base().make()"}),
    ],
)
def test_a_change_behind_an_object_is_seen(own, write, name, content, answers) -> None:
    """An answer about an object depends on all modules through which it led."""
    root = write(OBJECTS)
    assert asked(own, root, OBJECT) == {OBJECT: "jax.Array()"}
    assert remembered(own, root, OBJECT) == {OBJECT: "jax.Array()"}
    write({name: content})
    assert remembered(own, root, OBJECT) is None
    assert asked(own, root, OBJECT) == answers


def test_one_device_in_another_module_is_seen(own, write) -> None:
    """That something is on many devices depends on the modules from which it is made, too."""
    made = "import jax, meshes\nS = jax.sharding.NamedSharding(meshes.make(), jax.P())\n"
    root = write({"lib.py": made, "meshes.py": "import jax\ndef make():\n    return jax.make_mesh((8,), 'd')\n"})
    assert asked(own, root, "lib.S") == {"lib.S": "jax.sharding.NamedSharding()"}
    write({"meshes.py": "import jax\ndef make():\n    return jax.make_mesh((1,), 'd')\n"})
    assert remembered(own, root, "lib.S") is None
    assert asked(own, root, "lib.S") == {}


def test_a_module_removed_is_seen(own, write) -> None:
    """An answer does not outlive the module that it was read from."""
    root = write(FILES)
    assert asked(own, root) == GONE
    (root / "lib" / "compat.py").unlink()
    assert asked(own, root) == {}


def test_folders_do_not_share_answers(own, write, tmp_path) -> None:
    """The same name may mean different things in two environments."""
    root = write(FILES)
    assert asked(own, root) == GONE
    assert asked(own, tmp_path / "empty") == {}
    assert asked(own, root) == GONE


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"\x80\x00",
        b"{",
        b"[]",
        b"null",
        b"[" * 100_000,
        b'{"lib.compat.to_dlpack": "jax"}',
        b'{"lib.compat.to_dlpack": [1, {}]}',
        b'{"lib.compat.to_dlpack": ["torch.from_dlpack", []]}',
        b'{"lib.compat.to_dlpack": ["torch.from_dlpack", {"file": [1]}]}',
        b'{"lib.compat.to_dlpack": ["torch.from_dlpack", {"file": "x"}]}',
        b'{"lib.compat.to_dlpack": ["torch.from_dlpack", {"\\u0000": [1, 2]}]}',
    ],
)
def test_damage_costs_time_only(own, write, damage) -> None:
    """A damaged file is as good as none, and is replaced by a whole one."""
    root = write(FILES)
    asked(own, root)
    (kept,) = own.glob("names-*.json")
    kept.write_bytes(damage)
    assert asked(own, root) == GONE
    assert remembered(own, root) == GONE


def test_one_damaged_answer_leaves_the_others(own, write) -> None:
    """What can still be read of a file is used."""
    root = write(FILES)
    asked(own, root)
    (kept,) = own.glob("names-*.json")
    kept.write_bytes(kept.read_bytes().replace(b"{", b'{"lib.broken": 7, ', 1))
    assert remembered(own, root) == GONE


def test_several_may_write_at_once(own, write) -> None:
    """Sessions that write at the same time lose no answer of one that was there before, and leave no other files behind."""
    names = [f"lib.m{number}.to_dlpack" for number in range(4)]
    root = write({**FILES, **{f"lib/m{number}.py": f"from other import n{number} as to_dlpack" for number in range(4)}})
    asked(own, root)
    with ThreadPoolExecutor() as threads:
        found = list(threads.map(lambda name: asked(own, root, name), names))
    assert found == [{name: f"other.n{number}"} for number, name in enumerate(names)]
    assert remembered(own, root) == GONE
    assert sorted(entry.name.partition("-")[0] for entry in own.iterdir()) == ["jedi", "names"]


def test_sessions_keep_each_others_answers(own, write) -> None:
    """What another session has learned meanwhile is still there after one has written."""
    root = write({f"m{number}.py": "from jax.dlpack import to_dlpack" for number in range(3)})
    with Inference(own, 60.0) as inference:
        assert inference.answer(["m0.to_dlpack"], [root])
        assert asked(own, root, "m1.to_dlpack")
        assert inference.answer(["m2.to_dlpack"], [root])
    assert all(remembered(own, root, f"m{number}.to_dlpack") for number in range(3))


def test_what_is_kept_does_not_grow_for_ever(tmp_path) -> None:
    """Of very many answers the oldest are let go."""
    Store(tmp_path, "scope").add({f"lib.n{number}": Entry(None, {}) for number in range(10_000)})
    kept = Store(tmp_path, "scope")
    assert kept.get("lib.n0") is None
    assert kept.get("lib.n9999") == Entry(None, {})


def test_without_a_place_to_keep_answers(write, tmp_path) -> None:
    """A cache folder that cannot be made, or none at all, costs nothing but time."""
    root = write(FILES)
    (tmp_path / "file").touch()
    assert asked(tmp_path / "file" / "cache", root) == GONE
    assert asked(None, root) == GONE


def test_the_cache_is_ones_own(own, write) -> None:
    """Others may not look into what is kept."""
    root = write(FILES)
    asked(own / "new", root)
    assert (own / "new").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("platform", "environ", "below_home"),
    [
        ("linux", {}, ".cache/shardlint"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, ".cache/shardlint"),
        ("linux", {"XDG_CACHE_HOME": "{home}/kept"}, "kept/shardlint"),
        ("darwin", {}, "Library/Caches/shardlint"),
        ("darwin", {"XDG_CACHE_HOME": "{home}/kept"}, "kept/shardlint"),
        ("win32", {}, "AppData/Local/shardlint/Cache"),
        ("win32", {"LOCALAPPDATA": "{home}/local"}, "local/shardlint/Cache"),
    ],
)
def test_where_the_cache_is(platform, environ, below_home, tmp_path, monkeypatch) -> None:
    """The cache is where the platform keeps such things, and `XDG_CACHE_HOME` moves it."""
    monkeypatch.setenv("USERPROFILE" if os.name == "nt" else "HOME", str(tmp_path))
    told = {name: value.format(home=tmp_path) for name, value in environ.items()}
    assert cache_folder(told, platform) == tmp_path / below_home
