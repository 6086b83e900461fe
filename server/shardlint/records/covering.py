"""Records of other people that tell of an error which a shipped rule finds: that rule speaks, and the record says what it tells
differently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from shardlint.records.catalogue import Rule
from shardlint.records.files import one_line
from shardlint.records.markup import MARKDOWN

_HOLE = re.compile(r"\{[^{}]*\}")
_WORD = re.compile(r"\w+")
_FEWEST_WORDS = 4
"""Fewer words in common are no proof that two messages are one."""


def with_coverage(own: Iterable[Rule], shipped: Mapping[str, Rule]) -> tuple[Rule, ...]:
    """The rules of a user's own, each record that has no rule with the shipped rule of the same error, and how they differ."""
    return tuple(_covered(rule, shipped) for rule in own)


def is_record_alone(rule: Rule) -> bool:
    """Whether a rule is made of a record that came without one: it says neither what to look for nor who looks."""
    return not (rule.shipped or rule.match.names or rule.match.protocols or rule.check)


def _covered(rule: Rule, shipped: Mapping[str, Rule]) -> Rule:
    if not is_record_alone(rule):
        return rule
    ours = next((one for one in shipped.values() if not one.check and _same_error(rule.record, one.record)), None)
    return (
        replace(rule, covered_by=ours.name, differences=tuple(_differences(rule.record, ours.record))) if ours else rule
    )


def _same_error(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two records tell of one message: one's pattern finds the other's, or they have the same words in whatever order."""
    if one["id"] == other["id"] or _finds(one, other) or _finds(other, one):
        return True
    words = _words(one["errorMessage"])
    return len(words) >= _FEWEST_WORDS and words == _words(other["errorMessage"])


def _finds(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether one record's pattern finds the other's message, where that pattern demands words enough to mean only this error."""
    pattern = one.get("messagePattern")
    if not pattern or len(_words(re.sub(r"\\\w|\(.*?\)", " ", pattern))) < _FEWEST_WORDS:
        return False
    return re.search(pattern, other["errorMessage"]) is not None


def _words(message: str) -> frozenset[str]:
    return frozenset(word.strip("_").lower() for word in _WORD.findall(_HOLE.sub(" ", message)))


def _differences(one: Mapping[str, Any], ours: Mapping[str, Any]) -> Iterator[str]:
    """What the record tells in another way than the rule's own, as sentences of Markdown."""
    for field, what in (("errorClass", "raises"), ("errorMessage", "has the text")):
        theirs, right = one.get(field), ours.get(field)
        if theirs and theirs != right:
            yield f"Here it {what} {_quoted(theirs)}, there {_quoted(right)}."
    if (theirs := _place(one)) and theirs != (right := _place(ours)):
        yield f"Here it comes from {theirs}, there from {right}."
    if one["exampleFix"].strip() != ours["exampleFix"].strip():
        yield "The repair is another one: what that rule offers was run, and this record's example was not."


def _quoted(text: object) -> str:
    return MARKDOWN.code(one_line(str(text))) if text else "none"


def _place(record: Mapping[str, Any]) -> str:
    path, line = record.get("filePath"), record.get("lineNumber")
    return f"{MARKDOWN.code(one_line(str(path)))}{f', line {line}' if line else ''}" if path else ""
