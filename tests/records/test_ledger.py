"""The ledger of hazards: complete, in order, and what its page says is what the rules' examples show."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardlint.records.catalogue import Catalogue
from shardlint.records.files import UnusableError
from shardlint.records.freeze import collect
from shardlint.records.ledger import LEDGER, PAGE, Shown, in_order, ledger_page, read_ledger, shown_hazards, wrong
from shardlint.records.models import Hazard

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "records"
ADVICE = "run `.ci/task ledger`"


@pytest.fixture(scope="module")
def shipped() -> Catalogue:
    return collect(RECORDS)[0]


def test_every_hazard_is_shown_or_has_a_reason(shipped: Catalogue) -> None:
    """No case names a hazard that is not listed, and none that is listed is left without an example or a reason."""
    assert wrong(read_ledger(RECORDS / LEDGER), shown_hazards(shipped)) == [], ADVICE


def test_the_page_and_the_file_are_up_to_date(shipped: Catalogue) -> None:
    """What is kept is what the command writes."""
    ledger, shown = read_ledger(RECORDS / LEDGER), shown_hazards(shipped)
    assert (RECORDS / LEDGER).read_text(encoding="utf-8") == in_order(ledger, shown), ADVICE
    page = (ROOT / "server" / "docs" / PAGE).read_text(encoding="utf-8")
    assert page == ledger_page(ledger, shown, shipped), ADVICE


CASES = """\
# Taking

## It raises

```toml
consumer = "lib.take"
hazards = ["take-many", "take-all"]
```

```python
import lib
y = lib.take(x)  # error: [taken-as-one]
```

## So does the other, which was not run

```toml
consumer = "lib.give"
hazards = ["give-many"]
```

```python
import lib
y = lib.give(x)  # error: [taken-as-one]
```
"""


@pytest.fixture
def made(source: Path, write_rule, observation) -> Catalogue:
    runs = [{**observation, "jax": version} for version in ("0.9.2", "0.10.2")]
    other = {**observation, "consumer": "lib.give", "kind": "silent-copy", "exception": None, "message": None}
    write_rule(source, cases=CASES, observations=[*runs, other])
    catalogue, problems = collect(source)
    assert problems == []
    return catalogue


def test_a_case_shows_where_it_was_seen(made: Catalogue) -> None:
    """A hazard has the rule of the case that names it, and the versions on which its consumer did what the case says."""
    assert shown_hazards(made) == {
        "take-many": Shown(("taken-as-one",), ("0.9.2", "0.10.2")),
        "take-all": Shown(("taken-as-one",), ("0.9.2", "0.10.2")),
        "give-many": Shown(("taken-as-one",), ()),
    }


def test_what_is_wrong_is_told_by_name(made: Catalogue) -> None:
    """A hazard that is not listed, one without a reason, and one with a reason too many."""
    ledger = {
        "take-many": Hazard(title="a"),
        "take-all": Hazard(title="b", covered=False, reason="c"),
        "keep-many": Hazard(title="d"),
    }
    assert wrong(ledger, shown_hazards(made)) == [
        "A case of taken-as-one names the hazard give-many, which ledger.toml does not have.",
        "take-all has a reason in ledger.toml, but a case of taken-as-one shows it.",
        "keep-many is shown by no case and has no reason in ledger.toml.",
    ]


def test_the_command_puts_the_ledger_in_order(made: Catalogue, tmp_path: Path) -> None:
    """A hazard that is shown loses its reason, one that is not any more gets one, and all is read back the same."""
    ledger = {
        "take-many": Hazard(title='the "first"', covered=False, reason="c"),
        "keep-many": Hazard(title="d"),
        "lose-many": Hazard(title="e", covered=False, reason="its own"),
    }
    file = tmp_path / LEDGER
    file.write_text(in_order(ledger, shown_hazards(made)), encoding="utf-8")
    assert {name: (one.title, one.reason) for name, one in read_ledger(file).items()} == {
        "take-many": ('the "first"', None),
        "keep-many": ("d", "No rule looks for it yet."),
        "lose-many": ("e", "its own"),
    }


def test_the_page_links_rules_and_tells_versions(made: Catalogue) -> None:
    """What is shown has its rule and versions, what is not has its reason."""
    ledger = {
        "take-many": Hazard(title="a lib.take z"),
        "give-many": Hazard(title="b"),
        "keep-many": Hazard(title="d", covered=False, reason="A race."),
    }
    page = ledger_page(ledger, shown_hazards(made), made)
    assert "Of 3 known ways" in page
    assert "| `take-many` | a `lib.take` z | [taken-as-one](rules/taken-as-one.md) | 0.9.2, 0.10.2 |\n" in page
    assert "| `give-many` | b | [taken-as-one](rules/taken-as-one.md) | not kept |\n" in page
    assert "| `keep-many` | d | A race. |\n" in page


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[a]\n", "`title` is missing"),
        ('[a]\ntitle = "x"\ncovered = false\n', "`covered = false` and a `reason` go together"),
        ('[a]\ntitle = "x"\nreason = "y"\n', "`covered = false` and a `reason` go together"),
        ('[a]\ntitle = "x"\ntitel = "y"\n', "did you mean `title`?"),
        ("[a\n", "is not TOML"),
    ],
)
def test_a_mistake_in_the_file_is_told(tmp_path: Path, text: str, reason: str) -> None:
    """Whoever adds a hazard is told what is missing."""
    (tmp_path / LEDGER).write_text(text, encoding="utf-8")
    with pytest.raises(UnusableError, match=reason.replace("?", r"\?")):
        read_ledger(tmp_path / LEDGER)
