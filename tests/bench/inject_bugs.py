"""The pieces of one bug: what it adds to a module, by where it goes there."""

from __future__ import annotations

import ast
import random
import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, replace

from inject_templates import AUTO_MESHES, CHANGES, DLPACK, JAX, JNP, MESHES, Flow, Sink, Source

MARK = "  #@ "
"""Stands at the end of a guilty line, with the bug's number, until the module is written."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """What one bug adds to one module, by where it goes."""

    head: str = ""
    functions: str = ""
    methods: str = ""
    init: str = ""
    body: str = ""
    imports: frozenset[str] = frozenset()

    @property
    def needs_class(self) -> bool:
        return bool(self.init or self.methods or "self." in self.body)

    def with_(self, head: str, *functions: str) -> Pieces:
        """The same with more in front."""
        every = "\n\n".join(one for one in (*functions, self.functions) if one)
        return replace(self, head=head + self.head, functions=every)

    def finished(self, number: int, imports: Iterable[str]) -> Pieces:
        """With the bug's number in the names, and those of the imports that the text needs."""
        parts = (self.head, self.functions, self.methods, self.init, self.body)
        tree = ast.parse("\n".join(parts))
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        dotted = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        needed = {
            line for line in imports if bound_by(line) in used and (line != DLPACK or "torch.utils.dlpack" in dotted)
        }
        return Pieces(*(re.sub(r"_N\b", f"_{number}", part) for part in parts), frozenset(needed))


@dataclass(frozen=True, slots=True)
class Bug:
    """One bug: what it adds to the module in which the array is used, and to the one that holds the shared function, if that is
    another. `shared` is its name.
    """

    number: int
    flow: Flow
    source: Source
    here: Pieces
    there: Pieces | None
    shared: str | None

    def __str__(self) -> str:
        place = " in another module" if self.there else ""
        return f"{self.flow.kind}: {self.flow.name}{place}; from {self.source.name}"


def written(number: int, flow: Flow, source: Source, sink: Sink, elsewhere: bool, chance: random.Random) -> Bug:
    """The bug with this number, all names in it made its own; `elsewhere` asks for the shared function, if the flow has one, in
    another module.
    """
    mesh, more = chance.choice(AUTO_MESHES if "AUTO" in source.head else MESHES)
    array = chance.choice(CHANGES).replace("ARRAY", source.array)
    imports = (*source.imports, *sink.imports, *more, JAX, JNP)

    def block(template: str) -> str:
        return _marked(_with_array(template, array, source.before), sink, number)

    shared = block(flow.shared)
    used = Pieces("", block(flow.functions), block(flow.methods), source.init + block(flow.init), block(flow.body))
    around = Pieces(re.sub("AUTO|MESH", mesh, source.head), source.functions)
    there = None
    if not (elsewhere and flow.shared):
        here = used.with_(around.head, around.functions, shared)
    elif "ARRAY" in flow.shared:  # what the array needs goes where it is made
        here, there = used, around.with_("", shared)
    else:
        here, there = used.with_(around.head, around.functions), Pieces("", shared)
    name = re.match(r"def (\w+)_N", flow.shared)
    shared_name = f"{name[1]}_{number}" if name and there else None
    return Bug(
        number, flow, source, here.finished(number, imports), there and there.finished(number, imports), shared_name
    )


def bound_by(line: str) -> str:
    """The name that an import of one thing binds."""
    words = line.split()
    return words[-1].partition(".")[0]


def _with_array(block: str, array: str, before: str) -> str:
    """`array` for ARRAY, and what it needs before the first statement that has it."""
    lines: list[str] = []
    for line in block.splitlines():
        if "ARRAY" in line and before:
            lines += textwrap.indent(before, line[: len(line) - len(line.lstrip())]).splitlines()
            before = ""
        lines.append(re.sub(r"\bARRAY\b", lambda _: array, line))
    return "".join(f"{line}\n" for line in lines)


def _marked(block: str, sink: Sink, number: int) -> str:
    """The sink for each hand-off, with a mark on its line."""
    lines: list[str] = []
    for line in block.splitlines():
        while (start := line.find("HANDOFF(")) >= 0:
            opened = start + len("HANDOFF(")
            end = _closing(line, opened)
            value = line[opened:end]
            if "(VALUE)" not in sink.call and not value.isidentifier():
                value = f"({value})"
            line = f"{line[:start]}{sink.call.replace('VALUE', value)}{line[end + 1 :]}{MARK}{number}"
        if "BYFUNCTION" in line:
            line = line.replace("BYFUNCTION", sink.function) + f"{MARK}{number}"
        lines.append(line)
    return "".join(f"{line}\n" for line in lines)


def _closing(line: str, start: int) -> int:
    """Where the bracket closes in which `start` stands."""
    depth = 0
    for position in range(start, len(line)):
        depth += (line[position] in "([{") - (line[position] in ")]}")
        if depth < 0:
            return position
    raise ValueError(line)
