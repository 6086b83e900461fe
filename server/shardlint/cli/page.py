"""A Markdown page on a terminal: quiet, left-aligned, and legible on a light background as on a dark one."""

from __future__ import annotations

from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, Markdown, MarkdownElement
from rich.text import Text
from rich.theme import Theme

from shardlint.cli.terminal import WIDEST

_LOOK = Theme(
    {
        "markdown.h1": "bold",
        "markdown.h2": "bold",
        "markdown.code": "cyan",
        "markdown.table.border": "dim",
        "markdown.table.header": "dim",
        "markdown.link_url": "cyan",
    }
)


class _Heading(Heading):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self.text.plain, style=self.style_name)


class _Page(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {**Markdown.elements, "heading_open": _Heading}


def show(page: str) -> None:
    """Print a page of Markdown on stdout."""
    console = Console(theme=_LOOK)
    console.print(_Page(page, code_theme="ansi_dark"), width=min(console.width, WIDEST))
