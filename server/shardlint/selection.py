"""Which rules run: what is selected and ignored by name or by family, in the settings and on the command line, and in which files.

Without a selection all rules run but those that wait to be asked for. A name says more than the letter of a family, and a
letter more than `ALL`; where two say equally much, ignoring wins.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from shardlint.config import Settings, nearest
from shardlint.records.catalogue import Catalogue, Rule

ALL = "ALL"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a command line asks for, beside what the settings say; `select` is None where it says nothing."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def named(self) -> Iterator[tuple[str, str]]:
        """Each flag with each name that was given with it."""
        yield from (("--select", name) for name in self.select or ())
        yield from (("--extend-select", name) for name in self.extend_select)
        yield from (("--ignore", name) for name in self.ignore)


@dataclass(frozen=True, slots=True)
class Ignored:
    """The rules to keep quiet about by the file in which a finding stands. Patterns are compared with paths from `root`."""

    root: Path
    by_pattern: tuple[tuple[str, frozenset[str]], ...]

    def __call__(self, path: str, /) -> frozenset[str]:
        """The rules to keep quiet about in a file, as findings spell its path."""
        return frozenset(
            rule for pattern, rules in self.by_pattern if names_file(pattern, Path(path), self.root) for rule in rules
        )


def ignored_rules(catalogue: Catalogue, settings: Settings, asked: Asked) -> frozenset[str]:
    """The names of the rules that do not run anywhere. What the command line selects comes before what the settings select, and
    what it names is not ignored for the settings' sake.
    """
    select = settings.select if asked.select is None else asked.select
    extended = asked.extend_select if asked.select is not None else (*settings.extend_select, *asked.extend_select)
    wanted = {*(asked.select or ()), *asked.extend_select}
    ignore = (*(name for name in settings.ignore if name not in wanted), *asked.ignore)
    return frozenset(
        name
        for name, rule in catalogue.rules.items()
        if _level(rule, ignore)
        >= max(_by_default(rule) if select is None else _level(rule, select), _level(rule, extended))
    )


def ignored_by_file(catalogue: Catalogue, settings: Settings) -> Ignored | None:
    """What `per-file-ignores` says; None where it says nothing."""
    if not settings.per_file_ignores:
        return None
    return Ignored(
        settings.root,
        tuple(
            (pattern, frozenset(name for name, rule in catalogue.rules.items() if _level(rule, selectors) > _NOT))
            for pattern, selectors in settings.per_file_ignores.items()
        ),
    )


def unknown(catalogue: Catalogue, settings: Settings) -> Iterator[str]:
    """A clause for each name in the settings that is neither a rule nor a family, with the key that it stands at."""
    given: list[tuple[str, Iterable[str]]] = [
        ("select", settings.select or ()),
        ("extend-select", settings.extend_select),
        ("ignore", settings.ignore),
        *((f"per-file-ignores {pattern!r}", names) for pattern, names in settings.per_file_ignores.items()),
    ]
    for key, names in given:
        for name in names:
            if clause := no_rule(name, catalogue.rules):
                yield f"{key}: {clause}"


def no_rule(name: str, rules: Mapping[str, Rule]) -> str | None:
    """A clause that tells the nearest right name, if a name is neither a rule nor a family of them."""
    families = {rule.family for rule in rules.values() if rule.family}
    if name in rules or name in families or name == ALL:
        return None
    if len(name) == 1:
        return f"there is no family {name!r}; known: {', '.join(sorted(families))}."
    return f"there is no rule {name!r}; {nearest(name, rules)}"


def names_file(pattern: str, path: Path, root: Path) -> bool:
    """Whether a pattern is the name of a file or of a folder above it, or the way to one from the root with or without a slash in
    front.
    """
    way = Path(os.path.relpath(path, root))
    return any(
        fnmatchcase(text, pattern)
        for part in (way, *way.parents)
        for text in (part.name, part.as_posix(), f"/{part.as_posix()}")
        if part.name
    )


_NOT, _BY_ALL, _BY_FAMILY, _BY_NAME = range(4)


def _level(rule: Rule, selectors: Iterable[str]) -> int:
    """How exactly one of the selectors means the rule."""
    selectors = frozenset(selectors)
    if rule.name in selectors:
        return _BY_NAME
    if rule.family and rule.family in selectors:
        return _BY_FAMILY
    return _BY_ALL if ALL in selectors else _NOT


def _by_default(rule: Rule) -> int:
    return _NOT if rule.opt_in else _BY_ALL
