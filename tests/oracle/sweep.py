"""Every text of the grammar that tells where a value goes, once for itself and as simple as can be, and not at random.

What a measurement of these shows is the list of what is not understood, each with the shortest program.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from generate import Case, Grammar, Maker

_VALUES = ("MANY", "ONE")
_TRIES = 4
_PROGRAMS = {
    "one": "@x = $\n@r = np.from_dlpack(@x)",
    "many": "@x = $\n@r = np.from_dlpack(@x)",
    "mixed": "@x = $\n@r = np.from_dlpack(@x)",
    "unknown": "@x = $\n@r = np.from_dlpack(@x)",
    "mesh": "@x = jax.device_put(np.ones(16), NamedSharding($, P()))\n@r = np.from_dlpack(@x)",
    "mesh-of-one": "@x = jax.device_put(np.ones(16), NamedSharding($, P()))\n@r = np.from_dlpack(@x)",
    "sharding": "@x = jax.device_put(np.ones(16), $)\n@r = np.from_dlpack(@x)",
    "same": "@x = $\n@r = np.from_dlpack(@x)",
    "gather": "@x = $\n@r = np.from_dlpack(@x)",
    "scatter": "@x = $\n@r = np.from_dlpack(@x)",
    "way": "@x = $\n@r = np.from_dlpack(@x)",
    "guard": "@x = VALUE\nif $:\n    @r = np.from_dlpack(@x)\nelse:\n    @s = np.from_dlpack(@x)",
    "no-guard": "@x = VALUE\nif $:\n    @r = np.from_dlpack(@x)",
    "replicated-guard": "@x = jax.device_put(np.ones(16), REPLICATED)\nif $:\n    @r = np.from_dlpack(@x)",
    "known": "if $:\n    @x = MANY\nelse:\n    @x = ONE\n@r = np.from_dlpack(@x)",
    "plain-sink": "@x = VALUE\n@r = $",
    "function": "@x = VALUE\n@r = $(@x)",
    "bridge": "@x = VALUE\n@r = $",
    "block": "$",
    "module-block": "$",
    "function-block": "$",
}
"""What a text of each rule is put into. VALUE and, in the text, `$` stand for the value."""

_GIVEN = frozenset({"same", "gather", "scatter", "way"})


def every(grammar: Grammar) -> Iterator[tuple[Case, ...]]:
    """The cases of one text each: with an array on many devices and with one on a single device, a block several times."""
    for rule in _PROGRAMS:
        table = grammar.rules[rule]
        kinds = table.items() if isinstance(table, Mapping) else (("", table),)
        for kind, texts in kinds:
            for place, text in enumerate(texts):
                name = f"{rule}.{kind} {place}" if kind else f"{rule} {place}"
                if made := tuple(_cases(rule, name, text.strip("\n"), grammar)):
                    yield made


def _cases(rule: str, name: str, text: str, grammar: Grammar) -> Iterator[Case]:
    for number in range(_TRIES if "block" in rule else len(_VALUES)):
        maker = Maker(random.Random(f"{name}:{number}"), grammar, number, simplest=True)
        if not maker.usable(text):
            return
        *groups, body = text.split("\n---\n")
        value = _VALUES[number % len(_VALUES)]
        body = body.replace("$", value if rule in _GIVEN else "@x")
        whole = "\n---\n".join((*groups, _PROGRAMS[rule].replace("$", body).replace("VALUE", value)))
        yield maker.case_of(whole, name, inside=rule == "function-block" or (rule == "block" and number % 2 == 1))
