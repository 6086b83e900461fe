"""Which JAX a folder's code will run on: read from names and files of its environment. Nothing of it is run or imported."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from packaging.version import InvalidVersion, Version

from shardlint.config import FILE_NAME, TABLE, Settings
from shardlint.environment_links import linked_folders
from shardlint.files import problem
from shardlint.model import Problem, Target
from shardlint.requirements import Stated, candidates, locked, lower_bound, required

_REPOSITORY_MARKS = (".git", ".hg", ".jj")
_PROJECT_MARKS = ("pyproject.toml", "setup.py", "setup.cfg")
_SITE_PACKAGES = (
    "lib/python*/site-packages",
    "lib64/python*/site-packages",
    "lib/python*/dist-packages",
    "lib/python3/dist-packages",
    "Lib/site-packages",
)


def find_target(
    folder: Path, settings: Settings, jax_versions: Sequence[str], environ: Mapping[str, str]
) -> tuple[Target, tuple[Problem, ...]]:
    """The JAX that code in `folder` will run on, and what could not be used in finding it.

    The first of these that says something counts: the setting `jax-version`; the JAX installed in the project's environment;
    a lock file or pin; a range that the project demands; the newest of `jax_versions`, the catalogued ones, ascending. `environ`
    holds the variables of the process (`VIRTUAL_ENV`, `CONDA_PREFIX`).
    """
    source = settings.source or settings.root
    problems: list[Problem] = []
    if settings.jax_version is not None:
        wrong = version_problem(settings.jax_version)
        if wrong is None:
            return exact_target(settings.jax_version, f"jax-version in {FILE_NAME}", jax_versions), ()
        problems.append(problem(source, f"{TABLE} jax-version: {wrong}"))
    folders = project_folders(folder.absolute())
    environment, version = _environment(folders, settings, environ)
    if environment and version:
        origin = f"jax {version} in {_shown(environment, folders[-1])}"
        return exact_target(version, origin, jax_versions), tuple(problems)
    if settings.python is not None:
        wrong = "holds no JAX; install it there, or set jax-version" if _exists(settings.python) else "does not exist"
        problems.append(problem(source, f"{TABLE} python: {str(settings.python)!r} {wrong}."))
    stated = _first_stated(folders, locked, problems) or _first_stated(folders, required, problems)
    if stated is None or not (stated.versions or all(stated.ranges)):
        origin = f"{stated.origin} admits any" if stated else "nothing names a version"
        return Target(tuple(jax_versions[-1:]), exact=False, origin=f"{origin}: newest catalogued"), tuple(problems)
    return _target_of(stated, jax_versions), tuple(problems)


def exact_target(version: str, origin: str, jax_versions: Sequence[str]) -> Target:
    """A target of one version, whose origin tells if no version as old or as new is among `jax_versions`, ascending."""
    return Target((version,), exact=True, origin=_beside_tested(origin, (version,), jax_versions))


def import_folders(folder: Path, settings: Settings, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Where Python would look for the modules that code in `folder` imports, in that order: its projects, then packages.

    A project's modules lie in its folder or in `src` there. The packages are those of the environment whose JAX counts; its
    folders are followed by those that it takes further packages from.
    """
    folders = project_folders(folder.absolute())
    projects = [one for one in folders if one == folders[-1] or any(_exists(one / mark) for mark in _PROJECT_MARKS)]
    own = [place for project in projects for place in (project / "src", project) if _exists(place)]
    environment, _ = _environment(folders, settings, environ)
    packages = site_packages_of(environment) if environment else ()
    linked = (path for one in packages for path in linked_folders(one))
    return tuple(dict.fromkeys((*own, *packages, *linked)))


def version_problem(text: str) -> str | None:
    """A clause that says what is wrong with a version, or None for a right one."""
    try:
        Version(text)
    except InvalidVersion:
        return f"{text!r} is not a version; give one such as 0.10.2."
    return None


def project_folders(folder: Path) -> tuple[Path, ...]:
    """`folder` and those above it in the same project, nearest first.

    The last one is the root of the repository, without one the nearest folder with a project file, else `folder` itself.
    """
    chain = (folder, *folder.parents)
    for marks in (_REPOSITORY_MARKS, _PROJECT_MARKS):
        for index, candidate in enumerate(chain):
            if any(_exists(candidate / mark) for mark in marks):
                return chain[: index + 1]
    return chain[:1]


