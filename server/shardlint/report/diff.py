"""What would change in a file, as a unified diff that `patch -p1` and `git apply` take."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable

from shardlint.report.paint import Paint, Role

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_PLAIN = re.compile(rb"[^\x00-\x1f\x7f-\xff\"\\]*")
_ROLES = {"+": Role.ADDED, "-": Role.REMOVED, "@": Role.QUIET}


def render(path: str, old: str, new: str, paint: Paint, content: Callable[[str], str] = str) -> str:
    """The diff of one file, empty if nothing changes. `path` has slashes; `content` has the last word on a line's text.

    Line ends are shown as they are. Only LF ends a line here, as for those who apply a diff.
    """
    lines = difflib.unified_diff(_LINE.findall(old), _LINE.findall(new), _name("a", path), _name("b", path))
    return "".join(_line(line, paint, content) for line in lines)


def _name(side: str, path: str) -> str:
    """As git writes it: what could be misread stands in quotes, byte by byte; a tab ends a name with spaces."""
    name = os.fsencode(f"{side}/{path}")
    if _PLAIN.fullmatch(name):
        return name.decode("ascii") + ("\t" if b" " in name else "")
    return '"' + "".join(chr(byte) if _PLAIN.fullmatch(bytes([byte])) else f"\\{byte:03o}" for byte in name) + '"'


def _line(line: str, paint: Paint, content: Callable[[str], str]) -> str:
    shown = line.rstrip("\r\n")
    end = line[len(shown) :] if line.endswith("\n") else f"{line[len(shown) :]}\n\\ No newline at end of file\n"
    role = Role.RULE if line.startswith(("---", "+++")) else _ROLES.get(line[:1])
    return (paint(content(shown), role) if role else content(shown)) + end
