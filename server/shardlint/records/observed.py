"""`observed.json`: what runs of a rule's cases showed, one observation for each platform, JAX, consumer and its version.

Only `shardlint records verify` writes it. A run replaces the observations of its own keys, and drops those of its platform
and JAX whose consumer the rule's page does not show any more; all others stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

from shardlint.records.catalogue import Observation
from shardlint.records.files import UnusableError, read_json

OBSERVED_NAME = "observed.json"
_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class RuleRun:
    """What one run on one platform and JAX showed of one rule; `consumers` are all that its page shows, run or not."""

    platform: str
    jax: str
    consumers: frozenset[str]
    observations: tuple[Observation, ...]


def read_observations(folder: Path) -> tuple[Observation, ...]:
    """What the rule's folder keeps; nothing, if it has no file yet. Raises `UnusableError`."""
    path = folder / OBSERVED_NAME
    if not path.exists():
        return ()
    data: Any = read_json(path)
    try:
        if data["schema"] != _SCHEMA:
            raise UnusableError(f"has schema {data['schema']}, and this version writes schema {_SCHEMA}")
        return tuple(map(_observation, data["observations"]))
    except (KeyError, TypeError) as error:
        raise UnusableError(f"is not a list of observations: {error}") from None


def write_observations(folder: Path, run: RuleRun) -> bool:
    """Bring the folder's file up to what the run showed. Returns whether the file changed. Raises `UnusableError`."""
    kept = read_observations(folder)
    merged = _merged(kept, run)
    if merged == kept:
        return False
    data = {"schema": _SCHEMA, "observations": [asdict(one) for one in merged]}
    text = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    (folder / OBSERVED_NAME).write_text(text, encoding="utf-8", newline="\n")
    return True


def differences(kept: Sequence[Observation], run: RuleRun) -> list[str]:
    """How what is kept differs from what the run showed: clauses that begin with the consumer."""
    before = {_key(one): one for one in kept}
    after = {_key(one): one for one in _merged(kept, run)}
    clauses: list[str] = []
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        where = f"{key[2]} {key[3]} on JAX {key[1]}"
        if old is None and new is not None:
            clauses.append(f"{where} was run, but is not kept")
        elif new is None:
            clauses.append(f"{where} is kept, but no case shows it")
        elif old is not None and old != new:
            clauses.append(f"{where} differs: {_changes(asdict(old), asdict(new))}")
    return clauses


def _observation(entry: dict[str, Any]) -> Observation:
    fields = dict(entry)
    fields["fixed"] = tuple(entry["fixed"])
    return Observation(**fields)


def _merged(kept: Sequence[Observation], run: RuleRun) -> tuple[Observation, ...]:
    fresh = {_key(one): one for one in run.observations}
    stay = [one for one in kept if _key(one) not in fresh and not _gone(one, run)]
    return tuple(sorted([*stay, *fresh.values()], key=_order))


def _gone(one: Observation, run: RuleRun) -> bool:
    """Whether the run's platform and JAX are the observation's, and the page does not show its consumer any more."""
    return (one.platform, one.jax) == (run.platform, run.jax) and one.consumer not in run.consumers


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} is kept as {old[name]!r}, but was {new[name]!r}" for name in old if old[name] != new[name]
    )


def _key(one: Observation) -> tuple[str, str, str, str]:
    return (one.platform, one.jax, one.consumer, one.consumer_version)


def _order(one: Observation) -> tuple[str, Version, str, str]:
    return (one.platform, Version(one.jax), one.consumer, one.consumer_version)
