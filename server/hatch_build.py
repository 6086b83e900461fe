"""The build step that puts the frozen catalogue into the wheel, and into the checkout for an editable install."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class FreezeRecords(BuildHookInterface[Any]):
    """Freezes `records/` before a wheel is packed. Fails the build with one sentence for each thing that is wrong."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 (the names are hatchling's)
        """Called by hatchling with the kind of build ("standard" or "editable"); both need the catalogue."""
        if self.target_name != "wheel":
            return
        root = Path(self.root)
        sys.path.insert(0, str(root / "server"))  # the package is not installed yet, and needs only pydantic for this
        from shardlint.records.freeze import freeze

        problems = freeze(root / "records", root / "server" / "shardlint" / "records")
        if problems:
            self.app.abort("\n".join(problem.message for problem in problems))
