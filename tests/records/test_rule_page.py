"""The page of a rule: for a target, and with the examples of its cases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shardlint.model import Safety, Severity, Target
from shardlint.records.catalogue import Catalogue, FixSpec, Match, Observation, Rule
from shardlint.records.rule_page import Place, rule_page, rule_page_with_examples

VERSIONS = ("0.6.2", "0.7.2", "0.8.3", "0.10.2", "0.12.0.1")
PLACE = Place("A: Arrays", "README.md#a-arrays")
TARGET = Target(("0.10.2",), exact=True, origin="--jax-version")

PAGE = """\
# taken-as-one

Taken as *one*, it
breaks.

## A program

Before.

```toml
consumer = "lib.take"
result = "y"
value = "np.arange(4)"
```

```python
import lib


y = lib.take(x)  # error: [taken-as-one]
#   ^^^^^^^^^^^
```

```python fix="Gather first (copies 8 devices)"
import lib


y = lib.take(lib.gather(x))
```

## Of an old JAX

```toml
jax = "0.6.2"
```

```python
import lib
```

## What does not help

Nothing else.
"""


def seen(
    jax: str, consumer: str = "lib.take", version: str = "1.0", message: str | None = "no", fixed: tuple[str, ...] = ()
) -> Observation:
    kind, exception = ("raises", "BufferError") if message else ("silent-copy", None)
    return Observation("cpu", jax, consumer, version, kind, exception, message, fixed)


RULE = Rule(
    name="taken-as-one",
    summary="An array on several devices given to lib.take",
    family="A",
    jax=">=0.4.30",
    severity=Severity.ERROR,
    possible=Severity.WARNING,
    severity_by={},
    jax_by={},
    message="",
    match=Match(("dlpack",), "export", ()),
    when={},
    handled_by=(),
    tags=(),
    fixes=(
        FixSpec("Gather first (copies {devices})", Safety.MOVES_DATA, "# before\ny = f(x)\n# after\ny = f(g(x))", {}),
        FixSpec("Do nothing", Safety.SAFE, "# before\nf(x)\n# after\nf(x)", {}),
    ),
    record={
        "documentation": "The method __dlpack__ wants one device.",
        "solutions": ["Gather first", "Use *args"],
        "githubUrl": "https://example.org/array.py#L1",
    },
    page=PAGE,
    observed=(
        seen("0.6.2"),
        seen("0.7.2", fixed=("Gather first (copies {devices})",)),
        seen("0.8.3", fixed=("Gather first (copies {devices})",)),
        seen("0.10.2", fixed=("Gather first (copies {devices})",)),
        seen("0.6.2", "jax.Array.__dlpack__", "0.6.2"),
        seen("0.8.3", "jax.Array.__dlpack__", "0.8.3"),
        seen("0.6.2", "import.lib.old", "", None),
    ),
)


def test_a_page_for_a_target_is_in_the_order_in_which_it_is_needed() -> None:
    """Summary, validity, introduction, what was seen, what to do, repairs with cost and proof, and the source, in that order."""
    page = rule_page(RULE, TARGET)
    order = [
        "# taken-as-one\n",
        "An array on several devices given to `lib.take`.\n",
        "Holds from JAX 0.4.30 on. It concerns JAX 0.10.2 (--jax-version).\n",
        "Taken as *one*, it\nbreaks.\n",
        "## What happens\n",
        "## What to do\n\n- Gather first\n- Use `*args`\n",
        "## Repairs\n\n**Gather first (copies all its devices)** (moves data between devices).",
        "```python\n# before\ny = f(x)\n# after\ny = f(g(x))\n```\n",
        "**Do nothing** (safe). Not run yet.\n",
        "## Where the error comes from\n\n<https://example.org/array.py#L1>\n",
        "The method `__dlpack__` wants one device.\n",
    ]
    places = [page.index(part) for part in order]
    assert places == sorted(places)
    assert "Examples" not in page


def test_an_outcome_is_told_once_with_who_and_when() -> None:
    """Below each outcome stand its consumers by the versions that showed it; a span holds only versions that were run."""
    page = rule_page(RULE, TARGET)
    assert page.count("BufferError") == 1
    assert (
        "Seen on cpu with JAX 0.6.2, 0.7.2, 0.8.3 and 0.10.2 and with lib 1.0:\n"
        "\n"
        "- raises `BufferError: no`\n"
        "  - JAX 0.6.2 to 0.10.2: `lib.take`\n"
        "  - JAX 0.6.2, 0.8.3: `__dlpack__`\n"
        "- silently copies through the host\n"
        "  - JAX 0.6.2: the import of `lib.old`\n"
    ) in page


def test_what_happens_on_the_target_comes_first() -> None:
    """Of several outcomes those that the target shows are on top."""
    runs = (seen("0.6.2", message="early"), seen("0.10.2", message="late"), seen("0.8.3", message="between"))
    page = rule_page(replace(RULE, observed=runs), TARGET)
    assert page.index("late") < page.index("early") < page.index("between")


def test_what_raises_nothing_is_told_in_the_rules_own_words() -> None:
    """A silent outcome has general words, and the rule's where it has some; a crash tells how the process ended."""
    runs = (
        replace(seen("0.6.2", message=None), kind="silent-partial"),
        replace(seen("0.10.2", message=None), kind="silent-dtype"),
        replace(seen("0.8.3", message=None), kind="crash", message="was ended by SIGABRT"),
        replace(seen("0.9.2"), kind="late-error"),
    )
    page = rule_page(replace(RULE, observed=runs, outcome={"silent-dtype": "gives float32 for float64"}), TARGET)
    assert "- silently hands over one shard only\n" in page
    assert "- gives float32 for float64\n" in page
    assert "- ends the interpreter (the process was ended by SIGABRT)\n" in page
    assert "- lets a later line raise `BufferError: no`\n" in page


