"""Which rules run: selected and ignored, by name and by family, by the settings and by the command line, and by file."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardlint.config import Settings
from shardlint.model import Severity
from shardlint.records.catalogue import Catalogue, Match, Rule
from shardlint.selection import Asked, ignored_by_file, ignored_rules, names_file, unknown


def rule(name: str, family: str, *, opt_in: bool = False) -> Rule:
    return Rule(
        name=name,
        summary="",
        family=family,
        jax="",
        severity=Severity.ERROR,
        possible=Severity.WARNING,
        severity_by={},
        jax_by={},
        message="",
        match=Match((), None, ()),
        when={},
        handled_by=(),
        tags=(),
        fixes=(),
        record={},
        page="",
        observed=(),
        opt_in=opt_in,
    )


RULES = (rule("a-one", "A"), rule("a-two", "A"), rule("b-one", "B"), rule("b-quiet", "B", opt_in=True), rule("own", ""))
CATALOGUE = Catalogue({one.name: one for one in RULES}, ("0.10.2",))
ROOT = Path("/project")


def running(asked: Asked | None = None, **settings: tuple[str, ...]) -> set[str]:
    ignored = ignored_rules(CATALOGUE, Settings(ROOT, **settings), asked or Asked())
    return CATALOGUE.rules.keys() - ignored


def test_by_default_all_run_but_those_that_wait() -> None:
    """A rule that waits to be asked for runs by its name, its family or ALL."""
    assert running() == {"a-one", "a-two", "b-one", "own"}
    assert running(extend_select=("b-quiet",)) == {"a-one", "a-two", "b-one", "b-quiet", "own"}
    assert running(extend_select=("B",)) == {"a-one", "a-two", "b-one", "b-quiet", "own"}
    assert running(select=("ALL",)) == {"a-one", "a-two", "b-one", "b-quiet", "own"}


def test_a_selection_stands_in_place_of_the_default() -> None:
    """What is selected runs alone, with what extends it and without what is ignored."""
    assert running(select=("A",)) == {"a-one", "a-two"}
    assert running(select=()) == set()
    assert running(select=("A",), extend_select=("b-quiet",), ignore=("a-two",)) == {"a-one", "b-quiet"}


def test_a_name_says_more_than_a_family() -> None:
    """What is named stays in spite of its family, and goes in spite of it; of two names the one to ignore counts."""
    assert running(ignore=("A",)) == {"b-one", "own"}
    assert running(select=("a-one", "B"), ignore=("A", "B")) == {"a-one"}
    assert running(extend_select=("b-quiet",), ignore=("B",)) == {"a-one", "a-two", "b-quiet", "own"}
    assert running(select=("a-one",), ignore=("a-one",)) == set()
    assert running(ignore=("ALL",)) == set()


def test_the_command_line_comes_before_the_settings() -> None:
    """It replaces the selection, adds to it, ignores more, and what it names is not ignored for the settings' sake."""
    assert running(Asked(select=("B",)), select=("A",), extend_select=("own",)) == {"b-one", "b-quiet"}
    assert running(Asked(extend_select=("b-one",)), select=("A",)) == {"a-one", "a-two", "b-one"}
    assert running(Asked(ignore=("a-one",)), select=("A",)) == {"a-two"}
    assert running(Asked(select=("a-one",)), ignore=("a-one",)) == {"a-one"}
    assert running(Asked(select=("A",)), ignore=("a-one",)) == {"a-two"}


@pytest.mark.parametrize(
    ("settings", "clause"),
    [
        ({"select": ("a-onee",)}, "select: there is no rule 'a-onee'; did you mean 'a-one'?"),
        ({"extend_select": ("C",)}, "extend-select: there is no family 'C'; known: A, B."),
        ({"ignore": ("zzz",)}, "ignore: there is no rule 'zzz'; known: a-one, a-two, b-one, b-quiet, own."),
        ({"per_file_ignores": {"a.py": ("b-won",)}}, "per-file-ignores 'a.py': there is no rule 'b-won'; did you mean"),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest(settings: dict[str, tuple[str, ...]], clause: str) -> None:
    """Each wrong entry gives one clause that names its key; names of rules, families and ALL are right everywhere."""
    (told,) = unknown(CATALOGUE, Settings(ROOT, **settings))
    assert told.startswith(clause)
    fine = Settings(ROOT, select=("ALL", "A", "own"), ignore=("B",), per_file_ignores={"a.py": ("A", "ALL", "own")})
    assert list(unknown(CATALOGUE, fine)) == []


@pytest.mark.parametrize(
    ("pattern", "path", "named"),
    [
        ("a.py", "/project/src/a.py", True),
        ("*_test.py", "/project/src/a_test.py", True),
        ("tests", "/project/src/tests/deep/a.py", True),
        ("src/tests", "/project/src/tests/deep/a.py", True),
        ("tests/a.py", "/project/src/tests/a.py", False),
        ("/tests", "/project/src/tests/a.py", False),
        ("/src", "/project/src/a.py", True),
        ("*", "/project/a.py", True),
        ("test", "/project/tests/a.py", False),
    ],
)
def test_a_pattern_names_files_and_folders(pattern: str, path: str, *, named: bool) -> None:
    """A name, or the way from the root; a folder stands for all that is below it."""
    assert names_file(pattern, Path(path), ROOT) is named


def test_ignores_by_file_add_up() -> None:
    """Every pattern that names a file counts; a family stands for its rules."""
    ignored = ignored_by_file(
        CATALOGUE, Settings(ROOT, per_file_ignores={"tests": ("A",), "a.py": ("own",), "b.py": ("ALL",)})
    )
    assert ignored is not None
    assert ignored("/project/tests/a.py") == {"a-one", "a-two", "own"}
    assert ignored("/project/a.py") == {"own"}
    assert ignored("/project/c.py") == frozenset()
    assert ignored("/project/b.py") == CATALOGUE.rules.keys()
    assert ignored_by_file(CATALOGUE, Settings(ROOT)) is None
