"""Comments that claim where a value lives: their grammar, and what each speaks of."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardlint.syntax.claims import claims, named
from shardlint.syntax.notebook import join
from shardlint.syntax.tree import Tree, parse
from shardlint.text import Text


def spoken_of(tree: Tree) -> dict[str, str]:
    """The words of all claims, by what they speak of: `name`, `function()` for a result."""
    found: dict[str, str] = {}
    for node, claim in claims(tree).by_node.items():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found[f"{node.name}()"] = claim.word
        else:
            found[node.arg if isinstance(node, ast.arg) else ast.unparse(node)] = claim.word
    return found


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("x = f()  # shardlint: placement=host\n", {"x": "host"}),
        ("x = f()  #shardlint:placement = host, \n", {}),
        ("x = f()  # noqa # shardlint: placement=host # type: ignore\n", {"x": "host"}),
        ("x: int = f()  # shardlint: placement=host because I know\n", {"x": "host"}),
        ("x = f(\n    1,\n)  # shardlint: placement=host\n", {"x": "host"}),
        ("x = f(  # shardlint: placement=host\n    1,\n)\n", {"x": "host"}),
        ("# shardlint: placement=host\n\n# and more\nx = f()\n", {"x": "host"}),
        ("a, (b, *c) = f()  # shardlint: placement(c)=host, placement(a)=one-device\n", {"c": "host", "a": "one-device"}),
        ("self.a.b = f()  # shardlint: placement=host\n", {"self.a.b": "host"}),
        ("with f() as x:  # shardlint: placement=host\n    pass\n", {"x": "host"}),
        ("for x in f():  # shardlint: placement=host\n    pass\n", {"x": "host"}),
        ("def f(x): ...  # shardlint: placement=host\n", {"f()": "host"}),
        ("def f():  # shardlint: placement=host\n    pass\n", {"f()": "host"}),
        ("async def f(x=lambda: 1):  # shardlint: placement=host\n    pass\n", {"f()": "host"}),
        ("def f(\n    x: int,  # shardlint: placement=host\n    y): pass\n", {"x": "host"}),
        ("def f(\n    # shardlint: placement=host\n    x: int, # :\n    y): pass\n", {"x": "host"}),
        ("def f(x,  # shardlint: placement=host\n    y): pass\n", {"x": "host"}),
        ("def f(\n    *x,\n) -> dict[str, int]:  # shardlint: placement=host, placement(x)=host\n    pass\n", {"f()": "host", "x": "host"}),
        ("# shardlint: placement(y)=host\n@d\ndef f(\n    x, y): pass\n", {"y": "host"}),
        ("@d\n# shardlint: placement=host\n@e\ndef f(x): pass\n", {}),
        ("class A:\n    @d  # shardlint: placement(return)=host\n    def f(self): pass\n", {"f()": "host"}),
        ("match f():\n    case 1:\n        x = f()  # shardlint: placement=host\n", {"x": "host"}),
        ("try:\n    f()\nexcept E:\n    x = f()  # shardlint: placement=host\n", {"x": "host"}),
        ("x = '# shardlint: placement=host'\n", {}),
        ('x = """\n# shardlint: placement=host\n"""\n', {}),
        ('x = f"{y["a # shardlint: placement=host"]}"\n', {}),
        ("def f(x, (y:  # shardlint: placement(x)=host\n    z = f(  # shardlint: placement=host\n", None),
        ("x = = 3\ny = f()  # shardlint: placement=host\n", {"y": "host"}),
    ],
)  # fmt: skip
def test_what_a_comment_speaks_of(source: str, wanted: dict[str, str] | None) -> None:
    """A comment speaks of its line, one that stands alone of the next; a string is no comment."""
    found = spoken_of(parse(Text(source)))
    assert wanted is None or found == wanted


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("x = 1  # shardlint: placment=host\n", "shardlint has no comment 'placment'; did you mean 'placement'?"),
        ("x = 1  # shardlint: placement=hots\n", "placement cannot be 'hots'; did you mean 'host'?"),
        (
            "x = 1  # shardlint: placement=zz\n",
            "placement cannot be 'zz'; known: many-devices, one-device, host, spans-processes.",
        ),
        (
            "x = 1  # shardlint: placement host\n",
            "`placement host` says no placement; write `placement=` and one of many-devices, one-device, host, spans-processes.",
        ),
        (
            "x = 1  # shardlint: placement=host, y=host\n",
            "shardlint has no comment 'y'; known: placement.",
        ),
        (
            "x = 1  # shardlint: placement(x=host\n",
            "`placement(x=host` is no claim; write `placement(NAME)=WORD`, with commas between several.",
        ),
        ("weights = 1  # shardlint: placement(weight)=host\n", "this placement comment is not used: there is no 'weight' on its line; did you mean 'weights'?"),
        ("f()  # shardlint: placement=host\n", "this placement comment is not used: there is no parameter, no assignment and no end of a `def` on its line."),
        ("a, b = 1  # shardlint: placement=host\n", "this placement comment is not used: its line has several names (a, b); write `placement(a)=...`."),
        ("# shardlint: placement=host\n", "this placement comment is not used: it stands before no code."),
    ],
)  # fmt: skip
def test_a_comment_that_claims_nothing(source: str, sentence: str) -> None:
    """Each mistake gives one sentence at the comment, which leads to what is right."""
    tree = parse(Text(source))
    (misread,) = claims(tree).misread
    assert misread.message == sentence
    assert tree.text.slice(misread.span).startswith("# shardlint:")
    assert claims(tree).by_node == {}


@pytest.mark.parametrize(
    "comment", ["shardlint: ignore[rule] reason", "shardlint: this is fine", "shardlint:", "placement=host"]
)
def test_comments_about_other_things(comment: str) -> None:
    """What is no claim is left to others."""
    found = claims(parse(Text(f"x = 1  # {comment}\n")))
    assert (found.by_node, found.misread) == ({}, ())


def test_cells_of_a_notebook_do_not_reach_into_each_other() -> None:
    """A comment at the end of a cell does not speak of the next cell; an open string does not hide it."""
    text = join(
        [(0, '"""open'), (1, "x = f()  # shardlint: placement=host\n# shardlint: placement=host"), (2, "y = f()")]
    )
    tree = parse(text)
    assert spoken_of(tree) == {"x": "host"}
    assert [one.message for one in claims(tree).misread] == [
        "this placement comment is not used: it stands before no code."
    ]


def test_claims_by_name() -> None:
    """Dotted names lead to results, parameters, variables, in classes and in functions too."""
    source = "M = 1\ndef f(x):\n    y = 1\n    def g(z): ...\nclass A:\n    B = 1\n    def h(self, w): ...\n"
    wanted = ("M", "f", "f.x", "f.y", "f.g.z", "A.B", "A.h.w")
    found = named(parse(Text(source)), dict.fromkeys((*wanted, "f.q", "x"), "host"), "the test")
    assert len(found.by_node) == len(wanted)
    assert {one.name for one in found.functions} == {"f", "g", "h"}


@given(st.text(alphabet="#(),=: \n\t\\\"'[]axdeffshardlint:placement=one-device", max_size=60))
def test_any_text_is_read(source: str) -> None:
    """No text makes the reader fail."""
    claims(parse(Text(f"def f(x):  # shardlint: placement{source}\n    y = 1  # shardlint: {source}\n")))
