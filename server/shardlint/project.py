"""A project on disk: which files are looked at, what holds for them, and the check and repair of each."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from shardlint.check import Report, Snapshot, check
from shardlint.config import TABLE, Settings, load
from shardlint.environment import find_target, import_folders
from shardlint.files import SourceFile, problem, read
from shardlint.model import Finding, Fix, Problem, Safety, Target
from shardlint.placement.modules import Modules
from shardlint.records.catalogue import Catalogue
from shardlint.selection import Asked, Ignored, ignored_by_file, ignored_rules, unknown
from shardlint.syntax import notebook
from shardlint.syntax.recovery import parse_chunk
from shardlint.syntax.tree import parse
from shardlint.text import Span, Text
from shardlint.workspace import Workspaces, standing

if TYPE_CHECKING:
    from shardlint.inference.door import Inference

NOTEBOOK = ".ipynb"
SUFFIXES = (".py", NOTEBOOK)
_EXCLUDED = frozenset(
    {"__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages"}
)
_ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta")
WORDS = (
    "__cuda_array_interface__",
    "as_cuda_array",
    "asarray",
    "cuda.core",
    "cupy",
    "Dlpack",
    "dlpack",
    "from_jax",
    "frombuffer",
    "hashlib",
    "jax",
    "memoryview",
    "mpi4py",
    "numba",
    "pycuda",
    "shardlint:",
    "Tensor",
    "tensor",
    "unsafe_buffer_pointer",
    "zlib",
)
"""A file without any of these has no hand-off that a shipped rule speaks of, and no comment that speaks to shardlint."""
_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+(\.|\w+)", re.MULTILINE)
_NOTHING_ASKED = Asked()
_MOST_REPAIRS = 10
"""How often a file is repaired again before what is left is taken as it is."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What holds for the files of one folder: the settings in force, the target, the rules, and those to keep quiet about, everywhere and by
    file.

    `import_folders` are those in which modules are looked for that the files import, in that order.
    """

    settings: Settings
    target: Target
    catalogue: Catalogue
    ignored: frozenset[str]
    ignored_in: Ignored | None = None
    import_folders: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """One file with what was found in it. A file that cannot hold a hand-off has no findings, but may be broken."""

    source: SourceFile
    snapshot: Snapshot
    report: Report


@dataclass(frozen=True, slots=True)
class Repaired:
    """What is written in a file before its safe fixes and after, and those that led there; `problem` says why it has to stay as it is."""

    before: str
    text: str
    fixes: tuple[Fix, ...]
    problem: Problem | None = None


def scope_of(
    folder: Path,
    shipped: Catalogue,
    environ: Mapping[str, str],
    target: Target | None = None,
    asked: Asked = _NOTHING_ASKED,
) -> tuple[Scope, tuple[Problem, ...]]:
    """What holds for the files in `folder`, and one problem for each thing of the user's that could not be used.

    `target` and `asked` are asked for from outside and come before, or on top of, what the project says. `environ` are the
    variables of the process.
    """
    settings, problems = load(folder)
    found: tuple[Problem, ...] = ()
    if target is None:
        target, found = find_target(folder, settings, shipped.jax_versions, environ)
    catalogue, unusable = _with_own_records(shipped, settings)
    if settings.docs_url is not None:
        catalogue = replace(catalogue, docs_url=settings.docs_url)
    told = [problem(settings.source or folder, f"{TABLE} {clause}") for clause in unknown(catalogue, settings)]
    scope = Scope(
        settings, target, catalogue, ignored_rules(catalogue, settings, asked), ignored_by_file(catalogue, settings),
        import_folders(folder, settings, environ),
    )  # fmt: skip
    return scope, (*problems, *found, *unusable, *told)


def python_files(given: Path, settings: Settings) -> Iterator[Path | Problem]:
    """The Python files that a path given by a person stands for, sorted; a problem for what cannot be looked into.

    A file stands for itself, whatever its name. A folder stands for `.py` files and notebooks in and below it, without hidden files and
    folders, environments, caches, build results and what `exclude` names. Links to folders are not followed. `given` itself
    may be any of these.
    """
    if not _is_folder(given):
        yield given
        return
    unreadable: list[OSError] = []
    for name, folders, files in os.walk(given, onerror=unreadable.append):
        folder = Path(name)
        folders[:] = sorted(child for child in folders if not _skipped(folder / child, settings))
        for file in sorted(files):
            path = folder / file
            if file.endswith(SUFFIXES) and not file.startswith(".") and not _excluded(path, settings):
                yield path
    yield from (problem(Path(error.filename), f"cannot be looked into: {error.strerror}.") for error in unreadable)


def is_left_out(given: Path, settings: Settings) -> bool:
    """Whether nothing but `exclude` keeps a path from standing for any Python file."""
    return any(True for _ in python_files(given, replace(settings, exclude=())))


def check_file(
    path: Path, scope: Scope, workspaces: Workspaces, inference: Callable[[], Inference] | None = None
) -> Checked | Problem:
    """Read and check one file, with what `workspaces` know of those that it imports. `inference` is called only if there are
    questions, and without it they stay open.
    """
    source = read(path)
    if isinstance(source, Problem):
        return source
    if path.suffix == NOTEBOOK:
        try:
            source = replace(source, text=notebook.read(source.text.source))
        except notebook.NotebookError as reason:
            return problem(path, f"cannot be read as a notebook: {reason}.")
    place = standing(path, scope.settings.root)
    modules = workspaces.at(place.roots, scope.catalogue)
    snapshot = Snapshot(
        str(path), source.text, scope.target, scope.catalogue, scope.ignored,
        modules=modules, module=place.name, is_package=place.is_package, assume=scope.settings.assume, ignored_in=scope.ignored_in,
    )  # fmt: skip
    if not _matters(source.text, scope, place.name) and not _imports_any(source.text, modules):
        return Checked(source, snapshot, Report((), (), (), broken=_broken(source.text)))
    first = check(snapshot)
    if not first.questions or inference is None:
        return Checked(source, snapshot, first)
    from shardlint.inference.door import settle

    report, answered = settle(
        snapshot, inference(), scope.import_folders, lambda given: first if given is snapshot else check(given)
    )
    return Checked(source, answered, report)


def checked_again(checked: Checked, called: frozenset[int]) -> Checked:
    """The same file where it is known which of its functions other files call."""
    snapshot = replace(checked.snapshot, called=called)
    return replace(checked, snapshot=snapshot, report=check(snapshot))


def repair(checked: Checked, *, unsafe: bool = False) -> Repaired:
    """Apply the safe fixes until there are no more, or, with `unsafe`, the best fix of every finding, without writing anything."""
    snapshot = checked.snapshot
    if unsafe or snapshot.text.cells:
        from shardlint.fixes.repair import fixed

        wanted = frozenset(Safety) if unsafe else frozenset({Safety.SAFE})
        return _as_written(checked, *fixed(snapshot, wanted))
    from shardlint.fixes.repair import fix_all

    applied: list[Fix] = []
    for _ in range(_MOST_REPAIRS if checked.report.findings else 0):
        text, fixes = fix_all(snapshot)
        if text == snapshot.text.source:
            break
        applied += fixes
        snapshot = replace(snapshot, text=Text(text))
    return _as_written(checked, snapshot.text, tuple(applied))


def _as_written(checked: Checked, new: Text, fixes: tuple[Fix, ...]) -> Repaired:
    """What is to be written in the file for its repaired text: of a notebook that is JSON."""
    source, old = checked.source, checked.snapshot.text
    if not old.cells:
        return Repaired(old.source, new.source, fixes)
    before = source.raw.decode(source.encoding)
    after = notebook.rewritten(before, old, new) if fixes else before
    if after is None:
        clause = (
            "was not repaired: its JSON is not laid out as Jupyter does it, or a magic in it looks like one of its comments; "
            "all of it would be written anew."
        )
        return Repaired(before, before, (), problem(source.path, clause))
    return Repaired(before, after, fixes)


def repairs_of(checked: Checked, finding: Finding) -> tuple[Fix, ...]:
    """The repairs of one finding, the best first."""
    from shardlint.fixes.repair import repairs

    return repairs(checked.snapshot, finding)


def folder_of(given: Path) -> Path:
    """The folder whose settings hold for a path given by a person."""
    return given if _is_folder(given) else given.parent


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False  # reading it will tell why


def _with_own_records(shipped: Catalogue, settings: Settings) -> tuple[Catalogue, tuple[Problem, ...]]:
    if not settings.records:
        return shipped, ()
    from shardlint.records.covering import with_coverage
    from shardlint.records.own import load_own

    own, problems = load_own(settings.records, taken=shipped.rules.keys())
    added = {rule.name: rule for rule in with_coverage(own, shipped.rules)}
    return replace(shipped, rules={**shipped.rules, **added}), problems


def _broken(text: Text) -> tuple[Span, ...]:
    """The spans that do not parse; a text that parses as a whole is not taken apart, as that takes longer."""
    return parse(text).broken if text.cells or parse_chunk(text).broken else ()


def _matters(text: Text, scope: Scope, module: str) -> bool:
    """Whether the text can hold anything that a rule in force speaks of; what own records speak of is not known here."""
    told = any(name.startswith(f"{module}.") for name in scope.settings.assume)
    return told or bool(scope.settings.records) or any(word in text.source for word in WORDS)


def _imports_any(text: Text, modules: Modules) -> bool:
    """Whether the text seems to import from the workspace."""
    names = {found[1] for found in _IMPORT.finditer(text.source)}
    return any(name.startswith(".") or modules.find(name) is not None for name in names)


def _skipped(folder: Path, settings: Settings) -> bool:
    name = folder.name
    if name.startswith(".") or name in _EXCLUDED or _excluded(folder, settings):
        return True
    return any(os.access(folder / mark, os.F_OK) for mark in _ENVIRONMENT_MARKS)


def _excluded(path: Path, settings: Settings) -> bool:
    """Whether a pattern of `exclude` is the path's name, or its way from the root with or without a slash in front."""
    if not settings.exclude:
        return False
    way = Path(os.path.relpath(path, settings.root)).as_posix()
    spellings = (path.name, way, f"/{way}")
    return any(fnmatchcase(text, pattern) for pattern in settings.exclude for text in spellings)
