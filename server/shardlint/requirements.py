"""What the files of a project say about the version of one package: lock files, pins and ranges. Nothing is run."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from shardlint.config import FILE_NAME, read_toml
from shardlint.files import problem, read_bytes
from shardlint.model import Problem

_LOCK_FILES = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml")
_BOUNDING = frozenset({">=", ">", "~=", "==", "==="})
"""The operators of clauses that nothing below their version satisfies."""
_CONTINUATION = re.compile(r"\\\r?\n")
_OPTION = re.compile(r"(?:^|\s)(?:--?[a-z]|#).*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Stated:
    """What one file says of a package, by itself.

    `versions` are exact ones, ascending (several where a lock differs by platform or group); without any, a version is
    admitted that one of `ranges` admits. `origin` is a clause such as "jax 0.10.2 in uv.lock".
    """

    versions: tuple[str, ...]
    ranges: tuple[SpecifierSet, ...]
    origin: str


def locked(folder: Path, package: str) -> tuple[Stated | None, tuple[Problem, ...]]:
    """What the first file of `folder` says that fixes the package's version: a lock file, or a `requirements*.txt` with a pin."""
    problems: list[Problem] = []
    for file in (*(folder / name for name in _LOCK_FILES), *sorted(folder.glob("pylock.*.toml"))):
        document, unread = read_toml(file)
        problems += (unread,) if unread else ()
        versions = _ascending(_locked_versions(document, package))
        if versions:
            return Stated(versions, (), f"{package} {' and '.join(versions)} in {file.name}"), tuple(problems)
    stated, found = _requirement_files(folder, package)
    return next((one for one in stated if one.versions), None), (*problems, *found)


def required(folder: Path, package: str) -> tuple[Stated | None, tuple[Problem, ...]]:
    """What `pyproject.toml`, else a `requirements*.txt` of `folder`, demands of the package.

    The project's own dependencies count before those of its extras and groups, of which one is enough.
    """
    document, unread = read_toml(folder / FILE_NAME)
    for demands in _pyproject_demands(document, package):
        ranges = tuple(demands)
        if ranges:
            return _stated(ranges, package, FILE_NAME), ()
    stated, found = _requirement_files(folder, package)
    return (stated[0] if stated else None), (*((unread,) if unread else ()), *found)


def candidates(ranges: Sequence[SpecifierSet], known: Sequence[str]) -> tuple[str, ...]:
    """The versions that one of `ranges` admits, ascending: those of `known` and those that the ranges name themselves.

    By these a range starts at its own lower bound, and not at the first known version above that. A version below all known
    ones counts only if the range admits nothing else: nothing can be told of it, and what is known would seem unsure.
    """
    found: dict[Version, str] = {}
    for text in (*known, *(_version_of(specifier) for range_ in ranges for specifier in range_)):
        version = _parsed(text)
        if version is not None and any(range_.contains(version, prereleases=True) for range_ in ranges):
            found.setdefault(version, text)
    first = min((version for text in known if (version := _parsed(text)) is not None), default=None)
    if first is not None and any(version >= first for version in found):
        found = {version: text for version, text in found.items() if version >= first}
    return tuple(found[version] for version in sorted(found))


def lower_bound(ranges: Iterable[SpecifierSet]) -> str | None:
    """The version at or above which all is that `ranges` admit, None where none of their clauses says so."""
    bounds = (
        [version for clause in range_ if clause.operator in _BOUNDING and (version := _parsed(_version_of(clause)))]
        for range_ in ranges
    )
    lowest = min((max(versions) for versions in bounds if versions), default=None)
    return None if lowest is None else str(lowest)


def _version_of(specifier: Specifier) -> str:
    return specifier.version.removesuffix(".*")


def _parsed(version: str) -> Version | None:
    try:
        return Version(version)
    except InvalidVersion:
        return None


def _stated(ranges: tuple[SpecifierSet, ...], package: str, file: str) -> Stated:
    pins = [_pin(range_) for range_ in ranges]
    text = " or ".join(dict.fromkeys(f"{package}{range_}" for range_ in ranges))
    versions = _ascending(pin for pin in pins if pin) if all(pins) else ()
    return Stated(versions, ranges, f"{text} in {file}")


def _pin(range_: SpecifierSet) -> str | None:
    """The one version that `==` or `===` names, without a wildcard."""
    for specifier in range_:
        if specifier.operator in {"==", "==="} and not specifier.version.endswith(".*"):
            return specifier.version
    return None


