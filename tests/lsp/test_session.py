"""Which reports a session takes for outdated when files change, and that it checks no more than these again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lsprotocol import types

from shardlint.check import Report, Snapshot
from shardlint.lsp.engine import Engine, core
from shardlint.lsp.session import Session

MAIN = "import jax.numpy as jnp\nimport middle\n\nmiddle.give(jnp.zeros(3))\n"
MIDDLE = "from far import give\n"
FAR = "def give(x):\n    return x\n"
ALONE = "import torch\nimport missing\n\ndef f(x):\n    torch.from_dlpack(x)\n"
FILES = {"main.py": MAIN, "middle.py": MIDDLE, "far.py": FAR, "alone.py": ALONE}


class Opened:
    """A session with files open that are on disk, and the names of those that the core was asked to check."""

    def __init__(self, folder: Path, engine: Callable[[], Engine] = core) -> None:
        real = engine()
        self.checks: list[str] = []

        def check(snapshot: Snapshot) -> Report:
            self.checks.append(Path(snapshot.path).name)
            return real.check(snapshot)

        self.folder = folder
        self.session = Session(replace(real, check=check, remembering=None), lambda _: None)
        for name, text in FILES.items():
            (folder / name).write_text(text)

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, *names: str) -> None:
        for name in names:
            text = (self.folder / name).read_text()
            self.session.open(types.TextDocumentItem(self.uri(name), "python", 1, text))
            self.session.checked(self.uri(name))

    def type(self, name: str, text: str) -> None:
        self.session.change(self.uri(name), 2, [types.TextDocumentContentChangeWholeDocument(text)])

    @property
    def outdated(self) -> set[str]:
        return {uri.rpartition("/")[2] for uri in self.session.outdated}


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    return Opened(tmp_path)


def test_a_change_outdates_all_that_imports_the_file(opened: Opened) -> None:
    """Also behind another module, and although nothing of it had mattered so far; files that do not import it stay as they are."""
    opened.open("main.py", "far.py", "alone.py")
    assert opened.outdated == set()
    opened.type("far.py", "import torch\n\ndef give(x):\n    return torch.from_dlpack(x)\n")
    assert opened.outdated == {"main.py"}
    before = len(opened.checks)
    opened.session.checked(opened.uri("alone.py"))
    opened.session.checked(opened.uri("main.py"))
    assert opened.checks[before:] == ["main.py"]
    assert opened.outdated == set()


def test_a_caller_does_not_outdate_what_it_calls(opened: Opened) -> None:
    """What is typed in a file that imports others is nothing to these."""
    opened.open("far.py", "middle.py", "main.py")
    opened.type("main.py", f"{MAIN}# more\n")
    assert opened.outdated == set()


def test_opening_and_closing_what_is_saved_changes_nothing(opened: Opened) -> None:
    """A module whose text is the same on disk and in the editor is the same module."""
    opened.open("main.py", "alone.py")
    opened.open("far.py", "middle.py")
    opened.session.close(opened.uri("far.py"))
    opened.session.look_again()
    assert opened.outdated == set()


def test_closing_what_is_not_saved_goes_back_to_the_disk(opened: Opened) -> None:
    """The text on disk counts again, for those whom it concerns."""
    opened.open("main.py", "alone.py", "far.py")
    opened.type("far.py", "def give(x, y):\n    return x\n")
    opened.session.checked(opened.uri("main.py"))
    opened.session.close(opened.uri("far.py"))
    assert opened.outdated == {"main.py"}


def test_what_was_looked_for_in_vain_is_noticed_when_it_comes(opened: Opened) -> None:
    """A new file matters to those that looked for it; one that was deleted, to those that it led to."""
    opened.open("main.py", "alone.py")
    (opened.folder / "unrelated.py").write_text("")
    opened.session.look_again()
    assert opened.outdated == set()
    (opened.folder / "missing.py").write_text("")
    opened.session.look_again()
    assert "alone.py" in opened.outdated
    for name in ("main.py", "alone.py"):
        opened.session.checked(opened.uri(name))
    (opened.folder / "far.py").unlink()
    opened.session.look_again()
    assert opened.outdated == {"main.py"}


def test_an_unsaved_buffer_has_no_workspace(opened: Opened) -> None:
    """A buffer without a file is checked by itself, and nothing outdates it."""
    opened.session.open(types.TextDocumentItem("untitled:one", "python", 1, "import far\nfar.give(1)\n"))
    checked = opened.session.checked("untitled:one")
    assert checked
    assert checked.snapshot.modules.find("far") is None
    opened.open("far.py")
    opened.type("far.py", "")
    assert opened.outdated == set()


def test_new_settings_outdate_everything(opened: Opened) -> None:
    """Settings hold for all that is open."""
    opened.open("main.py", "alone.py")
    opened.session.forget_settings()
    assert opened.outdated == {"main.py", "alone.py"}
