"""What the tests of this folder share: asking the installed JAX."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

OBSERVER = Path(__file__).parent / "facts" / "observe.py"


@pytest.fixture(scope="session")
def observed() -> Callable[[Sequence[dict[str, Any]]], list[list[int | str]]]:
    """What the rows of tables give on the installed JAX with eight devices: see facts/observe.py."""

    def observe(tables: Sequence[dict[str, Any]]) -> list[list[int | str]]:
        environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
        done = subprocess.run(
            [sys.executable, str(OBSERVER)],
            input=json.dumps(tables),
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        )
        return json.loads(done.stdout)

    return observe