def installed(environment: Path, package: str) -> str | None:
    """The version of a package in an environment, by the name of its dist-info folder; the newest if several were left there."""
    pattern = re.compile(rf"{re.escape(package)}-(.+)\.dist-info", re.IGNORECASE)
    found: list[Version] = []
    for site_packages in site_packages_of(environment):
        for name in _names(site_packages):
            match = pattern.fullmatch(name)
            if match and version_problem(match[1]) is None:
                found.append(Version(match[1]))
    return str(max(found)) if found else None


def site_packages_of(environment: Path) -> tuple[Path, ...]:
    """The folders of installed packages of an environment, its base's too where `pyvenv.cfg` lets it see them."""
    roots = [environment]
    home = _system_home(environment / "pyvenv.cfg")
    if home is not None:
        roots.append(home.parent)
    return tuple(
        dict.fromkeys(path for root in roots for pattern in _SITE_PACKAGES for path in sorted(root.glob(pattern)))
    )


def _environment(
    folders: tuple[Path, ...], settings: Settings, environ: Mapping[str, str]
) -> tuple[Path | None, str | None]:
    """The first environment in which JAX is installed, and its version; else the first environment, without a version."""
    environments = tuple(_environments(folders, settings, environ))
    for environment in environments:
        version = installed(environment, "jax")
        if version:
            return environment, version
    return next(iter(environments), None), None


def _environments(folders: tuple[Path, ...], settings: Settings, environ: Mapping[str, str]) -> Iterator[Path]:
    """The roots of the environments that may be the project's, the likeliest first; one that is configured is the only one."""
    if settings.python is not None:
        yield _environment_of(settings.python)
        return
    active = [Path(environ[name]) for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if environ.get(name)]
    own = [root for root in active if root.parent in folders or root.is_relative_to(folders[-1])]
    yield from own
    for folder in folders:
        yield from (folder / name for name in (".venv", "venv") if _exists(folder / name / "pyvenv.cfg"))
    yield from (root for root in active if root not in own)


def _environment_of(python: Path) -> Path:
    """The root of an environment given by its interpreter, by the folder of that, or itself.

    A link is not followed: the interpreter of a virtual environment is one to its base's.
    """
    folder = python if python.is_dir() else python.parent
    return folder.parent if folder.name in {"bin", "Scripts"} else folder


def _system_home(file: Path) -> Path | None:
    """The folder of the base's interpreter, if the environment of this `pyvenv.cfg` sees the base's packages."""
    try:
        lines = file.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return None  # no virtual environment, or one to which we may not look
    values = {key.strip().lower(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    if values.get("include-system-site-packages", "").lower() != "true" or not values.get("home"):
        return None
    return Path(values["home"])


def _first_stated(
    folders: Sequence[Path],
    look: Callable[[Path, str], tuple[Stated | None, tuple[Problem, ...]]],
    problems: list[Problem],
) -> Stated | None:
    for folder in folders:
        stated, found = look(folder, "jax")
        problems += found
        if stated:
            return stated
    return None


def _target_of(stated: Stated, jax_versions: Sequence[str]) -> Target:
    versions = stated.versions or candidates(stated.ranges, jax_versions)
    if versions:
        exact = len(stated.versions) == 1
        return Target(versions, exact=exact, origin=_beside_tested(stated.origin, versions, jax_versions))
    bound = lower_bound(stated.ranges)
    versions = (bound,) if bound else tuple(jax_versions[:1])
    return Target(versions, exact=False, origin=f"{stated.origin}, which no version that was tested fits")


def _beside_tested(origin: str, versions: Sequence[str], jax_versions: Sequence[str]) -> str:
    """The origin, with what is to be said if some of the ascending `versions` are beyond the ends of the tested ones."""
    tested = [Version(version) for version in jax_versions]
    # What follows a plus sign is a build of the same version.
    given = [Version(Version(version).public) for version in versions]
    if not tested:
        return origin
    told = [
        f"{'' if all(beyond) else 'partly '}{words} than any version that was tested"
        for words, beyond in (
            ("older", [version < tested[0] for version in given]),
            ("newer", [version > tested[-1] for version in given]),
        )
        if any(beyond)
    ]
    return ", ".join([origin, *told])


def _exists(path: Path) -> bool:
    """Like `Path.exists`, and false for what may not be looked at."""
    return os.access(path, os.F_OK)


def _shown(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def _names(folder: Path) -> tuple[str, ...]:
    try:
        return tuple(entry.name for entry in folder.iterdir())
    except OSError:
        return ()  # the folder vanished or may not be listed: it names no version
