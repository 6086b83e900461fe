"""The pages of the rules: kept up to date, whole in both places where they lie, and with an index by family."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shardlint.records.catalogue import PAGES_NAME, page_path
from shardlint.records.files import UnusableError
from shardlint.records.freeze import collect, freeze
from shardlint.records.pages import FAMILIES, INDEX, anchor, pages, read_families

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "server" / "docs"
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^()\s]+)\)")
CODE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1`*$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


def test_the_docs_are_up_to_date() -> None:
    """What is kept is what the command writes from the records, with no page of a rule that is gone."""
    made = pages(collect(ROOT / "records")[0], read_families(ROOT / "records" / FAMILIES))
    kept = {file.name: file.read_text(encoding="utf-8") for file in (DOCS / "rules").iterdir()}
    assert kept.keys() == made.keys(), "run `.ci/task pages`"
    assert [name for name in made if kept[name] != made[name]] == [], "run `.ci/task pages`"


def _text(file: Path) -> str:
    return CODE.sub("", file.read_text(encoding="utf-8"))


def _broken_links(folder: Path) -> list[str]:
    """Links that lead to no file, or to no heading of one."""
    broken: list[str] = []
    for file in sorted(folder.rglob("*.md")):
        for link in LINK.findall(_text(file)):
            if re.match(r"\w+:", link):
                continue
            path, _, place = link.partition("#")
            aim = (file.parent / path).resolve() if path else file
            headings = HEADING.findall(aim.read_text(encoding="utf-8")) if aim.is_file() else []
            if not aim.is_file() or (place and place not in map(anchor, headings)):
                broken.append(f"{file.name}: {link}")
    return broken


def test_every_link_leads_somewhere() -> None:
    """In the checkout's documentation, and in the package's pages, every file and every anchor is there."""
    assert _broken_links(DOCS) == []
    assert _broken_links(page_path("any").parent) == []


def test_a_broken_link_would_be_seen(tmp_path: Path) -> None:
    """The test above looks at files and at anchors."""
    (tmp_path / "a.md").write_text(
        "# One thing: a `b`\n\n[x](a.md#one-thing-a-b) [y](a.md#other) [z](c.md) `[q](no.md)`\n"
    )
    assert _broken_links(tmp_path) == ["a.md: a.md#other", "a.md: c.md"]


def test_the_index_lists_rules_by_family(tmp_path, source, write_rule, valid_rule) -> None:
    """Each family has a heading with what its letter stands for, and a rule's page leads there."""
    write_rule(source)
    quiet = valid_rule.replace('family = "A"', 'family = "Z"').replace("[match]", "opt-in = true\n\n[match]")
    write_rule(source, "costs", rule=quiet, record_changes={"id": "ff", "slug": "costs"})
    (source / FAMILIES).write_text('A = "Arrays"\n')
    (tmp_path / PAGES_NAME).mkdir()
    (tmp_path / PAGES_NAME / "gone.md").write_text("# gone\n")
    assert freeze(source, tmp_path) == []
    index = (tmp_path / PAGES_NAME / INDEX).read_text(encoding="utf-8")
    assert "## A: Arrays\n\n| rule |" in index
    summary = "An array on several devices is taken as one."
    assert f"| [taken-as-one](taken-as-one.md) | {summary} | error | `>=0.4.30` |\n" in index
    assert "## Z: Others\n" in index
    assert "| error, *if selected* |" in index
    assert index.index("## A") < index.index("## Z") < index.index("## Without a family")
    page = (tmp_path / PAGES_NAME / "costs.md").read_text(encoding="utf-8")
    assert "It is looked for only where it is selected. Family: [Z: Others](README.md#z-others).\n" in page
    assert not (tmp_path / PAGES_NAME / "gone.md").exists()
    assert _broken_links(tmp_path) == []


def test_the_letters_in_use_have_words() -> None:
    """Whoever selects a letter can read what it stands for."""
    families = read_families(ROOT / "records" / FAMILIES)
    assert {rule.family for rule in collect(ROOT / "records")[0].rules.values()} <= families.keys()


@pytest.mark.parametrize("text", ["a = 'x'\n", "A = ''\n", "A = 1\n", "AB = 'x'\n", "A =\n"])
def test_wrong_families_are_told(tmp_path: Path, source: Path, text: str) -> None:
    """The file is named, and nothing is frozen."""
    (source / FAMILIES).write_text(text)
    with pytest.raises(UnusableError):
        read_families(source / FAMILIES)
    (told,) = freeze(source, tmp_path / "out")
    assert FAMILIES in told.message
