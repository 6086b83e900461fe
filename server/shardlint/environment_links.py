"""The folders that an environment takes packages from besides its own, as projects installed for editing: read, never run."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

_FINDER = "__editable___*_finder.py"
"""The modules by which setuptools makes a project importable whose packages do not lie in one folder."""
_LARGEST = 1 << 20


def linked_folders(site_packages: Path) -> tuple[Path, ...]:
    """The folders that the `.pth` files of a folder of packages name, and those in which editable packages lie.

    Lines of a `.pth` file that are code are left out. Nothing is said of what cannot be read.
    """
    found = [*_by_paths(site_packages), *_by_finders(site_packages)]
    return tuple(dict.fromkeys(path for path in found if os.access(path, os.F_OK)))


def _by_paths(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.glob("*.pth")):
        for line in _text(file).splitlines():
            name = line.strip()
            if name and not name.startswith(("#", "import ", "import\t")):
                yield Path(os.path.normpath(folder / name))


def _by_finders(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.glob(_FINDER)):
        for name, place in _mapping(_text(file)).items():
            path = Path(place)
            if path.is_absolute() and path.name == name.rpartition(".")[2] and "." not in name:
                yield path.parent


def _mapping(source: str) -> dict[str, str]:
    """The packages and their folders that such a module lists."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    for statement in body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id="MAPPING")], value=ast.Dict() as value)
                | ast.AnnAssign(target=ast.Name(id="MAPPING"), value=ast.Dict() as value)
            ):
                pairs = zip(value.keys, value.values, strict=True)
                texts = [
                    (key.value, one.value)
                    for key, one in pairs
                    if isinstance(key, ast.Constant) and isinstance(one, ast.Constant)
                ]
                return {key: one for key, one in texts if isinstance(key, str) and isinstance(one, str)}
            case _:
                pass
    return {}


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", errors="replace") if file.stat().st_size <= _LARGEST else ""
    except OSError:
        return ""