def test_several_platforms_are_told_apart() -> None:
    """A consumer that was run on two platforms is told with each."""
    runs = (seen("0.10.2"), replace(seen("0.10.2", message="other"), platform="gpu"))
    page = rule_page(replace(RULE, observed=runs), TARGET)
    assert "Seen on cpu and gpu with" in page
    assert "- raises `BufferError: other`\n  - JAX 0.10.2: `lib.take` on gpu\n" in page


def test_a_proof_says_what_was_compared() -> None:
    """A repair that was run tells on which versions, and what its result was equal to in the examples."""
    page = rule_page(RULE, TARGET)
    assert (
        "Run on JAX 0.7.2 to 0.10.2: what arrives equals what was handed over, values and dtype "
        "(in the examples `np.arange(4)`).\n"
    ) in page


@pytest.mark.parametrize(
    ("jax", "versions", "verdict"),
    [
        (">=0.7.0", ("0.6.2",), "JAX 0.6.2 is not concerned: the rule begins with 0.7.0 (target: a test)."),
        (">=0.7.0", ("0.5.3", "0.6.2"), "JAX 0.5.3 to 0.6.2 is not concerned: the rule begins with 0.7.0"),
        ("<0.7", ("0.7.2",), "JAX 0.7.2 is not concerned: the rule ends before 0.7 "),
        (">=0.4.30,<0.7", ("0.9.2",), "JAX 0.9.2 is not concerned: the rule ends before 0.7 "),
        ("==0.6.*", ("0.9.2",), "JAX 0.9.2 is not concerned: the rule holds on JAX ==0.6.* "),
        (">=0.7.0", ("0.6.2", "0.7.2", "0.8.3", "0.9.2"), "Of JAX 0.6.2 to 0.9.2 it concerns 0.7.2 to 0.9.2 (a test)."),
        ("<0.7", ("0.5.3", "0.6.2", "0.7.2"), "Of JAX 0.5.3 to 0.7.2 it concerns 0.5.3, 0.6.2 (a test)."),
        (">=0.4.30", ("0.5.0", "0.6.0"), "It concerns JAX 0.5.0 to 0.6.0 (a test)."),
    ],
)
def test_whether_the_target_is_concerned_is_said_plainly(jax: str, versions: tuple[str, ...], verdict: str) -> None:
    """A target outside of the rule's versions is told why; of one that is partly in, which versions are."""
    page = rule_page(replace(RULE, jax=jax), Target(versions, exact=False, origin="a test"))
    assert verdict in page


