"""Records and rule folders of the tests' own, whole and in order, to be changed by a test into what it is about."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = "# before\ny = lib.take(x)\n# after\ny = lib.take(lib.gather(x))\n"

RULE = '''\
summary = "an array on several devices is taken as one"
family = "A"
jax = ">=0.4.30"
severity = "error"
possible = "warning"
message = "{consumer} is given an array on {devices}, which {outcome} on {target}"
handled-by = ["BufferError"]

[match]
protocol = ["dlpack"]
direction = "export"

[when]
devices = "many"

[[fix]]
title = "Gather first (copies {devices})"
safety = "moves-data"
example = """
# before
y = lib.take(x)
# after
y = lib.take(lib.gather(x))
"""
'''

CASES = """\
# Taking an array that is on several devices

## It raises

```python
import lib
y = lib.take(x)  # error: [taken-as-one]
```
"""

OBSERVATION = {
    "platform": "cpu",
    "jax": "0.10.2",
    "consumer": "lib.take",
    "consumer_version": "1.0",
    "kind": "raises",
    "exception": "BufferError",
    "message": "only one",
    "fixed": [],
}


@pytest.fixture
def record() -> dict[str, Any]:
    """A record of schema version 2 with every field, as a shipped one must have it."""
    sha = "0123456789abcdef0123456789abcdef01234567"
    return {
        "id": "00112233aabbccdd",
        "repo": "example/lib",
        "slug": "lib-takes-one-device",
        "errorCode": None,
        "errorMessage": "take() wants one device.",
        "messagePattern": r"take\(\) wants one device\.",
        "errorType": "exception",
        "errorClass": "BufferError",
        "httpStatus": None,
        "severity": "error",
        "filePath": "lib/take.py",
        "lineNumber": 12,
        "sourceCode": None,
        "sourceCodeStart": None,
        "sourceCodeEnd": None,
        "githubUrl": f"https://github.com/example/lib/blob/{sha}/lib/take.py#L10-L14",
        "documentation": "The library can hold one buffer.",
        "triggerScenarios": "Giving it an array on several devices.",
        "commonSituations": "A mesh over all devices.",
        "solutions": ["Gather first."],
        "exampleFix": EXAMPLE,
        "handlingStrategy": "validation",
        "validationCode": None,
        "typeGuard": None,
        "tryCatchPattern": None,
        "preventionTips": [],
        "tags": ["sharding"],
        "backgroundTag": "taken-as-one",
        "analyzedSha": sha,
        "analyzedAt": "2026-01-02T03:04:05.000Z",
        "schemaVersion": 2,
    }


WriteRule = Callable[..., Path]


@pytest.fixture
def write_rule(record: dict[str, Any]) -> WriteRule:
    """Writes a complete rule folder; what a test gives by keyword stands in place of the valid content."""

    def write(
        parent: Path,
        name: str = "taken-as-one",
        *,
        record_changes: Mapping[str, Any] | None = None,
        rule: str = RULE,
        cases: str = CASES,
        observations: list[dict[str, Any]] | None = None,
    ) -> Path:
        folder = parent / name
        folder.mkdir(parents=True)
        (folder / "record.json").write_text(json.dumps({**record, **(record_changes or {})}), encoding="utf-8")
        (folder / "rule.toml").write_text(rule, encoding="utf-8")
        (folder / "cases.md").write_text(cases, encoding="utf-8")
        entries = [OBSERVATION] if observations is None else observations
        observed = {"schema": 1, "observations": entries}
        (folder / "observed.json").write_text(json.dumps(observed), encoding="utf-8")
        return folder

    return write


@pytest.fixture
def valid_rule() -> str:
    """The text of a valid `rule.toml`."""
    return RULE


@pytest.fixture
def observation() -> dict[str, Any]:
    """A valid entry of `observed.json`."""
    return dict(OBSERVATION)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A `records/` folder with its `versions.toml` and no rule yet."""
    folder = tmp_path / "records"
    folder.mkdir()
    (folder / "versions.toml").write_text('origin = "a test"\njax = ["0.9.2", "0.10.2"]\n', encoding="utf-8")
    return folder
