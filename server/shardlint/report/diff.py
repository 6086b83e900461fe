"""What would change in a file, as a unified diff that `patch` and `git apply` take."""

from __future__ import annotations

import difflib
from itertools import pairwise

from shardlint.report.paint import Paint, Role
from shardlint.text import Text

_ROLES = {"+": Role.ADDED, "-": Role.REMOVED, "@": Role.QUIET}


def render(path: str, old: Text, new: Text, paint: Paint) -> str:
    """The diff of one file, empty if nothing changes. Line ends are shown as they are."""
    lines = difflib.unified_diff(_lines(old), _lines(new), path, path)
    return "".join(_line(line, paint) for line in lines)


def _lines(text: Text) -> list[str]:
    bounds = (*text.line_starts, len(text.source))
    return [text.source[start:end] for start, end in pairwise(bounds) if end > start]


def _line(line: str, paint: Paint) -> str:
    content = line.rstrip("\r\n")
    end = line[len(content) :] or "\n\\ No newline at end of file\n"
    role = Role.RULE if line.startswith(("---", "+++")) else _ROLES.get(line[:1])
    return (paint(content, role) if role else content) + end
