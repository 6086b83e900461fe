"""The text of a hover."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shardlint import explain
from shardlint.check import Report, Snapshot
from shardlint.model import Edit, Finding, Fix, HandOff, Location, Safety, Severity, Step, Target
from shardlint.records.catalogue import Catalogue, FixSpec, Match, Observation, Rule, page_path
from shardlint.text import Span, Text

SOURCE = "x = make()\ny = x\nt = torch.from_dlpack(inner(y))\nz = 1\n"
CALL = Span(SOURCE.index("torch"), SOURCE.index("\nz"))
NAME = Span(CALL.start, SOURCE.index("("[0], CALL.start))
INNER = Span(SOURCE.index("inner"), SOURCE.index("(y)"))
TARGET = Target(("0.10.2",), exact=True, origin="--jax-version")

RULE = Rule(
    name="sharded-dlpack-export",
    summary="An array on several devices is given away over `DLPack`",
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
        FixSpec("Move {devices} to one", Safety.MOVES_DATA, "# before\nf(x)\n# after\nf(g(x))", {}),
        FixSpec("Do nothing", Safety.SAFE, "# before\nf(x)\n# after\nf(x)", {}),
    ),
    record={
        "documentation": "The method __dlpack__ wants one device.",
        "solutions": ["Gather first", "Use *args"],
        "githubUrl": "https://example.org/array.py#L1",
    },
    page="",
    observed=(
        Observation(
            "cpu",
            "0.10.2",
            "torch.from_dlpack",
            "2.13.0",
            "raises",
            "BufferError",
            "no\nmore",
            ("Move {devices} to one",),
        ),
        Observation("cpu", "0.9.2", "torch.from_dlpack", "2.13.0", "raises", "BufferError", "no\nmore", ()),
        Observation("cpu", "0.9.2", "jax.x", "", "silent-copy", None, None, ()),
    ),
)


def at(span: Span, path: str = "a.py") -> Location:
    return Location(path, span)


FINDING = Finding(
    rule=RULE.name,
    severity=Severity.ERROR,
    location=at(CALL),
    message="torch.from_dlpack is given an array on 8 devices",
    steps=(Step(at(Span(0, 1)), "x is on 8 devices"), Step(at(Span(11, 12)), "y is x")),
    consumer="torch.from_dlpack",
)
HAND_OFF = HandOff(at(CALL), NAME, "torch.from_dlpack", "dlpack", "the array is on many devices", (), (RULE.name,))
FINE = HandOff(at(Span(INNER.start, INNER.end + 3)), INNER, "inner", "dlpack", "__dlpack__ of y is fine", (), ())


def repairs(finding: Finding) -> tuple[Fix, ...]:
    return (Fix(finding.rule, "Move to one device (copies 8 devices)", Safety.MOVES_DATA, (Edit(CALL, "t"),)),)


def snapshot(target: Target = TARGET, rule: Rule = RULE) -> Snapshot:
    return Snapshot("a.py", Text(SOURCE), target, Catalogue({rule.name: rule}, ("0.9.2", "0.10.2")))


def text_at(
    offset: int, report: Report, shot: Snapshot | None = None, markup: explain.Markup = explain.MARKDOWN
) -> str:
    found = explain.hover(shot or snapshot(), report, offset, repairs, markup)
    assert found
    return found.text


BOTH = Report((FINDING,), (), (HAND_OFF, FINE))


def test_hover_on_a_finding_says_all_that_matters() -> None:
    """Rule, target, message, what was seen, the numbered steps by line, the repairs with their cost, and the link."""
    text = text_at(CALL.end - 1, BOTH)
    order = [
        "sharded-dlpack-export",
        "error on JAX 0.10.2",
        "is given an array on 8 devices",
        "Seen on cpu with JAX 0.10.2 and torch 2.13.0: it raises `BufferError: no`.",
        "1. line 1: x is on 8 devices",
        "2. line 2: y is x",
        "- Move to one device (copies 8 devices) · moves data between devices",
        page_path(RULE.name).as_uri(),
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert "|" not in text


def test_a_link_leads_to_where_the_pages_are_published() -> None:
    """With `docs-url` a shipped rule's link goes there; a rule of a user's own has none on the project's pages."""
    assert explain.rule_link(RULE, "https://example.org/{rule}.html") == f"https://example.org/{RULE.name}.html"
    assert explain.rule_link(RULE) == page_path(RULE.name).as_uri()
    own = replace(RULE, shipped=False, record={"githubUrl": "https://example.org/line"})
    assert explain.rule_link(own, "https://example.org/{rule}.html") == "https://example.org/line"


def test_the_smallest_thing_under_the_cursor_counts() -> None:
    """On the name of a hand-off inside a finding the hover is about that hand-off; on the finding's own name, the finding."""
    fine = explain.hover(snapshot(), BOTH, INNER.start + 1, repairs)
    assert fine
    assert fine.span == INNER
    assert "sharded" not in fine.text
    own = explain.hover(snapshot(), BOTH, NAME.end - 1, repairs)
    assert own
    assert own.span == CALL
    assert "sharded-dlpack-export" in own.text


@pytest.mark.parametrize("offset", [0, CALL.start - 1, CALL.end + 1, len(SOURCE)])
def test_hover_is_silent_elsewhere(offset: int) -> None:
    """Where there is neither a finding nor the name of a hand-off, there is no hover."""
    assert explain.hover(snapshot(), BOTH, offset, repairs) is None


