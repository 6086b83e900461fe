"""A language server over stdio whose core is made of words in the text, so that its edge can be tested by itself.

`ASK` asks what `lib.name` means, and is a finding once that is known to be `bad.word`; the answer comes when a document with
`RELEASE` has been checked, for `ASK_DULL` (`lib.dull`) it is another one, and for `ASK_BROKEN` the question fails. `BAD` is a finding of the rule `fake-rule` (its steps are each `SOURCE`, then each `STEP`), `LOOK` a fine hand-off, `UNREADABLE` a part
that is not checked, `EXPLODE` a defect in the core; `SLOW` makes the check last. The first fix of `BAD` writes `GOOD` and is
safe, the second writes `MOVED` and moves data. `STUCK` is a finding without a repair, `OPEN` a hand-off with a guard, which writes `GUARDED`.
"""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from shardlint.check import Report, Snapshot
from shardlint.lsp.engine import Engine, Project
from shardlint.lsp.main import serve
from shardlint.lsp.server import build
from shardlint.model import Edit, Finding, Fix, HandOff, Location, Problem, Safety, Severity, Step, Target
from shardlint.records.catalogue import Catalogue, Match, Rule
from shardlint.text import Span

RULE = Rule(
    name="fake-rule",
    summary="A word that is bad",
    family="A",
    jax="",
    severity=Severity.ERROR,
    possible=Severity.WARNING,
    severity_by={},
    jax_by={},
    message="{consumer} is bad",
    match=Match((), None, ()),
    when={},
    handled_by=(),
    tags=("deprecated",),
    fixes=(),
    record={"githubUrl": "https://example.org/rule"},
    page="",
    observed=(),
    shipped=False,
)


QUESTIONS = {"ASK": "lib.name", "ASK_DULL": "lib.dull", "ASK_BROKEN": "lib.broken"}
RELEASED = threading.Event()
PATIENCE = 20.0


def check(snapshot: Snapshot) -> Report:
    source = snapshot.text.source
    if "RELEASE" in source:
        RELEASED.set()
    if "EXPLODE" in source:
        raise RuntimeError("the fake core exploded")
    if "SLOW" in source:
        time.sleep(0.02)
    steps = tuple(
        Step(_at(snapshot, span), "the source of it" if first else "then this")
        for word, first in (("SOURCE", True), ("STEP", False))
        for span in _words(word, source)
    )
    return Report(
        findings=tuple(
            Finding("fake-rule", Severity.ERROR, _at(snapshot, span), "this is bad", steps, "bad.word", RULE.tags)
            for word in (
                "BAD",
                "STUCK",
                *(word for word, name in QUESTIONS.items() if snapshot.answers.get(name) == "bad.word"),
            )
            for span in _words(word, source)
        ),
        problems=tuple(Problem(snapshot.path, "this was not checked", span) for span in _words("UNREADABLE", source)),
        hand_offs=tuple(
            HandOff(_at(snapshot, span), span, "fine.word", "dlpack", "the array is on one device")
            for word in ("LOOK", "OPEN")
            for span in _words(word, source)
        ),
        questions=tuple(name for word, name in QUESTIONS.items() if [*_words(word, source)]),
    )


def meanings(names: Collection[str], folders: tuple[Path, ...]) -> Mapping[str, str]:
    RELEASED.wait(PATIENCE)
    if "lib.broken" in names:
        raise RuntimeError("the fake question failed")
    known = {"lib.name": "bad.word", "lib.dull": "dull.word"}
    return {name: known[name] for name in names}


def repairs(snapshot: Snapshot, finding: Finding) -> tuple[Fix, ...]:
    if snapshot.text.slice(finding.location.span) == "STUCK":
        return ()
    return (
        Fix("fake-rule", "Make it good", Safety.SAFE, (Edit(finding.location.span, "GOOD"),)),
        Fix("fake-rule", "Move it", Safety.MOVES_DATA, (Edit(finding.location.span, "MOVED"),)),
    )


def why_no_repair(snapshot: Snapshot, finding: Finding) -> str:
    return "nobody knows how"


def guards(snapshot: Snapshot, hand_off: HandOff) -> tuple[Fix, ...]:
    if snapshot.text.slice(hand_off.location.span) != "OPEN":
        return ()
    return (Fix("fake-rule", "Guard it", Safety.MOVES_DATA, (Edit(hand_off.location.span, "GUARDED"),)),)


def fix_all(snapshot: Snapshot) -> tuple[str, tuple[Fix, ...]]:
    fixes = tuple(made[0] for finding in check(snapshot).findings if (made := repairs(snapshot, finding)))
    return re.sub(r"\bBAD\b", "GOOD", snapshot.text.source), fixes


def project(folder: Path) -> Project:
    problems = (Problem("pyproject.toml", "pyproject.toml: no key 'x'."),) if folder.name == "misconfigured" else ()
    target = Target(("0.10.2",), exact=True, origin="the test says so")
    return Project(target, Catalogue({RULE.name: RULE}, ("0.10.2",)), problems=problems)


def _words(word: str, source: str) -> Iterator[Span]:
    return (Span(*match.span()) for match in re.finditer(rf"\b{word}\b", source))


def _at(snapshot: Snapshot, span: Span) -> Location:
    return Location(snapshot.path, span)


if __name__ == "__main__":
    sys.exit(
        serve(
            build(
                Engine(check, repairs, fix_all, project, meanings=meanings, why_no_repair=why_no_repair, guards=guards)
            )
        )
    )
