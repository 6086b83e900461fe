"""The report for people: the excerpt lines up, long things are cut, repairs are shown as they will be."""

from __future__ import annotations

import pytest

from shardlint.model import Edit, Finding, Fix, Location, Safety, Severity, Step
from shardlint.report.entry import Entry
from shardlint.report.excerpt import excerpt
from shardlint.report.paint import coloured, plain
from shardlint.report.text import Look, render
from shardlint.text import Span, Text

LOOK = Look(plain, None)


def span_of(source: str, part: str) -> Span:
    start = source.index(part)
    return Span(start, start + len(part))


def report(source: str, part: str, *fixes: Fix, steps: tuple[Step, ...] = (), look: Look = LOOK) -> list[str]:
    """The lines of the report on a finding at `part`."""
    location = Location("a.py", span_of(source, part))
    finding = Finding("some-rule", Severity.ERROR, location, "It is wrong.", steps, "f")
    return render([Entry(finding, fixes)], {"a.py": Text(source)}, look).splitlines()


@pytest.mark.parametrize(
    ("source", "line", "carets"),
    [
        ("a; f(x)\n", "a; f(x)", "   ^^^^"),
        ("if a:\n\tf(x)\n", "    f(x)", "    ^^^^"),
        ("ab\tf(x)\n", "ab  f(x)", "    ^^^^"),
        ("'\u540d\u524d'; f(x)\n", "'\u540d\u524d'; f(x)", "        ^^^^"),
        ("'\U0001f680'; f(x)\n", "'\U0001f680'; f(x)", "      ^^^^"),
        ("'e\u0301'; f(x)\n", "'e\u0301'; f(x)", "     ^^^^"),
        ("a; f(x)\r\nb\r\n", "a; f(x)", "   ^^^^"),
        ("\x1b[1m; f(x)\n", "\ufffd[1m; f(x)", "      ^^^^"),
    ],
)
def test_carets_stand_under_the_span(source: str, line: str, carets: str) -> None:
    """Tabs, wide and combining characters, CRLF and control characters: the carets stand under what is meant."""
    _, _, _, shown, marks, *_ = report(source, "f(x)")
    assert shown.partition("| ")[2] == line
    assert marks.partition("| ")[2] == carets


def test_span_over_lines_is_marked_on_its_first(capsys: pytest.CaptureFixture[str]) -> None:
    """A call that spans lines is marked up to the end of its first line."""
    _, _, _, shown, marks, *_ = report("t = f(\n    x,\n)\n", "f(\n    x,\n)")
    assert (shown, marks) == ("    1 | t = f(", "      |     ^^")


def test_long_line_is_cut_around_the_span() -> None:
    """Of a line of a million characters only the part around the span is shown, marked where it is cut."""
    source = "a" * 1_000_000 + "; f(x); " + "b" * 1_000_000
    shown = excerpt(Text(source), span_of(source, "f(x)"), 80)
    assert len(shown.text) <= 90
    assert shown.text[shown.indent : shown.indent + shown.width] == "f(x)"
    assert shown.text.startswith("...a")
    assert shown.text.endswith("b...")


def test_empty_span_and_end_of_text() -> None:
    """A span without width, at the very end of a text, is marked by one cell."""
    shown = excerpt(Text("ab\n"), Span(3, 3), 80)
    assert (shown.line, shown.text, shown.indent, shown.width) == (2, "", 0, 1)


def test_steps_have_their_place_and_line() -> None:
    """Each step is told with path, line and column and its source line; one whose text is unknown only with the path."""
    source = "mesh = make()\nif a:\n    x = put(mesh)\nf(x)\n"
    steps = (
        Step(Location("a.py", span_of(source, "make()")), "a mesh"),
        Step(Location("a.py", span_of(source, "put(mesh)")), "an array on it"),
        Step(Location("other.py", Span(5, 6)), "elsewhere"),
    )
    lines = report(source, "f(x)", steps=steps)
    assert lines[lines.index("  because") + 1 :] == [
        "    a.py:1:8      a mesh",
        "                  mesh = make()",
        "    a.py:3:9      an array on it",
        "                  x = put(mesh)",
        "    other.py:1:1  elsewhere",
        "",
    ]


def test_line_that_was_just_shown_is_not_repeated() -> None:
    """A step on the finding's own line, or on that of the step before, comes without its source."""
    source = "mesh = put(make())\nf(g(x))\n"
    parts = ("make()", "put(make())", "g(x)", "x")
    steps = tuple(Step(Location("a.py", span_of(source, part)), part) for part in parts)
    lines = report(source, "f(g(x))", steps=steps)
    assert lines[lines.index("  because") + 1 :] == [
        "    a.py:1:12  make()",
        "               mesh = put(make())",
        "    a.py:1:8   put(make())",
        "    a.py:2:3   g(x)",
        "               f(g(x))",
        "    a.py:2:5   x",
        "",
    ]
    own = report(source, "f(g(x))", steps=steps[2:])
    assert own[own.index("  because") + 1 :] == ["    a.py:2:3  g(x)", "    a.py:2:5  x", ""]