def test_hover_on_a_fine_hand_off() -> None:
    """Where nothing is wrong the hover says what the call is, what is known, and for which JAX."""
    report = Report((), (), (replace(HAND_OFF, steps=FINDING.steps),))
    text = text_at(NAME.start, report)
    for part in (
        "torch.from_dlpack",
        "DLPack",
        "JAX 0.10.2",
        "The array is on many devices.",
        "1. line 1: x is on 8 devices",
    ):
        assert part in text
    assert explain.hover(snapshot(), report, CALL.end - 1, repairs) is None


def test_two_findings_at_one_place_are_both_told() -> None:
    """Findings of different rules at the same code share one hover."""
    other = replace(FINDING, rule="another-rule", message="something else")
    text = text_at(CALL.end - 1, Report((FINDING, other), (), ()))
    assert "is given an array on 8 devices" in text
    assert "something else" in text


def test_what_was_not_seen_is_not_told_as_seen() -> None:
    """A run on another version is told as such, and where none is recorded the hover says so."""
    older = Target(("0.10.0",), exact=True, origin="x")
    assert "JAX 0.9.2" in text_at(CALL.end - 1, BOTH, snapshot(older))
    assert "not run on JAX 0.10.0" in text_at(CALL.end - 1, BOTH, snapshot(older))
    unseen = snapshot(rule=replace(RULE, observed=()))
    assert "No run of `torch.from_dlpack` is recorded" in text_at(CALL.end - 1, BOTH, unseen)
    assert "Seen" not in text_at(CALL.end - 1, BOTH, unseen)


def test_outcome_is_not_told_twice() -> None:
    """A message that quotes what was seen leaves only the where and when to tell."""
    told = replace(FINDING, message="it raises BufferError: no")
    text = text_at(CALL.end - 1, Report((told,), (), ()), snapshot(rule=replace(RULE, message="it {outcome}")))
    assert text.count("BufferError") == 1
    assert "Seen on cpu with JAX 0.10.2 and torch 2.13.0." in text


def test_unknown_target_is_told() -> None:
    """Where nothing names a version, the hover says which was taken and why."""
    guessed = Target(("0.10.2",), exact=False, origin="nothing names a version: newest catalogued")
    assert "nothing names a version: newest catalogued" in text_at(CALL.end - 1, BOTH, snapshot(guessed))


def test_long_chain_is_cut_in_the_middle() -> None:
    """Of a long chain the hover shows both ends and how many steps it left out."""
    steps = tuple(Step(at(Span(0, 1)), f"step {number} happens") for number in range(1, 21))
    text = text_at(CALL.end - 1, Report((replace(FINDING, steps=steps),), (), ()))
    assert "1. line 1: step 1 happens" in text
    assert "20. line 1: step 20 happens" in text
    assert "12 more steps" in text
    assert "step 10 happens" not in text


def test_steps_in_another_file_name_it() -> None:
    """A step in a file whose text is not at hand is told with the file's name."""
    steps = (Step(at(Span(0, 1), "other.py"), "x is made"),)
    assert "1. `other.py`: x is made" in text_at(CALL.end - 1, Report((replace(FINDING, steps=steps),), (), ()))


def test_plain_text_has_no_markup() -> None:
    """A plain hover carries the same facts without Markdown."""
    report = Report((replace(FINDING, message="the method __dlpack__ fails"),), (), ())
    plain = text_at(CALL.end - 1, report, markup=explain.PLAIN)
    assert "**" not in plain
    assert "`" not in plain
    assert "](" not in plain
    assert "the method __dlpack__ fails" in plain


def test_words_of_jax_are_one_piece() -> None:
    """What JAX says is shown as code from its first to its last word, whatever is in it, whoever counted the devices."""
    said = "the array 'x.y' is on 8 devices, and __dlpack__ \"cannot\" pack it"
    run = replace(RULE.observed[0], message=said)
    rule = replace(RULE, message="on {target} {consumer} {outcome}", observed=(*RULE.observed, run))
    for number in ("8", "N"):
        told = said.replace("8 devices", f"{number} devices")
        finding = replace(
            FINDING, message=f"On JAX 0.10.2 torch.from_dlpack raises BufferError: {told}. More is not known."
        )
        text = text_at(CALL.end - 1, Report((finding,), (), ()), snapshot(rule=rule))
        assert f"`torch.from_dlpack` raises `BufferError: {told}`. More is not known." in text


ELSEWHERE = replace(
    FINDING, location=at(Span(30, 40), "b.py"), steps=(Step(at(Span(0, 1)), "x is passed on"),), calls=(at(INNER),)
)
OTHER = Text("import torch\n\ndef bridge(y):\n    return torch.from_dlpack(y)\n")


def test_a_call_into_another_file_tells_where_it_leads() -> None:
    """On the call the hover explains the finding and names the hand-off with its line in the other file."""
    report = Report((ELSEWHERE,), (), (), looked_into={"b.py": OTHER})
    text = text_at(INNER.start, report)
    assert "This call leads to the hand-off in `b.py` line 4, to `torch.from_dlpack`." in text
    assert "1. line 1: x is passed on" in text


def test_a_span_of_another_file_is_none_of_this_one() -> None:
    """At the offsets that a hand-off has in its own file, this file has nothing to say."""
    report = Report((replace(ELSEWHERE, calls=()),), (), (), looked_into={"b.py": OTHER})
    assert explain.hover(snapshot(), report, 35, repairs) is None