def _ascending(versions: Iterable[str]) -> tuple[str, ...]:
    """The valid ones among the versions, each once, in ascending order."""
    parsed = {version for text in versions if (version := _parsed(text)) is not None}
    return tuple(str(version) for version in sorted(parsed))


def _locked_versions(document: Mapping[str, Any], package: str) -> Iterator[str]:
    for key in ("package", "packages"):  # uv, Poetry and PDM; PEP 751
        for entry in _tables(document.get(key)):
            if entry.get("name") == package and isinstance(entry.get("version"), str):
                yield entry["version"]


def _requirement_files(folder: Path, package: str) -> tuple[list[Stated], list[Problem]]:
    stated: list[Stated] = []
    problems: list[Problem] = []
    for file in (*sorted(folder.glob("requirements*.txt")), *sorted(folder.glob("requirements/*.txt"))):
        try:
            raw = read_bytes(file)
        except OSError as error:
            problems.append(problem(file, f"cannot be read and is not used: {error.strerror}."))
            continue
        # PowerShell's `pip freeze > requirements.txt` writes UTF-16, which pip reads too.
        utf16 = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        text = raw.decode("utf-16" if utf16 else "utf-8-sig", errors="replace")
        lines = _CONTINUATION.sub(" ", text).splitlines()
        ranges = tuple(_ranges((_OPTION.sub("", line) for line in lines), package))
        if ranges:
            stated.append(_stated(ranges, package, file.relative_to(folder).as_posix()))
    return stated, problems


def _pyproject_demands(document: Mapping[str, Any], package: str) -> Iterator[Iterator[SpecifierSet]]:
    """The demands by table, the one that counts first."""
    project = _table(document.get("project"))
    yield _ranges(_strings(project.get("dependencies")), package)
    poetry = _table(_table(document.get("tool")).get("poetry"))
    yield _poetry_ranges(_table(poetry.get("dependencies")), package)
    others = (
        *_table(project.get("optional-dependencies")).values(),
        *_table(document.get("dependency-groups")).values(),
    )
    yield _ranges((entry for table in others for entry in _strings(table)), package)
    for group in _table(poetry.get("group")).values():
        yield _poetry_ranges(_table(_table(group).get("dependencies")), package)


def _ranges(entries: Iterable[str], package: str) -> Iterator[SpecifierSet]:
    """What the PEP 508 requirements among the entries admit of the package; markers are not weighed."""
    for entry in entries:
        try:
            requirement = Requirement(entry.strip())
        except InvalidRequirement:
            continue  # an option, a path, an address
        if canonicalize_name(requirement.name) == package:
            yield requirement.specifier


def _poetry_ranges(table: Mapping[str, Any], package: str) -> Iterator[SpecifierSet]:
    demand = table.get(package)
    for entry in cast("Sequence[object]", demand) if isinstance(demand, list) else (demand,):
        text = entry if isinstance(entry, str) else _table(entry).get("version")
        for part in text.split("||") if isinstance(text, str) else ():
            try:
                yield SpecifierSet(",".join(_pep440(clause.strip()) for clause in part.split(",")))
            except (InvalidSpecifier, InvalidVersion):
                continue


def _pep440(clause: str) -> str:
    """A clause of Poetry's own notation (`^1.2`, `~1.2`, `1.2`, `*`) as a PEP 440 specifier."""
    if clause in {"", "*"}:
        return ""
    if clause[0] in "^~" and not clause.startswith("~="):
        version = Version(clause[1:].strip())
        release = version.release
        kept = (
            min(2, len(release))
            if clause[0] == "~"
            else next((n for n, part in enumerate(release, 1) if part), len(release))
        )
        upper = (*release[: kept - 1], release[kept - 1] + 1)
        return f">={version},<{'.'.join(map(str, upper))}"
    return clause if clause[0] in "<>=!~" else f"=={clause}"


def _table(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _tables(value: object) -> Iterator[Mapping[str, Any]]:
    return (_table(entry) for entry in cast("Sequence[object]", value)) if isinstance(value, list) else iter(())


def _strings(value: object) -> Iterator[str]:
    entries = cast("Sequence[object]", value) if isinstance(value, list) else ()
    return (entry for entry in entries if isinstance(entry, str))
