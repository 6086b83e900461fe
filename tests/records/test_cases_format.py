"""The format of `cases.md`: what is read from it, and how a mistake in one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardlint.model import Severity
from shardlint.records.cases import Case, CasesError, Mark, parse_cases, strip_marks

RECORDS = Path(__file__).parents[2] / "records"

PAGE = """\
# The rule

Prose, and a block for the reader alone:

```text
## no heading
```

## It raises

```toml
jax = "0.10.2"
consumer = "lib.take"
exception = "BufferError"
result = "y"
value = "np.arange(2)"
needs = ["lib"]
devices = 4
```

```python
import lib
y = lib.take(x)  # error: [the-rule]
#   ^^^^^^^^^^^
z = lib.take(x)  # warning: [the-rule]
```

More prose.

```python fix="Gather first (copies 4 devices)"
import lib
y = lib.take(lib.gather(x))
```

## It is fine

```python
import lib
```
"""


def page(settings: str = "", program: str = "x = 1  # error: [a]\n", after: str = "") -> str:
    toml = f"```toml\n{settings}\n```\n" if settings else ""
    return f"# A case\n{toml}```python\n{program}```\n{after}"


def one(text: str) -> Case:
    (case,) = parse_cases(text, "cases.md")
    return case


def test_a_case_is_a_heading_with_a_program():
    """Headings without a program are prose, and headings inside a block are none."""
    cases = parse_cases(PAGE, "cases.md")
    assert [(case.title, case.line) for case in cases] == [("It raises", 9), ("It is fine", 35)]


def test_settings_are_read():
    """The toml block says how the program is run and what it must show."""
    raises = parse_cases(PAGE, "cases.md")[0]
    assert (raises.jax, raises.consumer, raises.exception) == ("0.10.2", "lib.take", "BufferError")
    assert (raises.result, raises.value, raises.needs, raises.devices) == ("y", "np.arange(2)", ("lib",), 4)


def test_what_is_silent_says_how_it_is_seen():
    """A case of what raises nothing has an expression that tells it, and names what it shows."""
    case = one(page('expect = "silent-dtype"\nshows = "x.dtype != y.dtype"\nhazards = ["one", "two"]'))
    assert (case.expect, case.shows, case.hazards) == ("silent-dtype", "x.dtype != y.dtype", ("one", "two"))


def test_defaults_follow_from_the_marks():
    """A case without settings is one process with eight CPU devices, and fine unless a line is marked."""
    fine = parse_cases(PAGE, "cases.md")[1]
    assert (fine.expect, fine.devices, fine.processes, fine.platform) == ("none", 8, 1, "cpu")
    assert one(page()).expect == "raises"


def test_marks_name_line_severity_rule_and_range():
    """Lines count from the program's first one, columns from 0, and carets give the exact range."""
    raises = parse_cases(PAGE, "cases.md")[0]
    assert raises.marks == (
        Mark(2, Severity.ERROR, "the-rule", (4, 15)),
        Mark(4, Severity.WARNING, "the-rule", None),
    )
    assert PAGE.splitlines()[raises.program_line - 1] == "import lib"


def test_fixed_programs_keep_their_title_and_place():
    """A fixed program is the whole text, and its line leads a reader back to the page."""
    (fixed,) = parse_cases(PAGE, "cases.md")[0].fixes
    assert fixed.title == "Gather first (copies 4 devices)"
    assert fixed.source == "import lib\ny = lib.take(lib.gather(x))\n"
    assert PAGE.splitlines()[fixed.line - 1] == "import lib"


def test_strip_marks_leaves_the_program():
    """Marks and carets go, other comments stay."""
    program = "a = 1  # error: [x]\n#   ^\nb = 2  # why\n# ^^^\n"
    assert strip_marks(program) == "a = 1\nb = 2  # why\n# ^^^\n"


def test_longer_fences_may_hold_shorter_ones():
    """A block ends at a fence that is at least as long as its own."""
    text = "# A case\n````python\ns = '''\n```\n'''\n````\n"
    assert one(text).program == "s = '''\n```\n'''\n"


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("# A\n```python\nx = 1\n", 2, "has no end"),
        ("```python\nx = 1\n```\n", 1, "needs a heading"),
        ("# A\n```toml\n```\n", 2, "needs a python block"),
        ("# A\n```python\n```\n```toml\n```\n", 4, "before its program"),
        (page("expect = "), 2, "does not parse"),
        (page('expects = "none"'), 2, "unknown key `expects`"),
        (page("consumer = 1"), 2, "`consumer` must be a string"),
        (page("devices = true"), 2, "`devices` must be a number"),
        (page("devices = 0"), 1, "at least 1"),
        (page('needs = "torch"'), 2, "`needs` must be a list of strings"),
        (page("needs = [1]"), 2, "`needs` must be a list of strings"),
        (page('runs-on = "new"'), 2, "`runs-on` must be a version specifier"),
        (page('jax = ">=1"'), 2, "`jax` must be one version"),
        (page('message = "("'), 2, "`message` must be a regular expression"),
        (page('expect = "silence"'), 1, "`expect` must be one of"),
        (page('expect = "aliasing"'), 1, "say with `shows` how one sees it"),
        (page('expect = "crash"\nshows = "x"'), 1, "`shows` is for what does not raise"),
        (page('expect = "aliasing"\nshows = "x ="'), 2, "`shows` must be one Python expression"),
        (page('hazards = "a"'), 2, "`hazards` must be a list of strings"),
        (page('expect = "none"'), 1, "but lines are marked"),
        (page('expect = "raises"', "x = 1\n"), 1, "but no line is marked"),
        (page('result = "x"'), 1, "`result` and `value` go together"),
        (page(program="x = 1  # error [a]\n"), 3, "a mark is"),
        (page(program="x = 1\n#   ^\n"), 4, "do not stand under a marked line"),
        (page(program="x = 1  # error: [a]\n#   ^^^^^\n"), 4, "do not stand under a marked line"),
        (page(after="```python\nx = 2\n```\n"), 5, "a further program"),
        (page(after='```python fix="F"\nx = 2  # error: [a]\n```\n'), 6, "has no marks"),
        (page(after='```python fix="F"\nx = 2\n```\n'), 1, "`result` and `value`"),
        (page(program="x = 1\n", after='```python fix="F"\nx = 2\n```\n'), 1, "no line is marked"),
        ("# A\n```python\n```\n# A\n```python\n```\n", 4, "a second case is called 'A'"),
    ],
)
def test_a_mistake_names_file_and_line(text: str, line: int, reason: str):
    """Whoever writes a page is told where it is wrong and what would be right."""
    with pytest.raises(CasesError) as told:
        parse_cases(text, "rule/cases.md")
    assert str(told.value).startswith(f"rule/cases.md:{line}: ")
    assert reason in str(told.value)


@pytest.mark.parametrize("page_file", sorted(RECORDS.glob("*/cases.md")), ids=lambda path: path.parent.name)
def test_shipped_pages_show_errors_and_look_alikes(page_file: Path):
    """A page proves both that the rule speaks and that it keeps silent, with programs that are Python. What other rules say beside it
    is marked too.
    """
    cases = parse_cases(page_file.read_text(encoding="utf-8"), str(page_file))
    assert any(case.marks for case in cases)
    assert any(not case.marks for case in cases)
    for case in cases:
        for source in (case.program, *(fixed.source for fixed in case.fixes)):
            compile(source, case.title, "exec")
        assert not case.marks or page_file.parent.name in {mark.rule for mark in case.marks}
