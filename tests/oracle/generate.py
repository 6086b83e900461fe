"""Random programs with hand-offs: `python tests/oracle/generate.py SEED` prints one.

The grammar is data, in grammar.toml. Conditions of which nobody can tell the value read the environment (FLAG0, FLAG1, ...), so
that the same text can be run on every path. A program is its header and a few cases, each in a function or in the module itself.
"""

from __future__ import annotations

import random
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

Grammar = Mapping[str, Sequence[str]]

_PART = re.compile(r"<([a-z][a-z-]*)(?: ([^<>\n]*))?>")
_FRESH = re.compile(r"@@|@([A-Za-z]\w*)")
_TOKEN = re.compile("\x00(\\d+)\x00")
FLAGS = 4
"""How many conditions of a case are open: it has two to the power of them paths."""

_DEEPEST = 4
_CASES = (3, 6)


def load() -> Grammar:
    """The grammar that stands beside this file."""
    return tomllib.loads(Path(__file__).with_name("grammar.toml").read_text(encoding="utf-8"))


def program(seed: int, grammar: Grammar) -> str:
    """The program of a seed: always the same one."""
    maker = _Maker(random.Random(seed), grammar)
    parts = [maker.make("header", None, 0)]
    parts += [maker.case(number) for number in range(maker.random.randint(*_CASES))]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


class _Maker:
    def __init__(self, source: random.Random, grammar: Grammar) -> None:
        self.random = source
        self._grammar = grammar
        self._names = 0
        self._flags = 0

    def case(self, number: int) -> str:
        """A block in a function that is called at once, or in the module."""
        self._flags = 0
        if self.random.random() < 0.4:
            rule = "module-block" if self.random.random() < 0.2 else "block"
            return self.make(rule, None, 0)
        rule = "function-block" if self.random.random() < 0.2 else "block"
        body = self.make(rule, None, 0).strip("\n").replace("\n", "\n    ")
        return f"def case_{number}():\n    {body}\n\ncase_{number}()"

    def make(self, rule: str, argument: str | None, depth: int) -> str:
        """One text of a rule with all its parts made."""
        if rule == "flag":
            self._flags += 1
            return f"flag({self._flags - 1})" if self._flags <= FLAGS else "True"
        texts = self._grammar[rule]
        text = texts[0] if depth > _DEEPEST else self.random.choice(texts)
        text = text if argument is None else text.replace("$", argument)
        number = self._names = self._names + 1
        text = _FRESH.sub(lambda found: f"{found[1]}{number}" if found[1] else "@", text)
        made: list[str] = []

        def part(found: re.Match[str]) -> str:
            inner = None if found[2] is None else _restore(found[2], made)
            made.append(self.make(found[1], inner, depth + 1))
            return f"\x00{len(made) - 1}\x00"

        while _PART.search(text):
            text = _PART.sub(part, text)
        return _restore(text, made)


def _restore(text: str, made: Sequence[str]) -> str:
    while _TOKEN.search(text):
        text = _TOKEN.sub(lambda found: made[int(found[1])], text)
    return text


if __name__ == "__main__":
    sys.stdout.write(program(int(sys.argv[1]), load()))
