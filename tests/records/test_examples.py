"""The before/after notation of `exampleFix`."""

from __future__ import annotations

import pytest

from shardlint.records.examples import Example, split_example


@pytest.mark.parametrize(
    "text",
    [
        "# before\na(x)\n# after\nb(x)",
        "// before\na(x)\n// after\nb(x)\n",
        "\n    # Before:\n    a(x)\n\n    # AFTER (on one device)\n    b(x)\n\n",
        "# before\r\na(x)\r\n# after\r\nb(x)\r\n",
        "# before\na(x)\n# after\nb(x)\n# before\nc(x)\n# after\nd(x)",
    ],
)
def test_both_parts_are_found(text):
    """Either comment sign, any case, a note behind the word and common indentation are read alike."""
    assert split_example(text) == Example("a(x)", "b(x)")


def test_a_comment_that_only_begins_with_the_word_opens_no_part():
    """`# after the reduction` is a comment of the code."""
    text = "# before\na(x)\n# after the reduction\nc(x)\n# after\nb(x)"
    assert split_example(text) == Example("a(x)\n# after the reduction\nc(x)", "b(x)")


def test_indentation_within_a_part_is_kept():
    """The parts stay valid Python."""
    text = "  # before\n  if x:\n      a(x)\n  # after\n  b(x)"
    assert split_example(text) == Example("if x:\n    a(x)", "b(x)")


@pytest.mark.parametrize(
    "text", ["", "a(x)", "# before\na(x)", "# after\nb(x)", "# after\nb\n# before\na", "# before\n# after\nb"]
)
def test_an_example_without_both_parts_is_none(text):
    """A part that is missing or blank gives nothing to look for or nothing to write."""
    assert split_example(text) is None