def test_steps_of_a_long_path_are_indented_little() -> None:
    """Below a long path a step's source line begins at the left, so that the line stays short."""
    path = "a/" * 20 + "a.py"
    location = Location(path, Span(5, 9))
    finding = Finding("r", Severity.ERROR, location, "m", (Step(Location(path, Span(0, 4)), "made"),), "f")
    lines = render([Entry(finding, ())], {path: Text("mesh\nf(x)\n")}, LOOK).splitlines()
    assert lines[-3:] == [f"    {path}:1:1  made", "      mesh", ""]


def test_only_one_repair_is_made_by_fix() -> None:
    """Of several safe repairs the first is the one that --fix makes."""
    fixes = [Fix("r", title, Safety.SAFE, (Edit(Span(0, 4), "g"),)) for title in ("First", "Second")]
    lines = report("f(x)\n", "f(x)", *fixes)
    assert [line for line in lines if "repair" in line] == ["  repair (--fix): First", "  repair (by hand): Second"]


def test_middle_of_a_long_chain_is_left_out() -> None:
    """Of a chain of twenty steps the first and last four are shown, with the number of the others."""
    source = "".join(f"s{number}\n" for number in range(20)) + "f(x)\n"
    steps = tuple(Step(Location("a.py", span_of(source, f"s{n}\n")), f"step {n}.") for n in range(20))
    text = "\n".join(report(source, "f(x)", steps=steps))
    assert [f"step {n}." in text for n in range(20)] == [n < 4 or n >= 16 for n in range(20)]
    assert "... 12 more steps" in text


def test_repaired_lines_have_their_future_numbers() -> None:
    """The best repair is shown as the lines that it leaves, with an added line counted; the others by title."""
    source = "import a\nx = 1\nf(x)\nf(y)\n"
    call = span_of(source, "f(x)")
    best = Fix(
        "r", "Say g", Safety.SAFE, (Edit(Span(0, 0), "import g\n"), Edit(Span(call.start, call.start + 1), "g.g"))
    )
    other = Fix("r", "Say h (copies)", Safety.COPIES, (Edit(call, "h(x)"),))
    lines = report(source, "f(x)", best, other)
    assert lines[-5:] == [
        "  repair (--fix): Say g",
        "    1 + import g",
        "    4 + g.g(x)",
        "  repair (by hand): Say h (copies)",
        "",
    ]


def test_lines_that_go_are_shown_with_the_numbers_that_they_had() -> None:
    """A repair that takes lines away shows them, and what it leaves with the numbers that it will have."""
    source = "from a import f\nx = 1\nf(\n    x,\n)\nf(y)\n"
    call = span_of(source, "f(\n    x,\n)")
    fix = Fix("r", "Say g", Safety.SAFE, (Edit(span_of(source, "from a import f\n"), ""), Edit(call, "g(x)")))
    assert report(source, "f(\n    x,\n)", fix)[-7:] == [
        "  repair (--fix): Say g",
        "    1 - from a import f",
        "    3 - f(",
        "    4 -     x,",
        "    5 - )",
        "    2 + g(x)",
        "",
    ]


def test_message_is_wrapped_on_a_terminal_only() -> None:
    """With a width no line of prose is wider; without one a message is one line."""
    location = Location("a.py", Span(0, 1))
    finding = Finding("r", Severity.WARNING, location, "word " * 60, (), "f")
    wrapped = render([Entry(finding, ())], {"a.py": Text("f")}, Look(plain, 60)).splitlines()
    assert max(map(len, wrapped)) <= 60
    assert len(render([Entry(finding, ())], {"a.py": Text("f")}, LOOK).splitlines()) == 6


def test_colours_add_escape_sequences_and_nothing_else() -> None:
    """A coloured report without its escape sequences is the plain one."""
    import re

    source = "mesh\nf(x)\n"
    steps = (Step(Location("a.py", Span(0, 4)), "a mesh"),)
    fix = Fix("r", "Say g", Safety.SAFE, (Edit(Span(5, 6), "g"),))
    painted = report(source, "f(x)", fix, steps=steps, look=Look(coloured(), None))
    assert any("\x1b[" in line for line in painted)
    assert [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in painted] == report(source, "f(x)", fix, steps=steps)
