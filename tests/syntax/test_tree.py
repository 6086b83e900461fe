"""Reading Python in any state."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shardlint.syntax import tolerant
from shardlint.syntax.chunks import cut
from shardlint.syntax.tree import Place, Tree, parse
from shardlint.text import Text

SOURCES = sorted(Path(ast.__file__).parent.glob("*.py"))[:60]
PIECES = st.sampled_from(
    ["def f(x):\n", "    return x\n", "x = [\n", "1,\n", "]\n", '"""', "'", "# c\n", "\\\n", "@d\n", "class C:\n", "    pass\n",
     "if a:\n", "else:\n", "try:\n", "except E:\n", "import a\n", "f(\n", ")\n", "\r\n", "\t", "é😀", "with a as b:\n", "\0", "match x:\n"]
)  # fmt: skip


def _statements(tree: Tree) -> list[str]:
    return [ast.dump(statement) for chunk in tree.chunks for statement in chunk.body]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_chunks_are_what_python_reads(path: Path) -> None:
    """A file of the standard library read chunk by chunk gives the statements that reading it whole gives."""
    source = path.read_text(encoding="utf-8")
    assert _statements(parse(Text(source))) == [ast.dump(statement) for statement in ast.parse(source).body]


@pytest.mark.parametrize("path", SOURCES[:25], ids=lambda path: path.name)
def test_the_tolerant_parser_reads_whole_files(path: Path) -> None:
    """tree-sitter's tree of a valid file becomes as many statements of the same kinds as Python reads, at the same lines."""
    source = path.read_text(encoding="utf-8")
    read = tolerant.parse(Text(source))
    assert read is not None
    wanted = [node for node in ast.parse(source).body if getattr(node, "module", None) != "__future__"]
    assert read.broken == ()
    assert [(type(a), a.lineno) for a in read.body] == [
        (type(b), min([b.lineno, *(d.lineno for d in getattr(b, "decorator_list", []))])) for b in wanted
    ]


@given(st.lists(PIECES, max_size=30).map("".join))
@settings(max_examples=400, deadline=None)
def test_nothing_is_lost_and_nothing_raises(source: str) -> None:
    """The pieces of any text are the whole of it, and it is read without an exception."""
    assert "".join(source[piece.start : piece.end] for piece in cut(source)) == source
    tree = parse(Text(source))
    for chunk in tree.chunks:
        for statement in chunk.body:
            span = tree.span(Place(chunk, statement))
            assert 0 <= span.start <= span.end <= len(source)


@given(st.lists(PIECES, max_size=12).map("".join), st.lists(PIECES, max_size=12).map("".join))
@settings(max_examples=200, deadline=None)
def test_reuse_changes_nothing(old: str, new: str) -> None:
    """A text read with the help of an older one gives what it gives alone."""
    assert _statements(parse(Text(new), parse(Text(old)))) == _statements(parse(Text(new)))


def test_an_edit_reads_one_chunk_anew() -> None:
    """After an edit in one function all other chunks are the very same objects, though their lines moved."""
    source = "import a\n\ndef f():\n    return 1\n\ndef g():\n    return 2\n"
    before = parse(Text(source))
    after = parse(Text(source.replace("return 1", "x = 0\n    return 1")), before)
    assert [new is old for new, old in zip(after.chunks, before.chunks, strict=True)] == [True, False, True]
    assert after.text.slice(after.span(Place(after.chunks[2], after.chunks[2].body[0]))).startswith("def g")


def test_equal_chunks_stay_two() -> None:
    """Two statements with the same text are two chunks with two places, also when taken over from an older tree."""
    tree = parse(Text("f()\nf()\n"), parse(Text("f()\nf()\n")))
    starts = [tree.span(Place(chunk, chunk.body[0])).start for chunk in tree.chunks]
    assert starts == [0, 4]


def test_deep_nesting_is_refused_not_fatal() -> None:
    """A chunk nested beyond what the parsers take is left out; its neighbours are read."""
    depth = 20_000 if sys.version_info < (3, 13) else 5_000
    tree = parse(Text(f"a = 1\nx = {'(' * depth}{')' * depth}\nb = 2\n"))
    names = [node.targets[0].id for chunk in tree.chunks for node in chunk.body if isinstance(node, ast.Assign)]  # pyright: ignore
    assert names[0] == "a"
    assert names[-1] == "b"
    assert tree.broken


def test_columns_behind_wide_characters() -> None:
    """The span of a node behind an emoji is counted in code points, whichever parser read it."""
    for broken in ("", "y = (\n"):
        source = f's = "😀é"; t = s.x\n{broken}'
        tree = parse(Text(source))
        chunk = tree.chunks[0]
        value = next(n for n in ast.walk(chunk.body[1]) if isinstance(n, ast.Attribute))
        assert tree.text.slice(tree.span(Place(chunk, value))) == "s.x"
