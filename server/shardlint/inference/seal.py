"""A lock on a process that reads other people's code with libraries that can import modules and start programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import CodeType

_STARTS = frozenset(
    {
        "ctypes.dlopen",
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.spawn",
        "os.startfile",
        "os.system",
        "pty.spawn",
        "socket.__new__",
        "subprocess.Popen",
    }
)
_PICKLED = frozenset({"parso.cache", "parso.python.tree", "parso.tree"})
"""The modules whose classes are in the trees that jedi keeps on disk."""


class SealedError(Exception):
    """Something was about to happen that the seal forbids."""


def seal(standard: Iterable[str], own: Iterable[Path]) -> None:
    """Forbid this process, for the rest of its life, to start programs, to connect, and to run code that is not its own.

    Its own is what lies in the folders `standard`, those of the standard library, and in the packages `own`. From then on
    everything else raises `SealedError`: code from a file elsewhere, compiled modules from elsewhere, pickles of anything but
    syntax trees.
    """
    libraries = tuple(Path(folder) for folder in standard)
    checks = _checks(libraries, tuple(own))

    def refuse(event: str, arguments: Sequence[object]) -> None:
        check = checks.get(event)
        if (check is not None and not check(arguments)) or event in _STARTS:
            raise SealedError(f"{event}: {arguments!r}")

    sys.addaudithook(refuse)


def _checks(libraries: tuple[Path, ...], own: tuple[Path, ...]) -> dict[str, Callable[[Sequence[object]], bool]]:
    """By the name of an audit event, whether one with these arguments is allowed."""

    def compiled_module(arguments: Sequence[object]) -> bool:
        file = arguments[1]
        return not isinstance(file, str) or Path(file).parent in libraries

    def code(arguments: Sequence[object]) -> bool:
        (running,) = arguments
        if not isinstance(running, CodeType) or running.co_filename.startswith("<"):
            return True
        file = Path(running.co_filename)
        return _lies_in(file, own) or (_lies_in(file, libraries) and "site-packages" not in file.parts)

    def pickled(arguments: Sequence[object]) -> bool:
        module, name = arguments
        return module in _PICKLED and "." not in str(name)

    return {"import": compiled_module, "exec": code, "pickle.find_class": pickled}


def _lies_in(file: Path, folders: tuple[Path, ...]) -> bool:
    return any(file.is_relative_to(folder) for folder in folders)
