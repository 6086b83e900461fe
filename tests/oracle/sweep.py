"""Every text of the grammar that tells where a value goes, once for itself and as simple as can be, and not at random.

What a measurement of these shows is the list of what is not understood, each with the shortest program.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace

from generate import Case, Grammar, Maker, Program, one_file
from spread import over_modules

_VALUES = {
    "MANY": "ONE",
    "ONE": "MANY",
    'jax.device_put(np.ones(16), NamedSharding(Mesh(jax.devices(), ("d",)), P()))': "ONE",
}
"""On eight devices, on one, on as many as there are; each with what it is to be told from."""
_TRIES = 6
_MOSTLY = 30
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
    "guard": "@x = %VALUE%\nif $:\n    @r = np.from_dlpack(@x)\nelse:\n    @s = np.from_dlpack(@x)",
    "no-guard": "@x = %VALUE%\nif $:\n    @r = np.from_dlpack(@x)",
    "replicated-guard": "@x = jax.device_put(np.ones(16), REPLICATED)\nif $:\n    @r = np.from_dlpack(@x)",
    "known": "if $:\n    @x = %VALUE%\nelse:\n    @x = %OTHER%\n@r = np.from_dlpack(@x)",
    "plain-sink": "@x = %VALUE%\n@r = $",
    "function": "@x = %VALUE%\n@r = $(@x)",
    "bridge": "@x = %VALUE%\n@r = $",
    "block": "$",
    "module-block": "$",
    "function-block": "$",
}
"""What a text of each rule is put into. %VALUE% and, in the text, `$` stand for the value, %OTHER% for another one."""

_GIVEN = frozenset({"same", "gather", "scatter", "way"})


_IMPORTED = (
    "bridge.function 0",
    "bridge.method 0",
    "way.inheritance 0",
    "way.function 0",
    "way.global 1",
    "block.bridge-callers 0",
    "block.module-state 1",
)
"""What is imported in every style: bridges, classes, one to inherit from, functions that return, one with state."""


def constructs(grammar: Grammar) -> dict[str, Program]:
    """Every text in a program of one file."""
    return {cases[0].constructs[0]: one_file(cases, seed, grammar) for seed, cases in enumerate(every(grammar))}


def styles(grammar: Grammar) -> dict[str, Program]:
    """Every style of import in every layout of a workspace that it fits, mostly."""
    chosen = [case for name in _IMPORTED for case in _named(name, grammar)]
    made: dict[str, Program] = {}
    for style in grammar.styles:
        for seed, layout in enumerate(grammar.layouts):
            narrow = replace(grammar, layouts=[layout], styles=[*[style] * _MOSTLY, grammar.styles[0]])
            program = over_modules(tuple(chosen), seed, narrow)
            if any(used.endswith(style["name"]) for case in program.cases for used in case.constructs):
                made[f"{style['name']} {seed}"] = program
    return made


def every(grammar: Grammar) -> Iterator[tuple[Case, ...]]:
    """The cases of one text each: with an array of each sort, a block several times."""
    for rule in _PROGRAMS:
        table = grammar.rules[rule]
        kinds = table.items() if isinstance(table, Mapping) else (("", table),)
        for kind, texts in kinds:
            for place, text in enumerate(texts):
                name = f"{rule}.{kind} {place}" if kind else f"{rule} {place}"
                if made := tuple(_cases(rule, name, text.strip("\n"), grammar)):
                    yield made


def _named(name: str, grammar: Grammar) -> Iterator[Case]:
    """The cases of one construct, with numbers that no other construct of _IMPORTED has."""
    rule, _, rest = name.partition(".")
    kind, _, place = rest.rpartition(" ")
    table = grammar.rules[rule]
    assert isinstance(table, Mapping)
    yield from _cases(rule, name, table[kind][int(place)].strip("\n"), grammar, _TRIES * _IMPORTED.index(name))


def _cases(rule: str, name: str, text: str, grammar: Grammar, first: int = 0) -> Iterator[Case]:
    for number in range(_TRIES if "block" in rule else len(_VALUES)):
        maker = Maker(random.Random(f"{name}:{number}"), grammar, first + number, simplest=True)
        if not maker.usable(text):
            return
        *groups, body = text.split("\n---\n")
        value, other = list(_VALUES.items())[number % len(_VALUES)]
        body = body.replace("$", value if rule in _GIVEN else "@x")
        whole = "\n---\n".join((*groups, _PROGRAMS[rule].replace("$", body)))
        whole = whole.replace("%VALUE%", value).replace("%OTHER%", other)
        yield maker.case_of(whole, name, inside=rule == "function-block" or (rule == "block" and number % 2 == 1))
