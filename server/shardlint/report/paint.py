"""How parts of a text look on a terminal. A report names the role of a part; colours are the terminal's matter."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum


class Role(StrEnum):
    """What a part of a report is. The values are rich's notation for its look."""

    ERROR = "bold red"
    WARNING = "bold yellow"
    INFORMATION = "bold cyan"
    RULE = "bold"
    PLACE = "cyan"
    QUIET = "dim"
    GOOD = "green"
    ADDED = "green"
    REMOVED = "red"


Paint = Callable[[str, Role], str]


def plain(text: str, role: Role) -> str:
    """For files, pipes and terminals without colours."""
    del role
    return text


def coloured() -> Paint:
    """For a terminal: the text between the escape sequences of its role."""
    from rich.color import ColorSystem
    from rich.style import Style

    styles = {role: Style.parse(role.value) for role in Role}
    return lambda text, role: styles[role].render(text, color_system=ColorSystem.STANDARD) if text else ""
