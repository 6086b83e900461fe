"""Consumers, versions and what was seen of them, in words. The core's messages and the rules' pages use the same ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from packaging.version import Version

from shardlint.model import Target
from shardlint.records.catalogue import Observation

_KINDS = {
    "silent-copy": "silently copies through the host",
    "silent-partial": "silently hands over one shard only",
    "silent-dtype": "silently changes the dtype",
    "silent-device": "silently ends up on another device",
    "silent-wrong": "silently gives wrong values",
    "aliasing": "shares memory that somebody can write to",
    "wrong-guard": "passes a test that does not tell",
    "late-error": "lets a later line fail",
    "crash": "ends the interpreter",
}
_NONE: Mapping[str, str] = {}
_LONGEST = 200
_DEVICES = "8 devices"
"""How JAX's own words tell the number of devices in the runs that were made."""


def target_words(target: Target) -> str:
    """`JAX 0.10.2`, or the span of the candidates."""
    first, last = target.versions[0], target.versions[-1]
    return f"JAX {last}" if first == last else f"JAX {first} to {last}"


_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@", "and": "&",
    "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "getitem": "[...]", "setitem": "[...] =", "inplace": "an augmented assignment",
}  # fmt: skip
"""Functions of Python's module `operator` as people write them."""


def consumer_words(consumer: str, quote: Callable[[str], str] = str) -> str:
    """A consumer as people write it: a method of arrays by its bare name. `quote` marks the code in it as such."""
    if consumer == "numpy.ndarray.__getitem__":
        return f"an index of a {quote('numpy.ndarray')}"
    if consumer.startswith("operator."):
        name = consumer.removeprefix("operator.")
        return quote(_SIGNS.get(name) or f"{_SIGNS.get(name.removeprefix('i'), name)}=")
    if consumer.startswith("import."):
        return f"the import of {quote(consumer.removeprefix('import.'))}"
    if consumer.endswith(".__keyword__"):
        function, _, argument = consumer.removesuffix(".__keyword__").rpartition(".")
        return f"the argument {quote(f'{argument}=')} of {quote(function)}"
    name = consumer.removeprefix("jax.Array.").removeprefix("builtins.")
    return quote(f"{name.removesuffix('.__call__')}()" if name.endswith(".__call__") else name)


def observed_words(
    seen: Observation,
    quote: Callable[[str], str] = str,
    devices: str | None = None,
    outcomes: Mapping[str, str] = _NONE,
) -> str:
    """What one run showed, as a clause: `raises BufferError: ...`. `quote` marks the words of JAX as such.

    The runs have eight devices; where JAX's words tell their number, `devices` is written for it. `outcomes` are a rule's own
    clauses for what does not raise, by kind.
    """
    if seen.exception is None:
        words = outcomes.get(seen.kind) or _KINDS.get(seen.kind, seen.kind)
        return f"{words} (the process {seen.message})" if seen.message else words
    text = (seen.message or "").strip().partition("\n")[0].rstrip(".")
    if devices is not None:
        text = text.replace(_DEVICES, f"{devices} devices")
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    verb = "lets a later line raise " if seen.kind == "late-error" else "raises "
    return verb + quote(": ".join(filter(None, (seen.exception.rpartition(".")[2], text))))


def words_of_jax(runs: Iterable[Observation]) -> re.Pattern[str] | None:
    """Finds in a sentence what `observed_words` quoted of one of the runs, whatever the number of devices; None if nothing."""
    words = {
        observed_words(run).removeprefix("lets a later line raise ").removeprefix("raises ")
        for run in runs
        if run.exception
    }
    longest_first = sorted(words, key=lambda text: (-len(text), text))
    patterns = (r"\w+ devices".join(map(re.escape, text.split(_DEVICES))) for text in longest_first)
    return re.compile("|".join(patterns)) if words else None


def sentence(text: str) -> str:
    """A clause as a sentence. One that begins with the name of a function must be marked as code before, and stays small."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?', '…')) else '.'}"


def version_spans(versions: Iterable[str], listed: Iterable[str]) -> str:
    """Versions in short: `0.4.38 to 0.6.2, 0.9.2`. A span stands for all that are in `listed` from its first to its last."""
    wanted = set(versions)
    runs = groupby(sorted({*listed, *wanted}, key=Version), key=wanted.__contains__)
    return ", ".join(part for held, run in runs if held for part in _span(list(run)))


def _span(run: Sequence[str]) -> Iterator[str]:
    if len(run) > 2:
        yield f"{run[0]} to {run[-1]}"
    else:
        yield from run


def enumeration(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
