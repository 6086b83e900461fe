"""The kinds of value that the records' files hold, each with its check and the reason it gives."""

from __future__ import annotations

import re
from string import Formatter
from typing import Annotated, Literal

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version
from pydantic import AfterValidator, Field, StringConstraints

from shardlint.model import Safety, Severity
from shardlint.records.catalogue import PLACEHOLDERS
from shardlint.records.examples import split_example


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be one line of printable text")
    return text


def _specifier(text: str) -> str:
    try:
        SpecifierSet(text)
    except InvalidSpecifier as error:
        raise ValueError(f"{text!r} is not a version specifier (PEP 440), for example '>=0.7.0'") from error
    return text


def _version(text: str) -> str:
    try:
        Version(text)
    except InvalidVersion as error:
        raise ValueError(f"{text!r} is not a version (PEP 440)") from error
    return text


def _template(text: str) -> str:
    try:
        fields = [(name, form, turn) for _, name, form, turn in Formatter().parse(text) if name is not None]
    except ValueError as error:
        raise ValueError(f"is not a template: {error} (a brace as such is written twice)") from error
    for name, form, turn in fields:
        if name not in PLACEHOLDERS or form or turn:
            known = ", ".join(f"{{{placeholder}}}" for placeholder in sorted(PLACEHOLDERS))
            raise ValueError(f"unknown placeholder {{{name}}} (known are {known}, with nothing else in the braces)")
    return text


def _pattern(text: str) -> str:
    if re.search(r"\(\?\w*i", text):  # compiling a wide character class that ignores case takes seconds
        return text
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"is not a regular expression: {error}") from error
    return text


def _example(text: str) -> str:
    if split_example(text) is None:
        raise ValueError("needs code under a `# before` line and code under an `# after` line")
    return text


Filled = Annotated[str, StringConstraints(min_length=1)]
Short = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=1000), AfterValidator(_one_line)]
Dotted = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")]
Kebab = Annotated[str, StringConstraints(pattern=r"^[a-z]+(-[a-z]+)*$")]
Pattern = Annotated[str, StringConstraints(min_length=1, max_length=5000), AfterValidator(_pattern)]
ExampleText = Annotated[str, AfterValidator(_example)]
Specifier = Annotated[str, StringConstraints(max_length=500), AfterValidator(_specifier)]
VersionText = Annotated[str, StringConstraints(max_length=100), AfterValidator(_version)]
Template = Annotated[Line, AfterValidator(_template)]
Level = Annotated[Severity, Field(strict=False)]
SafetyName = Annotated[Safety, Field(strict=False)]
LineNumber = Annotated[int, Field(ge=1)]
Kind = Literal[
    "silent-copy",
    "silent-partial",
    "silent-wrong",
    "silent-dtype",
    "silent-device",
    "aliasing",
    "wrong-guard",
    "late-error",
    "crash",
]
"""What can go wrong without an exception on the line that does it; see `records.cases`."""
Protocol = Literal[
    "dlpack",
    "cuda-array-interface",
    "buffer",
    "pointer",
    "numpy",
    "pickle",
    "scalar",
    "operator",
    "write",
    "compute",
    "donate",
    "address",
    "save",
    "text",
    "iteration",
    "place",
    "gather",
    "shards",
    "computation",
    "function",
    "items",
    "conversion",
    "placement",
    "guard",
    "handler",
    "collective",
    "value",
]
"""How data cross: `numpy` is `__array__`, `scalar` a Python number or list made of an array, `operator` an operation on arrays of two
libraries, and `write` a change of memory that may be
shared; `compute` and `donate` are JAX's own functions, which take an array and which give it up, and `address` reads where it lies.
`save` writes a file of numbers, `text` shows them, `iteration` goes through the items, `place` puts the array on other devices,
`gather` takes it from all processes, `shards` takes it device by device, and `computation` is one of JAX that takes arrays from
different devices. `function` is a call of what takes arrays of its own library only, `items` one that goes through a list of arrays,
and `conversion` one of JAX that makes an array of what it can convert.

Some are no hand-offs, but what else a program does that the placement of an array decides over: it asks where the array lives, tests
something of it, handles what a hand-off raises, calls all processes together, or gives JAX a value."""
