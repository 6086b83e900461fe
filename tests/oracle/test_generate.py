"""The random programs themselves: that the grammar holds together, and that a seed always makes the same program."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from generate import Program, load, one_file, program
from label import label
from spread import only_annotates, over_modules, workspace
from sweep import every

SEEDS = range(12)


def test_every_part_of_a_text_is_a_rule_and_no_definition_takes_the_value_in_hand():
    grammar = load()
    used: set[str] = set()
    for rule in grammar.rules.values():
        for texts in rule.values() if isinstance(rule, Mapping) else [rule]:
            for text in texts:
                used |= set(re.findall(r"<([a-z][a-z-]*)(?: [^<>\n]*)?>", text))
                *definitions, _ = text.split("\n---\n")
                assert not any("$" in definition for definition in definitions), text
    assert used - {"flag"} <= grammar.rules.keys()


@pytest.mark.parametrize("make", [program, workspace])
def test_a_seed_makes_the_same_program_each_time_and_each_line_has_an_owner(make):
    for seed in SEEDS:
        made: Program = make(seed, load())
        assert made.files == make(seed, load()).files
        for path, text in made.files.items():
            ast.parse(text)
            assert len(made.owners[path]) == text.count("\n")


def test_one_case_alone_has_the_text_that_it_has_among_others():
    whole = program(3, load())
    for case in whole.cases:
        assert program(3, load(), case.number).cases == (case,)


def test_every_construct_stands_in_one_file_and_in_a_workspace():
    grammar = load()
    for seed, cases in enumerate(every(grammar)):
        for made in (one_file(cases, seed, grammar), over_modules(cases, seed, grammar)):
            for text in made.files.values():
                ast.parse(text)


def test_only_what_annotates_is_imported_for_type_checkers_alone():
    assert only_annotates("Box", "def read(box: Box, boxes: list[Box]) -> Box:\n    return box")
    for text in ("Box(3)", "{'a': Box}", "lambda: Box", "def read(box: Box = Box):"):
        assert not only_annotates("Box", text)


@pytest.mark.jax
def test_a_hand_off_is_labelled_where_it_stands_in_a_module_that_another_one_imports():
    files = {
        "app/__init__.py": "from .bridges import send\n",
        "app/bridges.py": "import numpy as np\n\ndef send(v):\n    return np.from_dlpack(v)\n",
        "main.py": (
            "import jax\nfrom app import send\n"
            "mesh = jax.sharding.Mesh(jax.devices(), ('d',))\n"
            "sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec('d'))\n"
            "send(jax.device_put(jax.numpy.arange(8), sharding))\nsend(jax.numpy.arange(8))\n1 / 0\n"
        ),
    }
    outcome = label([(files, "main.py")], 120.0)[0]
    assert [(row.path, row.line, row.failed, row.passed) for row in outcome.labels] == [("app/bridges.py", 4, 1, 1)]
    assert outcome.broken == {7: "ZeroDivisionError: division by zero"}
