"""The documentation page of a record that comes without one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shardlint.records.files import one_line
from shardlint.records.models import Record


def record_page(record: Record) -> str:
    """Markdown made of the record's own texts, in the order in which a person needs them; absent ones are left out."""
    parts = [
        f"# {one_line(record.slug)}",
        _fenced(f"{record.error_class or 'Error'}: {record.error_message}", "text"),
        "This page is made from a record that shardlint does not ship: what it says was not verified.",
        record.documentation,
        _section("When it happens", record.trigger_scenarios),
        _section("Where it is met", record.common_situations),
        _section("What to do", _listed(record.solutions)),
        _section("Example", _fenced(record.example_fix, "python")),
        _section("Check first", _fenced(record.validation_code, "python")),
        _section("Handle the error", _fenced(record.try_catch_pattern, "python")),
        _section("How to keep away from it", _listed(record.prevention_tips)),
        _section("Source", f"<{one_line(record.github_url, most=2000)}>" if record.github_url else None),
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _section(title: str, body: str | None) -> str | None:
    return f"## {title}\n\n{body}" if body else None


def _listed(items: Sequence[str]) -> str:
    return "\n".join(f"- {one_line(item, most=2000)}" for item in items)


def _fenced(code: str | None, language: str) -> str | None:
    """The code in a fence that is longer than every run of backticks in it, so that it cannot end early."""
    if not code:
        return None
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    return f"{fence}{language}\n{code.strip()}\n{fence}"
