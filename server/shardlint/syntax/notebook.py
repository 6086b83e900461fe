"""A Jupyter notebook as one program: its Python cells in order, magics blanked, every cell parsed on its own.

Only nbformat 4 is read. Nothing here runs a cell or a magic.
"""

from __future__ import annotations

import json
import re
from typing import cast

from shardlint.text import Cell, Text

_MAGIC = re.compile(r"^[ \t]*(?:[%!?]|[\w.]+\?{1,2}[ \t]*$|[\w., \t]+=[ \t]*[!%])")
_PYTHON_CELL_MAGICS = frozenset({"time", "timeit", "capture", "prun", "python", "python3"})


class NotebookError(ValueError):
    """The text is no notebook that can be read; the message is a clause that says why."""


def read(source: str) -> Text:
    """The code cells of the notebook in a JSON text, as one text. Raises `NotebookError` for anything else."""
    try:
        data = _Json(json.loads(source))
    except (ValueError, RecursionError) as error:
        raise NotebookError("it is not valid JSON") from error
    cells = data.list("cells")
    if data.get("nbformat") != 4 or cells is None:
        raise NotebookError("it is not a notebook of nbformat 4")
    return join([(i, _source(cell)) for i, cell in enumerate(cells) if cell.get("cell_type") == "code"])


class _Json:
    """A decoded JSON value of which nothing is taken for granted."""

    def __init__(self, value: object) -> None:
        self._value = value

    def get(self, key: str) -> object:
        """The value under `key`, or None where this is no object or has no such key."""
        return cast("dict[str, object]", self._value).get(key) if isinstance(self._value, dict) else None

    def list(self, key: str) -> list[_Json] | None:
        """The items of the list under `key`, or None where there is none."""
        value = self.get(key)
        return [_Json(item) for item in cast("list[object]", value)] if isinstance(value, list) else None

    def text(self) -> str:
        return self._value if isinstance(self._value, str) else ""


def rewritten(source: str, text: Text, new: Text) -> str | None:
    """The notebook in a JSON text whose cells are `text`, with them as they are in `new`, and all else as it was byte for byte. None where
    the JSON is not laid out as any program that writes notebooks does: then only all of it could be written anew.
    """
    data = json.loads(source)
    layout = next((one for one in _LAYOUTS if _laid_out(data, *one) == source), None)
    if layout is None:
        return None
    for cell, before, after in zip(text.cells, _sources(text), _sources(new), strict=True):
        if before != after:
            changed = data["cells"][cell.index]
            made = _with_magics(after, _source(_Json(changed)))
            if made is None:
                return None
            changed["source"] = made.splitlines(keepends=True) if isinstance(changed["source"], list) else made
    return _laid_out(data, *layout)


_LAYOUTS = tuple(
    (indent, ascii_only, end) for indent in (1, 2, 4, None) for ascii_only in (False, True) for end in ("\n", "")
)
"""How the JSON of a notebook is laid out, by its indentation, whether it is ASCII alone, and how it ends. The first is Jupyter's."""


def _laid_out(data: object, indent: int | None, ascii_only: bool, end: str) -> str:
    return json.dumps(data, indent=indent, ensure_ascii=ascii_only) + end


def _sources(text: Text) -> list[str]:
    """The cells as they were joined, with magics as comments."""
    starts = [cell.start for cell in text.cells]
    return [text.source[start : end - 1] for start, end in zip(starts, [*starts[1:], len(text.source)], strict=True)]


def _with_magics(new: str, old: str) -> str | None:
    """A cell in which magics are comments, with the magics of the old cell; None where these cannot be told from its comments."""
    lines = old.splitlines(keepends=True)
    blanked = _without_magics(old).splitlines(keepends=True)
    magics = {blank: line for blank, line in zip(blanked, lines, strict=True) if blank != line}
    if not magics.keys().isdisjoint(lines):
        return None
    return "".join(magics.get(line, line) for line in new.splitlines(keepends=True))


def join(sources: list[tuple[int, str]]) -> Text:
    """One text of code cells that are given as (index among all cells, source)."""
    cells: list[Cell] = []
    parts: list[str] = []
    start = 0
    for index, source in sources:
        cells.append(Cell(index, start))
        parts.append(_without_magics(source) + "\n")
        start += len(parts[-1])
    return Text("".join(parts), tuple(cells))


def _source(cell: _Json) -> str:
    lines = cell.list("source")
    return _Json(cell.get("source")).text() if lines is None else "".join(line.text() for line in lines)


def _without_magics(source: str) -> str:
    """The same text, as long and with the same lines, in which every magic is a comment."""
    lines = source.splitlines(keepends=True)
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%") and first[2:].split(" ")[0] not in _PYTHON_CELL_MAGICS:
        return "".join(_as_comment(line) for line in lines)
    made: list[str] = []
    joined = False
    for line in lines:
        magic = joined or _MAGIC.match(line) is not None
        joined = magic and line.rstrip("\r\n").endswith("\\")
        made.append(_as_comment(line) if magic else line)
    return "".join(made)


def _as_comment(line: str) -> str:
    return "#" + line[1:] if line.strip("\r\n") else line
