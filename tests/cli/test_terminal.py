"""What depends on the terminal: colours and width."""

from __future__ import annotations

import io

import pytest

from shardlint.cli.terminal import paint_for, width_of
from shardlint.report.paint import Role


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environ", "colours"),
    [
        (Terminal(), {"TERM": "xterm"}, True),
        (Terminal(), {"TERM": "dumb"}, False),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        (io.StringIO(), {"TERM": "xterm"}, False),
        (io.StringIO(), {"FORCE_COLOR": "1"}, True),
    ],
)
def test_colours(stream: io.StringIO, environ: dict[str, str], colours: bool) -> None:
    """Colours on a terminal that has them, with NO_COLOR never, with FORCE_COLOR also in a pipe."""
    assert ("\x1b[" in paint_for(stream, environ)("text", Role.ERROR)) == colours


def test_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prose is wrapped at the terminal's width, at 110 cells on a wider one, and not at all in a pipe."""
    assert width_of(io.StringIO()) is None
    for columns, width in (("70", 70), ("300", 110)):
        monkeypatch.setenv("COLUMNS", columns)
        assert width_of(Terminal()) == width