@pytest.mark.parametrize(
    ("jax", "words"),
    [
        ("", "Holds on every version of JAX."),
        (">=0.7.0", "Holds from JAX 0.7.0 on."),
        ("<0.7", "Holds before JAX 0.7."),
        (">=0.4.30,<0.7", "Holds from JAX 0.4.30 up to, but not in, 0.7."),
        ("==0.6.*", "Holds on JAX ==0.6.*."),
    ],
)
def test_the_rules_versions_are_told_in_words(jax: str, words: str) -> None:
    """A usual specifier is read out, an unusual one is shown as it is."""
    assert words in rule_page(replace(RULE, jax=jax), TARGET)


def test_a_target_that_was_not_run_is_told() -> None:
    """Nothing is claimed of a version that was not run, and nothing is missed of one that the rule does not concern."""
    newer = Target(("0.12.0",), exact=True, origin="x")
    assert "JAX 0.12.0 was not run." in rule_page(RULE, newer)
    assert "was not run" not in rule_page(RULE, TARGET)
    assert "was not run" not in rule_page(replace(RULE, jax="<0.11"), newer)
    assert "No run of it is recorded yet." in rule_page(replace(RULE, observed=()), TARGET)


def test_examples_are_those_of_the_cases_without_the_proofs_settings() -> None:
    """Programs, marks and repairs are shown, headings lie one level deeper, and no settings of a proof are left."""
    page = rule_page_with_examples(RULE, VERSIONS, PLACE)
    examples = page[page.index("## Examples") :]
    assert examples == (
        "## Examples\n\n### A program\n\nBefore.\n\n"
        "```python\nimport lib\n\n\ny = lib.take(x)  # error: [taken-as-one]\n#   ^^^^^^^^^^^\n```\n\n"
        "After *Gather first (copies 8 devices)*:\n\n"
        "```python\nimport lib\n\n\ny = lib.take(lib.gather(x))\n```\n\n"
        "### Of an old JAX\n\nChecked for JAX 0.6.2:\n\n```python\nimport lib\n```\n\n"
        "### What does not help\n\nNothing else.\n"
    )
    assert "toml" not in page
    assert "--jax-version" not in page


def test_the_rest_of_the_page_is_what_explain_shows() -> None:
    """The page with examples says the same as the one for a target, but for the verdict on that."""
    verdict = " It concerns JAX 0.10.2 (--jax-version)."
    whole = rule_page_with_examples(RULE, (), PLACE)
    standing = "Severity: error, warning where it is not sure. Family: [A: Arrays](README.md#a-arrays).\n\n"
    assert whole.replace(standing, "").startswith(rule_page(RULE, TARGET).replace(verdict, ""))


def test_a_table_tells_what_was_seen_on_each_version() -> None:
    """Each consumer has a row, each version a column: an exception, a silent outcome, or nothing where it was not run."""
    runs = (
        *RULE.observed,
        replace(seen("0.10.2", "lib.old"), kind="late-error"),
        seen("0.10.2", version="2", message=None),
    )
    page = rule_page_with_examples(replace(RULE, observed=runs), VERSIONS, PLACE)
    table = page[page.index("|  | 0.6.2") : page.index("\n\n## What to do")]
    assert table.splitlines() == [
        "|  | 0.6.2 | 0.7.2 | 0.8.3 | 0.10.2 | 0.12.0.1 |",
        "| --- | --- | --- | --- | --- | --- |",
        "| `lib.take` | `BufferError` | `BufferError` | `BufferError` | `BufferError` / silent copy | - |",
        "| `__dlpack__` | `BufferError` | - | `BufferError` | - | - |",
        "| the import of `lib.old` | silent copy | - | - | - | - |",
        "| `lib.old` | - | - | - | `BufferError` later | - |",
    ]


def test_a_rule_of_a_users_own_has_its_records_text() -> None:
    """The page of somebody else's rule may be anything: the record's documentation stands in its place."""
    page = rule_page(replace(RULE, shipped=False, page="# ```\n", observed=()), TARGET)
    assert "The method `__dlpack__` wants one device.\n\n## What happens" in page
    assert page.count("wants one device") == 1


def test_shipped_pages_speak_to_people_who_have_never_heard_of_records(catalogue: Catalogue) -> None:
    """No shipped page speaks of the data that it is made from, or keeps a setting of its proofs."""
    for rule in catalogue.rules.values():
        page = rule_page_with_examples(rule, VERSIONS, PLACE)
        assert "dataset" not in page.lower()
        assert "```toml" not in page
        assert "fix=" not in page
        assert rule.check or rule.record["githubUrl"] in page
