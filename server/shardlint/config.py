"""The settings of a project: the table `[tool.shardlint]` of the nearest `pyproject.toml` that has one.

A key that cannot be used is reported by itself and leaves the others in force. pydantic is loaded only where there is a
table to validate.
"""

from __future__ import annotations

import difflib
import posixpath
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, cast

from shardlint.files import problem, read_bytes
from shardlint.model import PLACEMENT_WORDS, Problem

FILE_NAME = "pyproject.toml"
TABLE = "[tool.shardlint]"
_DOCS_URL = re.compile(r"(https?|file)://[^\s{}]*\{rule\}[^\s{}]*")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project asks of shardlint.

    `root` is the folder of the file they come from (of the file or folder looked at, if there is none), `source` that file.
    Paths are already joined to `root`. `assume` are claims of where values live, one of `PLACEMENT_WORDS` by qualified name.

    `select` (None: the rules that run by default), `extend_select` and `ignore` name rules or families of them, and
    `per_file_ignores` does by patterns of files. See `selection` for how they work together. `docs_url` is where the rules' pages
    are published, with `{rule}` for the name.

    A pattern of `exclude` is the name of a file or folder, such as `third_party` or `*_pb2.py`, or the path of one from
    `root`, written with slashes, such as `src/generated`; a folder stands for all that is below it. `*`, `?` and `[...]` are
    as in a shell, but that `*` also stands for slashes. A slash or `./` in front ties a name to `root`; one at the end means
    nothing.
    """

    root: Path
    source: Path | None = None
    jax_version: str | None = None
    python: Path | None = None
    records: tuple[Path, ...] = ()
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    exclude: tuple[str, ...] = ()
    assume: Mapping[str, str] = field(default_factory=dict[str, str])
    docs_url: str | None = None


@dataclass(frozen=True)
class _Table:
    """The keys of the table, spelled with underscores for dashes, and their types as TOML has them."""

    jax_version: str | None = None
    python: str | None = None
    records: list[str] = field(default_factory=list[str])
    select: list[str] | None = None
    extend_select: list[str] = field(default_factory=list[str])
    ignore: list[str] = field(default_factory=list[str])
    per_file_ignores: dict[str, object] = field(default_factory=dict[str, object])
    exclude: list[str] = field(default_factory=list[str])
    assume: dict[str, object] = field(default_factory=dict[str, object])
    docs_url: str | None = None


_KEYS = tuple(entry.name.replace("_", "-") for entry in fields(_Table))
_EXPECTED = {
    "str | None": "a string",
    "list[str]": "a list of strings",
    "list[str] | None": "a list of strings",
    "dict[str, object]": "a table",
}


def load(folder: Path) -> tuple[Settings, tuple[Problem, ...]]:
    """The settings in force in `folder`, and one problem for each thing in the file that cannot be used.

    The search goes up from `folder` and ends at the first `pyproject.toml` with the table, or at one that cannot be read.
    """
    folder = folder.absolute()
    for candidate in (folder, *folder.parents):
        file = candidate / FILE_NAME
        document, unread = read_toml(file)
        if unread:
            return Settings(folder), (unread,)
        tool = document.get("tool")
        if isinstance(tool, dict) and "shardlint" in tool:
            return _settings(file, cast("Mapping[str, object]", tool)["shardlint"])
    return Settings(folder), ()


def read_toml(file: Path) -> tuple[Mapping[str, Any], Problem | None]:
    """The content of a TOML file: empty without a problem where there is no file, empty with one where it cannot be read."""
    try:
        return tomllib.loads(read_bytes(file).decode()), None
    except (FileNotFoundError, NotADirectoryError):
        return {}, None
    except OSError as error:
        return {}, problem(file, f"cannot be read and is not used: {error.strerror}.")
    except UnicodeDecodeError:
        return {}, problem(file, "is not UTF-8, as TOML must be, and is not used.")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return {}, problem(file, f"is not valid TOML and is not used: {error}.")


def nearest(name: str, known: Iterable[str]) -> str:
    """A clause that leads from a wrong name to a right one: the most alike, else all of them."""
    names = sorted(known)
    alike = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {alike[0]!r}?" if alike else f"known: {', '.join(names)}."


def _settings(file: Path, table: object) -> tuple[Settings, tuple[Problem, ...]]:
    root = file.parent
    if not isinstance(table, dict):
        return Settings(root, file), (problem(file, f"{TABLE} must be a table of keys."),)
    given = cast("Mapping[str, Any]", table)
    problems = [
        problem(file, f"{TABLE} has no key {key!r}; {nearest(key, _KEYS)}") for key in given if key not in _KEYS
    ]
    valid, wrong = _validated({key.replace("-", "_"): value for key, value in given.items() if key in _KEYS})
    problems += [problem(file, f"{TABLE} {clause}") for clause in wrong]
    assume, unusable = _assumed(valid.assume)
    problems += [problem(file, f"{TABLE} assume: {clause}") for clause in unusable]
    docs_url = valid.docs_url
    if docs_url is not None and not _DOCS_URL.fullmatch(docs_url):
        clause = f"docs-url must be an address with {{rule}} in it, such as 'https://example.org/{{rule}}.html', not {docs_url!r}."
        problems.append(problem(file, f"{TABLE} {clause}"))
        docs_url = None
    per_file, unusable = _per_file(valid.per_file_ignores)
    problems += [problem(file, f"{TABLE} per-file-ignores: {clause}") for clause in unusable]
    return Settings(
        root=root,
        source=file,
        jax_version=valid.jax_version,
        python=root / Path(valid.python).expanduser() if valid.python else None,
        records=tuple(root / Path(path).expanduser() for path in valid.records),
        select=None if valid.select is None else tuple(valid.select),
        extend_select=tuple(valid.extend_select),
        ignore=tuple(valid.ignore),
        per_file_ignores=per_file,
        exclude=tuple(map(_pattern, valid.exclude)),
        assume=assume,
        docs_url=docs_url,
    ), tuple(problems)


def _pattern(written: str) -> str:
    """A pattern of files in the one spelling that is compared with paths."""
    return posixpath.normpath(written.removeprefix(".") if written.startswith("./") else written)


def _per_file(given: Mapping[str, object]) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """The patterns that can be used with what they name, and a clause for each other."""
    usable: dict[str, tuple[str, ...]] = {}
    wrong: list[str] = []
    for pattern, names in given.items():
        entries = cast("list[object]", names) if isinstance(names, list) else None
        if not pattern or "\0" in pattern:
            wrong.append(f"{pattern!r} is no pattern of files.")
        elif entries is None or not all(isinstance(name, str) for name in entries):
            wrong.append(f"{pattern!r} must have a list of strings, not {names!r}.")
        else:
            usable[_pattern(pattern)] = tuple(cast("list[str]", names))
    return usable, wrong


def _assumed(given: Mapping[str, object]) -> tuple[dict[str, str], list[str]]:
    """The claims that can be used, and a clause for each other. A table in the table is a dotted name without its quotes."""
    usable: dict[str, str] = {}
    wrong: list[str] = []
    for name, word in given.items():
        if isinstance(word, dict):
            wrong.append(f"write the dotted name that begins with {name!r} in quotes.")
        elif not name or not all(part.isidentifier() for part in name.split(".")):
            wrong.append(f"{name!r} is no dotted name.")
        elif not isinstance(word, str) or word not in PLACEMENT_WORDS:
            near = nearest(word, PLACEMENT_WORDS) if isinstance(word, str) else f"known: {', '.join(PLACEMENT_WORDS)}."
            wrong.append(f"{name} cannot be {word!r}; {near}")
        else:
            usable[name] = word
    return usable, wrong


def _validated(given: Mapping[str, Any]) -> tuple[_Table, tuple[str, ...]]:
    """The table without the keys of a wrong value, and a clause for each of those."""
    from pydantic import TypeAdapter, ValidationError

    adapter = TypeAdapter(_Table)
    wrong = {key: "must not hold a NUL character." for key, value in given.items() if _holds_nul(value)}
    types = {entry.name: str(entry.type) for entry in fields(_Table)}
    try:
        adapter.validate_python(given)
    except ValidationError as error:
        keys = {str(entry["loc"][0]) for entry in error.errors()}
        wrong |= {key: f"must be {_EXPECTED[types[key]]}, not {given[key]!r}." for key in keys}
    valid = adapter.validate_python({key: value for key, value in given.items() if key not in wrong})
    return valid, tuple(f"{key.replace('_', '-')} {clause}" for key, clause in sorted(wrong.items()))


def _holds_nul(value: object) -> bool:
    """Whether there is a NUL in a string or list of strings: no path can have one, and the system calls raise on it."""
    return any("\0" in str(part) for part in (cast("list[object]", value) if isinstance(value, list) else [value]))
