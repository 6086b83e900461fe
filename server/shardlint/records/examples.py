"""The before/after notation of the records' `exampleFix`.

A comment line that holds nothing but `before` or `after` (`# before`, `// after`, in any case, a note in brackets or
behind a colon allowed) opens a part, which reaches to the next such line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from textwrap import dedent

_MARK = re.compile(r"^[ \t]*(?://|#)[ \t]*(before|after)[ \t]*(?:[:(\-].*)?$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Example:
    """The code that fails and the code that replaces it, without common indentation or blank lines around."""

    before: str
    after: str


def split_example(text: str) -> Example | None:
    """The first part before and the part after it, or None where one of them is missing or blank. Lines end in LF."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    marks = list(_MARK.finditer(text))
    for index, (mark, next_mark) in enumerate(pairwise(marks), 2):
        end = marks[index].start() if index < len(marks) else len(text)
        example = Example(_code(text[mark.end() : next_mark.start()]), _code(text[next_mark.end() : end]))
        if (mark[1].lower(), next_mark[1].lower()) == ("before", "after") and example.before and example.after:
            return example
    return None


def _code(part: str) -> str:
    return dedent(part).strip("\n").rstrip()
