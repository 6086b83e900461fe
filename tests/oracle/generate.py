"""Random programs with hand-offs: `python tests/oracle/generate.py SEED [--workspace] [--case N]` prints one.

The grammar is data, in grammar.toml. Conditions of which nobody can tell the value read the environment (FLAG0, FLAG1, ...), so
that the same text can be run on every path. A program is a few cases, each in a function or in the module itself, and what they
stand on: definitions of their own and shared values. In a workspace these are spread over several modules (spread.py).
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Rule = Sequence[str] | Mapping[str, Sequence[str]]
"""Texts of which one is taken, or such lists by the name of the construct that they use."""

_PART = re.compile(r"<([a-z][a-z-]*)(?: ([^<>\n]*))?>")
_FRESH = re.compile(r"@@|@([A-Za-z]\w*)")
_TOKEN = re.compile("\x00(\\d+)\x00")
_DEFINED = re.compile(r"^(?:(?:async def|def|class) (\w+)|((?:\w+, )*\w+)(?:: [^=\n]+)? = )", re.MULTILINE)
_GROUP_END = "\n---\n"
FLAGS = 4
"""How many conditions of a case are open: it has two to the power of them paths."""

_DEEPEST = 3
_DECIDING = frozenset({"sharding", "either-mesh", "known", "guard", "no-guard", "either", "dict-method", "list-method"})
_CASES = (4, 7)


@dataclass(frozen=True)
class Grammar:
    """grammar.toml. `absent` are names of packages that are not installed: texts with them are not taken."""

    rules: Mapping[str, Rule]
    shared: Mapping[str, str]
    imports: Mapping[str, str]
    layouts: Sequence[Sequence[str]]
    styles: Sequence[Mapping[str, str]]
    absent: frozenset[str]


@dataclass(frozen=True)
class Unit:
    """Statements that stand together on the top level of a module. `case` is the number of the case that they belong to."""

    text: str
    case: int | None

    @property
    def names(self) -> tuple[str, ...]:
        """What the unit defines for others."""
        found = (name for one in _DEFINED.findall(self.text) for name in (one[0] or one[1]).split(", "))
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class Case:
    """One case: `groups` of definitions that do not need its variables, and its statements.

    `constructs` are the texts of constructs that it is made of, by rule, construct and place in the grammar: `way.loop 2`. `parts`
    are its other texts: `guard 3`. `inside` tells that its statements are the body of a function.
    """

    number: int
    groups: tuple[str, ...]
    body: str
    constructs: tuple[str, ...]
    parts: tuple[str, ...]
    inside: bool


@dataclass(frozen=True)
class Program:
    """Files by their path, the one to run, and for every line of every file the case that it belongs to."""

    files: Mapping[str, str]
    entry: str
    owners: Mapping[str, Sequence[int | None]]
    cases: tuple[Case, ...]


def load() -> Grammar:
    """The grammar that stands beside this file."""
    table: dict[str, Any] = tomllib.loads(Path(__file__).with_name("grammar.toml").read_text(encoding="utf-8"))
    absent = frozenset(name for name, of in table.pop("optional").items() if importlib.util.find_spec(of) is None)
    known = {part: table.pop(part) for part in ("shared", "imports", "layouts", "styles")}
    return Grammar(table, **known, absent=absent)


def cases(seed: int, grammar: Grammar) -> tuple[Case, ...]:
    """The cases of a seed: always the same ones, and each the same whichever others there are."""
    count = random.Random(seed).randint(*_CASES)
    return tuple(Maker(random.Random(f"{seed}:{number}"), grammar, number).case() for number in range(count))


def shared(seed: int, grammar: Grammar) -> tuple[Unit, ...]:
    """The values and functions that all cases may use, those first that others need."""
    maker = Maker(random.Random(f"{seed}:shared"), grammar, 0)
    return tuple(Unit(maker.expand(text), None) for text in grammar.shared.values())


def needed(text: str, units: Sequence[Unit]) -> tuple[Unit, ...]:
    """Those of the units that a text needs, and that these need, in their order."""
    kept: list[Unit] = []
    for unit in reversed(units):
        if any(re.search(rf"\b{name}\b", text) for name in unit.names):
            kept.append(unit)
            text += "\n" + unit.text
    return tuple(reversed(kept))


def imports(text: str, grammar: Grammar) -> list[str]:
    """The imports from other packages that a text needs."""
    used = (line for name, line in grammar.imports.items() if re.search(rf"(?<!\.)\b{name}\b", text))
    return list(dict.fromkeys(used))


def program(seed: int, grammar: Grammar, only: int | None = None) -> Program:
    """The program in one file of a seed, or the part of it that one case needs."""
    return one_file(tuple(case for case in cases(seed, grammar) if only in (None, case.number)), seed, grammar)


def one_file(wanted: tuple[Case, ...], seed: int, grammar: Grammar) -> Program:
    """The cases as a program in one file."""
    units = [unit for case in wanted for unit in one_module(case, random.Random(f"{seed}:{case.number}:place"))]
    text = "\n".join(unit.text for unit in units)
    units = [*needed(text, shared(seed, grammar)), *units]
    head = "\n".join(imports("\n".join(unit.text for unit in units), grammar))
    return join({"program.py": [Unit(head, None), *units]}, "program.py", wanted)


def join(modules: Mapping[str, Sequence[Unit]], entry: str, wanted: tuple[Case, ...]) -> Program:
    """The files of the modules, with the owner of every line."""
    files: dict[str, str] = {}
    owners: dict[str, list[int | None]] = {}
    for path, units in modules.items():
        kept = [unit for unit in units if unit.text]
        files[path] = "\n\n".join(unit.text for unit in kept) + "\n" if kept else ""
        lines = [unit.case for unit in kept for _ in range(unit.text.count("\n") + 2)]
        owners[path] = lines[:-1]
    return Program(files, entry, owners, wanted)


def indented(text: str) -> str:
    """The text as the body of a function."""
    return "\n".join(f"    {line}" if line else line for line in text.split("\n"))


def one_module(case: Case, source: random.Random) -> list[Unit]:
    """A case in the module that runs it; its definitions may stand in its own function."""
    groups = list(case.groups)
    if not case.inside:
        return [Unit(part, case.number) for part in (*groups, case.body)]
    body = case.body
    if source.random() < 0.3 and not any("global " in group for group in groups):
        body, groups = "\n".join((*groups, body)), []
    function = f"def case_{case.number}():\n{indented(body)}"
    return [Unit(part, case.number) for part in (*groups, function, f"case_{case.number}()")]


class Maker:
    """Makes the texts of one case. Where all is to be `simplest`, only what decides about the outcome is left to chance."""

    def __init__(self, source: random.Random, grammar: Grammar, number: int, simplest: bool = False) -> None:
        self.random = source
        self._simplest = simplest
        self._grammar = grammar
        self._number = number
        self._names = 0
        self._flags = 0
        self._groups: list[str] = []
        self._constructs: dict[str, None] = {}
        self._parts: dict[str, None] = {}

    def case(self) -> Case:
        """A case out of any constructs."""
        inside = self.random.random() < 0.6
        kind = self.random.random()
        rule = "block" if kind < 0.85 else "function-block" if inside else "module-block"
        return self._finished(self.make(rule, None, 0), inside)

    def case_of(self, text: str, construct: str, inside: bool) -> Case:
        """A case out of a text that has one construct."""
        self._constructs[construct] = None
        return self._finished(self.expand(text), inside)

    def _finished(self, body: str, inside: bool) -> Case:
        return Case(self._number, tuple(self._groups), body, tuple(self._constructs), tuple(self._parts), inside)

    def make(self, rule: str, argument: str | None, depth: int) -> str:
        """One text of a rule with all its parts made; definitions that it brings are kept for the case."""
        if rule == "flag":
            self._flags += 1
            return f"flag({self._flags - 1})" if self._flags <= FLAGS else "True"
        text = self._choice(rule, depth)
        return self.expand(text if argument is None else text.replace("$", argument), depth)

    def expand(self, text: str, depth: int = 0) -> str:
        """A text with fresh names and all its parts made."""
        self._names += 1
        number = f"{self._number}{self._names:02}"
        text = _FRESH.sub(lambda found: f"{found[1]}{number}" if found[1] else "@", text.strip("\n"))
        made: list[str] = []

        def part(found: re.Match[str]) -> str:
            inner = None if found[2] is None else _restore(found[2], made)
            made.append(self.make(found[1], inner, depth + 1))
            return f"\x00{len(made) - 1}\x00"

        while _PART.search(text):
            text = _PART.sub(part, text)
        *groups, body = _restore(text, made).split(_GROUP_END)
        self._groups += groups
        return body

    def _choice(self, rule: str, depth: int) -> str:
        texts = self._grammar.rules[rule]
        if not isinstance(texts, Mapping):
            usable = [text for text in texts if self.usable(text)]
            if self._simplest and rule == "any":
                return self.random.choice(usable[:2])
            first = depth > _DEEPEST or (self._simplest and rule not in _DECIDING)
            text = usable[0] if first else self.random.choice(usable)
            self._parts[f"{rule} {texts.index(text)}"] = None
            return text
        kinds = {kind: [text for text in list_ if self.usable(text)] for kind, list_ in texts.items()}
        kind = self.random.choice([kind for kind, list_ in kinds.items() if list_])
        text = self.random.choice(kinds[kind])
        self._constructs[f"{rule}.{kind} {texts[kind].index(text)}"] = None
        return text

    def usable(self, text: str) -> bool:
        """Whether all that the text imports is installed."""
        return not any(re.search(rf"\b{name}\b", text) for name in self._grammar.absent)


def _restore(text: str, made: Sequence[str]) -> str:
    while _TOKEN.search(text):
        text = _TOKEN.sub(lambda found: made[int(found[1])], text)
    return text


def main() -> None:
    """Print the program of a seed."""
    from spread import workspace

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("--workspace", action="store_true", help="several modules")
    parser.add_argument("--case", type=int, help="only what this case needs")
    arguments = parser.parse_args()
    made = (workspace if arguments.workspace else program)(arguments.seed, load(), arguments.case)
    for path, text in made.files.items():
        sys.stdout.write(f"# --- {path}\n{text}" if len(made.files) > 1 else text)


if __name__ == "__main__":
    main()
