"""The modules of a workspace on disk, or as an editor has them open: found by name, parsed once as long as they do not change."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from shardlint.files import SourceFile, read
from shardlint.placement.modules import Module, Reach, imported
from shardlint.syntax.tree import parse
from shardlint.text import Text

_INIT = "__init__.py"
_ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta")

Stamp = tuple[int, int] | Text | None
"""What a module's text was read from: size and time of the last change in nanoseconds, or the text that an editor holds."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a file stands among modules: its dotted name, the folders from which names are looked up, and whether it is a package."""

    name: str
    roots: tuple[Path, ...]
    is_package: bool


def standing(path: Path, project: Path) -> Standing:
    """The standing of a file. Its package begins below the first folder without `__init__.py`; that folder, the `project` and its
    `src` are where modules are looked for, as Python is mostly told to.
    """
    path, project = path.absolute(), project.absolute()
    is_package = path.name == _INIT
    parts = [] if is_package else [path.stem]
    folder = path.parent
    while _is_file(folder / _INIT) and folder != folder.parent:
        parts.insert(0, folder.name)
        folder = folder.parent
    return Standing(".".join(parts), tuple(dict.fromkeys((folder, project, project / "src"))), is_package)


@dataclass(eq=False)
class Workspace:
    """Modules by name below `roots`, for one set of `rules`; what was found once stays so for this object. See `Modules`."""

    roots: tuple[Path, ...]
    rules: object
    _files: _Files
    _found: dict[str, Module | None] = field(default_factory=dict[str, "Module | None"])
    reaches: dict[Module, Reach] = field(default_factory=dict[Module, Reach])
    _near: dict[Module, tuple[Module, ...]] = field(default_factory=dict[Module, tuple[Module, ...]])
    _behinds: dict[tuple[str, ...], Mapping[Module, None]] = field(
        default_factory=dict[tuple[str, ...], Mapping[Module, None]]
    )

    def find(self, name: str, /) -> Module | None:
        """The module of this name in the first root that has it."""
        if name not in self._found:
            self._found[name] = self._look(name)
        return self._found[name]

    def is_current(self) -> bool:
        """Whether all that was found would be found again."""
        return all(self._look(name) is module for name, module in self._found.items())

    def leads(self, imports: tuple[str, ...], path: str) -> bool:
        """Whether the modules of these names, or any that they import, are the file that findings call `path`."""
        return any(one.path == path for one in self._behind(imports))

    def holds_for(self, imports: tuple[str, ...]) -> bool:
        """Whether these modules and all that they import would be found again, and what was looked for in vain would not."""
        behind = self._behind(imports)
        return all(
            self._look(name) is module for name, module in self._found.items() if module is None or module in behind
        )

    def _behind(self, imports: tuple[str, ...]) -> Mapping[Module, None]:
        known = self._behinds.get(imports)
        if known is None:
            known = dict.fromkeys(found for name in imports if (found := self.find(name)) is not None)
            stack = [*known]
            while stack:
                new = [one for one in self._imported(stack.pop()) if one not in known]
                known.update(dict.fromkeys(new))
                stack += new
            self._behinds[imports] = known
        return known

    def _imported(self, module: Module) -> tuple[Module, ...]:
        if module not in self._near:
            self._near[module] = tuple(imported(module, self))
        return self._near[module]

    def _look(self, name: str) -> Module | None:
        parts = name.split(".")
        if not all(part.isidentifier() for part in parts):
            return None
        for root in self.roots:
            place = root.joinpath(*parts)
            found = (
                self._files.module(name, place / _INIT, is_package=True)
                or self._files.module(name, place.with_name(f"{place.name}.py"), is_package=False)
                or self._files.namespace(name, place)
            )
            if found is not None:
                return found
        return None


@dataclass(eq=False)
class _Files:
    """Modules by the file that they were read from. `open` are texts that come before what is on disk, and `spell` says how a path
    is written in findings.
    """

    spell: Callable[[Path], str] = str
    open: Mapping[Path, Text] = field(default_factory=dict[Path, Text])
    _read: dict[tuple[str, Path], tuple[Stamp, Module | None]] = field(
        default_factory=dict[tuple[str, Path], "tuple[Stamp, Module | None]"]
    )

    def module(self, name: str, path: Path, *, is_package: bool) -> Module | None:
        stamp = self.open.get(path) or _stamp(path)
        known = self._read.get((name, path))
        if known is not None and known[0] == stamp:
            return known[1]
        text = stamp if stamp is None or isinstance(stamp, Text) else _text(path)
        made = None if known is None else known[1]
        if made is None or made.tree.text != text:  # what is opened, or saved as it was, stays the same module
            tree = None if text is None else parse(text, None if made is None else made.tree)
            made = None if tree is None else Module(name, self.spell(path), tree, is_package)
        self._read[name, path] = stamp, made
        return made

    def namespace(self, name: str, folder: Path) -> Module | None:
        """A folder without `__init__.py` is a package too."""
        if not _is_package_folder(folder):
            return None
        known = self._read.get((name, folder))
        if known is None:
            known = self._read[name, folder] = None, Module(name, str(folder), parse(Text("")), is_package=True)
        return known[1]


@dataclass(eq=False)
class Workspaces:
    """The workspaces of one session, in an editor or on the command line. `spell` says how a path is written in findings."""

    spell: Callable[[Path], str] = str
    _files: _Files = field(init=False)
    _known: dict[tuple[tuple[Path, ...], int], Workspace] = field(
        default_factory=dict[tuple[tuple[Path, ...], int], Workspace]
    )

    def __post_init__(self) -> None:
        self._files = _Files(self.spell)

    def at(self, roots: tuple[Path, ...], rules: object, *, fresh: bool = False) -> Workspace:
        """The workspace below `roots` for one set of rules. With `fresh`, files are looked at again."""
        key = roots, id(rules)
        known = self._known.get(key)
        if known is None or (fresh and not known.is_current()):
            known = self._known[key] = Workspace(roots, rules, self._files)
        return known

    def hold(self, texts: Mapping[Path, Text]) -> None:
        """Take these texts for what is in the files, until told otherwise."""
        self._files.open = texts


def _stamp(path: Path) -> tuple[int, int] | None:
    with contextlib.suppress(OSError, ValueError):
        status = path.stat()
        return status.st_size, status.st_mtime_ns
    return None


def _text(path: Path) -> Text | None:
    source = read(path)
    return source.text if isinstance(source, SourceFile) else None


def _is_file(path: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        return path.is_file()
    return False


def _is_package_folder(folder: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        return folder.is_dir() and not any((folder / mark).exists() for mark in _ENVIRONMENT_MARKS)
    return False
