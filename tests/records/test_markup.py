"""Sentences as Markdown: code in them is marked, and nothing else of them changes."""

from __future__ import annotations

import re

import pytest

from shardlint.records.markup import MARKDOWN, PLAIN

MARKED = [
    ("x is fine", "x is fine"),
    ("calls x.__dlpack__(), then stops.", "calls `x.__dlpack__()`, then stops."),
    ("use jax.device_put(x, jax.local_devices()[0]).", "use `jax.device_put(x, jax.local_devices()[0])`."),
    (
        'NamedSharding(jax.make_mesh((8,), ("d",)), P("d")) of x',
        '`NamedSharding(jax.make_mesh((8,), ("d",)), P("d"))` of x',
    ),
    ("f(a(b(c(d(1), 2), [3]), {4: 5})) is one", "`f(a(b(c(d(1), 2), [3]), {4: 5}))` is one"),
    ('print(")", x) and y', '`print(")", x)` and y'),
    ("given *args and **kwargs", "given `*args` and `**kwargs`"),
    ("on P('d') of mesh[0].", "on `P('d')` of `mesh[0]`."),
    ("raises `ValueError: a *b*` here", "raises `ValueError: a *b*` here"),
    ("a <class 'jax.Array'> came", "a `<class 'jax.Array'>` came"),
    ("left <open", "left `<open`"),
    ("(see __array__)", "(see `__array__`)"),
    ("f(g(x), y[0]) (that is f)", "`f(g(x), y[0])` (that is f)"),
    ("jax.device_put to 8 device(s).", "`jax.device_put` to 8 device(s)."),
    ("e.g. JAX 0.10.2, or 2 * 3 < 7", "e.g. JAX 0.10.2, or 2 * 3 < 7"),
    ("a_b and name_ and _x", "a_b and `name_` and `_x`"),
    ("see https://example.org/a_b/__c__?d=e.f(g) there", "see https://example.org/a_b/__c__?d=e.f(g) there"),
]
QUOTATIONS = [
    ("module 'jax.dlpack' has no attribute 'to_dlpack'", "module 'jax.dlpack' has no attribute 'to_dlpack'"),
    ("it has no '__dlpack__' at all", "it has no `'__dlpack__'` at all"),
    ('says "jax.dlpack is gone", once', 'says "jax.dlpack is gone", once'),
    ('says "__dlpack__ only, and x.y too." here', 'says `"__dlpack__ only, and x.y too."` here'),
    ("the array's own jax.Array isn't x's", "the array's own `jax.Array` isn't x's"),
]
BROKEN_OFF = [
    ("jax.device_put(x, NamedSharding(mesh, P(…", "`jax.device_put`(x, NamedSharding(mesh, P(…"),
    ('f("open', 'f("open'),
    ("x[0 and more", "x[0 and more"),
    ("(x.real", "(`x.real`"),
    ("in jax/dlpack.py", "in jax/dlpack.py"),
    ("of mesh.T and i.e. T", "of `mesh.T` and i.e. T"),
    ("", ""),
]


@pytest.mark.parametrize(("sentence", "expected"), MARKED)
def test_code_is_marked_as_a_whole(sentence: str, expected: str) -> None:
    """Names with attributes, calls and items become code, however deep they nest, as does what Markdown would read as markup."""
    assert MARKDOWN.prose(sentence) == expected


@pytest.mark.parametrize(("sentence", "expected"), QUOTATIONS)
def test_quotations_stay_whole(sentence: str, expected: str) -> None:
    """A quotation is left as it is, or is code with its quotes where Markdown would change it; an apostrophe is no quote."""
    assert MARKDOWN.prose(sentence) == expected


@pytest.mark.parametrize(("sentence", "expected"), BROKEN_OFF)
def test_brackets_that_stay_open_are_left_out(sentence: str, expected: str) -> None:
    """Of an expression that was cut off only what is whole is marked."""
    assert MARKDOWN.prose(sentence) == expected


@pytest.mark.parametrize("sentence", [sentence for sentence, _ in (*MARKED, *QUOTATIONS, *BROKEN_OFF)])
def test_nothing_is_lost(sentence: str) -> None:
    """Without the marks the text is the one that was given; plain text has none, and marking twice changes nothing more."""
    marked = MARKDOWN.prose(sentence)
    assert marked.replace("`", "") == sentence.replace("`", "")
    assert PLAIN.prose(sentence) == sentence
    assert MARKDOWN.prose(marked) == marked


def test_a_literal_is_one_piece() -> None:
    """What a pattern finds is code as a whole; around it the rules are the same."""
    literal = re.compile(r"Error: .*?!")
    text = MARKDOWN.prose("ab.c raises Error: 'de.f' of __g__! then hi.j", literal)
    assert text == "`ab.c` raises `Error: 'de.f' of __g__!` then `hi.j`"
    assert PLAIN.prose("x.y raises Error: a!", literal) == "x.y raises Error: a!"


def test_code_may_hold_backticks() -> None:
    """A backtick in code does not end it."""
    assert MARKDOWN.code("a ` b") == "`` a ` b ``"
